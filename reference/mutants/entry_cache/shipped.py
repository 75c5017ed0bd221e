"""Bugs of Apache Pulsar, put back in."""

from __future__ import annotations

from ....spec.entry_cache.words import Config
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


class ExtraRetain(EntryCache):
    """A put that loses retains the resident payload once more, and nobody releases that hold."""

    def _second_put(self, resident: CachedEntry, size_bytes: int, count: int) -> CachedEntry | None:
        resident.payload.retain()
        return super()._second_put(resident, size_bytes, count)


class DoubleRelease(EntryCache):
    """A forced removal that comes second releases the payload that the first remover has released already."""

    def _lost_race(self, note: Note) -> None:
        note.entry.payload.release()


class SizeOfLostRace(EntryCache):
    """A forced removal that comes second takes the entry's size from the total once more."""

    def _lost_race(self, note: Note) -> None:
        self.manager._count_removed(0, note.entry.size_bytes)


class RemovesAnotherThanInspected(RemovalQueue):
    """A pass inspects the head of the queue and then removes the lowest position of that entry's cache."""

    def _remove(self, node: Wrapper) -> None:
        lowest = next(iter(node.cache.all()), node) if node.cache is not None else node
        if lowest is node:
            super()._remove(node)
        else:
            self._count_freed(self._evict(lowest))
            self.leave_tombstone()


class ClearReportsBuffers(RangeCache):
    """Clearing a cache reports the sizes of the entries' buffers instead of their own, and the total goes negative."""

    def clear(self) -> tuple[list[Wrapper], int]:
        reported = sum(wrapper.value.buffer_bytes for wrapper in self.all() if wrapper.value is not None)
        return super().clear()[0], reported


class ReadMovesSharedView(EntryCache):
    """A delivery reads through the payload's shared view, so that the next reader finds nothing left."""

    def _deliver_from(self, cursor: Cursor, entry: CachedEntry) -> Content:
        super()._deliver_from(cursor, entry)
        return entry.payload.view.read_all()


class RecycledKeepsExtensions(Pool):
    """A recycled node keeps the extensions of its earlier life."""

    def clear(self, wrapper: Wrapper) -> None:
        extensions = wrapper.extensions
        super().clear(wrapper)
        wrapper.extensions = extensions


class RecycledKeepsAccessed(Pool):
    """A recycled node keeps the access mark of its earlier life."""

    def clear(self, wrapper: Wrapper) -> None:
        accessed = wrapper.accessed
        super().clear(wrapper)
        wrapper.accessed = accessed


class ExtensionSettingsIgnored(RemovalQueue):
    """The configured maximum of extensions and the extension of accessed entries are not taken over: 5 and on."""

    def configure(self, settings: Config) -> None:
        super().configure(settings)
        self.max_extensions, self.extend_accessed = 5, True


class SlowestByMarkDelete(EntryCache):
    """The slowest reader is looked for in order of what the cursors acknowledged."""

    def _slowest_read(self, topic: Topic) -> Position:
        return min(topic.active_cursors(), key=lambda cursor: cursor.acked).read
