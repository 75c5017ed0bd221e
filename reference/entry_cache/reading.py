"""Commands of readers: reads, loads, lookups, deliveries and replays."""

from __future__ import annotations

from bisect import bisect_right

from ...spec.entry_cache.words import (
    CAUGHT_UP,
    LEDGER_GONE,
    LOADING,
    NO_CURSOR,
    NO_DELIVERY,
    NO_ENTRY,
    NO_LOAD,
    NOT_REPLAYING,
    Delivered,
    Done,
    FailDelivery,
    FailLoad,
    FinishLoad,
    Get,
    Hit,
    Loading,
    Miss,
    Read,
    Redeliver,
    Refused,
    Release,
    Replay,
)
from .broker import Broker
from .payload import Content
from .topic import Cursor, Topic
from .wrapper import CachedEntry, Position

DONE = Done()
MISS = Miss()
_NO_CURSOR = Refused(NO_CURSOR)
_LOADING = Refused(LOADING)
_NO_LOAD = Refused(NO_LOAD)
_CAUGHT_UP = Refused(CAUGHT_UP)
_LEDGER_GONE = Refused(LEDGER_GONE)
_NO_DELIVERY = Refused(NO_DELIVERY)
_NO_ENTRY = Refused(NO_ENTRY)
_NOT_REPLAYING = Refused(NOT_REPLAYING)


class Caching(Broker):
    """What was read from storage is put into the cache and handed out from there."""

    def _put_and_hand_out(self, topic: Topic, cursor: Cursor, loaded: list[tuple[Position, int]]) -> list[Content]:
        buffer = (0, 0) if self.settings.copy_entries else self.buffers.fresh(sum(size for _, size in loaded))
        if not self._caches_load(cursor):
            return [self._deliver_from_storage(cursor, position) for position, _ in loaded]
        reads = self._reads_that_count(topic, cursor)
        contents = []
        for position, size_bytes in loaded:
            count = self._load_reads(cursor, reads, position)
            entry = self._put_loaded(topic, position, size_bytes, count, buffer)
            if entry is None:
                contents.append(self._deliver_from_storage(cursor, position))
            else:
                contents.append(self._deliver_from(cursor, entry))
        return contents

    def _caches_load(self, cursor: Cursor) -> bool:
        return self.manager.max_size_bytes > 0 and (self.by_expected_reads or cursor.caches_reads)

    def _put_loaded(
        self, topic: Topic, position: Position, size_bytes: int, count: int, buffer: tuple[int, int]
    ) -> CachedEntry | None:
        """The entry that a loaded copy is handed out from: the new one, the resident one, or none."""
        resident = self.manager.find(topic.name, position)
        if resident is not None:
            return self._second_put(resident, size_bytes, count)
        if count == 0 and self.by_expected_reads and self.switches.zero_reads_not_cached:
            return None
        if self.settings.copy_entries:
            buffer = self.buffers.fresh(size_bytes)
        return self.manager.insert(topic.name, position, size_bytes, count, buffer, self.now_ms)

    def _second_put(self, resident: CachedEntry, size_bytes: int, count: int) -> CachedEntry | None:
        """A put that lost: the first one wins and nothing about it changes."""
        if self.switches.second_put_replaces_count and self._counts(resident):
            resident.set_reads(count)
        return None if self.switches.losing_load_keeps_own_count else resident

    def _reads_that_count(self, topic: Topic, cursor: Cursor) -> list[Position]:
        """The read positions, in order, of the cursors that a load's expected reads are counted over."""
        if self.switches.rank_of_reader and not cursor.active:
            return []
        return topic.active_reads()

    def _load_reads(self, cursor: Cursor, reads: list[Position], position: Position) -> int:
        if not self.by_expected_reads:
            return 1 if self.switches.reads_without_strategy else 0
        return self._rank(reads, cursor.read if self.switches.rank_of_reader else position)

    def _rank(self, reads: list[Position], position: Position) -> int:
        """How many of the read positions are at or before a position."""
        return bisect_right(reads, position)


class Reading(Caching):
    """Cursors read on, from the cache or through a load."""

    def read(self, command: Read) -> Delivered | Loading | Refused:
        """O(entries read)."""
        topic, cursor = self.topics[command.topic], self.cursor(command)
        if cursor is None:
            return _NO_CURSOR
        if cursor.loading is not None:
            return _LOADING
        first = topic.log.next_at(cursor.read)
        if first is None:
            return _CAUGHT_UP
        cached, count = self._run_from(topic, first, command.count)
        if cached:
            return self._read_cached(topic, cursor, first, cached)
        cursor.load((*first, count))
        return Loading(*first, count)

    def _run_from(self, topic: Topic, first: Position, most: int) -> tuple[list[CachedEntry], int]:
        """The longest run from a position that is all cached (its entries) or all not cached (their number)."""
        ledger, number = first
        end = min(number + most, len(topic.log.ledgers[ledger]))
        find, name = self.manager.find, topic.name
        cached: list[CachedEntry] = []
        missing = 0
        for at in range(number, end):
            entry = find(name, (ledger, at))
            if (entry is None and cached) or (entry is not None and missing):
                break
            if entry is None:
                missing += 1
            else:
                cached.append(entry)
        return cached, missing

    def _read_cached(self, topic: Topic, cursor: Cursor, first: Position, cached: list[CachedEntry]) -> Delivered:
        contents = [self._hand_out_cached(cursor, entry) for entry in cached]
        cursor.move((first[0], first[1] + len(contents)))
        self._evict_behind_cursors(topic)
        return self._delivered(first, contents, from_cache=True)

    def finish_load(self, command: FinishLoad) -> Delivered | Refused:
        """O(c log c) for the cursors of the topic, and O(log n) for each entry."""
        topic, cursor = self.topics[command.topic], self.cursor(command)
        if cursor is None:
            return _NO_CURSOR
        if cursor.loading is None:
            return _NO_LOAD
        ledger, first, count = cursor.loading
        cursor.load(None)
        sizes = topic.log.ledgers.get(ledger)
        if sizes is None:
            return _LEDGER_GONE
        loaded = [((ledger, at), sizes[at]) for at in range(first, first + count)]
        contents = self._put_and_hand_out(topic, cursor, loaded)
        cursor.move((ledger, first + count))
        self._evict_behind_cursors(topic)
        return self._delivered((ledger, first), contents, from_cache=False)

    def fail_load(self, command: FailLoad) -> Done | Refused:
        cursor = self.cursor(command)
        if cursor is None:
            return _NO_CURSOR
        if cursor.loading is None:
            return _NO_LOAD
        cursor.load(None)
        return DONE

    def get(self, command: Get) -> Hit | Miss:
        entry = self.manager.find(command.topic, (command.ledger, command.entry))
        if entry is None:
            return MISS
        self.manager.hit(entry)
        return Hit(self._look_at(entry))

    def _look_at(self, entry: CachedEntry) -> Content:
        """A lookup's own copy, released at once."""
        entry.payload.lend()
        content = entry.payload.read_copy()
        entry.payload.give_back()
        if self.switches.every_copy_counts:
            self._take_read(entry)
        return content


class Delivering(Caching):
    """Deliveries end, fail, and are asked for again."""

    def release(self, command: Release) -> Done | Refused:
        delivery = self.deliveries.take_oldest((command.topic, command.cursor, command.ledger, command.entry))
        if delivery is None:
            return _NO_DELIVERY
        self._end_delivery(delivery)
        return DONE

    def fail_delivery(self, command: FailDelivery) -> Done | Refused:
        delivery = self.deliveries.take_oldest((command.topic, command.cursor, command.ledger, command.entry))
        if delivery is None:
            return _NO_DELIVERY
        cursor, position = self.cursor(command), (command.ledger, command.entry)
        if cursor is not None and self._may_replay(cursor, position):
            self._queue_replay(cursor, position)
        self._end_delivery(delivery, takes_read=not self.switches.undelivered_release_free)
        return DONE

    def redeliver(self, command: Redeliver) -> Done | Refused:
        cursor, position = self.cursor(command), (command.ledger, command.entry)
        if cursor is None:
            return _NO_CURSOR
        if not self._may_replay(cursor, position):
            return _NO_ENTRY
        self._queue_replay(cursor, position)
        return DONE

    def _may_replay(self, cursor: Cursor, position: Position) -> bool:
        if not self.topics[cursor.topic].log.holds(position) or cursor.replaying(position):
            return False
        return self._read_and_unacknowledged(cursor, position)

    def _read_and_unacknowledged(self, cursor: Cursor, position: Position) -> bool:
        return cursor.acked < position < cursor.read

    def _queue_replay(self, cursor: Cursor, position: Position) -> None:
        cursor.queue_replay(position)
        self._expect_read(cursor.topic, position)

    def replay(self, command: Replay) -> Delivered | Refused:
        cursor, position = self.cursor(command), (command.ledger, command.entry)
        if cursor is None:
            return _NO_CURSOR
        if not cursor.replaying(position):
            return _NOT_REPLAYING
        cursor.drop_replay(position)
        if not self.topics[cursor.topic].log.holds(position):
            return _LEDGER_GONE
        entry = self.manager.find(cursor.topic, position)
        if entry is None:
            return self._delivered(position, self._replay_from_storage(cursor, position), from_cache=False)
        return self._delivered(position, [self._hand_out_cached(cursor, entry)], from_cache=True)

    def _replay_from_storage(self, cursor: Cursor, position: Position) -> list[Content]:
        """A replay that missed; where a deviation says so it is like a load of one entry."""
        topic, (ledger, number) = self.topics[cursor.topic], position
        if self.switches.replay_miss_cached:
            return self._put_and_hand_out(topic, cursor, [(position, topic.log.ledgers[ledger][number])])
        return [self._deliver_from_storage(cursor, position)]
