"""Campaigns on Spark: the same results as `brokerlaw check`, wherever and in how many pieces they run."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import define, evolve

from brokerlaw.driver.child import Limits
from brokerlaw.driver.errors import Usage
from brokerlaw.driver.identity import code_version, source_hash
from brokerlaw.spark_fuzz.plan import CANARY_CASES, Lane, Plan
from brokerlaw.spark_fuzz.rows import SCHEMA
from brokerlaw.spark_fuzz.session import Session, session
from brokerlaw.spark_fuzz.storage import Folder
from brokerlaw.spark_fuzz.totals import LaneTotals, totals
from brokerlaw.spark_fuzz.waves import Counts, Waves

from .spark_harness import (
    ON_TOY,
    SLOW,
    WAIT_SECONDS,
    all_gone,
    fuzz,
    ran,
    report_in,
    running,
    until,
    what_was_found,
    whole_waves,
    words_of,
)
from .spark_subjects import TOY_WITH_CANARY
from .toy import TOY

pytestmark = pytest.mark.spark

BROKEN = (*ON_TOY, "--mutant", "only-first-purse-ages", "--cases", "1_200", "--seed", "5")
TROUBLED = (*ON_TOY, "--subject", "tests.spark_subjects:Troubled", "--case-seconds", "1", "--case-memory", "500")
MAX_FINDINGS = 8
WHERE = {"local[1]": "250", "local[2]": "130", "local-cluster[2,1,1024]": "500"}  # master: range size


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What `brokerlaw check` says of the campaign that the tests below run on Spark."""
    done = ran(*words_of("check", *BROKEN, "--json", "--out", str(tmp_path_factory.mktemp("checked"))))
    assert done.code == 1
    return done.data


@pytest.mark.parametrize(
    "master", [pytest.param(master, marks=[pytest.mark.nightly] * (master == "local[1]")) for master in WHERE]
)
def test_a_campaign_gives_what_check_gives_whatever_the_master_and_the_range_size(
    master: str, checked: Any, tmp_path: Path
) -> None:
    out, size = tmp_path / "a run, 100% odd", WHERE[master]
    done = fuzz(*BROKEN, "--master", master, "--range-size", size, "--out", str(out), "--json")
    assert (done.code, done.err) == (1, "")
    data, (part,), (expected,) = done.data, done.data["systems"], checked["systems"]
    assert data["digest"] == checked["digest"]
    same = ("cases", "tally", "laws", "reached", "broken", "ended_count", "identity", "stopped")
    assert {name: part[name] for name in same} == {name: expected[name] for name in same}
    if int(size) % 250 == 0:
        assert what_was_found(data) == what_was_found(checked)
    assert part["effort"]["points"][-1] == expected["effort"]["points"][-1]
    assert [(each["caught"], each["ranges"]) for each in data["canaries"]] == [
        ((ranges := 1 + (part["effort"]["ranges"] - 1) // 31), ranges)
    ]
    assert data["made"]["environment"]["master"] == master
    assert report_in(out) == data
    assert {path.name for path in out.iterdir()} >= {"campaign.json", "ranges", "cases", "report.html", "report.md"}
    assert [*out.glob("*.crc"), *out.glob("cases/*.crc")] == [], "people may edit what they can read"
    finding = part["findings"][0]
    assert ran(*words_of(*shlex.split(finding["replay"])[1:])).code == 1


def test_the_references_of_all_systems_go_through_as_with_check(tmp_path: Path) -> None:
    words = ("--cases", "260", "--seed", "2", "--json")
    checked = ran(*words_of("check", *words))
    done = fuzz(*words, "--out", str(tmp_path / "out"))
    assert (done.code, done.data["digest"]) == (0, checked.data["digest"])
    assert [part["system"] for part in done.data["systems"]] == [part["system"] for part in checked.data["systems"]]
    assert [canary["system"] for canary in done.data["canaries"]] != []
    assert all(canary["caught"] == canary["ranges"] > 0 for canary in done.data["canaries"])


def test_an_address_a_corpus_and_a_tolerated_law_are_as_with_check(tmp_path: Path) -> None:
    corpus, law = tmp_path / "corpus", "idle_credit_comes_back"
    corpus.mkdir()
    words = (*BROKEN[:-4], "--cases", "300", "--seed", "5", "--tolerate", law, "--corpus", str(corpus), "--law", law)
    address = (tmp_path / "far-away").as_uri()
    done = ran(*words_of("fuzz", *words, "--out", address, "--master", "local[2]", "--verbose"), cwd=tmp_path)
    assert done.code == 0, done.err
    assert "Spark's default log4j profile" in done.err, "--verbose shows what Spark says"
    assert f"report {address}/report.html" in done.out
    data = report_in(tmp_path / "far-away")
    (part,) = data["systems"]
    assert {finding["tolerated"] for finding in part["findings"]} == {True}
    assert [row["law"] for row in part["laws"]] == [law]
    names = sorted(path.name for path in (tmp_path / "far-away" / "cases").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "brokerlaw-out").iterdir()) != []
    assert ran(*words_of("check", *words, "--json"), cwd=tmp_path).data["digest"] == data["digest"]


def test_what_ends_a_case_is_named_by_its_true_cause_and_costs_that_case_alone(tmp_path: Path) -> None:
    words = (*TROUBLED, "--cases", "30", "--seed", "2", "--json")
    checked = ran(*words_of("check", *words), cwd=tmp_path)
    done = fuzz(*words, "--out", str(tmp_path / "out"), "--master", "local[2]", "--range-size", "250")
    assert (done.code, checked.code) == (1, 1)
    (part,) = done.data["systems"]
    assert {finding["breach"]["kind"] for finding in (*part["ended"], *part["findings"])} == {
        *("hang", "crash", "memory", "error")
    }
    assert part["cases"]["run"] + part["cases"]["ended"] == 30
    assert all(finding["seed"] == 2 and finding["number"] is not None for finding in part["ended"])
    assert done.data["digest"] == checked.data["digest"]
    assert part["ended_count"] == checked.data["systems"][0]["ended_count"]
    assert what_was_found(done.data) == what_was_found(checked.data)


def test_a_canary_that_is_not_caught_fails_a_campaign_in_which_nothing_broke(tmp_path: Path) -> None:
    words = ("--system", "tests.spark_subjects:MUTE", "--cases", "50", "--master", "local[2]", "--range-size", "250")
    done = fuzz(*words, "--out", str(tmp_path))
    assert done.code == 1
    assert "Nothing broke" in done.out
    assert "NOT CAUGHT: canary no-bug-at-all of toy: caught in 0 of 1 range\n" in done.out
    assert "The campaign can not be trusted" in done.out


def test_ctrl_c_ends_a_campaign_with_what_it_has(tmp_path: Path) -> None:
    words = (*SLOW, "--cases", "100_000_000", "--range-size", "25", "--master", "local[2]", "--out", str(tmp_path))
    with running(*words) as campaign:
        until(lambda: whole_waves(tmp_path), campaign)
        os.killpg(campaign.pid, signal.SIGINT)  # as a terminal does: to Spark's processes too
        out, err = campaign.communicate(timeout=WAIT_SECONDS)
        assert campaign.returncode == 130, err
        assert all_gone(campaign.pid), "somebody is left in its group"
    assert "stopped early: interrupted" in out
    assert 0 < report_in(tmp_path)["systems"][0]["cases"]["run"] < 100_000_000
    assert (tmp_path / "report.html").exists()


# ---- With one Spark for all: what is in the files, and what is made of them ------------------------------------------


@pytest.fixture(scope="module")
def spark() -> Iterator[Session]:
    with session("local[2]") as started:
        yield started


@define
class Small:
    """A small campaign, run by hand."""

    session: Session
    folder: Folder
    plan: Plan
    given_up: int = 0  # ranges, in the last run

    def run(self, seconds_left: Callable[[], float | None] = lambda: None) -> Counts:
        """Runs what is missing; the last counts that were told."""
        told = [Counts(0, 0, 0, 0)]
        waves = Waves(self.session, self.folder, self.plan, told.append, lambda: False, seconds_left)
        waves.run()
        self.given_up = waves.given_up
        return told[-1]

    def totals(self) -> list[LaneTotals]:
        return totals(self.session, self.folder, self.plan, (TOY, TOY), MAX_FINDINGS)


@pytest.fixture
def small(spark: Session, tmp_path: Path) -> Small:
    lane = Lane("tests.spark_subjects:TOY_WITH_CANARY", "mutant:last-coin-is-free")
    subject = source_hash(TOY_WITH_CANARY, lane.system, lane.subject)
    canary = evolve(lane, subject="mutant:maximum-plus-one", canary=True)
    plan = Plan((lane,), (canary,), 1, 300, 25, (), True, None, None, Limits(), code_version(), (subject,))
    return Small(spark, Folder(spark, str(tmp_path)), plan)


def test_there_is_one_row_for_each_range_and_rows_that_are_there_twice_count_once(small: Small, tmp_path: Path) -> None:
    counts = small.run()
    assert (counts.ranges, counts.cases) == (13, 300)
    rows = small.session.spark.read.schema(SCHEMA).parquet(f"{small.folder.uri}/ranges/*").collect()
    assert sorted(row.range for row in rows) == list(range(13))
    assert sorted((row.first, row["count"]) for row in rows if row.lane == 0) == [(n, 25) for n in range(0, 300, 25)]
    assert [(row.first, row["count"]) for row in rows if row.lane == 1] == [(0, CANARY_CASES)]
    before = small.totals()
    assert (before[0].result.tally.cases, before[0].ranges, before[1].caught) == (300, 12, 1)
    wave = whole_waves(tmp_path)[0]
    for file in wave.glob("*.parquet"):
        shutil.copy(file, file.with_name(f"again-{file.name}"))
    shutil.copytree(wave, wave.with_name("0000000-0000001"))
    after = small.totals()
    assert [(lane.result.tally, lane.effort.to_json()) for lane in after] == [
        (lane.result.tally, lane.effort.to_json()) for lane in before
    ]
    assert [finding.number for finding in after[0].result.findings] == [f.number for f in before[0].result.findings]


def test_a_campaign_whose_time_is_over_goes_on_later_to_the_same_end(small: Small, tmp_path: Path) -> None:
    def until_one_is_whole() -> float:
        return -1_000.0 if whole_waves(tmp_path) else 1_000.0

    small.run(until_one_is_whole)
    assert small.given_up > 0, "the other wave that was under way"
    some = small.totals()[0].result.tally
    assert 0 < some.cases < 300
    there = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")}
    small.run()
    assert {path: path.stat().st_mtime_ns for path in there} == there
    done = small.totals()[0].result.tally
    undisturbed = evolve(small, folder=Folder(small.session, str(tmp_path / "undisturbed")))
    undisturbed.run()
    assert done == undisturbed.totals()[0].result.tally


def test_what_an_executor_can_not_do_is_one_sentence(small: Small, tmp_path: Path) -> None:
    lane = evolve(small.plan.lanes[0], subject="tests.nowhere:Thing")
    for plan, sentence in (
        (evolve(small.plan, code="0" * 64), "this executor has other code of brokerlaw than the campaign"),
        (evolve(small.plan, subjects=("0" * 64,)), "this executor has other sources of mutant:last-coin-is-free"),
        (evolve(small.plan, lanes=(lane,)), "subject tests.nowhere:Thing: there is no module 'tests.nowhere' here"),
    ):
        with pytest.raises(Usage, match=f"a range could not be run on Spark: {sentence}"):
            evolve(small, plan=plan).run()
    assert whole_waves(tmp_path) == []


def test_files_that_were_spoiled_are_said_to_be(small: Small, tmp_path: Path) -> None:
    small.run()
    file = next(iter(tmp_path.rglob("part-*.parquet")))
    file.write_bytes(b"PAR1 this is none PAR1")
    with pytest.raises(Usage, match="ranges: can not be added up: "):
        small.totals()
    for text in ("{}", "[]", "\xff", "{", '{"version": 1}'):
        (tmp_path / "campaign.json").write_text(text, encoding="latin-1")
        with pytest.raises(Usage, match="this is no plan of a campaign"):
            small.folder.plan()


def test_a_file_is_written_over_and_nothing_else_stays(small: Small, tmp_path: Path) -> None:
    for text in ("one", "two: ä"):
        small.folder.write("cases/a.json", text)
        assert small.folder.read("cases/a.json") == text
    assert small.folder.read("cases/b.json") is None
    assert [str(path.relative_to(tmp_path)) for path in sorted(tmp_path.rglob("*"))] == ["cases", "cases/a.json"]
