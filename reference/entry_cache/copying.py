"""Copies of a broker, for engines that try several continuations, and the fingerprint that tells states apart."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from functools import lru_cache
from typing import TypeVar

from .broker import Broker, Note, Removal
from .deliveries import Deliveries
from .manager import CacheManager
from .payload import Payload
from .topic import Log, Topic
from .wrapper import CachedEntry, Wrapper

SomeBroker = TypeVar("SomeBroker", bound=Broker)
Anything = TypeVar("Anything")


def _twin(old: Anything) -> Anything:
    """A shallow copy of an object whose fields are slots; several times as fast as `copy.copy`."""
    kind: type = type(old)
    new: Anything = object.__new__(kind)
    for name in _slots(kind):
        setattr(new, name, getattr(old, name))
    return new


@lru_cache(maxsize=256)
def _slots(kind: type) -> tuple[str, ...]:
    return tuple(name for base in kind.__mro__ for name in getattr(base, "__slots__", ()))


def copied(old: Broker, new: SomeBroker) -> SomeBroker:
    """Fills a new broker of the same make with a copy of an old one's state."""
    new.reset(old.config, old.dialect)
    if old.settings is not old.config:
        new.use(old.settings)
    new.now_ms, new.next_check_ms = old.now_ms, old.next_check_ms
    copies = _Copies(new.manager)
    copies.copy_manager(old.manager)
    new.topics = {name: _topic_copy(topic) for name, topic in old.topics.items()}
    new.shown = [(new.topics[topic.name], new.manager.cache(topic.name)) for topic, _ in old.shown]
    new.deliveries = copies.deliveries(old.deliveries)
    new.removals = {
        key: Removal(key, [copies.note(note) for note in removal.notes]) for key, removal in old.removals.items()
    }
    new.buffers = _twin(old.buffers)
    return new


class _Copies:
    """Copies of nodes and entries, one for each, whoever refers to them."""

    def __init__(self, manager: CacheManager) -> None:
        self._manager = manager
        self._entries: dict[int, CachedEntry] = {}
        self._wrappers: dict[int, Wrapper] = {}

    def copy_manager(self, old: CacheManager) -> None:
        new = self._manager
        for name in ("total_bytes", "added", "added_bytes", "removed", "removed_bytes", "size_pass_due"):
            setattr(new, name, getattr(old, name))
        for payload in old.holdings.held.values():
            self.payload(payload)
        new.queue.nodes = deque([self.wrapper(node) for node in old.queue.nodes])
        new.queue.tombstones, new.queue.visits = old.queue.tombstones, old.queue.visits
        new.queue.pool.resting = [self.wrapper(node) for node in old.queue.pool.resting]
        for topic, cache in old.caches.items():
            twin = new.cache(topic)
            twin.wrappers.update({key: self.wrapper(wrapper) for key, wrapper in cache.wrappers.items()})
            twin.size_bytes = cache.size_bytes

    def payload(self, old: Payload) -> Payload:
        held = self._manager.holdings.held
        if old.serial not in held:
            twin = Payload(old.serial, _twin(old.view), self._manager.holdings)
            twin.holders, twin.ties = old.holders, old.ties
            held[old.serial] = twin
        return held[old.serial]

    def entry(self, old: CachedEntry) -> CachedEntry:
        twin = self._entries.get(id(old))
        if twin is None:
            twin = self._entries[id(old)] = _twin(old)
            twin.payload = self.payload(old.payload)
            self._manager.holdings.note(twin.payload)
            twin.wrapper = None if old.wrapper is None else self.wrapper(old.wrapper)
        return twin

    def wrapper(self, old: Wrapper) -> Wrapper:
        twin = self._wrappers.get(id(old))
        if twin is None:
            twin = self._wrappers[id(old)] = _twin(old)
            twin.cache = None if old.cache is None else self._manager.cache(old.cache.topic)
            twin.value = None if old.value is None else self.entry(old.value)
        return twin

    def note(self, old: Note) -> Note:
        twin = _twin(old)
        twin.wrapper, twin.entry = self.wrapper(old.wrapper), self.entry(old.entry)
        return twin

    def deliveries(self, old: Deliveries) -> Deliveries:
        new = Deliveries()
        for delivery in old.open.values():
            new.add(delivery.address, None if delivery.entry is None else self.entry(delivery.entry))
        return new


def _topic_copy(old: Topic) -> Topic:
    new = _twin(old)
    new.log = _log_copy(old.log)
    new.cursors = {}
    for name, cursor in old.cursors.items():
        new.cursors[name] = _twin(cursor)
        new.cursors[name].replays = list(cursor.replays)
    return new


def _log_copy(old: Log) -> Log:
    new = _twin(old)
    new.ledgers = {ledger: list(sizes) for ledger, sizes in old.ledgers.items()}
    return new


def fingerprint_of(broker: Broker) -> Hashable:
    """The state with serials and buffers renumbered in order, times relative to now, and no ghosts (counters, visits).

    How far the clock is from 0, where stepping back ends, is left out too.
    """
    manager, now_ms = broker.manager, broker.now_ms
    noted = {key: removal.row.serials for key, removal in broker.removals.items()}
    live = [node.value for node in manager.queue.nodes if node.value is not None]
    rank = _ranks(
        [entry.serial for entry in live]
        + [payload.serial for payload in manager.holdings.held.values()]
        + [delivery.entry.serial for delivery in broker.deliveries.open.values() if delivery.entry]
        + [serial for serials in noted.values() for serial in serials]
    )
    buffer_rank = _ranks([entry.buffer for entry in live] + [broker.buffers.receive])
    return (
        broker.settings,
        broker.next_check_ms - now_ms,
        manager.size_pass_due,
        manager.total_bytes,
        tuple([_node(node, now_ms, rank, buffer_rank) for node in manager.queue.nodes]),
        tuple([(cache.size_bytes, _positions(cache.row().positions, rank)) for cache in manager.caches.values()]),
        tuple([(rank[serial], holders) for serial, holders in manager.holdings.rows()]),
        tuple([_topic(topic, now_ms) for topic in broker.topics.values()]),
        tuple([(*row[:4], rank[row.serial] if row.serial else 0) for row in broker.deliveries.rows()]),
        tuple([(key, tuple([rank[serial] for serial in serials])) for key, serials in noted.items()]),
        (buffer_rank[broker.buffers.receive], broker.buffers.receive_bytes, broker.buffers.used_bytes),
    )


def _ranks(numbers: Iterable[int]) -> dict[int, int]:
    return {number: at for at, number in enumerate(sorted({0, *numbers}))}


def _positions(positions: tuple[tuple[int, int, int], ...], rank: dict[int, int]) -> Hashable:
    return tuple([(ledger, entry, rank.get(serial, -1)) for ledger, entry, serial in positions])


def _node(node: Wrapper, now_ms: int, rank: dict[int, int], buffer_rank: dict[int, int]) -> Hashable:
    entry = node.value
    if entry is None:
        return None
    return (
        *(rank[entry.serial], entry.topic, entry.key, entry.size_bytes),
        *(node.ts_ms - now_ms, node.accessed, node.extensions, entry.reads, entry.starts_at_zero),
        *(buffer_rank[entry.buffer], entry.buffer_bytes, entry.payload.view.reader),
    )


def _topic(topic: Topic, now_ms: int) -> Hashable:
    sizes = tuple([(ledger, tuple(sizes)) for ledger, sizes in topic.log.ledgers.items()])
    return topic.name, topic.left_ms - now_ms, sizes, tuple([cursor.row() for cursor in topic.cursors.values()])
