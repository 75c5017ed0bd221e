"""Kills: which mutants the laws catch, how soon, and which law catches which mutant.

A law earns its place by killing a mutant; a mutant that nothing kills shows what the laws can not see.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from attrs import evolve, frozen

from ..reference.mutant import Mutant
from ..spec.core import TEXT, Case, System
from .checker import Checker, SubjectError, plan_for, run
from .finding import Finding
from .loop import Job, Runner, drawn_case
from .tally import BROKEN

MAX_STEPS = 200_000

KilledBy = Literal["law", "model", "exception", "nothing"]


@frozen
class Kill:
    """How one mutant fared."""

    mutant: str
    by: KilledBy
    law: str  # the law that names the kill; for a difference from the model what differed; else the exception
    expected: str  # the law that the mutant says it breaks
    steps: int  # until it was killed, or in all
    cases: int
    evidence: str
    expected_steps: int | None = None  # until the law that it says it breaks was broken; none: never was
    dialect: str = TEXT

    @property
    def killed(self) -> bool:
        return self.by != "nothing"

    @property
    def as_expected(self) -> bool:
        """Whether the law that the mutant names killed it."""
        return self.expected_steps is not None


def kill(system: System, mutant: Mutant, seed: int = 0, dialect: str | None = None, max_steps: int = MAX_STEPS) -> Kill:
    """Runs cases on a mutant until something catches it, and on until the law that it names does; in its own dialect
    unless another is named."""
    job = Job(system, mutant.make, mutant.name, seed, dialect or mutant.dialect)
    runner = Runner(job, lambda found: found)
    first: Kill | None = None
    number = 0
    while runner.result.tally.steps < max_steps:
        runner.run(number)
        number += 1
        if not runner.result.findings:
            continue
        found, steps = runner.result.findings.pop(), runner.result.tally.steps
        first = first or _first_kill(mutant, found, steps, number)
        broken = run(system, mutant.make(), found.case, model=False).breaches
        if any(breach.law == mutant.breaks for breach in (found.breach, *broken)):
            first = evolve(first, expected_steps=steps)
            break
    first = first or Kill(mutant.name, "nothing", "", mutant.breaks, runner.result.tally.steps, number, "")
    return evolve(first, dialect=job.dialect)


def _first_kill(mutant: Mutant, found: Finding, steps: int, cases: int) -> Kill:
    breach = found.breach
    by: KilledBy = "law" if breach.kind == "law" else "model" if breach.kind == "model" else "exception"
    return Kill(mutant.name, by, breach.law, mutant.breaks, steps, cases, breach.evidence)


def kill_table(
    system: System,
    mutants: Iterable[Mutant],
    seed: int = 0,
    dialect: str | None = None,
    max_steps: int = MAX_STEPS,
) -> tuple[Kill, ...]:
    """How each mutant fared."""
    return tuple(kill(system, mutant, seed, dialect, max_steps) for mutant in mutants)


@frozen
class Broke:
    """Every law that one mutant ever broke, in how many cases of how many, with every law asked at every step."""

    mutant: str
    laws: dict[str, int]
    errors: int  # cases that an exception ended
    cases: int
    steps: int


def matrix(
    system: System, mutants: Iterable[Mutant], seed: int = 0, dialect: str | None = None, steps: int = 20_000
) -> tuple[Broke, ...]:
    """Which laws fire for each mutant, in its own dialect unless another is named, the model set aside.  A case goes on
    past a broken law, to its end: what it breaks later counts too."""
    return tuple(_broke(system, mutant, seed, dialect or mutant.dialect, steps) for mutant in mutants)


def _broke(system: System, mutant: Mutant, seed: int, dialect: str, max_steps: int) -> Broke:
    job = Job(system, mutant.make, mutant.name, seed, dialect, model=False)
    laws: dict[str, int] = {}
    errors = steps = number = 0
    while steps < max_steps:
        case = drawn_case(job, number)
        broken, ended = _broken_in(job, case)
        for law in broken:
            laws[law] = laws.get(law, 0) + 1
        errors += ended
        steps += len(case.commands)
        number += 1
    return Broke(mutant.name, dict(sorted(laws.items())), errors, number, steps)


def _broken_in(job: Job, case: Case) -> tuple[list[str], bool]:
    """The laws that a case breaks, and whether an exception ended it."""
    subject = job.make_subject()
    plan = plan_for(job.system, job.system.dialect(case.dialect), subject)
    checker = Checker(plan, subject, case.config, model=False)
    ended = False
    try:
        checker.start()
        for command in case.commands:
            checker.step(command)
    except SubjectError:
        ended = True
    return [law for law, counts in checker.tally.laws.items() if counts[BROKEN]], ended


def sole_killers(rows: Iterable[Broke], laws: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """For each law the mutants that break it and no other one: what would go unseen without it."""
    alone = {row.mutant: next(iter(row.laws)) for row in rows if len(row.laws) == 1}
    return {law: tuple(mutant for mutant, only in alone.items() if only == law) for law in laws}
