"""The doctor: is a subject fit to be tested?

Laws and model judge what a subject does.  The doctor asks what they take for granted: that a reset forgets everything,
that the same case gives the same outcomes, that looking changes nothing, that answers are plain data, that a clone is
faithful.  A subject that fails here gives findings that mislead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs
from attrs import frozen

from ..spec.core import (
    NOT_OBSERVED,
    Case,
    Cloneable,
    Dialect,
    Subject,
    System,
    unobserved_by,
    unsupported_by,
)
from .loop import Job, MakeSubject, drawn_case

CASES = 50


@frozen
class Diagnosis:
    """One question, and its answer; `ok` is none where it is for information only."""

    name: str
    ok: bool | None
    sentence: str
    case: Case | None = None  # the one that shows it


@frozen
class Problem:
    """What is wrong, and after how many commands it shows."""

    sentence: str
    step: int


@frozen
class Bench:
    """What the examinations work with."""

    system: System
    dialect: Dialect
    make: MakeSubject
    cases: tuple[Case, ...]

    def started(self, case: Case) -> Subject:
        subject = self.make()
        subject.reset(case.config, self.dialect)
        return subject

    def outcomes(self, subject: Subject, case: Case, look: bool = False) -> Iterator[Any]:
        """What a subject answers to a case, from its reset on; an exception is its last answer."""
        try:
            subject.reset(case.config, self.dialect)
            for command in case.commands:
                yield subject.apply(command)
                if look:
                    subject.snapshot()
        except Exception as error:
            yield f"raised {_shown(error)}"


Examination = Callable[[Bench, Case], Problem | None]


def examine(
    system: System, make_subject: MakeSubject, seed: int = 0, cases: int = CASES, dialect: str = "text"
) -> list[Diagnosis]:
    """Examines a subject on cases drawn from a seed; each answer comes with the first case that shows a problem."""
    subject = make_subject()
    unsupported = unsupported_by(subject)
    job = Job(system, make_subject, "examined", seed, dialect)
    drawn = tuple(drawn_case(job, number, unsupported) for number in range(cases))
    bench = Bench(system, system.dialect(dialect), make_subject, tuple(attrs.evolve(case, observe=1) for case in drawn))
    found = [_ask(bench, name, healthy, ask) for name, healthy, ask in EXAMINATIONS]
    if isinstance(subject, Cloneable):
        found += [_ask(bench, name, healthy, ask) for name, healthy, ask in EXAMINATIONS_OF_CLONES]
    else:
        found.append(Diagnosis("clone", None, "it has no clone and fingerprint, so the explorer can not exhaust it"))
    found.append(_listed("unsupported", "takes every command", "does not take", sorted(unsupported)))
    found.append(_listed("unobserved", "shows every part", "does not show", sorted(unobserved_by(subject))))
    return found


def _ask(bench: Bench, name: str, healthy: str, ask: Examination) -> Diagnosis:
    for case in bench.cases:
        try:
            problem = ask(bench, case)
        except Exception as error:
            problem = Problem(f"it raised {_shown(error)}", len(case.commands))
        if problem is not None:
            shown = case.with_commands(case.commands[: problem.step])
            return Diagnosis(name, False, problem.sentence, shown)
    return Diagnosis(name, True, f"{healthy} ({len(bench.cases)} cases)")


def _listed(name: str, none: str, some: str, names: list[str]) -> Diagnosis:
    return Diagnosis(name, None, f"it {some} {', '.join(names)}" if names else f"it {none}")


# ---- The examinations -----------------------------------------------------------------------------------------------


def _commands_are_total(bench: Bench, case: Case) -> Problem | None:
    for step, outcome in enumerate(bench.outcomes(bench.make(), case, look=True), 1):
        if isinstance(outcome, str):
            doing = repr(case.commands[step - 1]) if step <= len(case.commands) else "the last look"
            return Problem(f"{doing} {outcome}", step)
    return None


def _outcomes_are_declared(bench: Bench, case: Case) -> Problem | None:
    subject = bench.started(case)
    for step, command in enumerate(case.commands, 1):
        outcome = subject.apply(command)
        if type(outcome) not in bench.system.outcomes:
            names = ", ".join(declared.__name__ for declared in bench.system.outcomes)
            return Problem(f"{command!r} answered {outcome!r}; expected one of {names}", step)
        for name, value in attrs.asdict(outcome, recurse=False).items():
            if not _is_plain(value):
                return Problem(f"{command!r} answered {outcome!r}, whose {name} is not plain immutable data", step)
    return None


def _snapshot_has_its_shape(bench: Bench, case: Case) -> Problem | None:
    subject = bench.started(case)
    blind = unobserved_by(subject)
    for step, command in enumerate((None, *case.commands)):
        if command is not None:
            subject.apply(command)
        shown, expected = subject.snapshot(), bench.system.snapshot
        if not isinstance(shown, expected):
            return Problem(f"snapshot() gave {shown!r}; expected a {expected.__name__}", step)
        for part in bench.system.parts:
            value = getattr(shown, part)
            if (value is NOT_OBSERVED) != (part in blind):
                said = "is in its unobserved" if part in blind else "is not in its unobserved"
                return Problem(f"the part {part} of its snapshot is {value!r}, and {part} {said}", step)
            if not _is_plain(value):
                return Problem(f"the part {part} of its snapshot is not plain immutable data: {value!r}", step)
    return None


def _snapshot_is_stable(bench: Bench, case: Case) -> Problem | None:
    subject = bench.started(case)
    for step, command in enumerate(case.commands, 1):
        subject.apply(command)
        first, second = subject.snapshot(), subject.snapshot()
        if first != second:
            return Problem(f"two looks after the same command differ: {first!r}, then {second!r}", step)
    return None


def _same_case_same_outcomes(bench: Bench, case: Case) -> Problem | None:
    return _parting(
        case, bench.outcomes(bench.make(), case), bench.outcomes(bench.make(), case), "one instance", "another"
    )


def _looking_changes_nothing(bench: Bench, case: Case) -> Problem | None:
    unseen, seen = bench.outcomes(bench.make(), case), bench.outcomes(bench.make(), case, look=True)
    return _parting(case, unseen, seen, "without looking", "with a look after every command")


def _reset_resets(bench: Bench, case: Case) -> Problem | None:
    used = bench.make()
    other = bench.cases[bench.cases.index(case) - 1]
    for _ in bench.outcomes(used, other):
        pass
    return _parting(
        case, bench.outcomes(bench.make(), case), bench.outcomes(used, case), "a new instance", "one that was reset"
    )


def _clone_is_faithful(bench: Bench, case: Case) -> Problem | None:
    """The clone goes first, and the original after it: what the clone does must not reach the original."""
    original: Any = bench.started(case)
    half = len(case.commands) // 2
    before = [original.apply(command) for command in case.commands[:half]]
    clone = original.clone()
    rest = case.commands[half:]
    from_clone = [clone.apply(command) for command in rest]
    from_original = [original.apply(command) for command in rest]
    undisturbed = bench.outcomes(bench.make(), case)
    return _parting(
        case, iter([*before, *from_original]), undisturbed, "the original of a clone", "one never cloned"
    ) or (_parting(case, iter([*before, *from_clone]), iter([*before, *from_original]), "the clone", "its original"))


def _fingerprints_agree(bench: Bench, case: Case) -> Problem | None:
    original: Any = bench.started(case)
    for step, command in enumerate(case.commands, 1):
        original.apply(command)
        mark, twin = original.fingerprint(), original.clone().fingerprint()
        try:
            hash(mark)
        except TypeError:
            return Problem(f"its fingerprint can not be hashed: {mark!r}", step)
        if mark != twin:
            return Problem(f"its fingerprint is {mark!r}, that of its clone {twin!r}", step)
    return None


EXAMINATIONS: tuple[tuple[str, str, Examination], ...] = (
    ("total", "it takes every command at any time", _commands_are_total),
    ("outcomes", "its outcomes are of the declared classes, and plain data", _outcomes_are_declared),
    ("snapshot", "its snapshot has the parts that it should, as plain data", _snapshot_has_its_shape),
    ("stable snapshot", "two looks after the same command are equal", _snapshot_is_stable),
    ("repeatable", "the same case gives the same outcomes", _same_case_same_outcomes),
    ("undisturbed", "looking changes no outcome", _looking_changes_nothing),
    ("reset", "a reset forgets everything", _reset_resets),
)
EXAMINATIONS_OF_CLONES: tuple[tuple[str, str, Examination], ...] = (
    ("clone", "a clone goes on like its original, and does not disturb it", _clone_is_faithful),
    ("fingerprint", "a clone has the fingerprint of its original", _fingerprints_agree),
)


def _parting(case: Case, ones: Iterator[Any], others: Iterator[Any], one: str, other: str) -> Problem | None:
    """Where two runs of a case part."""
    for step, (a, b) in enumerate(zip(ones, others, strict=False), 1):
        if a != b:
            doing = repr(case.commands[step - 1]) if step <= len(case.commands) else "the end"
            return Problem(f"{doing} answered {a!r} ({one}) and {b!r} ({other})", step)
    return None


def _is_plain(value: object) -> bool:
    """Whether a value is immutable data that every process reads alike."""
    if isinstance(value, tuple):
        return all(_is_plain(item) for item in value)
    if attrs.has(type(value)):
        return all(_is_plain(item) for item in attrs.asdict(value, recurse=False).values())  # type: ignore[arg-type]
    return value is None or isinstance(value, bool | int | str | bytes | frozenset)


def _shown(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:500]
