"""The one table of systems: what there is to check, and what to check it with.

Adding a system is one line here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import Factory, frozen

from ..spec.core import Subject, System
from ..spec.cursor_ranks import CURSOR_RANKS
from ..spec.entry_cache import ENTRY_CACHE
from .cursor_ranks import CursorRanks
from .entry_cache import EntryCache
from .legacy.cursor_ranks import LegacyCursorRanks
from .legacy.entry_cache import LegacyEntryCache
from .mutant import Inexpressible, Mutant
from .mutants import cursor_ranks as cursor_ranks_mutants
from .mutants import entry_cache as entry_cache_mutants


@frozen
class Entry:
    """A system with its reference, the designs it replaces, and its mutants."""

    system: System
    reference: Callable[[], Subject]
    legacy: Mapping[str, Callable[[], Subject]] = Factory(dict)
    mutants: tuple[Mutant, ...] = ()
    inexpressible: tuple[Inexpressible, ...] = ()
    canary: str = ""  # the mutant that goes through every campaign on Spark and must be caught: one that breaks at once

    @property
    def name(self) -> str:
        return self.system.name


TABLE: tuple[Entry, ...] = (
    Entry(
        ENTRY_CACHE,
        EntryCache,
        {"legacy": LegacyEntryCache},
        entry_cache_mutants.MUTANTS,
        entry_cache_mutants.INEXPRESSIBLE,
        canary="keys-by-identity",
    ),
    Entry(
        CURSOR_RANKS,
        CursorRanks,
        {"legacy": LegacyCursorRanks},
        cursor_ranks_mutants.MUTANTS,
        cursor_ranks_mutants.INEXPRESSIBLE,
        canary="rank-counts-before",
    ),
)


def entry_named(name: str) -> Entry | None:
    """The entry of a system, or none."""
    return next((entry for entry in TABLE if entry.name == name), None)
