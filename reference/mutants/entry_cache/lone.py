"""Slips that one law alone tells: everything else about the run stays as it should be."""

from __future__ import annotations

from collections import deque
from typing import Any

from ....spec.entry_cache.words import (
    CacheRow,
    EvictionCheck,
    FinishRemoval,
    OpenCursor,
    Refused,
    Release,
    Removed,
    RollLedger,
    Seek,
)
from ...entry_cache import CacheManager, EntryCache
from ...entry_cache.manager import NOTHING
from ...entry_cache.range_cache import RangeCache
from ...entry_cache.removal_queue import REQUEUE, Freed, RemovalQueue
from ...entry_cache.topic import Cursor, Topic
from ...entry_cache.wrapper import CachedEntry, Position, Wrapper

# ---- What is held, and what is said of it ----------------------------------------------------------------------------


class ListedByEntry(RangeCache):
    """A range cache lists its entries by number, whatever their ledger."""

    def row(self) -> CacheRow:
        if self.kept is None:
            row = super().row()
            self.kept = row._replace(positions=tuple(sorted(row.positions, key=lambda position: position[1::-1])))
        return self.kept


class SizeWithOverhead(RangeCache):
    """A range cache says its size with one byte more for each node."""

    def row(self) -> CacheRow:
        if self.kept is None:
            self.kept = super().row()._replace(size_bytes=self.size_bytes + len(self))
        return self.kept


class RemovedBytesNotCounted(CacheManager):
    """The bytes of an entry that leaves other than by a pass are not counted as removed."""

    def remove(self, wrapper: Wrapper) -> int:
        size_bytes = super().remove(wrapper)
        self.removed_bytes -= size_bytes
        return size_bytes


class NodeGoesAtOnce(CacheManager):
    """An entry that leaves other than by a pass takes its node out of the queue, which means a search for it."""

    def remove(self, wrapper: Wrapper) -> int:
        size_bytes = self._evict(wrapper)
        self.queue.nodes.remove(wrapper)
        return size_bytes


class RequeueCopies(RemovalQueue):
    """A requeue copies the payload into a buffer of its own."""

    def _requeue(self, node: Wrapper) -> None:
        if node.value is not None:
            node.value.buffer, node.value.buffer_bytes = -node.value.serial, node.value.size_bytes
        super()._requeue(node)


class ForcedRemovalTakesOneMore(EntryCache):
    """A forced removal takes the oldest entry of all too."""

    def finish_removal(self, command: FinishRemoval) -> Removed | Refused:
        outcome = super().finish_removal(command)
        oldest = next((node for node in self.manager.queue.nodes if node.value is not None), None)
        if isinstance(outcome, Refused) or oldest is None:
            return outcome
        return Removed(outcome.entries + 1, outcome.size_bytes + self.manager.remove(oldest))


class RefusedOpenEvicts(EntryCache):
    """Without the strategy, opening a cursor that is open is refused, and drops what its topic has cached."""

    def open_cursor(self, command: OpenCursor) -> Any:
        outcome = super().open_cursor(command)
        if isinstance(outcome, Refused) and not self.by_expected_reads:
            self.manager.clear(command.topic)
        return outcome


# ---- Passes ----------------------------------------------------------------------------------------------------------


class TimePassRequeuesNext(RemovalQueue):
    """A time pass that removed something requeues the first entry that is not expired."""

    def time_pass(self, now_ms: int) -> Freed:
        freed = super().time_pass(now_ms)
        if freed != NOTHING and self.nodes and self.nodes[0].ts_ms != now_ms:
            self._act(self.nodes.popleft(), REQUEUE)
        return freed


class TimePassForgetsAccess(CacheManager):
    """While the cache has room, a time pass takes no account of accesses."""

    def time_pass(self, now_ms: int) -> Freed:
        extend_accessed = self.queue.extend_accessed
        self.queue.extend_accessed = extend_accessed and self._over_trigger()
        freed = super().time_pass(now_ms)
        self.queue.extend_accessed = extend_accessed
        return freed


class TimePassWalksOn(RemovalQueue):
    """A time pass goes on to the end of the queue, and finds nothing to do there."""

    def time_pass(self, now_ms: int) -> Freed:
        freed = super().time_pass(now_ms)
        self.visits += len(self.nodes)
        return freed


class RequeueRaisesReads(RemovalQueue):
    """A requeue adds an expected read to an entry that has some left."""

    def _requeue(self, node: Wrapper) -> None:
        super()._requeue(node)
        if node.value is not None and node.value.reads > 0:
            node.value.set_reads(node.value.reads + 1)


class SizePassSparesOneOfTwins(RemovalQueue):
    """Where the entry behind the last one that a size pass has to take is of the same size, it takes that one."""

    def _remove(self, node: Wrapper) -> None:
        twin = self.nodes[0] if self.nodes else node
        size_bytes, twin_bytes = (each.value.size_bytes if each.value else 0 for each in (node, twin))
        last = size_bytes >= self.need_bytes - self.freed_bytes > 0
        if last and twin_bytes == size_bytes and twin is not node and not self._entitled(twin):
            self.nodes[0], node = node, twin
        super()._remove(node)


class SizePassSparesForNothing(RemovalQueue):
    """A size pass leaves the entries that it spared where they stood, and takes no extension from them."""

    def size_pass(self, now_ms: int, need_bytes: int) -> Freed:
        stood = [(node, node.ts_ms, node.extensions, node.accessed) for node in self.nodes]
        freed = super().size_pass(now_ms, need_bytes)
        left = set(self.nodes)
        self.nodes.clear()
        for node, ts_ms, extensions, accessed in stood:
            if node in left:
                node.renew(ts_ms, extensions)
                node.accessed = accessed
                self.nodes.append(node)
        return freed


class CheckNibbles(CacheManager):
    """A check that finds nothing to do removes the oldest entry, if nothing entitles it, down to the watermark."""

    def check(self, now_ms: int) -> tuple[Freed, Freed]:
        visits = self.queue.visits
        expired, evicted = super().check(now_ms)
        idle = self.queue.visits == visits and len(self.queue.nodes) > 0
        if idle and self._excess() > 0 and not self.queue._entitled(self.queue.nodes[0]):
            evicted = self.queue.size_pass(now_ms, 1)
        return expired, evicted


class IdleSizePassRequeues(CacheManager):
    """A size pass that has nothing to free still sends the entry at the head to the tail."""

    def due_size_pass(self, now_ms: int) -> Freed:
        freed = super().due_size_pass(now_ms)
        if freed == NOTHING and self.queue.nodes and self.queue.nodes[0].value is not None:
            self.queue.now_ms = now_ms
            self.queue._requeue(self.queue.nodes.popleft())
        return freed


class DuePassWaits(CacheManager):
    """The size pass that an insert made due is left to the next check."""

    def due_size_pass(self, now_ms: int) -> Freed:
        self.size_pass_due = False
        return NOTHING


class EverySecondCheck(EntryCache):
    """The next check is due after two intervals."""

    def eviction_check(self, command: EvictionCheck) -> Any:
        outcome = super().eviction_check(command)
        if not isinstance(outcome, Refused):
            self.next_check_ms += self.settings.check_interval_ms
        return outcome


# ---- Readers and cursors ---------------------------------------------------------------------------------------------


class EveryLoadIsCached(EntryCache):
    """Without the strategy too, every load is cached."""

    def _caches_load(self, cursor: Cursor) -> bool:
        return self.manager.max_size_bytes > 0


class ReadsAlwaysLoad(EntryCache):
    """A read goes to storage for what is cached."""

    def _run_from(self, topic: Topic, first: Position, most: int) -> tuple[list[CachedEntry], int]:
        cached, missing = super()._run_from(topic, first, most)
        return [], len(cached) + missing


class ReleaseEndsNewest(EntryCache):
    """Of several open deliveries of an entry to a cursor, a release ends the newest."""

    def release(self, command: Release) -> Any:
        address = (command.topic, command.cursor, command.ledger, command.entry)
        self.deliveries.by_address.get(address, deque()).rotate()
        return super().release(command)


class LatestIsOneBack(EntryCache):
    """A cursor that opens at the latest position has the entry before it still to read."""

    def _new_cursor(self, topic: Topic, command: OpenCursor) -> Cursor:
        cursor = super()._new_cursor(topic, command)
        ledger, entry = cursor.read
        if command.at == "latest" and entry > 0:
            cursor.jump((ledger, entry - 1))
        return cursor


class SeekKeepsReplays(EntryCache):
    """A cursor that jumps keeps its replay queue."""

    def seek(self, command: Seek) -> Any:
        cursor = self.cursor(command)
        replays = [] if cursor is None else list(cursor.replays)
        outcome = super().seek(command)
        if cursor is not None:
            cursor.replays = replays
        return outcome


class RollDropsCache(EntryCache):
    """Without the strategy, a topic that rolls over to a new ledger drops what it has cached."""

    def roll_ledger(self, command: RollLedger) -> Any:
        outcome = super().roll_ledger(command)
        if not self.by_expected_reads and not isinstance(outcome, Refused):
            self.manager.clear(command.topic)
        return outcome
