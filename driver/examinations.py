"""The examinations: what laws and model take for granted of a subject, one function for each; the doctor asks them."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from typing import Any

import attrs
from attrs import define, frozen

from ..spec.core import NOT_OBSERVED, Case, Dialect, System, unobserved_by
from .loop import MakeSubject

CALLS = ("reset", "apply", "snapshot", "clone", "fingerprint")

Tell = Callable[[int, str], None]
"""Is told of each call before it is made: the number of the step, and which of CALLS."""


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
    tell: Tell

    def patient(self) -> Patient:
        return Patient(self.make(), self.tell)

    def started(self, case: Case) -> Patient:
        patient = self.patient()
        patient.reset(case.config, self.dialect)
        return patient

    def outcomes(self, patient: Patient, case: Case, look: bool = False) -> Iterator[Any]:
        """What a subject answers to a case, from its reset on; an exception is its last answer."""
        try:
            patient.reset(case.config, self.dialect)
            for command in case.commands:
                yield patient.apply(command)
                if look:
                    patient.snapshot()
        except Raised as raised:
            yield raised


class Raised(Exception):
    """An exception that came out of a subject: in which call, and after how many commands."""

    def __init__(self, doing: str, error: Exception, step: int) -> None:
        where = traceback.extract_tb(error.__traceback__)[-1]
        shown = f"{type(error).__name__}: {error}"[:500]
        file = where.filename.rpartition("/")[2]
        super().__init__(f"{doing} raised {shown} ({where.name}, line {where.lineno} of {file})")
        self.step = step
        self.place = type(error), where.filename, where.lineno  # what makes two of them one

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Raised) and (self.place, self.step) == (other.place, other.step)

    __hash__ = None  # type: ignore[assignment]  # compared, and never kept in a set


@define
class Patient:
    """A subject whose every call says where it is, and whose exceptions say in which call."""

    subject: Any
    tell: Tell
    step: int = 0

    def reset(self, config: Any, dialect: Dialect) -> None:
        self.step = 0
        self._call("reset", config, dialect)

    def apply(self, command: Any) -> Any:
        self.step += 1
        return self._call("apply", command)

    def snapshot(self) -> Any:
        return self._call("snapshot")

    def clone(self) -> Patient:
        return Patient(self._call("clone"), self.tell, self.step)

    def fingerprint(self) -> Any:
        return self._call("fingerprint")

    def _call(self, name: str, *arguments: Any) -> Any:
        self.tell(self.step, name)
        try:
            return getattr(self.subject, name)(*arguments)
        except MemoryError:
            raise
        except Exception as error:
            doing = repr(arguments[0]) if name == "apply" else f"{name}()"
            raise Raised(doing, error, self.step) from error


Examination = Callable[[Bench, Case], Problem | None]


# ---- The examinations -----------------------------------------------------------------------------------------------


def _commands_are_total(bench: Bench, case: Case) -> Problem | None:
    for outcome in bench.outcomes(bench.patient(), case, look=True):
        if isinstance(outcome, Raised):
            raise outcome
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
    blind = unobserved_by(subject.subject)
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


def _rows_are_in_order(bench: Bench, case: Case) -> Problem | None:
    """Compares with the model for as long as nothing but the order of rows differs: the rest is for laws to judge."""
    patient, model = bench.started(case), bench.system.model
    state = model.start(case.config)
    for step, command in enumerate((None, *case.commands)):
        if command is not None:
            outcome = patient.apply(command)
            state, expected = model.step(case.config, state, command, bench.dialect)
            if outcome != expected:
                return None
        shown, view = patient.snapshot(), model.view(state)
        if not isinstance(shown, bench.system.snapshot):
            return None
        for part in bench.system.parts:
            mine, models = getattr(shown, part), getattr(view, part)
            if NOT_OBSERVED in (mine, models) or mine == models:
                continue
            if not _differ_in_order_alone(mine, models):
                return None
            return Problem(f"the rows of {part} are not in order{_order_of(models)}: {mine!r}, not {models!r}", step)
    return None


def _differ_in_order_alone(rows: Any, others: Any) -> bool:
    both = isinstance(rows, tuple) and isinstance(others, tuple)
    return both and sorted(map(repr, rows)) == sorted(map(repr, others))


def _order_of(rows: tuple[Any, ...]) -> str:
    """` of FIELD`, the first field that rows are sorted by; nothing where there is none."""
    for name in getattr(rows[0], "_fields", ()):
        values = [getattr(row, name) for row in rows]
        comparable = all(type(value) is type(values[0]) for value in values) and isinstance(values[0], str | int)
        if comparable and values == sorted(values):
            return f" of {name}"
    return ""


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
        case, bench.outcomes(bench.patient(), case), bench.outcomes(bench.patient(), case), "one instance", "another"
    )


def _looking_changes_nothing(bench: Bench, case: Case) -> Problem | None:
    unseen, seen = bench.outcomes(bench.patient(), case), bench.outcomes(bench.patient(), case, look=True)
    return _parting(case, unseen, seen, "without looking", "with a look after every command")


def _reset_resets(bench: Bench, case: Case) -> Problem | None:
    used = bench.patient()
    other = bench.cases[bench.cases.index(case) - 1]
    for _ in bench.outcomes(used, other):
        pass
    return _parting(
        case, bench.outcomes(bench.patient(), case), bench.outcomes(used, case), "a new instance", "one that was reset"
    )


def _clone_is_faithful(bench: Bench, case: Case) -> Problem | None:
    """The clone goes first, and the original after it: what the clone does must not reach the original."""
    original = bench.started(case)
    half = len(case.commands) // 2
    before = [original.apply(command) for command in case.commands[:half]]
    clone = original.clone()
    rest = case.commands[half:]
    from_clone = [clone.apply(command) for command in rest]
    from_original = [original.apply(command) for command in rest]
    undisturbed = bench.outcomes(bench.patient(), case)
    return _parting(
        case, iter([*before, *from_original]), undisturbed, "the original of a clone", "one never cloned"
    ) or (_parting(case, iter([*before, *from_clone]), iter([*before, *from_original]), "the clone", "its original"))


def _fingerprints_agree(bench: Bench, case: Case) -> Problem | None:
    original = bench.started(case)
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
    ("order", "the rows of its snapshot come in the order that the words state", _rows_are_in_order),
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
        if isinstance(a, Raised) and a == b:
            raise a
        if a != b:
            a, b = (str(each) if isinstance(each, Raised) else each for each in (a, b))
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
