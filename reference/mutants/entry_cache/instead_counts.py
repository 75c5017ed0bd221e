"""Slips in what a deviation does instead of the text: expected reads, loads, replays and cursors."""

from __future__ import annotations

from typing import Any

from ....spec.entry_cache.words import FailDelivery, Redeliver, Refused
from ...entry_cache import EntryCache
from ...entry_cache.deliveries import Delivery
from ...entry_cache.payload import Content
from ...entry_cache.topic import Cursor, Topic
from ...entry_cache.wrapper import CachedEntry, Position, Wrapper
from .counts import NewcomerAddsReads

# ---- Expected reads --------------------------------------------------------------------------------------------------


class RedeliveryCountsTwice(EntryCache):
    """A redelivery that is asked for adds two expected reads."""

    def redeliver(self, command: Redeliver) -> Any:
        outcome = super().redeliver(command)
        if not isinstance(outcome, Refused):
            self._expect_read(command.topic, (command.ledger, command.entry))
        return outcome


class FailureCountsTwice(EntryCache):
    """A delivery that fails adds a read beside that of its replay."""

    def fail_delivery(self, command: FailDelivery) -> Any:
        outcome = super().fail_delivery(command)
        if not isinstance(outcome, Refused):
            self._expect_read(command.topic, (command.ledger, command.entry))
        return outcome


class FailedReleaseTakesRead(EntryCache):
    """A delivery that fails takes an expected read although it should be free."""

    def _end_delivery(self, delivery: Delivery, takes_read: bool = True) -> None:
        super()._end_delivery(delivery)


class CountsFromZero(EntryCache):
    """The count of an entry that came without expected reads moves although it should have none."""

    def _counts(self, entry: CachedEntry) -> bool:
        return self.counts_reads


class CountStopsAtZero(EntryCache):
    """The count of an entry that came with expected reads stops at zero although it should go on."""

    def _take_read(self, entry: CachedEntry) -> None:
        if entry.reads > 0 or entry.starts_at_zero:
            super()._take_read(entry)


class CountFromZeroStaysThere(EntryCache):
    """The count of an entry that came without expected reads stops at zero although it should go on."""

    def _take_read(self, entry: CachedEntry) -> None:
        if entry.reads > 0 or not entry.starts_at_zero:
            super()._take_read(entry)


class NewcomerAddsToCounts(NewcomerAddsReads):
    """Where counts can go below zero a cursor that opens adds one to each entry that it is going to read."""


class LookupTakesNothing(EntryCache):
    """A lookup takes no expected read although every copy should count."""

    def _look_at(self, entry: CachedEntry) -> Content:
        reads = entry.reads
        content = super()._look_at(entry)
        entry.set_reads(reads)
        return content


class FirstReplayIsFreeWithoutStrategy(EntryCache):
    """Without the strategy a redelivery of an entry that expects no read adds none."""

    def redeliver(self, command: Redeliver) -> Any:
        outcome = super().redeliver(command)
        entry = self.manager.find(command.topic, (command.ledger, command.entry))
        if entry is not None and entry.reads == 1 and not isinstance(outcome, Refused) and not self.by_expected_reads:
            entry.set_reads(0)
        return outcome


class LeaverOwesNothing(EntryCache):
    """A cursor that leaves takes nothing back although it should."""

    def _pay_back(self, cursor: Cursor, forgets_replays: bool) -> None:
        """Nothing is taken back."""


class LeaverForgetsItsReplays(EntryCache):
    """A cursor that leaves takes nothing back for the replays that it forgets."""

    def _pay_back(self, cursor: Cursor, forgets_replays: bool) -> None:
        super()._pay_back(cursor, forgets_replays=False)


# ---- Loads, replays and cursors --------------------------------------------------------------------------------------


class LoadCountsEachPosition(EntryCache):
    """A loaded entry expects the cursors at or before its own position, not those at or before its reader's."""

    def _load_reads(self, cursor: Cursor, reads: list[Position], position: Position) -> int:
        return self._rank(reads, position) if self.by_expected_reads else super()._load_reads(cursor, reads, position)


class LoadWithoutReadersIsCached(EntryCache):
    """A loaded entry that nobody is expected to read is cached although it should not be."""

    def _put_loaded(
        self, topic: Topic, position: Position, size_bytes: int, count: int, buffer: tuple[int, int]
    ) -> CachedEntry | None:
        if count == 0 and self.by_expected_reads and self.manager.find(topic.name, position) is None:
            buffer = self.buffers.fresh(size_bytes) if self.settings.copy_entries else buffer
            return self.manager.insert(topic.name, position, size_bytes, count, buffer, self.now_ms)
        return super()._put_loaded(topic, position, size_bytes, count, buffer)


class LoneReaderIsNotCached(EntryCache):
    """Under the strategy what the one cursor of a topic loads is not cached while it is active."""

    def _caches_load(self, cursor: Cursor) -> bool:
        alone = len(self.topics[cursor.topic].cursors) == 1 and cursor.active and self.by_expected_reads
        return super()._caches_load(cursor) and not alone


class InactiveReaderIsNotCached(EntryCache):
    """Under the strategy what an inactive cursor loads is not cached, whoever else is to read it."""

    def _caches_load(self, cursor: Cursor) -> bool:
        return super()._caches_load(cursor) and (cursor.active or not self.by_expected_reads)


class LosingLoadIsTied(EntryCache):
    """A load that loses is tied to the resident entry although it should keep a count of its own."""

    def _second_put(self, resident: CachedEntry, size_bytes: int, count: int) -> CachedEntry | None:
        super()._second_put(resident, size_bytes, count)
        return resident


class SecondPutChangesNothing(EntryCache):
    """A second put leaves the count of the resident entry although it should replace it."""

    def _second_put(self, resident: CachedEntry, size_bytes: int, count: int) -> CachedEntry | None:
        return super()._second_put(resident, size_bytes, resident.reads)


class MissedReplayIsNotCached(EntryCache):
    """A replay that misses is not cached although it should be."""

    def _replay_from_storage(self, cursor: Cursor, position: Position) -> list[Content]:
        return [self._deliver_from_storage(cursor, position)]


class MissedReplayIsAnAccess(EntryCache):
    """A replay that misses marks the entry that it puts accessed."""

    def _replay_from_storage(self, cursor: Cursor, position: Position) -> list[Content]:
        contents = super()._replay_from_storage(cursor, position)
        entry = self.manager.find(cursor.topic, position)
        if entry is not None:
            self.manager.hit(entry)
        return contents


class EvictionTakesTheMarkDelete(EntryCache):
    """The entry at the mark-delete position goes although it should stay."""

    def _behind_cursors(self, topic: Topic) -> list[Wrapper]:
        if not self.settings.by_mark_delete:
            return super()._behind_cursors(topic)
        return self.manager.cache(topic.name).before(self._least_acked(topic), inclusive=True)
