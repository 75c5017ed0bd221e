"""The broker around the cache: its state, and the mechanisms that several commands share."""

from __future__ import annotations

from typing import Any

from ...spec.core import Dialect
from ...spec.entry_cache.words import TOPICS, Config, Delivered, RemovalRow
from .deliveries import Deliveries, Delivery
from .manager import Parts
from .payload import Content, View
from .switches import switches_of
from .topic import Cursor, Topic
from .wrapper import CachedEntry, Position, Wrapper

RemovalKey = tuple[str, str, int, int]  # what, topic, ledger, entry


class Note:
    """What a forced removal wrote down when it began: a node, and the entry that the node carried then."""

    __slots__ = ("entry", "key", "wrapper")

    def __init__(self, wrapper: Wrapper, entry: CachedEntry) -> None:
        self.wrapper = wrapper
        self.key = entry.key
        self.entry = entry


class Removal:
    """A forced removal under way."""

    __slots__ = ("notes", "row")

    def __init__(self, key: RemovalKey, notes: list[Note]) -> None:
        self.notes = notes
        self.row = RemovalRow(*key, tuple([note.entry.serial for note in notes]))


class Buffers:
    """Which buffer a payload is a slice of; buffers are numbered from 1 in order of use."""

    __slots__ = ("capacity_bytes", "last", "receive", "receive_bytes", "used_bytes")

    def __init__(self, capacity_bytes: int) -> None:
        self.capacity_bytes = capacity_bytes
        self.last = 0
        self.receive = 0  # the current receive buffer; 0: none yet
        self.receive_bytes = 0
        self.used_bytes = 0

    def fresh(self, size_bytes: int) -> tuple[int, int]:
        """A new buffer of this size."""
        self.last += 1
        return self.last, size_bytes

    def slice_of_receive(self, size_bytes: int) -> tuple[int, int]:
        """The next bytes of the receive buffer, or the first of a new one where they do not fit."""
        if not self.receive or self.used_bytes + size_bytes > self.capacity_bytes:
            self.receive, self.receive_bytes = self.fresh(max(self.capacity_bytes, size_bytes))
            self.used_bytes = 0
        self.used_bytes += size_bytes
        return self.receive, self.receive_bytes


class Broker:
    """Topics, cursors, deliveries and forced removals, over one cache manager.  It begins with a reset."""

    def __init__(self, parts: Parts | None = None) -> None:
        self.parts = parts or Parts()

    def reset(self, config: Config, dialect: Dialect) -> None:
        """Forgets everything and starts as new."""
        self.config = config
        self.dialect = dialect
        self.switches = switches_of(dialect)
        self.manager = self.parts.manager(self.parts, self.switches)
        self.now_ms = 0
        self.next_check_ms = config.check_interval_ms
        self.topics: dict[str, Topic] = {}
        self.shown = [(self.topic(name), self.manager.cache(name)) for name in TOPICS]
        self.deliveries = Deliveries()
        self.removals: dict[RemovalKey, Removal] = {}
        self.buffers = Buffers(config.receive_buffer_bytes)
        self.settings = config
        self.use(config)

    def use(self, settings: Config) -> None:
        """Settings come into force; no entry is rewritten."""
        self.settings = settings
        self.by_expected_reads = settings.by_expected_reads
        self.counts_reads = settings.by_expected_reads or self.switches.reads_without_strategy
        self.manager.configure(settings)

    def topic(self, name: str) -> Topic:
        """A topic, made when first named."""
        found = self.topics.get(name)
        if found is None:
            found = self.topics[name] = Topic(name)
            self.manager.cache(name)
        return found

    def cursor(self, command: Any) -> Cursor | None:
        """The cursor that a command names."""
        return self.topics[command.topic].cursors.get(command.cursor)

    # ---- Expected reads

    def _expect_read(self, topic: str, position: Position) -> None:
        """A replay is to come: the cached entry there, if any, expects one read more."""
        entry = self.manager.find(topic, position)
        if entry is not None and self._counts(entry):
            entry.set_reads(entry.reads + 1)

    def _take_read(self, entry: CachedEntry) -> None:
        """A delivery made from this entry ended."""
        if entry.wrapper is not None and self._counts(entry):
            entry.set_reads(self._one_less(entry.reads))

    def _one_less(self, reads: int) -> int:
        return reads - 1 if reads > 0 or self.switches.count_below_zero else reads

    def _counts(self, entry: CachedEntry) -> bool:
        return self.counts_reads and not (self.switches.no_count_from_zero and entry.starts_at_zero)

    def _pay_back(self, cursor: Cursor, forgets_replays: bool) -> None:
        """Only where leavers pay back: each entry that an active cursor had yet to read expects one read less."""
        if not (self.switches.leaver_pays_back and cursor.active):
            return
        cache = self.manager.cache(cursor.topic)
        owed = [wrapper.value for wrapper in cache.at_or_after(cursor.read)]
        if forgets_replays:
            owed += [cache.find(position) for position in cursor.replays]
        for entry in owed:
            if entry is not None and entry.reads > 0 and self._counts(entry):
                entry.set_reads(entry.reads - 1)

    # ---- Deliveries

    def _hand_out_cached(self, cursor: Cursor, entry: CachedEntry) -> Content:
        """Hands out a resident entry: a hit."""
        self.manager.hit(entry)
        return self._deliver_from(cursor, entry)

    def _deliver_from(self, cursor: Cursor, entry: CachedEntry) -> Content:
        """Opens a delivery that holds a cached entry's payload; what its consumer reads."""
        self.deliveries.add((cursor.topic, cursor.name, *entry.key), entry)
        entry.payload.lend()
        return entry.payload.read_copy()

    def _deliver_from_storage(self, cursor: Cursor, position: Position) -> Content:
        """Opens a delivery of a copy that the cache has no part in."""
        self.deliveries.add((cursor.topic, cursor.name, *position), None)
        ledger, number = position
        return View(ledger, number, self.topics[cursor.topic].log.ledgers[ledger][number]).read_all()

    def _end_delivery(self, delivery: Delivery, takes_read: bool = True) -> None:
        """The consumer lets go of its copy."""
        entry = delivery.entry
        if entry is not None:
            if takes_read:
                self._take_read(entry)
            entry.payload.give_back()

    def _delivered(self, first: Position, contents: list[Content], from_cache: bool) -> Delivered:
        ledger, number = first
        return Delivered(ledger, tuple(range(number, number + len(contents))), tuple(contents), from_cache)

    # ---- Cursors

    def _after_departure(self, topic: Topic, had_active: bool) -> None:
        """Notes when the last active cursor left."""
        if had_active and topic.active == 0:
            topic.left(self.now_ms)

    def _evict_behind_cursors(self, topic: Topic) -> None:
        """Without the strategy of expected reads, what no active cursor needs any more goes at once."""
        if self.by_expected_reads:
            return
        cache = self.manager.cache(topic.name)
        if self.switches.cursor_eviction_through_queue:
            self.manager.remove_with_nodes(self._behind_cursors(topic) if topic.active else list(cache.all()))
        elif topic.active == 0:
            self.manager.clear(topic.name)
        elif len(cache):
            self.manager.remove_each(self._behind_cursors(topic))

    def _behind_cursors(self, topic: Topic) -> list[Wrapper]:
        cache = self.manager.cache(topic.name)
        if self.settings.by_mark_delete:
            return cache.before(self._least_acked(topic), inclusive=not self.switches.mark_delete_exclusive)
        return cache.before(self._slowest_read(topic))

    def _slowest_read(self, topic: Topic) -> Position:
        return min(cursor.read for cursor in topic.active_cursors())

    def _least_acked(self, topic: Topic) -> Position:
        return min(cursor.acked for cursor in topic.active_cursors())
