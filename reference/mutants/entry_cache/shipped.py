"""Bugs of Apache Pulsar, put back in."""

from __future__ import annotations

from ....spec.core import Dialect
from ....spec.entry_cache.words import Config, FinishRemoval, Refused, Removed
from ...entry_cache import CacheManager, EntryCache
from ...entry_cache.broker import Note
from ...entry_cache.manager import NOTHING
from ...entry_cache.payload import Content
from ...entry_cache.range_cache import RangeCache
from ...entry_cache.removal_queue import Freed, RemovalQueue
from ...entry_cache.topic import Cursor, Topic
from ...entry_cache.wrapper import CachedEntry, Pool, Position, Wrapper
from ...legacy.entry_cache import proportional_victims


class ProportionalEviction(CacheManager):
    """A size pass takes a share from each of the largest caches instead of the oldest entries of all."""

    def size_pass(self, now_ms: int) -> Freed:
        need_bytes = self._excess()
        if not self._over_trigger() or need_bytes <= 0:
            return NOTHING
        return self.remove_each(proportional_victims(self.caches.values(), need_bytes))


class KeysByIdentity(RangeCache):
    """A lookup compares the node's key by identity, so that an equal position made anew finds nothing."""

    def find(self, key: Position) -> CachedEntry | None:
        wrapper: Wrapper | None = self.wrappers.get(key)
        return wrapper.value if wrapper is not None and wrapper.key is key else None


class RemovalRetains(CacheManager):
    """Removing an entry retains its payload once more to look at it, and nobody releases that hold."""

    def _let_go(self, wrapper: Wrapper) -> None:
        if wrapper.value is not None:
            wrapper.value.payload.retain()
        super()._let_go(wrapper)


class LostPutRetains(EntryCache):
    """A put that loses retains the resident payload once more, and nobody releases that hold."""

    def _second_put(self, resident: CachedEntry, size_bytes: int, count: int) -> CachedEntry | None:
        resident.payload.retain()
        return super()._second_put(resident, size_bytes, count)


class DoubleRelease(EntryCache):
    """A forced removal that comes second releases the payload that the first remover has released already."""

    def _lost_race(self, note: Note) -> None:
        note.entry.payload.release()


class SizeOfLostPut(EntryCache):
    """A put that loses adds its size to the range cache's own."""

    def _second_put(self, resident: CachedEntry, size_bytes: int, count: int) -> CachedEntry | None:
        cache = self.manager.cache(resident.topic)
        cache.size_bytes, cache.kept = cache.size_bytes + size_bytes, None
        return super()._second_put(resident, size_bytes, count)


class RemovesAnotherThanInspected(RemovalQueue):
    """Where the inspected entry is gone by other means, the pass removes the lowest position of its cache instead."""

    def _drop_tombstone(self, node: Wrapper) -> None:
        lowest = None if node.cache is None else next(iter(node.cache.all()), None)
        super()._drop_tombstone(node)
        if lowest is not None:
            self._count_freed(self._evict(lowest))
            self.leave_tombstone()


class ReportsSizeFromBefore(EntryCache):
    """A forced removal takes from the total all that it noted, also what others removed since, and it goes negative."""

    def finish_removal(self, command: FinishRemoval) -> Removed | Refused:
        removal = self.removals.get((command.what, command.topic, command.ledger, command.entry))
        outcome = super().finish_removal(command)
        if removal is None or isinstance(outcome, Refused):
            return outcome
        noted_bytes = sum(note.entry.size_bytes for note in removal.notes)
        self.manager._count_removed(0, noted_bytes - outcome.size_bytes)
        return Removed(outcome.entries, noted_bytes)


class ReadMovesSharedView(EntryCache):
    """A delivery reads through the payload's shared view, so that the next reader finds nothing left."""

    def _deliver_from(self, cursor: Cursor, entry: CachedEntry) -> Content:
        super()._deliver_from(cursor, entry)
        return entry.payload.view.read_all()


class RecycledKeepsAccessed(Pool):
    """A recycled node keeps the access mark of its earlier life."""

    def clear(self, wrapper: Wrapper) -> None:
        accessed = wrapper.accessed
        super().clear(wrapper)
        wrapper.accessed = accessed


class ExtensionSettingsIgnored(EntryCache):
    """At the start the configured extensions are not taken over: 5 for reads, and on for accesses, until a change."""

    def reset(self, config: Config, dialect: Dialect) -> None:
        super().reset(config, dialect)
        self.manager.queue.max_extensions, self.manager.queue.extend_accessed = 5, True


class SlowestByMarkDelete(EntryCache):
    """The slowest reader is looked for in order of what the cursors acknowledged."""

    def _slowest_read(self, topic: Topic) -> Position:
        return min(topic.active_cursors(), key=lambda cursor: cursor.acked).read
