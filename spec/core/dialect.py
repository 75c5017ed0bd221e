"""Dialects: ways to read a proposal where its text is silent, at odds with itself, or differs from what shipped.

`text` is the proposal as written.  Every other dialect is the text plus named deviations; a deviation is one switch on
the model, one sentence, and one case on which the two readings part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from attrs import frozen

if TYPE_CHECKING:
    from .case import Case

TEXT = "text"


@frozen
class Deviation:
    """One place where the text can be read, or was built, in another way."""

    name: str
    says: str  # what the text says, or where it is silent
    here: str  # what `text` means by it here, and what this deviation does instead
    origin: Literal["shipped", "silent", "contradiction", "amendment"]  # why it exists
    case: Case  # the shortest known run on which the two readings differ
    replaces: tuple[str, ...] = ()  # laws that are not claimed under it
    where: Callable[[Any], bool] | None = None  # the configs in which it matters; elsewhere those laws stand
    source: str = ""  # where the text says so, or which shipped code does it


@frozen
class Dialect:
    """A named set of deviations; the model asks `dialect.has(NAME)`."""

    name: str
    deviations: frozenset[str] = frozenset()

    def has(self, deviation: str) -> bool:
        return deviation in self.deviations


TEXT_DIALECT = Dialect(TEXT)
