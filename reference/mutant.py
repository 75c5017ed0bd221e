"""Mutants: the reference with one bug put back in."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from ..spec.core import TEXT, Subject


@frozen
class Mutant:
    """One bug: where it comes from, what it does, and the law that it breaks."""

    name: str
    origin: str  # "apache/pulsar#24363", or "first-order" for a slip of one token
    sentence: str
    make: Callable[[], Subject]
    breaks: str  # the law that must catch it
    dialect: str = TEXT  # where it does: a slip in what a deviation does shows only where that is in force


@frozen
class Inexpressible:
    """A known bug that the reference has no mechanism for, and why."""

    name: str
    origin: str
    reason: str
