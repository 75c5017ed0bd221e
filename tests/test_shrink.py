"""Shrinking: small, 1-minimal, repeatable, and the same thing still breaks."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from brokerlaw.driver.checker import Breach, run
from brokerlaw.driver.finding import Finding
from brokerlaw.driver.loop import Job, run_cases
from brokerlaw.driver.shrink import shrink, shrink_case
from brokerlaw.reference.mutant import Mutant
from brokerlaw.spec.core import Case, fields_of

from .toy import MUTANTS, TOY, Config, Insert, OnlyFirstPurseAges, Push, Reset, Snapshot, Tick, Turnstile


def _findings(make: Any, count: int = 150, **more: Any) -> list[Finding]:
    return run_cases(Job(TOY, make, "toy", seed=3, **more), range(count)).findings


def _breaks(make: Any, case: Case, key: tuple[str, str]) -> bool:
    return any(breach.key == key for breach in run(TOY, make(), case).breaches)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_no_command_can_be_left_out_and_no_field_made_simpler(mutant: Mutant) -> None:
    for finding in _findings(mutant.make):
        small = shrink(TOY, mutant.make, finding)
        case, key = small.case, small.breach.key
        assert small.shrunk
        assert key == finding.breach.key == ("law", mutant.breaks)
        assert _breaks(mutant.make, case, key)
        for index, command in enumerate(case.commands):
            rest = case.commands[:index] + case.commands[index + 1 :]
            assert not _breaks(mutant.make, case.with_commands(rest), key)
            for f in fields_of(type(command)):
                for offer in f.domain.simpler(getattr(command, f.name)):
                    simpler = (*case.commands[:index], evolve(command, **{f.name: offer}), *case.commands[index + 1 :])
                    assert not _breaks(mutant.make, case.with_commands(simpler), key)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_breach_is_the_one_of_the_small_case_at_its_last_command(mutant: Mutant) -> None:
    for finding in _findings(mutant.make):
        small = shrink(TOY, mutant.make, finding)
        assert small.breach in run(TOY, mutant.make(), small.case).breaches
        assert small.breach.step == len(small.case.commands)
        assert small.commands_before == len(finding.case.commands)


def test_the_same_finding_shrinks_in_the_same_way() -> None:
    (finding, *_) = _findings(OnlyFirstPurseAges)
    assert shrink(TOY, OnlyFirstPurseAges, finding) == shrink(TOY, OnlyFirstPurseAges, finding)


def test_attempts_are_bounded_and_told() -> None:
    finding = max(_findings(OnlyFirstPurseAges), key=lambda finding: len(finding.case.commands))
    attempts = []
    small = shrink(TOY, OnlyFirstPurseAges, finding, max_attempts=5, on_attempt=lambda: attempts.append(1))
    assert len(attempts) == 5
    assert _breaks(OnlyFirstPurseAges, small.case, finding.breach.key)


def test_a_finding_that_does_not_repeat_comes_back_as_it_was() -> None:
    (finding, *_) = _findings(OnlyFirstPurseAges)
    assert shrink(TOY, Turnstile, finding) == finding


def test_a_case_that_ended_its_process_is_only_cut_behind_its_step() -> None:
    case = Case("toy", Config(), [Insert("cid", 9), Tick(), Reset()])
    finding = Finding("toy", "toy", Breach("hang", "time limit", 2, "it took longer than 1 s"), case)
    cut = shrink(TOY, Turnstile, finding, on_attempt=lambda: pytest.fail("it was run"))
    assert cut.case.commands == (Insert("cid", 9), Tick())
    assert not cut.shrunk


def test_a_bug_that_looking_hides_is_shrunk_without_looking() -> None:
    class MendedByLooking(Turnstile):
        """Forgets to return a coin unless somebody has looked since the last tick."""

        looked = False

        def snapshot(self) -> Snapshot:
            self.looked = True
            return super().snapshot()

        def tick(self) -> int:
            looked, self.looked = self.looked, False
            returned = super().tick()
            return returned if looked or returned == 0 else returned - 1

    found = _findings(MendedByLooking, 300)
    assert found
    for finding in found:
        small = shrink(TOY, MendedByLooking, finding)
        assert small.case.observe == finding.case.observe != 1
        assert len(small.case.commands) <= len(finding.case.commands)
        assert _breaks(MendedByLooking, small.case, finding.breach.key)


def test_commands_that_a_subject_does_not_take_are_left_out() -> None:
    class NoReset(OnlyFirstPurseAges):
        unsupported = frozenset({"Reset"})

    commands = [Reset(), Insert("ann", 1), Reset(), Insert("bob", 1), Reset(), Tick(), Reset()]
    breach = Breach("law", "idle_credit_comes_back", 3, "")
    small = shrink(TOY, NoReset, Finding("toy", "toy", breach, Case("toy", Config(idle_ticks=1), commands)))
    assert small.case.commands == (Insert("ann", 1), Insert("bob", 1), Tick())


COMMANDS = st.one_of(
    st.builds(Insert, st.sampled_from(["ann", "bob", "cid"]), st.integers(1, 1_000)),
    st.builds(Push, st.sampled_from(["ann", "bob", "cid"])),
    st.just(Tick()),
)


def _embedded_at(needle: tuple[Any, ...], commands: tuple[Any, ...]) -> int | None:
    """The step at which all of `needle` has been seen, in this order."""
    wanted = list(needle)
    for step, command in enumerate(commands, 1):
        if wanted and command == wanted[0]:
            wanted.pop(0)
        if not wanted:
            return step
    return None


@given(st.lists(COMMANDS, min_size=1, max_size=6), st.data())
def test_what_must_be_there_is_all_that_stays(needle: list[Any], data: st.DataObject) -> None:
    """Whatever stands between the commands that matter: a predicate that only grows with more commands has one
    1-minimal answer here, the needle itself."""
    hay: list[Any] = []
    for command in needle:
        hay += [*data.draw(st.lists(COMMANDS, max_size=12)), command]
    hay += data.draw(st.lists(COMMANDS, max_size=12))

    def breaks(case: Case) -> Breach | None:
        step = _embedded_at(tuple(needle), case.commands)
        return None if step is None else Breach("law", "needle", step, "all of it is there")

    small, breach = shrink_case(Case("toy", Config(idle_ticks=1), hay), breaks)
    assert small.commands == tuple(needle)
    assert small.config == Config()
    assert breach is not None
    assert breach.step == len(needle)
