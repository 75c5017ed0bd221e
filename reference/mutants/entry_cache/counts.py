"""Slips in expected reads, second puts, hits, payloads and settings."""

from __future__ import annotations

from typing import Any

from ....spec.entry_cache.words import FailDelivery, Get, Hit, Miss, OpenCursor, SetMaxExtensions, SetTtl
from ...entry_cache import EntryCache
from ...entry_cache.deliveries import Delivery
from ...entry_cache.payload import Content
from ...entry_cache.topic import Cursor, Topic
from ...entry_cache.wrapper import Buffer, CachedEntry, Position

# ---- Expected reads --------------------------------------------------------------------------------------------------


class ReadTakenTwice(EntryCache):
    """An expected read is taken when an entry is handed out, and again when the delivery is released."""

    def _hand_out_cached(self, cursor: Cursor, entry: CachedEntry) -> Content:
        self._take_read(entry)
        return super()._hand_out_cached(cursor, entry)


class ReadsBelowZero(EntryCache):
    """Releases take expected reads below zero."""

    def _one_less(self, reads: int) -> int:
        return reads - 1


class ReplayNotCounted(EntryCache):
    """Entering a replay queue adds no expected read."""

    def _expect_read(self, topic: str, position: Position) -> None:
        """Nothing is expected."""


class ReleaseTakesFromLaterEntry(EntryCache):
    """A release takes an expected read from whatever is at the position by now."""

    def _take_read(self, entry: CachedEntry) -> None:
        super()._take_read(self.manager.find(entry.topic, entry.key) or entry)


class GetTakesRead(EntryCache):
    """A lookup takes an expected read."""

    def _look_at(self, entry: CachedEntry) -> Content:
        self._take_read(entry)
        return super()._look_at(entry)


class LoadCountsAllActive(EntryCache):
    """A loaded entry expects every active cursor of the topic, also those that are past it."""

    def _rank(self, reads: list[Position], position: Position) -> int:
        return len(reads)


class LoadCountsInactive(EntryCache):
    """A loaded entry expects inactive cursors too."""

    def _reads_that_count(self, topic: Topic, cursor: Cursor) -> list[Position]:
        return sorted(cursor.read for cursor in topic.cursors.values())


class LoadForgetsItsReader(EntryCache):
    """A loaded entry does not expect the very cursor that loads it."""

    def _load_reads(self, cursor: Cursor, reads: list[Position], position: Position) -> int:
        return max(0, super()._load_reads(cursor, reads, position) - cursor.active)


class AppendCountsAll(EntryCache):
    """An appended entry expects inactive cursors too."""

    def _append_reads(self, topic: Topic) -> int:
        return len(topic.cursors) if self.by_expected_reads else 0


class AppendCountsWithoutStrategy(EntryCache):
    """An appended entry expects the active cursors although the strategy is off."""

    def _append_reads(self, topic: Topic) -> int:
        return topic.active


class LeaverPaysBack(EntryCache):
    """A cursor that leaves or jumps takes back the reads that it owed."""

    def _pay_back(self, cursor: Cursor, forgets_replays: bool) -> None:
        for wrapper in self.manager.cache(cursor.topic).at_or_after(cursor.read) if cursor.active else ():
            if wrapper.value is not None and wrapper.value.reads > 0:
                wrapper.value.set_reads(wrapper.value.reads - 1)


class NewcomerAddsReads(EntryCache):
    """A cursor that opens adds an expected read to each entry that it is going to read."""

    def _new_cursor(self, topic: Topic, command: OpenCursor) -> Cursor:
        cursor = super()._new_cursor(topic, command)
        for wrapper in self.manager.cache(topic.name).at_or_after(cursor.read) if self.by_expected_reads else ():
            if wrapper.value is not None:
                wrapper.value.set_reads(wrapper.value.reads + 1)
        return cursor


# ---- Second puts, hits, payloads, settings ---------------------------------------------------------------------------


class SecondPutRenewsTimestamp(EntryCache):
    """A put that loses renews the resident entry's timestamp."""

    def _second_put(self, resident: CachedEntry, size_bytes: int, count: int) -> CachedEntry | None:
        if resident.wrapper is not None:
            resident.wrapper.ts_ms, resident.wrapper.item = self.now_ms, None
        return resident


class SecondPutReplacesReads(EntryCache):
    """A put that loses replaces the resident entry's expected reads."""

    def _second_put(self, resident: CachedEntry, size_bytes: int, count: int) -> CachedEntry | None:
        resident.set_reads(count)
        return resident


class SecondPutAddsSize(EntryCache):
    """A put that loses adds its size to the total."""

    def _second_put(self, resident: CachedEntry, size_bytes: int, count: int) -> CachedEntry | None:
        self.manager.total_bytes += size_bytes
        return resident


class SecondPutMarksAccessed(EntryCache):
    """A put that loses marks the resident entry accessed."""

    def _second_put(self, resident: CachedEntry, size_bytes: int, count: int) -> CachedEntry | None:
        self.manager.hit(resident)
        return resident


class SecondPutWins(EntryCache):
    """A put at a resident position replaces the entry."""

    def _second_put(self, resident: CachedEntry, size_bytes: int, count: int) -> CachedEntry | None:
        if resident.wrapper is not None:
            self.manager.remove(resident.wrapper)
        buffer = self.buffers.fresh(size_bytes)
        return self.manager.insert(resident.topic, resident.key, size_bytes, count, buffer, self.now_ms)


class GetIsNoAccess(EntryCache):
    """A lookup that hits does not mark the entry accessed."""

    def get(self, command: Get) -> Hit | Miss:
        entry = self.manager.find(command.topic, (command.ledger, command.entry))
        return Miss() if entry is None else Hit(self._look_at(entry))


class ReadIsNoAccess(EntryCache):
    """A read from the cache does not mark the entry accessed."""

    def _hand_out_cached(self, cursor: Cursor, entry: CachedEntry) -> Content:
        return self._deliver_from(cursor, entry)


class HitRenewsTimestamp(EntryCache):
    """A read from the cache renews the entry's timestamp."""

    def _hand_out_cached(self, cursor: Cursor, entry: CachedEntry) -> Content:
        if entry.wrapper is not None:
            entry.wrapper.ts_ms, entry.wrapper.item = self.now_ms, None
        return super()._hand_out_cached(cursor, entry)


class GetLeaksItsCopy(EntryCache):
    """A lookup's copy is never released."""

    def _look_at(self, entry: CachedEntry) -> Content:
        entry.payload.retain()
        return super()._look_at(entry)


class DeliveryLeaksPayload(EntryCache):
    """A delivery that ends keeps its hold on the payload."""

    def _end_delivery(self, delivery: Delivery, takes_read: bool = True) -> None:
        if delivery.entry is not None:
            delivery.entry.payload.retain()
        super()._end_delivery(delivery, takes_read)


class FailedDeliveryReleasesTwice(EntryCache):
    """A delivery that found no consumer lets go of its payload twice."""

    def fail_delivery(self, command: FailDelivery) -> Any:
        waiting = self.deliveries.by_address.get((command.topic, command.cursor, command.ledger, command.entry))
        entry = waiting[0].entry if waiting else None
        outcome = super().fail_delivery(command)
        if entry is not None:
            entry.payload.release()
        return outcome


class TtlRewritesTimestamps(EntryCache):
    """A change of the ttl renews the timestamps of what is cached."""

    def set_ttl(self, command: SetTtl) -> Any:
        for node in self.manager.queue.nodes:
            node.ts_ms, node.item = self.now_ms, None
        return super().set_ttl(command)


class MaxExtensionsRewritesEntries(EntryCache):
    """A change of the maximum of extensions sets what is cached back to none."""

    def set_max_extensions(self, command: SetMaxExtensions) -> Any:
        for node in self.manager.queue.nodes:
            node.extensions, node.item = 0, None
        return super().set_max_extensions(command)


class AppendNotCopied(EntryCache):
    """An appended entry stays a slice of the receive buffer although copying is on."""

    def _append_buffer(self, size_bytes: int, cached: bool) -> Buffer:
        return self.buffers.slice_of_receive(size_bytes)
