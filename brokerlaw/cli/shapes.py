"""What outcomes and snapshots are made of: classes, their fields, and the types of these, as an adapter needs them."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

import attrs

from ..spec.core import System


def fields_with_types(declared: type) -> dict[str, str]:
    """The fields of an outcome, a snapshot or a row, by name, each with its type as one would write it."""
    hints = get_type_hints(declared)
    return {name: _written(hints.get(name, Any)) for name in _field_names(declared)}


def rows_of(system: System) -> list[type]:
    """The classes that parts of a snapshot and fields of outcomes are made of, each once."""
    found: dict[type, None] = {}
    for declared in (system.snapshot, *system.outcomes):
        _collect(declared, found)
    return [each for each in found if each is not system.snapshot and each not in (*system.outcomes, system.config)]


def _collect(declared: Any, found: dict[type, None]) -> None:
    if _has_fields(declared) and declared not in found:
        found[declared] = None
        for hint in get_type_hints(declared).values():
            _collect(hint, found)
    for inner in get_args(declared):
        _collect(inner, found)


def _has_fields(declared: Any) -> bool:
    return isinstance(declared, type) and not get_args(declared) and bool(_field_names(declared))


def _field_names(declared: type) -> tuple[str, ...]:
    if attrs.has(declared):
        return tuple(a.name for a in attrs.fields(declared))
    return tuple(getattr(declared, "_fields", ()))


def _written(hint: Any) -> str:
    if hint is type(None):
        return "None"
    if hint is ...:
        return "..."
    inner = get_args(hint)
    if not inner:
        return str(getattr(hint, "__name__", hint))
    if type(hint).__name__ in ("UnionType", "_UnionGenericAlias"):
        return " | ".join(_written(each) for each in inner)
    if type(hint).__name__ == "_LiteralGenericAlias":
        return " | ".join(repr(each) for each in inner)
    return f"{getattr(hint, '__name__', 'tuple')}[{', '.join(_written(each) for each in inner)}]"
