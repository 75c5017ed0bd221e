"""report.json is data from anywhere: what is wrong with it is one sentence that names file and field; exit code 2."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from brokerlaw.driver.errors import Usage
from brokerlaw.report.build import content_from
from brokerlaw.report.markdown import markdown_of

from . import report_samples as samples
from .cli_harness import Cli, cli_in

Data = dict[str, Any]


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    return cli_in(tmp_path, capsys, monkeypatch)


def _system(data: Data) -> Data:
    part: Data = data["systems"][0]
    return part


def _finding(data: Data) -> Data:
    found: Data = _system(data)["findings"][0]
    return found


WRONG: dict[str, tuple[Callable[[Data], object], str]] = {
    "no version": (lambda data: data.pop("brokerlaw-report"), '"brokerlaw-report"'),
    "a newer version": (lambda data: data.update({"brokerlaw-report": 3}), "version 3 is newer"),
    "version zero": (lambda data: data.update({"brokerlaw-report": 0}), "no format version 0"),
    "no systems": (lambda data: data.update(systems=[]), "systems: expected at least one"),
    "systems of another kind": (lambda data: data.update(systems={}), "systems: expected a list, got an object"),
    "a system that is text": (lambda data: data.update(systems=["x"]), "systems[0]: expected an object, got text"),
    "a count that is text": (
        lambda data: _system(data)["cases"].update(run="60"),
        "systems[0].cases.run: expected a whole number, got text",
    ),
    "a count below zero": (lambda data: _system(data).update(steps=-1), "systems[0].steps: expected a whole number"),
    "a truth for a count": (
        lambda data: _system(data).update(seed=True),
        "systems[0].seed: expected a whole number, got true or false",
    ),
    "no tally": (lambda data: _system(data).pop("tally"), "systems[0].tally: expected an object, got nothing"),
    "evidence of another kind": (
        lambda data: _system(data)["laws"][0].update(evidence="passed"),
        "systems[0].laws[0].evidence: expected one of fuzzed, violated",
    ),
    "two counts of a law": (
        lambda data: _system(data)["tally"]["laws"].update(rank_counts_at_or_before=[1, 2]),
        "tally.laws.rank_counts_at_or_before: expected three counts",
    ),
    "coverage without an outcome": (
        lambda data: _system(data)["tally"]["coverage"].update(Rank=1),
        "tally.coverage.Rank: expected a name of the form",
    ),
    "no such dialect": (
        lambda data: _system(data).update(dialect="klingon"),
        "systems[0].dialect: cursor_ranks has no",
    ),
    "a breach of another kind": (
        lambda data: _finding(data)["breach"].update(kind="magic"),
        "findings[0].breach.kind: expected one of law",
    ),
    "a case with an unknown command": (
        lambda data: _finding(data)["case"]["commands"][0].update(do="Explode"),
        "findings[0].case, command 1: cursor_ranks has no command 'Explode'",
    ),
    "a case that is text": (lambda data: _finding(data).update(case="x"), "findings[0].case"),
    "a time that is none": (lambda data: data["made"].update(when="yesterday"), "made.when: expected a time like"),
    "an environment of lists": (
        lambda data: data["made"]["environment"].update(cores=[2]),
        "made.environment.cores: expected text, got a list",
    ),
    "too many points": (
        lambda data: _system(data)["effort"].update(points=_system(data)["effort"]["points"] * 40),
        "effort.points: expected at most",
    ),
    "a canary without a law": (lambda data: data["canaries"][0].pop("law"), "canaries[0].law: expected text"),
    "endless evidence": (
        lambda data: _finding(data)["breach"].update(evidence="x" * 100_001),
        "breach.evidence: 100001 characters are more",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_a_field_is_said_by_its_name(name: str, cli: Cli, tmp_path: Path) -> None:
    spoil, told = WRONG[name]
    data = samples.broken()
    spoil(data)
    samples.write(data, tmp_path / "out")
    ran = cli("report", "out")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("brokerlaw: out/report.json")
    assert told in ran.err
    assert ran.err.count("\n") == 1
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["report.json"], "nothing is written"


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"", "not JSON"),
        (b"{", "line 1 column 2: not JSON"),
        (b"[]", "expected a JSON object, got a list"),
        (b"\xff", "byte 1 is not UTF-8"),
        (b'{"a": 1, "a": 2}', "'a' is there twice"),
        (b'{"a": NaN}', "NaN is not a number"),
        (b'{"a": 1' + b"0" * 5_000 + b"}", "not readable"),
        (b"[" * 100_000, "nests too deep"),
    ],
)
def test_a_file_that_is_no_report_is_refused(raw: bytes, told: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_bytes(raw)
    ran = cli("report", ".")
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err
    assert "Traceback" not in ran.err


def test_a_folder_without_a_report_says_who_writes_one(cli: Cli, tmp_path: Path) -> None:
    for folder in (".", "nowhere"):
        ran = cli("report", folder)
        assert ran.code == 2
        assert "brokerlaw check --out DIR" in ran.err


def test_what_version_2_adds_may_be_missing_or_null(cli: Cli, tmp_path: Path) -> None:
    data = samples.broken()
    for name in ("made", "canaries"):
        data[name] = None
    _system(data).pop("effort")
    _system(data)["identity"] = None
    samples.write(data, tmp_path / "out")
    page = cli("report", "out", "--html", "-").out
    assert "not recorded" in page
    assert "No canary was recorded" in page
    data["brokerlaw-report"] = 1
    samples.write(data, tmp_path / "out")
    assert cli("report", "out", "--html", "-").out == page


def test_with_json_the_sentence_is_an_object(cli: Cli) -> None:
    ran = cli("report", "nowhere", "--json")
    assert ran.code == 2
    assert "there is no such folder" in json.loads(ran.out)["error"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--html", "-", "--markdown", "-"), "only one format can go to standard output"),
        (("--html", "same", "--sarif", "same"), "two formats can not go to the same file"),
        (("--html", "out"), "this is a folder"),
        (("--html", ""), "expected the name of a file"),
        (("--html", "out/report.json/page"), "can not be written"),
        (("--system", "no_such_module:X"), "no_such_module"),
    ],
)
def test_options_that_can_not_be_are_refused(options: tuple[str, ...], told: str, cli: Cli, tmp_path: Path) -> None:
    samples.write(samples.clean(), tmp_path / "out")
    ran = cli("report", "out", *options)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err


def test_nothing_that_the_file_names_is_imported(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "trap.py").write_text("raise SystemExit('imported')\n")
    data = samples.broken()
    _system(data)["subject"] = _finding(data)["subject"] = "trap:Subject"
    samples.write(data, tmp_path / "out")
    ran = cli("report", "out")
    assert ran.code == 1, ran.err
    assert "not run again" in (tmp_path / "out" / "report.html").read_text()


def test_a_system_that_is_not_at_hand_is_reported_without_its_sentences(cli: Cli, tmp_path: Path) -> None:
    data = samples.broken()
    _system(data)["system"] = _finding(data)["system"] = "of_somebody_else"
    samples.write(data, tmp_path / "out")
    ran = cli("report", "out")
    assert ran.code == 1, ran.err
    assert "name it with --system" in " ".join(ran.out.split())
    assert "rank_counts_at_or_before" in (tmp_path / "out" / "report.html").read_text()


STRANGE: tuple[Any, ...] = (None, "x", "", -1, 1.5, 10**30, True, [], {}, [[]], [{}], "\ud800<b>", "a > b")


def _places(value: object, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a report, of a list the first two."""
    yield place
    inside = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for name, item in inside:
        yield from _places(item, (*place, name))


def test_whatever_stands_anywhere_is_read_or_refused_in_a_sentence() -> None:
    base, random = samples.broken(), Random(7)
    places = [place for place in _places(base) if place]
    refused: list[str] = []
    for _ in range(300):
        data: Any = copy.deepcopy(base)
        *path, last = random.choice(places)
        there = data
        for name in path:
            there = there[name]
        there[last] = random.choice(STRANGE)
        try:
            markdown_of(content_from(data)).encode("utf-8")
        except Usage as sentence:
            refused.append(str(sentence))
    assert 100 < len(refused) < 300
    assert all(sentence.startswith("report.json") for sentence in refused)
