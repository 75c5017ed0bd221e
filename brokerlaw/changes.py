"""What changed between two snapshots, in a few lines, whatever the system.

A part that is a list of rows is compared row by row: rows that came (`+`), that went (`-`), and, where a row that went
and one that came go by the same name and have enough in common, what changed in it (`~`).
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Any

import attrs

from .spec.core import NOT_OBSERVED
from .told import plain

MAX_LINES = 12  # for one part of a snapshot


def changes(before: Any, after: Any, parts: Sequence[str]) -> list[str]:
    """Lines that say what changed, part by part; empty where nothing did."""
    lines: list[str] = []
    for part, old, new in zip(parts, before, after, strict=True):
        if old != new:
            told = _part(part, old, new)
            lines += told[:MAX_LINES]
            if len(told) > MAX_LINES:
                lines.append(f"{part}  ... and {len(told) - MAX_LINES} more")
    return lines


def _part(part: str, old: Any, new: Any) -> list[str]:
    if _is_rows(old) and _is_rows(new):
        return [f"{part}  {line}" for line in _rows(old, new)]
    if _has_names(old) and type(old) is type(new):
        return [f"{part}.{line}" for line in _changed_fields(old, new)]
    return [f"{part}  {shown(old)} -> {shown(new)}"]


def _is_rows(value: Any) -> bool:
    return isinstance(value, tuple) and not hasattr(value, "_fields")


def _rows(old: tuple[Any, ...], new: tuple[Any, ...]) -> list[str]:
    gone, come = _unmatched(old, new)
    lines = []
    for row in gone:
        twin = max(come, key=lambda other: _likeness(row, other), default=None)
        if twin is not None and _likeness(row, twin) > 0:
            come.remove(twin)
            lines.append(f"~ {_changed(row, twin)}")
        else:
            lines.append(f"- {shown(row)}")
    return [*lines, *(f"+ {shown(row)}" for row in come)]


def _unmatched(old: tuple[Any, ...], new: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
    """The rows of each side that the other does not have at the same place."""
    gone: list[Any] = []
    come: list[Any] = []
    keys = [repr(row) for row in old], [repr(row) for row in new]  # a subject's rows need not be hashable
    for what, i1, i2, j1, j2 in SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
        if what != "equal":
            gone += old[i1:i2]
            come += new[j1:j2]
    return gone, come


def _likeness(one: Any, other: Any) -> int:
    """In how many fields two rows agree; 0 unless they go by the same name, and a third of their fields agree."""
    names = _fields(one)
    if not names or type(one) is not type(other) or len(names) != len(_fields(other) or ()):
        return 0
    same = {name: _value(one, name) == _value(other, name) for name in names}
    known = all(same[name] for name in _identity(one))
    return sum(same.values()) if known and sum(same.values()) * 3 >= len(same) else 0


def _identity(row: Any) -> tuple[str, ...]:
    """The fields that a row goes by: the names that it begins with (topic, cursor), else its first field."""
    names = _fields(row) or ()
    leading = tuple(takewhile(lambda name: isinstance(_value(row, name), str), names))
    return leading or names[:1]


def _changed(old: Any, new: Any) -> str:
    """What changed in a row."""
    if not _has_names(old):
        return f"{shown(old)} -> {shown(new)}"
    name = " ".join(f"{name}={shown(_value(old, name))}" for name in _identity(old))
    return f"{name}: {', '.join(_changed_fields(old, new)) or 'moved'}"


def _changed_fields(old: Any, new: Any) -> list[str]:
    told = []
    for name in _fields(old) or ():
        was, now = _value(old, name), _value(new, name)
        if was != now:
            told.append(f"{name} {shown(was)} -> {shown(now)}")
    return told


def _has_names(value: Any) -> bool:
    return hasattr(value, "_fields") or attrs.has(type(value))


def _fields(value: Any) -> tuple[str, ...] | None:
    """The names of the fields of a row (numbers, for one without names), or none where it is no row."""
    if hasattr(value, "_fields"):
        return tuple(value._fields)
    if attrs.has(type(value)):
        return tuple(a.name for a in attrs.fields(type(value)))
    if isinstance(value, tuple):
        return tuple(str(index) for index in range(len(value)))
    return None


def _value(row: Any, name: str) -> Any:
    return row[int(name)] if name.isdigit() else getattr(row, name)


def shown(value: Any) -> str:
    """A value in few letters: rows by field, lists of rows in brackets, text without quotes."""
    if value is NOT_OBSERVED:
        return "not observed"
    if isinstance(value, str):
        return plain(value)
    if _has_names(value):
        return " ".join(f"{name}={shown(_value(value, name))}" for name in _fields(value) or ())
    if isinstance(value, tuple):
        inside = ", ".join(shown(item) for item in value)
        return f"[{inside}]" if not value or isinstance(value[0], tuple) else f"({inside})"
    return plain(repr(value))
