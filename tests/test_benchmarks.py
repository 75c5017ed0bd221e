"""Every benchmark runs, at tiny sizes, and ends with its figure.  No time is asserted: tests share their machine."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import BENCHMARKS, main, parser
from benchmarks.driver import QUICK, measure
from benchmarks.growth import Bench, cursor_ranks_at, entry_cache_at
from benchmarks.hypothesis_runs import Record, recorded, run_hypothesis
from benchmarks.kill import Caps, by_driver, by_hypothesis, sample
from benchmarks.measure import Spread, table
from benchmarks.pip430 import Sizes, by_size, by_time
from benchmarks.pip430_hits import Sizes as HitSizes
from benchmarks.pip430_hits import simulate
from benchmarks.pip430_memory import amplification
from benchmarks.roomy import Roomy, residents, roomy_cursor_ranks, roomy_entry_cache
from brokerlaw.driver.loop import Job, drawn_case
from brokerlaw.reference.entry_cache import CacheManager, EntryCache
from brokerlaw.reference.legacy.entry_cache import LegacyEntryCache, LegacyManager
from brokerlaw.reference.table import TABLE

FIGURES = {
    "driver": r"driver against Hypothesis: entry_cache [\d.]+x \(.*\), cursor_ranks [\d.]+x \(.*\)",
    "kill": r"median to kill, driver against Hypothesis: entry_cache .*, cursor_ranks .*",
    "growth": r"growth: entry_cache light path .* by decade\); cursor_ranks light path .* by decade\)",
    "pip430": r"pip430, legacy against new: a check by time [\d.,]+x operations .* copies 1x",
    "spark": r"spark: 1 core [\d.]+ of the plain driver, 2 cores [\d.]+ of one; .* worker x[\d.]+; tasks .* s",
}
STARTS_SPARK = pytest.mark.spark, pytest.mark.nightly
RUN = [pytest.param(name, marks=STARTS_SPARK if name == "spark" else ()) for name in FIGURES]
ROOMY = [roomy_entry_cache(), roomy_cursor_ranks()]


def _last_line(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out.splitlines()[-1]


def test_every_benchmark_has_its_figure() -> None:
    assert list(FIGURES) == list(BENCHMARKS)


@pytest.mark.parametrize("name", RUN)
def test_a_benchmark_ends_with_its_figure(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--quick"]) == 0
    assert re.fullmatch(FIGURES[name], _last_line(capsys))


def test_without_a_name_they_are_listed(root: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks"], cwd=root, capture_output=True, text=True, timeout=60, check=True
    )
    assert [line.split()[0] for line in ran.stdout.splitlines()[:-1]] == list(BENCHMARKS)


def test_the_commands_of_the_docs_are_commands(root: Path) -> None:
    text = (root / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    commands = re.findall(r"^python -m benchmarks ?(.*?)(?: +#.*)?$", text, re.MULTILINE)
    assert {*BENCHMARKS, "all", None} == {parser().parse_args(command.split()).name for command in commands}


@pytest.mark.parametrize("wrong", [["no-such"], ["kill", "--mutants", "-1"], ["kill", "--mutants", "some"]])
def test_what_it_does_not_know_ends_it_with_2(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(wrong)
    assert ended.value.code == 2
    assert "error: argument" in capsys.readouterr().err


# ---- Both engines get the same, and enough of it --------------------------------------------------------------------


@pytest.mark.parametrize("roomy", ROOMY, ids=lambda roomy: roomy.name)
def test_a_roomy_system_holds_eight_or_more(roomy: Roomy) -> None:
    job = Job(roomy.system, roomy.reference, "reference", 0)
    counts = sorted(residents(roomy, [drawn_case(job, number) for number in range(40)]))
    assert counts[len(counts) // 2] >= 8


@pytest.mark.parametrize("roomy", ROOMY, ids=lambda roomy: roomy.name)
def test_the_rates_are_of_steps_that_were_run(roomy: Roomy) -> None:
    figures = measure(roomy, QUICK)
    assert all(len(each.values) == QUICK.rounds for each in (figures.light, figures.checked, figures.hypothesis))
    assert min(figures.light.values + figures.checked.values + figures.hypothesis.values) > 0
    assert any(len(case.commands) == QUICK.steps - 1 for case in figures.hypothesis_cases)  # the first step starts it


def test_a_record_counts_every_step_of_every_run() -> None:
    roomy, applied = roomy_cursor_ranks(), 0

    class Counted:
        def __init__(self) -> None:
            self.subject = roomy.reference()
            self.reset, self.snapshot = self.subject.reset, self.subject.snapshot

        def apply(self, command: Any) -> Any:
            nonlocal applied
            applied += 1
            return self.subject.apply(command)

    record = Record()
    run_hypothesis(recorded(roomy.system, Counted, record), 5, 10, 1)
    assert record.steps == applied > 0


# ---- Kills ----------------------------------------------------------------------------------------------------------


def test_a_sample_of_mutants_is_the_same_each_time() -> None:
    entry = TABLE[0]
    assert sample(entry, 5) == sample(entry, 5)
    assert len({mutant.name for mutant in sample(entry, 5)}) == 5
    assert sample(entry, None) == list(entry.mutants)


def test_both_engines_stop_where_a_mutant_is_caught() -> None:
    entry = next(entry for entry in TABLE if entry.name == "cursor_ranks")
    mutant = next(mutant for mutant in entry.mutants if mutant.name == "slowest-is-fastest")
    caps = Caps(driver_steps=20_000, examples=100)
    for caught in (by_driver(entry.system, mutant, caps), by_hypothesis(entry.system, mutant, caps)):
        assert 0 < caught.steps < 20_000
        assert caught.seconds > 0


# ---- Growth ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [entry_cache_at, cursor_ranks_at])
@pytest.mark.parametrize("size", [10, 60])
def test_a_workload_stays_as_large_as_it_says(make: Any, size: int) -> None:
    bench = Bench(make(size, 8))
    for state in (bench.state, bench.model_alone()):
        assert abs(bench.work.resident(state) - size) <= 1
    bench.light(bench.filled(), look_every=4)  # raises where reference and model differ


# ---- PIP-430's claims, counted --------------------------------------------------------------------------------------

SMALL = Sizes(rounds=1, topics=60, entries=240, checks=4, leaving=3)


def test_work_by_time_is_what_expired_in_the_new_design_and_every_topic_in_the_legacy_one() -> None:
    new, legacy = by_time(CacheManager, SMALL, True), by_time(LegacyManager, SMALL, True)
    assert new.removed == legacy.removed > 0
    assert new.work == new.removed
    assert legacy.work >= SMALL.topics


def test_the_new_design_removes_the_oldest_of_all_and_the_legacy_one_does_not() -> None:
    new, legacy = by_size(90)(CacheManager, SMALL, True), by_size(90)(LegacyManager, SMALL, True)
    assert new.oldest == 1.0
    assert legacy.oldest is not None
    assert legacy.oldest < 1.0


def test_expected_reads_outlive_the_time_to_live() -> None:
    sizes = HitSizes(topics=20, ms=80, ttl_ms=20, behind_ms=30, cached_entries=2_000, stagger_ms=4)
    new, legacy = simulate(EntryCache, sizes), simulate(LegacyEntryCache, sizes)
    assert new.reads == legacy.reads
    assert new.rate("behind") == 1.0
    assert legacy.rate("behind") == 0.0


def test_a_copy_holds_what_it_accounts_for_and_a_slice_its_whole_buffer() -> None:
    assert amplification(2**20, copies=True, share=0.1, parted=True, entries=400) == 1.0
    small, large = [amplification(each, False, share=0.1, parted=True, entries=400) for each in (2**14, 2**20)]
    assert 1.0 < small < large


# ---- Measuring ------------------------------------------------------------------------------------------------------


def test_a_spread_shows_its_median_and_its_ends() -> None:
    assert Spread.of([9.0, 2.0, 4.0]).times() == "4.0x (2.0 to 9.0)"


def test_columns_of_a_table_line_up() -> None:
    assert table(("part", "us"), [("a", "1.00"), ("model", "10.5")]).splitlines() == [
        "part     us",
        "a      1.00",
        "model  10.5",
    ]
