"""Scopes: finite parts of a system, small enough to visit every state of.

A scope is one config, a list of commands, and where it ends: after so many commands, or at states that it leaves out.
What holds in every state of a scope is exhausted there, and says nothing about what lies outside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

from attrs import frozen

from .domain import fields_of


@frozen
class Scope:
    """A finite part of a system."""

    name: str
    about: str  # a sentence: what can happen in it
    config: Any
    commands: tuple[Any, ...]
    depth: int | None = None  # how many commands from the start; none: for as long as there is anything new
    within: Callable[[Any, Any], bool] | None = None  # (config, state): one that is not is left out, and all behind it
    alike: Callable[[Any, Any], Any] | None = None
    """(config, state) -> a state that nothing in this scope can tell from it: where time only counts up to a point,
    say, the same state at that point."""
    renamings: Callable[[Any], Iterable[Any]] | None = None
    """state -> the states with the same shape under other names, itself included; where names mean nothing more."""


def every(command: type, **values: Sequence[Any]) -> tuple[Any, ...]:
    """Every command of a class: each field takes the values given for it, or else those of its own small scope."""
    declared = fields_of(command)
    unknown = set(values) - {field.name for field in declared}
    if unknown:
        raise TypeError(f"{command.__name__} has no field {', '.join(sorted(unknown))}")
    choices = [values.get(field.name, field.domain.small) for field in declared]
    return tuple([command(*chosen) for chosen in product(*choices)])


def simplest(config: type, **settings: Any) -> Any:
    """A config with these settings, and for the rest the first value of each small scope."""
    return config(**{field.name: field.domain.small[0] for field in fields_of(config)} | settings)


def small_scope(config: type, commands: Iterable[type], depth: int) -> Scope:
    """The scope that every system has: all its commands with small values, a few steps from the start."""
    about = f"every command with the small values of its fields, {depth} steps from the start"
    listed = tuple([one for command in commands for one in every(command)])
    return Scope("small", about, simplest(config), listed, depth)
