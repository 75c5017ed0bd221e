"""The doctor: is a subject fit to be tested?

Laws and model judge what a subject does.  The doctor asks what they take for granted: that a reset forgets everything,
that the same case gives the same outcomes, that looking changes nothing, that answers are plain data, that a clone is
faithful.  A subject that fails here gives findings that mislead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import attrs
from attrs import field, frozen

from ..spec.core import Case, Cloneable, System, unobserved_by, unsupported_by
from .examinations import EXAMINATIONS, EXAMINATIONS_OF_CLONES, Bench, Examination, Problem, Raised, Tell
from .loop import Job, MakeSubject, drawn_case

CASES = 50


@frozen
class Diagnosis:
    """One question, and its answer; `ok` is none where it is for information only."""

    name: str
    ok: bool | None
    sentence: str
    case: Case | None = None  # the one that shows it


def _nobody(*_: object) -> None: ...


@frozen
class Doctor:
    """Examines a subject on cases drawn from a seed.  `starting` is told the number of each case before it is run,
    `tell` each call before it is made."""

    system: System
    make_subject: MakeSubject
    seed: int = 0
    cases: int = CASES
    dialect: str = "text"
    starting: Callable[[int], None] = _nobody
    tell: Tell = _nobody
    known: list[Raised] = field(factory=list)  # exceptions that were reported: each is reported once

    def diagnoses(self) -> Iterator[Diagnosis]:
        """The answers one by one, each with the first case that shows a problem."""
        subject = self.make_subject()
        unsupported = unsupported_by(subject)
        drawn = tuple(self.case(number, unsupported) for number in range(self.cases))
        bench = Bench(self.system, self.system.dialect(self.dialect), self.make_subject, drawn, self.tell)
        for name, healthy, ask in EXAMINATIONS:
            yield self._ask(bench, name, healthy, ask)
        if isinstance(subject, Cloneable):
            for name, healthy, ask in EXAMINATIONS_OF_CLONES:
                yield self._ask(bench, name, healthy, ask)
        else:
            yield Diagnosis("clone", None, "it has no clone and fingerprint, so the explorer can not exhaust it")
        yield _listed("unsupported", "takes every command", "does not take", sorted(unsupported))
        yield _listed("unobserved", "shows every part", "does not show", sorted(unobserved_by(subject)))

    def case(self, number: int, unsupported: frozenset[str]) -> Case:
        job = Job(self.system, self.make_subject, "examined", self.seed, self.dialect)
        return attrs.evolve(drawn_case(job, number, unsupported), observe=1)

    def _ask(self, bench: Bench, name: str, healthy: str, ask: Examination) -> Diagnosis:
        examined, first = 0, len(self.known)
        told: Diagnosis | None = None
        for number, case in enumerate(bench.cases):
            self.starting(number)
            try:
                problem = _asked(ask, bench, case)
            except Raised as raised:
                if raised.place not in [known.place for known in self.known]:
                    self.known.append(raised)
                    told = told or _wrong(name, Problem(str(raised), raised.step), case)
                continue
            examined += 1
            if problem is not None:
                return told or _wrong(name, problem, case)
        if told is not None:
            more = len(self.known) - first - 1
            also = f"; {more} more exception{'s' if more > 1 else ''} in other cases" if more else ""
            return attrs.evolve(told, sentence=f"{told.sentence}{also}")
        if not examined:
            return Diagnosis(name, None, "not examined: every case ends with an exception that is told above")
        rest = "" if examined == len(bench.cases) else f" of {len(bench.cases)}; it raises in the others"
        return Diagnosis(name, True, f"{healthy} ({examined} cases{rest})")


def examine(
    system: System, make_subject: MakeSubject, seed: int = 0, cases: int = CASES, dialect: str = "text"
) -> list[Diagnosis]:
    """Examines a subject in this process: for one that is known to come back from every call."""
    return list(Doctor(system, make_subject, seed, cases, dialect).diagnoses())


def _asked(ask: Examination, bench: Bench, case: Case) -> Problem | None:
    """What an examination says; where what the subject gave can not even be looked at, that is the subject's too."""
    try:
        return ask(bench, case)
    except (MemoryError, Raised):
        raise
    except Exception as error:
        raise Raised("judging what it gave", error, len(case.commands)) from error


def _wrong(name: str, problem: Problem, case: Case) -> Diagnosis:
    return Diagnosis(name, False, problem.sentence, case.with_commands(case.commands[: problem.step]))


def _listed(name: str, none: str, some: str, names: list[str]) -> Diagnosis:
    return Diagnosis(name, None, f"it {some} {', '.join(names)}" if names else f"it {none}")
