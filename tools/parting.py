"""Where two readings of a proposal part: the first step of a case after which their models say different things."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import takewhile
from typing import Any

from attrs import frozen

from brokerlaw.changes import shown
from brokerlaw.spec.core import TEXT, Case, Deviation, System

MAX_ROWS = 4  # what follows from them is named, not shown


@frozen
class Parting:
    """The step, and what differs: (what, in the text's reading, in the other)."""

    step: int
    rows: tuple[tuple[str, str, str], ...]


def first_parting(system: System, deviation: Deviation) -> Parting:
    """Runs the case of a deviation through the model in both readings."""
    text = _told(system, deviation.case, TEXT)
    other = _told(system, deviation.case, f"{TEXT}+{deviation.name}")
    for number, (one, two) in enumerate(zip(text, other, strict=True), 1):
        if one != two:
            return Parting(number, tuple(_rows(system, one, two)))
    raise ValueError(f"{system.name}: the case of {deviation.name} does not tell it from the text")


def _told(system: System, case: Case, dialect_name: str) -> Iterator[tuple[Any, Any]]:
    """(outcome, snapshot) after each step, by the model."""
    dialect, state = system.dialect(dialect_name), system.model.start(case.config)
    for command in case.commands:
        state, outcome = system.model.step(case.config, state, command, dialect)
        yield outcome, system.model.view(state)


def _rows(system: System, one: tuple[Any, Any], two: tuple[Any, Any]) -> Iterator[tuple[str, str, str]]:
    if one[0] != two[0]:
        yield "it answers", f"`{one[0]!r}`", f"`{two[0]!r}`"
    parts = [part for part in system.parts if getattr(one[1], part) != getattr(two[1], part)]
    shown_rows = 0
    for place, part in enumerate(parts):
        rows = list(_differences(part, getattr(one[1], part), getattr(two[1], part)))
        if shown_rows and shown_rows + len(rows) > MAX_ROWS:
            yield f"and so {', '.join(parts[place:])}", "", ""
            return
        shown_rows += len(rows)
        yield from rows


def _differences(part: str, one: Any, two: Any) -> Iterator[tuple[str, str, str]]:
    """Rows by name, each with the fields that differ; anything else as it is."""
    if not _is_list_of_rows(one, two):
        yield part, f"`{shown(one)}`", f"`{shown(two)}`"
        return
    left, right = _by_name(one), _by_name(two)
    for name in {**left, **right}:
        row, twin = left.get(name), right.get(name)
        if row is None or twin is None:
            yield f"{part}, {name}", "not there" if row is None else "there", "not there" if twin is None else "there"
        else:
            for field in row._fields:
                if getattr(row, field) != getattr(twin, field):
                    yield f"{part}, {name}: {field}", f"`{getattr(row, field)}`", f"`{getattr(twin, field)}`"


def _is_list_of_rows(*values: Any) -> bool:
    rows = [row for value in values if isinstance(value, tuple) for row in value]
    return bool(rows) and all(hasattr(row, "_fields") for row in rows) and not hasattr(values[0], "_fields")


def _by_name(rows: Any) -> dict[str, Any]:
    """Rows by the names that they begin with (topic, cursor), else by their first field; the n-th of a name apart."""
    found: dict[str, Any] = {}
    count: Counter[str] = Counter()
    for row in rows:
        texts = list(takewhile(lambda value: isinstance(value, str), row))
        name = " ".join(texts) if texts else f"{row._fields[0]} {row[0]}"
        count[name] += 1
        found[name if count[name] == 1 else f"{name} ({count[name]})"] = row
    return found
