"""Subjects: the things under test.

The reference, every mutant, a user's own class and a program in another language are all subjects.  A subject need not
inherit from anything; it needs `reset`, `apply` and `snapshot`.  What it can not do or can not show, it says:

    unsupported = {"ClockBack"}          commands (by name) that engines must not send to it
    unobserved = {"queue"}               parts of a snapshot that it can not give; it puts NOT_OBSERVED there

A law over an unobserved part is *not observed*: neither passed nor vacuous.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol, runtime_checkable

from attrs import frozen

from .dialect import Dialect


@frozen
class NotObserved:
    """Stands in a snapshot for a part that the subject can not see."""

    def __repr__(self) -> str:
        return "NOT_OBSERVED"


NOT_OBSERVED: Any = NotObserved()


class Subject(Protocol):
    """What every subject does.  Observing must not disturb: `snapshot` changes no later outcome."""

    def reset(self, config: Any, dialect: Dialect) -> None:
        """Forget everything and start as new."""

    def apply(self, command: Any) -> Any:
        """Carry out one command; the answer is what its caller saw."""

    def snapshot(self) -> Any:
        """The observable state now."""


@runtime_checkable
class Cloneable(Protocol):
    """A subject that the explorer can exhaust itself: it can be copied, and equal states have equal fingerprints."""

    def clone(self) -> Subject: ...

    def fingerprint(self) -> object: ...


def unsupported_by(subject: object) -> frozenset[str]:
    """The names of the commands that a subject does not take."""
    return frozenset(getattr(subject, "unsupported", ()))


def unobserved_by(subject: object) -> frozenset[str]:
    """The parts of a snapshot that a subject can not give."""
    return frozenset(getattr(subject, "unobserved", ()))


def shape_problems(subject: object) -> list[str]:
    """What keeps an object from being a subject, in sentences; empty where nothing does."""
    problems = []
    for method, call in (("reset", "reset(config, dialect)"), ("apply", "apply(command)"), ("snapshot", "snapshot()")):
        found = getattr(subject, method, None)
        if found is None:
            problems.append(f"it has no method {call}")
        elif not callable(found):
            problems.append(f"its {method} is a {type(found).__name__}, not a method {call}")
    for attribute in ("unsupported", "unobserved"):
        value = getattr(subject, attribute, ())
        if not isinstance(value, Collection) or isinstance(value, str) or not all(isinstance(n, str) for n in value):
            problems.append(f"its {attribute} must be a set of names, not {value!r}")
    return problems
