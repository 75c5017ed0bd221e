"""The ways to read a proposal, each with the case on which it parts from the text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..changes import changes
from ..spec.core import TEXT, Case, Deviation, System
from ..told import settings
from .content import DeviationPart

MAX_LINES = 6  # of what differs


def deviation_parts(system: System, dialect: str) -> tuple[DeviationPart, ...]:
    """All deviations of a system; those of the campaign's own dialect are in force."""
    used = system.dialect(dialect).deviations
    return tuple(_part(system, deviation, deviation.name in used) for deviation in system.deviations)


def _part(system: System, deviation: Deviation, in_force: bool) -> DeviationPart:
    step, differs = _first_difference(system, deviation)
    case = deviation.case
    return DeviationPart(
        deviation.name,
        deviation.origin,
        deviation.says,
        deviation.here,
        deviation.source,
        in_force,
        deviation.replaces,
        settings(case),
        tuple(repr(command) for command in case.commands),
        step,
        differs,
    )


def _first_difference(system: System, deviation: Deviation) -> tuple[int, tuple[str, ...]]:
    """The first step after which the two readings say different things, and what they say; 0 where none does."""
    text = _told(system, deviation.case, TEXT)
    other = _told(system, deviation.case, f"{TEXT}+{deviation.name}")
    for number, (one, two) in enumerate(zip(text, other, strict=True), 1):
        if one != two:
            return number, tuple(_lines(system, one, two))
    return 0, ()


def _told(system: System, case: Case, name: str) -> Iterator[tuple[Any, Any]]:
    """(outcome, snapshot) after each step, by the model."""
    dialect, state = system.dialect(name), system.model.start(case.config)
    for command in case.commands:
        state, outcome = system.model.step(case.config, state, command, dialect)
        yield outcome, system.model.view(state)


def _lines(system: System, one: tuple[Any, Any], two: tuple[Any, Any]) -> list[str]:
    answers = [f"it answers {one[0]!r} -> {two[0]!r}"] if one[0] != two[0] else []
    lines = [*answers, *changes(one[1], two[1], system.parts)]
    more = [f"... and {len(lines) - MAX_LINES} more"] if len(lines) > MAX_LINES else []
    return lines[:MAX_LINES] + more
