"""Slips in the passes, in what a requeue does, and in the totals that start them."""

from __future__ import annotations

from typing import Any

from ...entry_cache import CacheManager
from ...entry_cache.manager import NOTHING
from ...entry_cache.range_cache import RangeCache
from ...entry_cache.removal_queue import MISSING, REMOVE, STOP, Freed, RemovalQueue
from ...entry_cache.wrapper import CachedEntry, Pool, Position, Wrapper

# ---- Passes and requeues ---------------------------------------------------------------------------------------------


class AccessedNotCleared(RemovalQueue):
    """A requeue leaves the access mark on."""

    def _requeue(self, node: Wrapper) -> None:
        accessed = node.accessed
        super()._requeue(node)
        if accessed:
            node.mark_accessed()


class RequeueAtHead(RemovalQueue):
    """A requeued entry goes to the head of the queue."""

    def _back_into_queue(self, node: Wrapper) -> None:
        self.nodes.appendleft(node)


class ExtensionNotCounted(RemovalQueue):
    """A requeue spends no extension."""

    def _extension_cost(self, node: Wrapper) -> int:
        return 0


class AccessExtendsForFree(RemovalQueue):
    """A requeue for an access spends no extension."""

    def _extension_cost(self, node: Wrapper) -> int:
        return 0 if self._by_access(node) else 1


class TimestampNotRenewed(RemovalQueue):
    """A requeue leaves the timestamp as it was."""

    def _renewed_ts(self, node: Wrapper) -> int:
        return node.ts_ms


class SizePassIgnoresEntitlement(RemovalQueue):
    """A size pass removes entries whether or not they are entitled."""

    def _spared(self, node: Wrapper) -> bool:
        return False


class SizePassIgnoresAccess(RemovalQueue):
    """A size pass spares entries with expected reads but not accessed ones."""

    def _spared(self, node: Wrapper) -> bool:
        return self._by_expected_reads(node)


class SizePassOneLap(RemovalQueue):
    """A size pass goes through the queue once and leaves it at that, however little it freed."""

    def size_pass(self, now_ms: int, need_bytes: int) -> Freed:
        self._begin(now_ms, need_bytes)
        return self._run(self._decide_by_size, len(self.nodes))


class SizePassNewestFirst(RemovalQueue):
    """A size pass begins at the tail."""

    def size_pass(self, now_ms: int, need_bytes: int) -> Freed:
        self.nodes.reverse()
        freed = super().size_pass(now_ms, need_bytes)
        self.nodes.reverse()
        return freed


class SizePassStopsAtTombstone(RemovalQueue):
    """A size pass ends at the first entry that was removed by other means."""

    def _decide_by_size(self, node: Wrapper) -> int:
        decision = super()._decide_by_size(node)
        return STOP if decision == MISSING else decision


class TimePassStopsAtTombstone(RemovalQueue):
    """A time pass ends at the first entry that was removed by other means."""

    def _decide_by_time(self, node: Wrapper) -> int:
        decision = super()._decide_by_time(node)
        return STOP if decision == MISSING else decision


class TimePassIgnoresEntitlement(RemovalQueue):
    """A time pass removes expired entries whether or not they are entitled."""

    def _decide_by_time(self, node: Wrapper) -> int:
        decision = super()._decide_by_time(node)
        return decision if decision in (STOP, MISSING) else REMOVE


class TimePassHandlesOne(RemovalQueue):
    """A time pass handles the first expired entry and no other."""

    def time_pass(self, now_ms: int) -> Freed:
        self._begin(now_ms, 0)
        return self._run(self._decide_by_time, 1)


class TombstoneCountsAsEvicted(RemovalQueue):
    """A pass that drops a tombstone counts it as an entry that it removed."""

    def _drop_tombstone(self, node: Wrapper) -> None:
        super()._drop_tombstone(node)
        self._count_freed(0)


class RemovesLowestPosition(RemovalQueue):
    """A pass inspects the head of the queue and then removes the lowest position of that entry's cache."""

    def _remove(self, node: Wrapper) -> None:
        lowest = next(iter(node.cache.all()), node) if node.cache is not None else node
        if lowest is node:
            super()._remove(node)
        else:
            self._count_freed(self._evict(lowest))
            self.leave_tombstone()


class RecycledKeepsExtensions(Pool):
    """A recycled node keeps the extensions of its earlier life."""

    def clear(self, wrapper: Wrapper) -> None:
        extensions = wrapper.extensions
        super().clear(wrapper)
        wrapper.extensions = extensions


# ---- Totals and thresholds -------------------------------------------------------------------------------------------


class TriggerIsMaxSize(CacheManager):
    """A size pass waits until the total exceeds the whole maximum."""

    def _over_trigger(self) -> bool:
        return self.total_bytes > self.max_size_bytes


class WatermarkAgainstTrigger(CacheManager):
    """A size pass frees down to the trigger instead of the watermark."""

    def _excess(self) -> int:
        return self.total_bytes - self.trigger_bytes


class SizePassNeverDue(CacheManager):
    """An insert over the trigger makes no size pass due."""

    def _after_insert(self) -> None:
        """Waits for the next check."""


class SizePassStaysDue(CacheManager):
    """A size pass that ran is still due."""

    def due_size_pass(self, now_ms: int) -> Freed:
        return self.size_pass(now_ms)


class SizeFromBeforeTimePass(CacheManager):
    """The size pass of a check frees what the total called for before the time pass."""

    def check(self, now_ms: int) -> tuple[Freed, Freed]:
        self.size_pass_due = False
        over, need_bytes = self._over_trigger(), self._excess()
        expired = self.time_pass(now_ms)
        return expired, self.queue.size_pass(now_ms, need_bytes) if over and need_bytes > 0 else NOTHING


class SizePassFirst(CacheManager):
    """A check runs the size pass before the time pass."""

    def check(self, now_ms: int) -> tuple[Freed, Freed]:
        self.size_pass_due = False
        evicted = self.size_pass(now_ms)
        return self.time_pass(now_ms), evicted


class OffKeepsResidents(CacheManager):
    """A cache that was turned off keeps what it holds."""

    def size_pass(self, now_ms: int) -> Freed:
        return NOTHING if self.max_size_bytes == 0 else super().size_pass(now_ms)


class ForcedRemovalKeepsTotal(CacheManager):
    """A forced removal does not take the entry's size from the total."""

    def remove(self, wrapper: Wrapper) -> int:
        size_bytes = super().remove(wrapper)
        self.total_bytes += size_bytes
        return size_bytes


class CacheSizeNotReduced(RangeCache):
    """A range cache's own size does not shrink when an entry goes."""

    def remove(self, key: Position, wrapper: Wrapper, size_bytes: int) -> bool:
        return super().remove(key, wrapper, 0)


class FreedWhileHeld(CacheManager):
    """Removing an entry frees its payload although deliveries hold it."""

    def _let_go(self, wrapper: Wrapper) -> None:
        entry = wrapper.value
        super()._let_go(wrapper)
        if entry is not None and entry.payload.holders > 0:
            entry.payload.holders = 0
            self.holdings.note(entry.payload)


class HitMovesToTail(CacheManager):
    """A hit moves the entry to the tail of the removal queue."""

    def hit(self, entry: CachedEntry) -> None:
        super().hit(entry)
        if entry.wrapper is not None:
            self.queue.nodes.remove(entry.wrapper)
            self.queue.nodes.append(entry.wrapper)


class PutIsAccess(CacheManager):
    """A new entry counts as accessed."""

    def insert(self, *new: Any) -> CachedEntry | None:
        entry = super().insert(*new)
        if entry is not None:
            self.hit(entry)
        return entry


class ClearReportsBuffers(RangeCache):
    """Clearing a cache reports the sizes of the entries' buffers instead of their own, and the total goes negative."""

    def clear(self) -> tuple[list[Wrapper], int]:
        reported = sum(wrapper.value.buffer_bytes for wrapper in self.all() if wrapper.value is not None)
        return super().clear()[0], reported
