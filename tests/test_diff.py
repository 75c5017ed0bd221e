"""Diff: the shortest case on which two things differ, and that each deviation has one."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from brokerlaw.properties.diff import ByDialect, BySubject, differs_on, explore_both, search_both
from brokerlaw.reference.table import TABLE, Entry
from brokerlaw.spec.core import Deviation, Scope

from .cli_harness import Cli, cli_in

ENTRY = {entry.name: entry for entry in TABLE}
DEVIATIONS = [
    pytest.param(entry, deviation, id=f"{entry.name}-{deviation.name}")
    for entry in TABLE
    for deviation in entry.system.deviations
]


def _against_text(entry: Entry, name: str) -> tuple[ByDialect, ByDialect]:
    return ByDialect(entry.system, entry.system.dialect("text")), ByDialect(entry.system, entry.system.dialect(name))


@pytest.mark.parametrize(("entry", "deviation"), DEVIATIONS)
def test_each_deviation_is_told_from_the_text_by_a_case_no_longer_than_the_committed_one(
    entry: Entry, deviation: Deviation
) -> None:
    case = deviation.case
    commands = tuple(dict.fromkeys(case.commands))
    scope = Scope("its own", "what its committed case does", case.config, commands, depth=len(case.commands))
    found = explore_both(entry.system, scope, *_against_text(entry, f"text+{deviation.name}"))
    assert found.difference is not None
    assert len(found.difference.case.commands) <= len(case.commands)
    again = differs_on(entry.system, *_against_text(entry, f"text+{deviation.name}"), found.difference.case)
    assert again == found.difference


def test_things_that_answer_alike_are_not_told_apart_and_the_scope_is_named() -> None:
    entry = ENTRY["cursor_ranks"]
    scope = entry.system.scope("pair")
    found = explore_both(entry.system, scope, *_against_text(entry, "text"))
    assert (found.difference, found.states, found.stopped) == (None, 25, "")
    text = entry.system.dialect("text")
    reference = BySubject("reference", entry.reference, text)
    beside = explore_both(entry.system, evolve(scope, depth=2), reference, ByDialect(entry.system, text))
    assert beside.difference is None


def test_what_no_scope_shows_is_found_by_drawn_cases_and_cut_down() -> None:
    entry = ENTRY["entry_cache"]
    sides = _against_text(entry, "text+leaver-pays-back")
    nothing = explore_both(entry.system, evolve(entry.system.scope("core"), depth=2), *sides)
    assert nothing.difference is None
    found = search_both(entry.system, *sides, seed=1, cases=400, so_far=nothing)
    assert found.difference is not None
    assert len(found.difference.case.commands) <= 25
    assert differs_on(entry.system, *sides, found.difference.case) == found.difference


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    return cli_in(tmp_path, capsys, monkeypatch)


def test_the_command_shows_the_case_and_both_answers(cli: Cli, tmp_path: Path) -> None:
    words = ("cursor_ranks", "--left", "reference", "--right", "mutant:rank-counts-before")
    done = cli("diff", *words, "--out", "case.json")
    assert done.code == 1
    assert "cursor_ranks: reference and mutant:rank-counts-before differ after 2 commands" in done.out
    assert "there is no shorter one in it" in done.out
    assert "outcome, reference: Count(value=1)" in done.out
    assert cli("replay", "case.json", "--subject", "mutant:rank-counts-before").code == 1
    assert cli("diff", *words, "--json").data["difference"]["part"] == "outcome"


def test_the_command_says_what_it_looked_at_where_there_is_no_difference(cli: Cli) -> None:
    done = cli("diff", "cursor_ranks", "--left", "text", "--right", "text", "--cases", "5")
    assert done.code == 0
    assert (
        "No difference between text and text in scope pair, 25 pairs of states, 2 deep, nor in 5 random cases."
        in done.out
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--left", "txt", "--right", "text"), "--left: cursor_ranks has no subject 'txt'"),
        (("--left", "text+nope", "--right", "text"), "--left: cursor_ranks has no deviation 'nope'"),
        (("--left", "text", "--right", "text", "--scope", "nope"), "--scope: cursor_ranks has no scope 'nope'"),
    ],
)
def test_sides_that_are_not_there_are_one_sentence(cli: Cli, words: tuple[str, ...], sentence: str) -> None:
    done = cli("diff", "cursor_ranks", *words)
    assert done.code == 2
    assert done.err.startswith(f"brokerlaw: {sentence}")
