"""Every structural invariant of the reference, in one place."""

from __future__ import annotations

from .broker import Broker
from .wrapper import CachedEntry


def check(broker: Broker) -> None:
    """Raises AssertionError where one does not hold, after the whole state; O(state log state)."""
    try:
        _check_nodes(broker)
        _check_sizes(broker)
        _check_payloads(broker)
        _check_topics(broker)
        _check_deliveries(broker)
    except AssertionError as broken:
        broken.add_note(_state(broker))
        raise


def _live(broker: Broker) -> list[CachedEntry]:
    return [node.value for node in broker.manager.queue.nodes if node.value is not None]


def _check_nodes(broker: Broker) -> None:
    queue, manager = broker.manager.queue, broker.manager

    # Nodes without an entry are the tombstones, and they are counted.
    assert queue.tombstones == sum(node.value is None for node in queue.nodes)

    # A node is in the queue once, or in the pool once, and never in both.
    nodes = [id(node) for node in queue.nodes] + [id(node) for node in queue.pool.resting]
    assert len(nodes) == len(set(nodes))

    # A node in the pool carries nothing from its earlier life.
    for node in queue.pool.resting:
        assert (node.cache, node.key, node.value, node.item) == (None, None, None, None)
        assert (node.ts_ms, node.accessed, node.extensions) == (0, False, 0)

    # A live node, its entry and its range cache's place agree.
    for node in queue.nodes:
        if node.value is not None:
            assert node.value.wrapper is node
            assert node.key == node.value.key
            assert node.cache is manager.caches[node.value.topic]
            assert node.cache.wrappers[node.key] is node
            assert node.item is None or node.item == _fresh_row(node.value)

    # The range caches hold nothing that the queue does not.
    assert sum(len(cache) for cache in manager.caches.values()) == len(_live(broker))

    # Positions are in order, and a row that was kept is the row that would be made.
    for cache in manager.caches.values():
        keys = list(cache.wrappers)
        assert keys == sorted(set(keys))
        assert [position[:2] for position in cache.row().positions] == keys
        assert cache.row().size_bytes == cache.size_bytes


def _fresh_row(entry: CachedEntry) -> object:
    assert entry.wrapper is not None
    kept, entry.wrapper.item = entry.wrapper.item, None
    fresh = entry.wrapper.row(entry)
    entry.wrapper.item = kept
    return fresh


def _check_sizes(broker: Broker) -> None:
    manager = broker.manager

    # A range cache's size is the sum of its entries' sizes.
    for cache in manager.caches.values():
        assert cache.size_bytes == sum(node.value.size_bytes for node in cache.all() if node.value)

    # The total is the sum of the range caches, and what was added and not removed.
    assert manager.total_bytes == sum(cache.size_bytes for cache in manager.caches.values())
    assert manager.total_bytes == manager.added_bytes - manager.removed_bytes
    assert len(_live(broker)) == manager.added - manager.removed

    # The total never goes below zero.
    assert manager.total_bytes >= 0


def _check_payloads(broker: Broker) -> None:
    # A payload is held once by the cache while its entry is resident, and once by each delivery made from it.
    expected: dict[int, int] = {entry.serial: 1 for entry in _live(broker)}
    for delivery in broker.deliveries.open.values():
        if delivery.entry is not None:
            expected[delivery.entry.serial] = expected.get(delivery.entry.serial, 0) + 1
    assert dict(broker.manager.holdings.rows()) == expected

    # Nobody has read through a shared view.
    assert all(payload.view.reader == 0 for payload in broker.manager.holdings.held.values())


def _check_topics(broker: Broker) -> None:
    for topic in broker.topics.values():
        # Cursors are in order of name, and the active ones are counted.
        assert list(topic.cursors) == sorted(topic.cursors)
        assert topic.active == len(topic.active_cursors())

        # The open ledger is the last one.
        assert list(topic.log.ledgers) == sorted(topic.log.ledgers)
        assert next(reversed(topic.log.ledgers)) == topic.log.open

        # What is to be replayed was read and is not acknowledged, in order, once.
        for cursor in topic.cursors.values():
            assert cursor.replays == sorted(set(cursor.replays))
            assert all(cursor.acked < position < cursor.read for position in cursor.replays)
            assert cursor.row().replays == tuple(cursor.replays)
            assert cursor.row().read == cursor.read <= topic.log.end


def _check_deliveries(broker: Broker) -> None:
    # Open deliveries are the ones waiting under their addresses, each list oldest first.
    waiting = [delivery for queue in broker.deliveries.by_address.values() for delivery in queue]
    assert sorted(delivery.number for delivery in waiting) == list(broker.deliveries.open)
    for address, queue in broker.deliveries.by_address.items():
        assert all(delivery.address == address for delivery in queue)
        assert [delivery.number for delivery in queue] == sorted(delivery.number for delivery in queue)


def _state(broker: Broker) -> str:
    manager = broker.manager
    lines = [f"now {broker.now_ms} ms, {manager.total_bytes} bytes, settings {broker.settings}"]
    lines += [f"queue: {node.row(node.value) if node.value else 'tombstone'}" for node in manager.queue.nodes]
    lines += [f"cache: {cache.row()}" for cache in manager.caches.values()]
    lines += [f"payloads: {manager.holdings.rows()}", f"deliveries: {broker.deliveries.rows()}"]
    return "\n".join(lines)
