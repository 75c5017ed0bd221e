"""The systems with more room: the same laws, model and reference, on configs and names under which more is resident.

Most cases of a default campaign keep a handful of entries or cursors, since that is where bugs show soonest.  A figure
about speed has to hold with more of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import attrs
from attrs import evolve, frozen

from brokerlaw.reference.cursor_ranks import CursorRanks
from brokerlaw.reference.entry_cache import EntryCache
from brokerlaw.spec.core import Case, Subject, System, choice, integer
from brokerlaw.spec.cursor_ranks import CURSOR_RANKS
from brokerlaw.spec.entry_cache import ENTRY_CACHE
from brokerlaw.spec.entry_cache.words import Config

CURSORS = 32


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


def redeclared(declared: type, **changed: Any) -> type:
    """A config or command class with the domains of some fields declared anew; a subclass, with the fields in order."""
    fields = {
        a.name: changed.get(a.name) or attrs.field(default=a.default, metadata=a.metadata)
        for a in attrs.fields(declared)
    }
    return attrs.make_class(declared.__name__, fields, bases=(declared,), frozen=True, slots=True, order=False)


def roomy_entry_cache() -> Roomy:
    """A cache of some 60 to 250 usual entries, which live for a good part of a case."""
    config = redeclared(
        Config,
        max_size_bytes=integer(0, 2**50, usual=(1200, 5000), edges=(0, 1), default=64 * 2**20),
        ttl_ms=integer(0, 2**40, usual=(100, 1000), edges=(0, 1), default=1000),
    )
    return Roomy(
        evolve(ENTRY_CACHE, config=config),
        EntryCache,
        "resident entries",
        lambda state: sum([item is not None for item in state.queue]),
    )


def roomy_cursor_ranks() -> Roomy:
    """Four times as many names of cursors; commands of subclasses, so that everything else is as it was."""
    names = tuple(f"c{number}" for number in range(CURSORS))
    commands = {
        command: redeclared(command, cursor=choice(*names))
        for command in CURSOR_RANKS.commands
        if "cursor" in attrs.fields_dict(command)
    }

    def new(command: type) -> type:
        return commands.get(command, command)

    def make_reference() -> Subject:
        subject = CursorRanks()
        subject._handlers |= {commands[command]: subject._handlers[command] for command in commands}
        return subject

    model = CURSOR_RANKS.model
    system = evolve(
        CURSOR_RANKS,
        commands=tuple(new(command) for command in CURSOR_RANKS.commands),
        model=evolve(model, actions=tuple(evolve(action, command=new(action.command)) for action in model.actions)),
        laws=tuple(evolve(law, on=tuple(new(command) for command in law.on)) for law in CURSOR_RANKS.laws),
    )
    return Roomy(
        system,
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
