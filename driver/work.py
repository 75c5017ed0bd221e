"""Work: what a supervised child runs by number, and what its parent says of a case that ended the child.

There are two kinds: cases drawn from a seed, and cases that were saved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from attrs import Factory, define, evolve, frozen

from ..spec.core import Case, Dialect, Subject, unsupported_by
from .checker import Breach, run
from .finding import Finding
from .loop import Job, Keep, Result, Runner, drawn_case


class Worker(Protocol):
    """Runs cases by number, in the child."""

    @property
    def unsupported(self) -> frozenset[str]:
        """The commands that the subject does not take."""

    def run(self, number: int) -> None: ...

    def take(self) -> Result:
        """What the cases since the last call gave."""


class Work(Protocol):
    """Cases that are known by number."""

    @property
    def job(self) -> Job: ...

    def start(self, keep: Keep) -> Worker: ...

    def case(self, number: int, unsupported: frozenset[str]) -> Case:
        """A case, without running anything."""

    def told(self, number: int, breach: Breach, case: Case) -> Finding:
        """What to report of a case that ended the child."""

    def watched(self, tell: Callable[[int], None]) -> Work:
        """The same cases; `tell` is given the number of each step before the subject takes it."""


@frozen
class Drawn:
    """The cases of a campaign."""

    job: Job

    def start(self, keep: Keep) -> Runner:
        return Runner(self.job, keep)

    def case(self, number: int, unsupported: frozenset[str]) -> Case:
        return drawn_case(self.job, number, unsupported)

    def told(self, number: int, breach: Breach, case: Case) -> Finding:
        before = len(self.case(number, frozenset()).commands)
        job = self.job
        return Finding(job.system.name, job.subject_name, breach, case, job.seed, number, commands_before=before)

    def watched(self, tell: Callable[[int], None]) -> Drawn:
        return Drawn(_watched(self.job, tell))


@frozen
class Saved:
    """Cases that were kept from earlier runs, each run with everything on."""

    job: Job
    cases: tuple[Case, ...]

    def start(self, keep: Keep) -> Worker:
        return _SavedRunner(self, keep)

    def case(self, number: int, unsupported: frozenset[str]) -> Case:
        return self.cases[number]

    def told(self, number: int, breach: Breach, case: Case) -> Finding:
        before = len(self.cases[number].commands)
        return Finding(self.job.system.name, self.job.subject_name, breach, case, commands_before=before)

    def watched(self, tell: Callable[[int], None]) -> Saved:
        return Saved(_watched(self.job, tell), self.cases)


@define
class _SavedRunner:
    work: Saved
    keep: Keep
    result: Result = Factory(Result)
    unsupported: frozenset[str] = frozenset()  # saved cases stay as they are

    def run(self, number: int) -> None:
        case, job = self.work.cases[number], self.work.job
        done = run(job.system, job.make_subject(), case, only=job.only, model=job.model)
        breach = done.breach
        if breach is not None and breach.kind == "memory":
            raise MemoryError(breach.evidence)
        self.result.tally.add(done.tally)
        self.result.tally.cases += 1
        self.result.tally.steps += len(case.commands)
        if breach is None:
            return
        key = " ".join(breach.key)
        self.result.broken[key] = self.result.broken.get(key, 0) + 1
        self.result.findings.append(self.work.told(number, breach, case))

    def take(self) -> Result:
        taken, self.result = self.result, Result()
        return taken


def _watched(job: Job, tell: Callable[[int], None]) -> Job:
    return evolve(job, make_subject=lambda: _Watched(job.make_subject(), tell))


class _Watched:
    """A subject that tells each step before it takes it."""

    def __init__(self, subject: Subject, tell: Callable[[int], None]) -> None:
        self._subject, self._tell, self._steps = subject, tell, 0
        self.unsupported = unsupported_by(subject)

    def reset(self, config: Any, dialect: Dialect) -> None:
        self._steps = 0
        self._tell(0)
        self._subject.reset(config, dialect)

    def apply(self, command: Any) -> Any:
        self._steps += 1
        self._tell(self._steps)
        return self._subject.apply(command)

    def snapshot(self) -> Any:
        return self._subject.snapshot()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._subject, name)
