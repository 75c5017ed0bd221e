"""Nearby: commands that differ a little from one that was sent, by what their fields declare."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from ..spec.core import fields_of
from ..spec.core.domain import Choice, Integer

NARROW_WIDTH = 0.25  # share of the names that narrow to which a narrow run keeps, one at least


def narrowed(command: Any) -> Any:
    """The command with one of the first values where it has a name that narrows."""
    names = {}
    for f in fields_of(type(command)):
        if isinstance(f.domain, Choice) and f.domain.narrows:
            values = f.domain.values
            names[f.name] = values[values.index(getattr(command, f.name)) % max(1, round(len(values) * NARROW_WIDTH))]
    return evolve(command, **names) if names else command


def renamed(command: Any) -> list[Any]:
    """The command with another value in one of the names that do not narrow: as another cursor would send it, say."""
    return [
        evolve(command, **{f.name: value})
        for f in fields_of(type(command))
        if isinstance(f.domain, Choice) and not f.domain.narrows
        for value in f.domain.values
        if value != getattr(command, f.name)
    ]


def beside(command: Any) -> list[Any]:
    """The command with one of its numbers one less or one more."""
    return [
        evolve(command, **{f.name: value})
        for f in fields_of(type(command))
        if isinstance(f.domain, Integer)
        for value in (getattr(command, f.name) - 1, getattr(command, f.name) + 1)
        if f.domain.problem(value) is None
    ]
