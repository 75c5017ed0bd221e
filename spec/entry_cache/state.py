"""entry_cache, part 4: the model's state, and what an observer sees of it.

A state is nested tuples: immutable, hashable, compared by value.  The removal queue is one tuple from head to tail,
with None where a tombstone stands.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from ..core import NOT_OBSERVED
from .words import (
    TOPICS,
    CacheRow,
    Config,
    Counters,
    CursorRow,
    DeliveryRow,
    Item,
    RemovalRow,
    Snapshot,
    TopicRow,
)

Position = tuple[int, int]


class Ledger(NamedTuple):
    """A ledger of a topic's log, with the sizes of its entries."""

    number: int
    sizes: tuple[int, ...]


class Topic(NamedTuple):
    """A topic's log; the last ledger is the open one."""

    left_ms: int
    ledgers: tuple[Ledger, ...]

    def end(self) -> Position:
        """The position that the next append gets."""
        last = self.ledgers[-1]
        return last.number, len(last.sizes)


class Receive(NamedTuple):
    """The broker's receive buffer: appends are slices of it until one does not fit."""

    buffer: int
    used_bytes: int
    buffer_bytes: int


class State(NamedTuple):
    """Everything there is."""

    now_ms: int
    next_check_ms: int
    settings: Config
    queue: tuple[Item | None, ...]  # None: a tombstone
    total_bytes: int
    counters: Counters
    size_pass_due: bool
    cursors: tuple[CursorRow, ...]
    deliveries: tuple[DeliveryRow, ...]
    removals: tuple[RemovalRow, ...]
    topics: tuple[Topic, ...]
    buffers: int  # the last buffer number that was taken
    receive: Receive | None
    from_zero: frozenset[int]  # serials that started without expected reads (kept for one deviation alone)


def start(config: Config) -> State:
    """An empty broker at time 0, each topic with one empty ledger."""
    empty = Topic(0, (Ledger(0, ()),))
    return State(
        now_ms=0,
        next_check_ms=config.check_interval_ms,
        settings=config,
        queue=(),
        total_bytes=0,
        counters=Counters(0, 0, 0, 0),
        size_pass_due=False,
        cursors=(),
        deliveries=(),
        removals=(),
        topics=(empty,) * len(TOPICS),
        buffers=0,
        receive=None,
        from_zero=frozenset(),
    )


TOPIC_INDEX = {name: index for index, name in enumerate(TOPICS)}


def find(queue: Sequence[Item | None], topic: str, ledger: int, entry: int) -> Item | None:
    """The resident entry at a position."""
    for item in queue:
        if item is not None and item.entry == entry and item.ledger == ledger and item.topic == topic:
            return item
    return None


def find_cursor(state: State, topic: str, cursor: str) -> int:
    """The index of a cursor's row, -1 where there is none."""
    for index, row in enumerate(state.cursors):
        if row.cursor == cursor and row.topic == topic:
            return index
    return -1


def replaced(rows: tuple[Any, ...], index: int, row: Any) -> tuple[Any, ...]:
    """Rows with one of them replaced."""
    return (*rows[:index], row, *rows[index + 1 :])


def with_items(queue: tuple[Item | None, ...], changed: dict[int, Item]) -> tuple[Item | None, ...]:
    """The queue with some entries, by serial, replaced."""
    return tuple([item if item is None else changed.get(item.serial, item) for item in queue])


def active_cursors(state: State, topic: str) -> int:
    """How many cursors of a topic are active."""
    count = 0
    for row in state.cursors:
        if row.active and row.topic == topic:
            count += 1
    return count


def active_at_or_before(state: State, topic: str, position: Position) -> int:
    """How many active cursors of a topic have yet to read a position (cursor_ranks says how a broker knows)."""
    count = 0
    for row in state.cursors:
        if row.active and row.topic == topic and row.read <= position:
            count += 1
    return count


def next_entry(topic: Topic, read: Position) -> tuple[Ledger, int] | None:
    """The first entry of the log at or after a read position."""
    for ledger in topic.ledgers:
        if ledger.number >= read[0]:
            entry = read[1] if ledger.number == read[0] else 0
            if entry < len(ledger.sizes):
                return ledger, entry
    return None


def size_in_log(topic: Topic, ledger: int, entry: int) -> int | None:
    """The size of an entry that the log holds."""
    for each in topic.ledgers:
        if each.number == ledger:
            return each.sizes[entry] if entry < len(each.sizes) else None
    return None


def view(state: State) -> Snapshot:
    """What a perfect observer sees.  How many nodes a pass handles is the implementation's affair; a law bounds it."""
    queue = tuple([item for item in state.queue if item is not None])
    return Snapshot(
        now_ms=state.now_ms,
        next_check_ms=state.next_check_ms,
        settings=state.settings,
        queue=queue,
        tombstones=len(state.queue) - len(queue),
        caches=_cache_rows(queue),
        total_bytes=state.total_bytes,
        counters=state.counters,
        size_pass_due=state.size_pass_due,
        visits=NOT_OBSERVED,
        payloads=holders(queue, state.deliveries),
        cursors=state.cursors,
        deliveries=state.deliveries,
        removals=state.removals,
        topics=tuple(
            [
                TopicRow(name, topic.left_ms, tuple([(ledger.number, len(ledger.sizes)) for ledger in topic.ledgers]))
                for name, topic in zip(TOPICS, state.topics, strict=True)
            ]
        ),
    )


def _cache_rows(queue: tuple[Item, ...]) -> tuple[CacheRow, ...]:
    """Each topic's range cache."""
    positions: dict[str, list[tuple[int, int, int]]] = {name: [] for name in TOPICS}
    sizes = dict.fromkeys(TOPICS, 0)
    for serial, topic, ledger, entry, size_bytes, *_ in queue:
        positions[topic].append((ledger, entry, serial))
        sizes[topic] += size_bytes
    return tuple([CacheRow(name, sizes[name], tuple(sorted(positions[name]))) for name in TOPICS])


def holders(queue: Sequence[Item], deliveries: Sequence[DeliveryRow]) -> tuple[tuple[int, int], ...]:
    """For each payload that somebody holds: how many do, the cache and the open deliveries."""
    counts = {item.serial: 1 for item in queue}
    for delivery in deliveries:
        if delivery.serial:
            counts[delivery.serial] = counts.get(delivery.serial, 0) + 1
    return tuple(sorted(counts.items()))


def canonical(state: State) -> Hashable:
    """A state without its ghosts: serials and buffers renumbered, times counted from now, totals left out.

    How long ago a topic's last active cursor left is not cut off at the caching window: a clock that steps back, or a
    larger ttl where the window follows it, lets a window in again that was over."""
    serials: dict[int, int] = {0: 0}
    buffers: dict[int, int] = {}
    queue: list[Item | None] = []
    for item in state.queue:
        if item is None:
            queue.append(None)
            continue
        serial = serials.setdefault(item.serial, len(serials))
        buffer = buffers.setdefault(item.buffer, len(buffers))
        queue.append(item._replace(serial=serial, ts_ms=item.ts_ms - state.now_ms, buffer=buffer))
    deliveries = [row._replace(serial=serials.setdefault(row.serial, len(serials))) for row in state.deliveries]
    resident = {item.serial for item in state.queue if item is not None}
    removals = [
        row._replace(serials=tuple(sorted(serials[serial] for serial in row.serials if serial in resident)))
        for row in state.removals
    ]
    receive = state.receive and (buffers.get(state.receive.buffer, -1), *state.receive[1:])
    return (
        state.next_check_ms - state.now_ms,
        state.settings,
        tuple(queue),
        state.size_pass_due,
        state.cursors,
        tuple(deliveries),
        tuple(removals),
        tuple((topic.left_ms - state.now_ms, topic.ledgers) for topic in state.topics),
        receive,
        tuple(sorted([serials[serial] for serial in state.from_zero if serial in serials])),
    )
