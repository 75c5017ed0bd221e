"""What a campaign on Spark chooses, tells and gives up, without a Spark; and that its canaries can not be missed."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from brokerlaw.cli.fuzz import told
from brokerlaw.driver.campaign import Options
from brokerlaw.driver.child import Limits
from brokerlaw.driver.identity import code_version, source_hash
from brokerlaw.driver.loop import Job, run_cases
from brokerlaw.driver.subjects import find_entry
from brokerlaw.driver.supervisor import RANGE_SIZE
from brokerlaw.driver.tally import MAX_COVERAGE, OTHER, Tally
from brokerlaw.reference.table import TABLE, Entry
from brokerlaw.spark_fuzz.engine import LONGEST_SECONDS, TASK_SECONDS, Progress, range_size
from brokerlaw.spark_fuzz.plan import CANARY_CASES, Lane
from brokerlaw.spark_fuzz.worker import run_ranges

from .cli_subjects import TOY_ENTRY
from .test_spark_plan import A_PLAN


@given(rate=st.floats(0.01, 1e6), slots=st.integers(1, 500))
def test_a_task_takes_some_seconds_however_fast_the_subject_is(rate: float, slots: int) -> None:
    seconds = range_size(Options((TOY_ENTRY,), cases=10**12, jobs=1), rate, slots) / rate
    assert seconds <= max(LONGEST_SECONDS, 1 / rate)
    assert seconds >= min(1.0, TASK_SECONDS) or rate < 1
    small = range_size(Options((TOY_ENTRY,), cases=100, jobs=1), rate, slots)
    assert 1 <= small <= RANGE_SIZE


def test_a_short_budget_makes_short_tasks() -> None:
    options = Options((TOY_ENTRY,), cases=10**9, jobs=1)
    assert range_size(options, 5_000.0, 2) == 25_000
    assert range_size(evolve(options, time_budget_seconds=6.0), 5_000.0, 2) == 2_500
    assert range_size(options, 5.0, 2) == 25  # a stretch of 250 would take 50 seconds


def test_progress_is_one_line() -> None:
    now = Progress(3, 40, 1_500, 20_000, 300_000, 1, 12.0, 95.0)
    assert told(now) == "1,500 of 20,000 cases, 25,000 steps/s, 1 finding, 3 of 40 ranges, 12 s, 1 min 35 s left"
    assert told(evolve(now, findings=0, seconds_left=None)).endswith("steps/s, 3 of 40 ranges, 12 s")
    assert told(evolve(now, doing="starting Spark")) == "starting Spark …"


def test_a_range_gives_up_after_some_hangs_and_says_so() -> None:
    told_of: list[tuple[int, ...]] = []
    system = "tests.spark_subjects:TOY_WITH_CANARY"
    subject = "tests.spark_subjects:Stuck"
    plan = evolve(
        A_PLAN,
        lanes=(Lane(system, subject),),
        canaries=(),
        only=(),
        range_size=1_000,
        limits=Limits(case_seconds=0.2, max_hangs=2),
        code=code_version(),
        subjects=(source_hash(find_entry(system), system, subject),),
    )
    (row,) = run_ranges(plan, [0], 0, lambda *more: told_of.append(more))
    assert "2 cases took longer than 0.2 s each" in row
    assert [more[3] for more in told_of] == [1]


@pytest.mark.parametrize("entry", [entry for entry in TABLE if entry.canary], ids=lambda entry: entry.name)
def test_a_canary_breaks_something_in_so_many_cases_that_no_range_of_it_can_miss(entry: Entry) -> None:
    (mutant,) = [mutant for mutant in entry.mutants if mutant.name == entry.canary]
    cases = 12 * CANARY_CASES
    broken = sum(run_cases(Job(entry.system, mutant.make, mutant.name, seed=8), range(cases)).broken.values())
    assert broken >= cases / 2  # so that a range of 25 misses it once in thirty million


def test_a_subject_with_a_reason_of_its_own_each_time_does_not_fill_the_memory() -> None:
    tally = Tally()
    for number in range(MAX_COVERAGE + 50):
        tally.cover("Push", f"refused for the {number}th time", 2)
    more = Tally()
    more.cover("Push", "something new", 1)
    tally.add(more)
    assert len(tally.coverage) == MAX_COVERAGE + 1
    assert tally.coverage[f"Push > {OTHER}"] == 2 * 50 + 1
    assert sum(tally.coverage.values()) == 2 * (MAX_COVERAGE + 50) + 1
