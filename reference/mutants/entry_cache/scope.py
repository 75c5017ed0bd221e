"""Slips in what is cached, and in what cursors and forced removals take."""

from __future__ import annotations

from ...entry_cache import EntryCache
from ...entry_cache.broker import Note, RemovalKey
from ...entry_cache.topic import Topic
from ...entry_cache.wrapper import Position, Wrapper


class WindowOfOneTtl(EntryCache):
    """Without a setting of its own, the caching window is one ttl instead of two."""

    def _window_ms(self) -> int:
        window_ms = self.settings.continue_caching_ms
        return self.settings.ttl_ms if window_ms is None else window_ms


class WindowNeverCloses(EntryCache):
    """Appends are cached however long ago the last active cursor left."""

    def _in_window(self, since_ms: int) -> bool:
        return True


class WindowWithoutStrategy(EntryCache):
    """The caching window applies although the strategy is off."""

    def _caches_append(self, topic: Topic) -> bool:
        in_window = self._in_window(self.now_ms - topic.left_ms)
        return super()._caches_append(topic) or (self.manager.max_size_bytes > 0 and in_window)


class DepartureNotNoted(EntryCache):
    """Nobody notes when the last active cursor left."""

    def _after_departure(self, topic: Topic, had_active: bool) -> None:
        """The window stays where it was."""


class OffStillCaches(EntryCache):
    """Appends are cached although the maximum size is 0."""

    def _caches_append(self, topic: Topic) -> bool:
        return topic.active > 0 or super()._caches_append(topic)


class CursorEvictionUnderStrategy(EntryCache):
    """Cursor-based eviction runs although entries are kept by expected reads."""

    def _evict_behind_cursors(self, topic: Topic) -> None:
        if self.by_expected_reads and topic.active:
            self.manager.remove_each(self._behind_cursors(topic))
        super()._evict_behind_cursors(topic)


class CursorEvictionNever(EntryCache):
    """Cursor-based eviction does not run at all."""

    def _evict_behind_cursors(self, topic: Topic) -> None:
        """Everything waits for a pass."""


class CursorEvictionNeedsCursor(EntryCache):
    """Cursor-based eviction keeps everything when no cursor is active."""

    def _evict_behind_cursors(self, topic: Topic) -> None:
        if topic.active:
            super()._evict_behind_cursors(topic)


class FastestForSlowest(EntryCache):
    """Cursor-based eviction goes by the fastest active cursor."""

    def _slowest_read(self, topic: Topic) -> Position:
        return max(cursor.read for cursor in topic.active_cursors())


class InactiveHoldBack(EntryCache):
    """Cursor-based eviction waits for inactive cursors too."""

    def _slowest_read(self, topic: Topic) -> Position:
        return min(cursor.read for cursor in topic.cursors.values())


class MarkDeleteSettingIgnored(EntryCache):
    """Cursor-based eviction goes by read positions although it should go by mark-deletes."""

    def _behind_cursors(self, topic: Topic) -> list[Wrapper]:
        return self.manager.cache(topic.name).before(self._slowest_read(topic))


class ForcedRemovalAsksEntitlement(EntryCache):
    """A forced removal leaves entries that a pass would requeue."""

    def _still_there(self, note: Note) -> bool:
        return super()._still_there(note) and not self.manager.queue._entitled(note.wrapper)


class ForcedRemovalByPosition(EntryCache):
    """A forced removal takes whatever is at the noted position by now."""

    def _still_there(self, note: Note) -> bool:
        later = self.manager.find(note.entry.topic, note.key)
        if later is not None and later.wrapper is not None:
            note.wrapper = later.wrapper
        return later is not None


class ForcedRemovalByNode(EntryCache):
    """A forced removal takes whatever the noted node carries by now."""

    def _still_there(self, note: Note) -> bool:
        return note.wrapper.value is not None


class ForcedRemovalMissesLast(EntryCache):
    """A forced removal of several entries overlooks the last one."""

    def _noted(self, key: RemovalKey) -> list[Note]:
        notes = super()._noted(key)
        return notes[:-1] if len(notes) > 1 else notes
