"""One comparison of the reference with its edge on the wrong side."""

from __future__ import annotations

from bisect import bisect_left

from ....spec.core import Dialect
from ....spec.entry_cache.words import Config
from ...entry_cache import CacheManager, EntryCache
from ...entry_cache.broker import Buffers, RemovalKey
from ...entry_cache.removal_queue import RemovalQueue
from ...entry_cache.topic import Topic
from ...entry_cache.wrapper import Buffer, Position, Wrapper


class ExpiredAtTtl(RemovalQueue):
    """An entry counts as expired at the age of exactly the ttl."""

    def _expired(self, node: Wrapper) -> bool:
        return node.ts_ms <= self.now_ms - self.ttl_ms


class LastReadDoesNotCount(RemovalQueue):
    """An entry with one expected read left is not entitled."""

    def _reads_left(self, node: Wrapper) -> bool:
        return node.value is not None and node.value.reads > 1


class NoReadCounts(RemovalQueue):
    """An entry with no expected read left is entitled."""

    def _reads_left(self, node: Wrapper) -> bool:
        return node.value is not None and node.value.reads >= 0


class OneExtensionMore(RemovalQueue):
    """An entry that has used its extensions gets one more."""

    def _extensions_left(self, node: Wrapper) -> bool:
        return node.extensions <= self.max_extensions


class FreesOneMore(RemovalQueue):
    """A size pass goes on when exactly enough is freed."""

    def _enough(self) -> bool:
        return self.freed_bytes > self.need_bytes


class TriggeredAtTrigger(CacheManager):
    """A total of exactly the trigger starts a size pass."""

    def _over_trigger(self) -> bool:
        return self.total_bytes >= self.trigger_bytes


class WindowInclusive(EntryCache):
    """An append is cached when exactly the whole window has passed since the last active cursor left."""

    def _in_window(self, since_ms: int) -> bool:
        return since_ms <= self._window_ms()


class RankCountsBefore(EntryCache):
    """A loaded entry expects the cursors before it, not those that stand at it."""

    def _rank(self, reads: list[Position], position: Position) -> int:
        return bisect_left(reads, position)


class ActiveAtThreshold(EntryCache):
    """A cursor with a backlog of exactly the threshold stays active."""

    def _keeps_up(self, backlog: int) -> bool:
        return backlog <= self.settings.backlogged_threshold


class ThresholdZeroIsOn(EntryCache):
    """A backlog threshold of 0, which means off, turns every cursor inactive."""

    def _check_backlogs_of(self, topic: Topic) -> None:
        had_active = topic.active > 0
        super()._check_backlogs_of(topic)
        if self.settings.backlogged_threshold == 0:
            for cursor in topic.cursors.values():
                topic.set_flags(cursor, False, cursor.caches_reads)
            self._after_departure(topic, had_active)


class BacklogGapExclusive(EntryCache):
    """A cursor whose backlog differs by exactly the largest gap does not count as near."""

    def _shares_backlog(self, backlog: int, others: list[int]) -> bool:
        gap = self.settings.max_backlog_between_cursors
        return super()._shares_backlog(backlog, [other for other in others if abs(other - backlog) != gap])


class BacklogNeedsOneEntryMore(EntryCache):
    """A backlog of exactly the least number of entries is not enough for a cursor to cache its reads."""

    def _shares_backlog(self, backlog: int, others: list[int]) -> bool:
        return super()._shares_backlog(backlog - 1, [other - 1 for other in others])


class BacklogNeedsOneCursorMore(EntryCache):
    """Exactly the least number of others that lag as far is not enough for a cursor to cache its reads."""

    def _shares_backlog(self, backlog: int, others: list[int]) -> bool:
        return super()._shares_backlog(backlog, sorted(others, key=lambda other: abs(other - backlog))[1:])


class UptoInclusive(EntryCache):
    """A forced removal up to a position takes the entry at it too."""

    def _in_scope(self, key: RemovalKey) -> list[Wrapper]:
        what, topic, ledger, entry = key
        if what == "upto":
            return self.manager.cache(topic).before((ledger, entry), inclusive=True)
        return super()._in_scope(key)


class EvictsAtReadPosition(EntryCache):
    """Cursor-based eviction takes the entry that the slowest cursor is about to read."""

    def _behind_cursors(self, topic: Topic) -> list[Wrapper]:
        if self.settings.by_mark_delete:
            return super()._behind_cursors(topic)
        return self.manager.cache(topic.name).before(self._slowest_read(topic), inclusive=True)


class KeepsMarkDeleted(EntryCache):
    """Cursor-based eviction leaves the entry at the least mark-delete position."""

    def _behind_cursors(self, topic: Topic) -> list[Wrapper]:
        if self.settings.by_mark_delete:
            return self.manager.cache(topic.name).before(self._least_acked(topic))
        return super()._behind_cursors(topic)


class BufferNeverFull(Buffers):
    """A receive buffer that a slice would fill exactly is given up."""

    def slice_of_receive(self, size_bytes: int) -> Buffer:
        if self.receive and self.used_bytes + size_bytes == self.capacity_bytes:
            self.used_bytes += 1
        return super().slice_of_receive(size_bytes)


class ExactFitTakesNewBuffer(EntryCache):
    """An append that fits the rest of the receive buffer exactly begins a new one."""

    def reset(self, config: Config, dialect: Dialect) -> None:
        super().reset(config, dialect)
        self.buffers = BufferNeverFull(config.receive_buffer_bytes)
