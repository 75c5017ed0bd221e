"""The systems with more room: the same laws, model and reference, with domains and weights under which more is
resident.

Most cases of a default campaign keep a handful of entries or cursors, since that is where bugs show soonest.  A figure
about speed has to hold with more of them, under every engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs
from attrs import evolve, frozen

from brokerlaw.reference.cursor_ranks import CursorRanks
from brokerlaw.reference.entry_cache import EntryCache
from brokerlaw.spec.core import Case, Subject, System, choice, integer, maybe
from brokerlaw.spec.cursor_ranks import CURSOR_RANKS, Add, Remove
from brokerlaw.spec.entry_cache import ENTRY_CACHE
from brokerlaw.spec.entry_cache.words import Append, Config, OpenCursor, SetMaxSize, SetTtl

CURSORS = 64


@frozen
class Roomy:
    """A system with room, its reference, and how much is resident in a state of its model."""

    system: System
    reference: Callable[[], Subject]
    counted: str
    resident: Callable[[Any], int]

    @property
    def name(self) -> str:
        return self.system.name


def redeclared(declared: type, name: str = "", **changed: Any) -> type:
    """A config or command class with the domains of some fields declared anew; a subclass, with the fields in order."""
    fields = {
        a.name: changed.get(a.name) or attrs.field(default=a.default, metadata=a.metadata)
        for a in attrs.fields(declared)
    }
    return attrs.make_class(name or declared.__name__, fields, bases=(declared,), frozen=True, slots=True, order=False)


def several(command: type, count: int, **changed: Any) -> list[type]:
    """A command under several names.  Hypothesis leaves each rule of a machine out of about every other run; a run
    without any append, say, holds nothing."""
    return [redeclared(command, f"{command.__name__}{number or ''}", **changed) for number in range(count)]


def with_commands(system: System, changed: Mapping[type, list[type]], weights: Mapping[type, int]) -> System:
    """The system with some of its commands replaced by subclasses, and some sent oftener or more rarely."""

    def new(commands: Iterable[type]) -> tuple[type, ...]:
        return tuple(each for command in commands for each in changed.get(command, [command]))

    actions = [
        evolve(action, command=command, weight=weights.get(action.command, action.weight))
        for action in system.model.actions
        for command in new([action.command])
    ]
    return evolve(
        system,
        commands=new(system.commands),
        scopes=(),
        model=evolve(system.model, actions=tuple(actions)),
        laws=tuple(evolve(law, on=new(law.on)) for law in system.laws),
    )


def _size() -> Any:
    return integer(0, 2**50, usual=(2000, 5000), default=64 * 2**20)


def _ttl() -> Any:
    return integer(0, 2**40, usual=(500, 3000), default=1000)


def roomy_entry_cache() -> Roomy:
    """A cache of some 100 to 250 usual entries, which live for a good part of a case."""
    config = redeclared(
        Config,
        max_size_bytes=_size(),
        ttl_ms=_ttl(),
        continue_caching_ms=maybe(integer(0, 2**40, usual=(500, 3000)), default=None),
    )
    changed = {
        Append: several(Append, 4),
        OpenCursor: several(OpenCursor, 2),
        SetMaxSize: [redeclared(SetMaxSize, max_size_bytes=_size())],
        SetTtl: [redeclared(SetTtl, ttl_ms=_ttl())],
    }

    def make_reference() -> Subject:
        subject = EntryCache()
        subject._do |= {new: subject._do[old] for old in changed for new in changed[old]}
        return subject

    return Roomy(
        evolve(with_commands(ENTRY_CACHE, changed, {Append: 9, OpenCursor: 4}), config=config),
        make_reference,
        "resident entries",
        lambda state: sum([item is not None for item in state.queue]),
    )


def roomy_cursor_ranks() -> Roomy:
    """Many names of cursors, which come oftener than they go."""
    names = tuple(f"c{number}" for number in range(CURSORS))
    changed = {
        command: several(command, 3 if command is Add else 1, cursor=choice(*names))
        for command in CURSOR_RANKS.commands
        if "cursor" in attrs.fields_dict(command)
    }

    def make_reference() -> Subject:
        subject = CursorRanks()
        subject._handlers |= {new: subject._handlers[old] for old in changed for new in changed[old]}
        return subject

    return Roomy(
        with_commands(CURSOR_RANKS, changed, {Add: 4, Remove: 1}),
        make_reference,
        "tracked cursors",
        lambda state: sum([row.position is not None for row in state.cursors]),
    )


def residents(roomy: Roomy, cases: Iterable[Case]) -> list[int]:
    """How much is resident after each step of these cases, as the model has it."""
    model, counts = roomy.system.model, []
    for case in cases:
        dialect, state = roomy.system.dialect(case.dialect), model.start(case.config)
        for command in case.commands:
            state, _ = model.step(case.config, state, command, dialect)
            counts.append(roomy.resident(state))
    return counts
