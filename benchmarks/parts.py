"""Where a step's time goes: the parts of the driver's loop, each run alone on the same cases.

The parts that cannot be run alone are differences: drawing commands needs the model's states, and the laws need the
steps that they judge.  What is left of the whole is the loop itself, coverage counts and bookkeeping.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection
from typing import Any

from attrs import frozen

from brokerlaw.driver.checker import Checker, Plan, plan_for
from brokerlaw.driver.digest import case_hash
from brokerlaw.driver.loop import Job, drawn_case, run_cases
from brokerlaw.driver.swarm import draw_swarm
from brokerlaw.spec.core import Case

from .measure import cpu

LOOKS_LAST = 0  # how a case says that it looks at the last state alone


@frozen
class Part:
    """One part of a step's time."""

    name: str
    us: float  # microseconds for each step, over all cases


@frozen
class Recorded:
    """A case with what it showed, ready to be run in parts."""

    case: Case
    outcomes: list[Any]
    expected: list[Any]
    looks: frozenset[int]  # the steps after which the loop compares snapshots

    @property
    def checked(self) -> bool:
        return self.case.observe == 1


def shares(job: Job, numbers: Collection[int], rounds: int) -> list[Part]:
    """The parts of a step's time, the median of so many rounds each; the last one is the whole."""
    plan = plan_for(job.system, job.system.dialect(job.dialect), job.make_subject(), job.only)
    cases = [_record(job, plan, drawn_case(job, each)) for each in numbers]
    steps = sum([len(each.case.commands) for each in cases])
    works = _works(job, plan, cases, numbers)
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            seconds[name].append(cpu(work)[0])
    per_round = [{name: each[at] / steps * 1e6 for name, each in seconds.items()} for at in range(rounds)]

    def part(name: str, share: Callable[[dict[str, float]], float]) -> Part:
        """Differences are taken within a round, where both sides met the same noise."""
        return Part(name, statistics.median([share(us) for us in per_round]))

    parts = [
        part("drawing the case (config, swarm)", lambda us: us["swarm"]),
        part("drawing commands", lambda us: us["drawn"] - us["swarm"] - us["model"]),
        part("model", lambda us: us["model"]),
        part("subject", lambda us: us["subject"]),
        part("comparing outcomes and snapshots, hashing", lambda us: us["compared"] + us["looked"] - us["unlooked"]),
        part(
            "laws, in the checked cases",
            lambda us: us["checked"] - us["model of checked"] - us["subject of checked"],
        ),
    ]
    whole = part("whole", lambda us: us["whole"])
    rest = whole.us - sum([each.us for each in parts])
    return [*parts, Part("the loop itself, counting coverage", rest), whole]


def _record(job: Job, plan: Plan, case: Case) -> Recorded:
    subject, model = job.make_subject(), job.system.model
    subject.reset(case.config, plan.dialect)
    state, outcomes, expected = model.start(case.config), [], []
    for command in case.commands:
        outcomes.append(subject.apply(command))
        state, answer = model.step(case.config, state, command, plan.dialect)
        expected.append(answer)
    count = len(case.commands)
    every = case.observe
    looks = {count} if every == LOOKS_LAST else {*range(every, count + 1, every), count}
    return Recorded(case, outcomes, expected, frozenset() if every == 1 else frozenset(looks))


def _works(job: Job, plan: Plan, cases: list[Recorded], numbers: Collection[int]) -> dict[str, Callable[[], object]]:
    """The pieces of work to be timed."""
    checked = [each for each in cases if each.checked]
    light = [each for each in cases if not each.checked]
    return {
        "swarm": lambda: [draw_swarm(job.system, job.seed, each) for each in numbers],
        "drawn": lambda: [drawn_case(job, each) for each in numbers],
        "model": lambda: _model(job, plan, cases),
        "subject": lambda: _subject(job, plan, cases),
        "compared": lambda: _compare(cases),
        "looked": lambda: _look(job, plan, light, True),
        "unlooked": lambda: _look(job, plan, light, False),
        "checked": lambda: _check(job, plan, checked),
        "model of checked": lambda: _model(job, plan, checked),
        "subject of checked": lambda: _subject(job, plan, checked),
        "whole": lambda: run_cases(job, numbers),
    }


def _model(job: Job, plan: Plan, cases: list[Recorded]) -> None:
    dialect, model = plan.dialect, job.system.model
    steps = {command: action.step for command, action in model.by_command.items()}
    for recorded in cases:
        config = recorded.case.config
        state = model.start(config)
        for command in recorded.case.commands:
            state, _ = steps[type(command)](config, state, command, dialect)


def _subject(job: Job, plan: Plan, cases: list[Recorded]) -> None:
    subject = job.make_subject()
    apply = subject.apply
    for recorded in cases:
        subject.reset(recorded.case.config, plan.dialect)
        for command in recorded.case.commands:
            apply(command)


def _compare(cases: list[Recorded]) -> None:
    for number, recorded in enumerate(cases):
        for outcome, expected in zip(recorded.outcomes, recorded.expected, strict=True):
            assert outcome == expected
        case_hash(number, recorded.outcomes, [])


def _look(job: Job, plan: Plan, cases: list[Recorded], looking: bool) -> None:
    """Subject and model side by side; with looking, their snapshots are compared as often as the case says."""
    subject, model = job.make_subject(), job.system.model
    for recorded in cases:
        config, looks = recorded.case.config, recorded.looks if looking else ()
        subject.reset(config, plan.dialect)
        state = model.start(config)
        for step, command in enumerate(recorded.case.commands, 1):
            subject.apply(command)
            state, _ = model.step(config, state, command, plan.dialect)
            if step in looks:
                seen, view = subject.snapshot(), model.view(state)
                assert all(seen[index] == view[index] for index in plan.compared)


def _check(job: Job, plan: Plan, cases: list[Recorded]) -> None:
    subject = job.make_subject()
    for recorded in cases:
        checker = Checker(plan, subject, recorded.case.config)
        checker.start()
        for command in recorded.case.commands:
            checker.step(command)
