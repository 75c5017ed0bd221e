"""Commands of the broker itself: forced removals, eviction, time and settings."""

from __future__ import annotations

from attrs import evolve

from ...spec.entry_cache.words import (
    CHECK_DUE,
    LEDGER_GONE,
    LEDGER_OPEN,
    NO_REMOVAL,
    NOT_DUE,
    UNDER_WAY,
    Began,
    BeginRemoval,
    Clock,
    ClockBack,
    Done,
    Evicted,
    EvictionCheck,
    FinishRemoval,
    Refused,
    Removed,
    SetExtendAccessed,
    SetMaxExtensions,
    SetMaxSize,
    SetTtl,
    SetWatermark,
    SizePass,
    Tick,
)
from .broker import Broker, Note, Removal, RemovalKey
from .manager import NOTHING
from .wrapper import Wrapper

DONE = Done()
_LEDGER_OPEN = Refused(LEDGER_OPEN)
_LEDGER_GONE = Refused(LEDGER_GONE)
_UNDER_WAY = Refused(UNDER_WAY)
_NO_REMOVAL = Refused(NO_REMOVAL)
_NOT_DUE = Refused(NOT_DUE)
_CHECK_DUE = Refused(CHECK_DUE)


class Removing(Broker):
    """Forced removals: they begin by noting entries and end by removing those that are still there."""

    def begin_removal(self, command: BeginRemoval) -> Began | Refused:
        """O(k log k) for k entries in scope."""
        key = (command.what, command.topic, command.ledger, command.entry)
        if key in self.removals:
            return _UNDER_WAY
        if command.what == "ledger":
            topic = self.topic(command.topic)
            if command.ledger == topic.log.open:
                return _LEDGER_OPEN
            if command.ledger not in topic.log.ledgers:
                return _LEDGER_GONE
            topic.delete(command.ledger)
        elif command.what == "topic":
            self._close_topic(command.topic)
        notes = self._noted(key)
        self.removals[key] = Removal(key, notes)
        return Began(len(notes))

    def _close_topic(self, name: str) -> None:
        topic = self.topic(name)
        for cursor in topic.cursors.values():
            self._pay_back(cursor, forgets_replays=True)
        topic.close_all(self.now_ms)

    def _noted(self, key: RemovalKey) -> list[Note]:
        """The entries in scope with the nodes that carry them, in order of serial."""
        notes = [Note(wrapper, wrapper.value) for wrapper in self._in_scope(key) if wrapper.value is not None]
        notes.sort(key=lambda note: note.entry.serial)
        return notes

    def _in_scope(self, key: RemovalKey) -> list[Wrapper]:
        what, name, ledger, number = key
        cache = self.manager.cache(name)
        if what == "entry":
            entry = cache.find((ledger, number))
            return [entry.wrapper] if entry is not None and entry.wrapper is not None else []
        if what == "upto":
            return cache.before((ledger, number))
        if what == "ledger":
            return cache.of_ledger(ledger)
        caches = [cache] if what == "topic" else list(self.manager.caches.values())
        return [wrapper for cache in caches for wrapper in cache.all()]

    def finish_removal(self, command: FinishRemoval) -> Removed | Refused:
        """O(k log n) for k entries noted."""
        removal = self.removals.pop((command.what, command.topic, command.ledger, command.entry), None)
        if removal is None:
            return _NO_REMOVAL
        entries = size_bytes = 0
        for note in removal.notes:
            if self._still_there(note):
                entries += 1
                size_bytes += self.manager.remove(note.wrapper)
            else:
                self._lost_race(note)
        return Removed(entries, size_bytes)

    def _still_there(self, note: Note) -> bool:
        """Whether the node still carries the entry that was noted: it may be recycled, even for the same position."""
        return note.wrapper.value is note.entry

    def _lost_race(self, note: Note) -> None:
        """Somebody else removed it first, and has counted it and released it."""


class Evicting(Broker):
    """Eviction, time, and settings that change."""

    def eviction_check(self, command: EvictionCheck) -> Evicted | Refused:
        """Amortised O(log n) for each node handled: a node is handled when it leaves, or spends an extension."""
        if self.now_ms < self.next_check_ms:
            return _NOT_DUE
        self.next_check_ms = max(self.next_check_ms, self.now_ms) + self.settings.check_interval_ms
        expired, evicted = self.manager.check(self.now_ms)
        return Evicted(*expired, *evicted)

    def size_pass(self, command: SizePass) -> Evicted | Refused:
        if not self.manager.size_pass_due:
            return _NOT_DUE
        return Evicted(*NOTHING, *self.manager.due_size_pass(self.now_ms))

    def tick(self, command: Tick) -> Clock | Refused:
        if self.now_ms >= self.next_check_ms:
            return _CHECK_DUE
        self.now_ms = min(self.now_ms + command.ms, self.next_check_ms)
        return Clock(self.now_ms)

    def clock_back(self, command: ClockBack) -> Clock:
        self.now_ms = self.now_ms - command.ms
        return Clock(self.now_ms)

    def set_max_size(self, command: SetMaxSize) -> Done:
        self.use(evolve(self.settings, max_size_bytes=command.max_size_bytes))
        return DONE

    def set_watermark(self, command: SetWatermark) -> Done:
        self.use(evolve(self.settings, watermark_percent=command.watermark_percent))
        return DONE

    def set_ttl(self, command: SetTtl) -> Done:
        self.use(evolve(self.settings, ttl_ms=command.ttl_ms))
        return DONE

    def set_max_extensions(self, command: SetMaxExtensions) -> Done:
        self.use(evolve(self.settings, max_extensions=command.max_extensions))
        return DONE

    def set_extend_accessed(self, command: SetExtendAccessed) -> Done:
        self.use(evolve(self.settings, extend_accessed=command.extend_accessed))
        return DONE
