"""The seeded driver: the same cases everywhere, whatever runs them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import attrs
import pytest

from brokerlaw.driver.checker import run
from brokerlaw.driver.finding import fewest
from brokerlaw.driver.loop import Job, Result, drawn_case, run_cases
from brokerlaw.driver.supervisor import supervise, supervise_many
from brokerlaw.spec.core import Case, always

from .toy import TOY, Config, Insert, LastCoinIsFree, MaximumPlusOne, Push, Snapshot, Tick, Turnstile, mutant

ROOT = Path(__file__).parent.parent
CASES = 300


def _job(make: Any = Turnstile, **more: Any) -> Job:
    return Job(TOY, make, "toy", seed=7, **more)


def test_the_reference_breaks_nothing_and_puts_every_law_to_the_test() -> None:
    result = run_cases(_job(), range(CASES))
    assert result.broken == {}
    assert all(held > 0 for held, _, _ in result.tally.laws.values())
    assert all(result.tally.reached.values())


@pytest.mark.parametrize("make", [Turnstile, LastCoinIsFree])
def test_the_digest_is_the_same_however_the_cases_are_cut_into_ranges(make: Any) -> None:
    whole = run_cases(_job(make), range(CASES)).tally
    parts = [run_cases(_job(make), range(first, CASES, 7)).tally for first in range(7)]
    added = parts[0]
    for part in parts[1:]:
        added.add(part)
    assert added.to_json() == whole.to_json()


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_digest_is_the_same_in_this_process_and_in_children(jobs: int) -> None:
    here = run_cases(_job(LastCoinIsFree), range(CASES)).tally
    there = supervise_many(_job(LastCoinIsFree), CASES, jobs=jobs, range_size=43).tally
    assert there.to_json() == here.to_json()
    assert supervise(_job(LastCoinIsFree), 0, CASES).tally.to_json() == here.to_json()


def test_the_digest_does_not_depend_on_the_order_of_hashes() -> None:
    program = (
        "from brokerlaw.driver.loop import Job, run_cases\n"
        "from tests.toy import TOY, LastCoinIsFree\n"
        f"print(run_cases(Job(TOY, LastCoinIsFree, 'toy', seed=7), range({CASES})).tally.digest_hex())"
    )
    digests = set()
    for seed in ("0", "1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        digests.add(done.stdout.strip())
    assert digests == {run_cases(_job(LastCoinIsFree), range(CASES)).tally.digest_hex()}


def test_another_seed_another_subject_or_one_case_less_gives_another_digest() -> None:
    digest = run_cases(_job(), range(CASES)).tally.digest_hex()
    assert run_cases(Job(TOY, Turnstile, "toy", seed=8), range(CASES)).tally.digest_hex() != digest
    assert run_cases(_job(MaximumPlusOne), range(CASES)).tally.digest_hex() != digest
    assert run_cases(_job(), range(CASES - 1)).tally.digest_hex() != digest


def test_a_case_is_drawn_alike_with_and_without_a_subject() -> None:
    sent: list[Any] = []

    class Recording(Turnstile):
        def apply(self, command: Any) -> Any:
            sent.append(command)
            return super().apply(command)

    for number in range(30):
        sent.clear()
        run_cases(_job(Recording), [number])
        assert drawn_case(_job(), number).commands == tuple(sent)


def test_results_travel_as_json() -> None:
    result = run_cases(_job(mutant("only-first-purse-ages")), range(50))
    result.ended, result.ended_count, result.stopped = result.findings[:1], {"hang time limit": 1}, "a reason"
    assert Result.from_json(result.to_json(), TOY) == result


def test_findings_are_one_of_each_shape_with_the_lowest_numbers_in_any_order() -> None:
    found = run_cases(_job(LastCoinIsFree, max_findings=1_000), range(CASES)).findings
    kept = fewest(found, 5)
    assert len(kept) == 5
    assert len({finding.shape for finding in kept}) == 5
    assert fewest(reversed(found), 5) == kept
    assert fewest([*fewest(found[::2], 5), *fewest(found[1::2], 5)], 5) == kept


class WrongSnapshot(Turnstile):
    def snapshot(self) -> Snapshot:
        return None  # type: ignore[return-value]


class StrangeCredit(Turnstile):
    def snapshot(self) -> Snapshot:
        return super().snapshot()._replace(credits=(("ann", "many"),))  # type: ignore[arg-type]


class Incomparable:
    def __ne__(self, other: object) -> bool:
        raise ValueError("no order here")

    __hash__ = None  # type: ignore[assignment]


class StrangeOutcome(Turnstile):
    def apply(self, command: Any) -> Any:
        return Incomparable()


@pytest.mark.parametrize("make", [WrongSnapshot, StrangeCredit, StrangeOutcome])
def test_a_subject_that_shows_nonsense_is_a_finding_and_not_an_error_of_ours(make: Any) -> None:
    result = run_cases(_job(make), range(20))
    assert sum(result.broken.values()) == 20
    assert all(finding.breach.kind in ("error", "checker", "model") for finding in result.findings)


def test_a_case_that_looks_at_its_end_looks_there_though_commands_are_left_out() -> None:
    class NoTicks(MaximumPlusOne):
        unsupported = frozenset({"Tick"})

    case = Case("toy", Config(max_credit_coins=1), [Insert("ann", 2), Tick(), Push("bob")], observe=0)
    seen = run(TOY, NoTicks(), case, model=False)
    assert [breach.law for breach in seen.breaches] == ["credit_stays_within_the_maximum"]


def test_a_command_that_a_subject_does_not_take_is_sent_neither_in_a_case_nor_to_bring_it_to_rest() -> None:
    missing = frozenset({"Reset", "Tick"})
    sent = {type(command).__name__ for number in range(50) for command in drawn_case(_job(), number, missing).commands}
    assert sent
    assert sent.isdisjoint(missing)


def test_a_law_that_raises_is_reported_by_its_own_name_and_not_blamed_on_the_subject() -> None:
    @always("nowhere", reads=("passed",))
    def a_law_with_a_slip(config: Any, now: Any) -> bool:
        """A law that can not be asked."""
        raise ZeroDivisionError("a slip of ours")

    system = attrs.evolve(TOY, laws=(*TOY.laws, a_law_with_a_slip))
    result = run_cases(Job(system, Turnstile, "toy", seed=7, checked=True), range(3))
    assert {finding.breach.key for finding in result.findings} == {("checker", "a_law_with_a_slip")}
