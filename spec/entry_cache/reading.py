"""entry_cache, part 8: what commands do that read, and those that end a delivery."""

from __future__ import annotations

from typing import Any

from ..core import Dialect
from . import naming as named
from . import words as w
from .counts import add_read, set_reads, take_read
from .passes import counts_reads, evict_behind_cursors
from .state import (
    TOPIC_INDEX,
    State,
    active_at_or_before,
    find,
    find_cursor,
    next_entry,
    replaced,
    size_in_log,
    with_items,
)
from .steps import put

Stepped = tuple[State, Any]
DONE = w.Done()

# ---- Reading --------------------------------------------------------------------------------------------------------


def read(config: w.Config, state: State, command: w.Read, dialect: Dialect) -> Stepped:
    index = find_cursor(state, command.topic, command.cursor)
    if index < 0:
        return state, w.Refused(w.NO_CURSOR)
    row = state.cursors[index]
    if row.loading is not None:
        return state, w.Refused(w.LOADING)
    following = next_entry(state.topics[TOPIC_INDEX[command.topic]], row.read)
    if following is None:
        return state, w.Refused(w.CAUGHT_UP)
    ledger, first = following
    cached = {
        item.entry: item
        for item in state.queue
        if item is not None and item.ledger == ledger.number and item.topic == command.topic
    }
    hit, end = first in cached, first
    while end < min(first + command.count, len(ledger.sizes)) and (end in cached) == hit:
        end += 1
    if not hit:
        loading = row._replace(loading=(ledger.number, first, end - first))
        after = state._replace(cursors=replaced(state.cursors, index, loading))
        return after, w.Loading(ledger.number, first, end - first)
    entries = tuple(range(first, end))
    items = [cached[entry] for entry in entries]
    after = state._replace(
        queue=with_items(state.queue, {item.serial: item._replace(accessed=True) for item in items}),
        cursors=replaced(state.cursors, index, row._replace(read=(ledger.number, end))),
        deliveries=(
            *state.deliveries,
            *[w.DeliveryRow(row.topic, row.cursor, item.ledger, item.entry, item.serial) for item in items],
        ),
    )
    contents = tuple([(item.ledger, item.entry, item.size_bytes) for item in items])
    after = evict_behind_cursors(config, after, command.topic, dialect)
    return after, w.Delivered(ledger.number, entries, contents, True)


def finish_load(config: w.Config, state: State, command: w.FinishLoad, dialect: Dialect) -> Stepped:
    index = find_cursor(state, command.topic, command.cursor)
    if index < 0:
        return state, w.Refused(w.NO_CURSOR)
    row = state.cursors[index]
    if row.loading is None:
        return state, w.Refused(w.NO_LOAD)
    number, first, count = row.loading
    over = row._replace(loading=None)
    ledgers = [each for each in state.topics[TOPIC_INDEX[command.topic]].ledgers if each.number == number]
    if not ledgers:
        return state._replace(cursors=replaced(state.cursors, index, over)), w.Refused(w.LEDGER_GONE)
    sizes = ledgers[0].sizes[first : first + count]
    after, shared = _load_buffer(config, state, sum(sizes))
    rows = []
    for entry, size_bytes in enumerate(sizes, first):
        after, serial = _loaded(config, after, row, (row.topic, number, entry, size_bytes), shared, dialect)
        rows.append(w.DeliveryRow(row.topic, row.cursor, number, entry, serial))
    after = after._replace(
        cursors=replaced(after.cursors, index, over._replace(read=(number, first + count))),
        deliveries=(*after.deliveries, *rows),
    )
    contents = tuple([(number, entry, size) for entry, size in enumerate(sizes, first)])
    after = evict_behind_cursors(config, after, command.topic, dialect)
    return after, w.Delivered(number, tuple(range(first, first + count)), contents, False)


def _load_buffer(config: w.Config, state: State, size_bytes: int) -> tuple[State, tuple[int, int]]:
    """The buffer that the entries of one load share; none where each is copied into one of its own."""
    if config.copy_entries:
        return state, (0, 0)
    buffer = state.buffers + 1
    return state._replace(buffers=buffer), (buffer, size_bytes)


def _loaded(
    config: w.Config,
    state: State,
    reader: w.CursorRow,
    what: tuple[str, int, int, int],
    shared: tuple[int, int],
    dialect: Dialect,
) -> tuple[State, int]:
    """One loaded entry meets the cache; the serial of the cached entry that its delivery counts against, 0 for none."""
    topic, ledger, entry, _ = what
    if state.settings.max_size_bytes == 0 or not (config.by_expected_reads or reader.caches_reads):
        return state, 0  # it is not offered to the cache, whatever is resident there
    reads = _expected_by_load(config, state, reader, (ledger, entry), dialect)
    resident = find(state.queue, topic, ledger, entry)
    if resident is not None:  # first put wins
        if dialect.has(named.SECOND_PUT_REPLACES_COUNT):
            changed = set_reads(state, resident, reads, dialect)
            state = state._replace(queue=with_items(state.queue, {resident.serial: changed}))
        return state, 0 if dialect.has(named.LOSING_LOAD_KEEPS_OWN_COUNT) else resident.serial
    if config.by_expected_reads and reads == 0 and dialect.has(named.ZERO_READS_NOT_CACHED):
        return state, 0
    state = put(config, state, what, reads, shared, dialect)
    return state, state.counters.added


def _expected_by_load(
    config: w.Config, state: State, reader: w.CursorRow, position: tuple[int, int], dialect: Dialect
) -> int:
    """How many reads a loaded entry expects: one for each active cursor that has yet to, the reader included."""
    if not config.by_expected_reads:
        return 1 if dialect.has(named.READS_WITHOUT_STRATEGY) else 0
    if dialect.has(named.RANK_OF_READER):
        return active_at_or_before(state, reader.topic, reader.read) if reader.active else 0
    return active_at_or_before(state, reader.topic, position)


def fail_load(config: w.Config, state: State, command: w.FailLoad, dialect: Dialect) -> Stepped:
    index = find_cursor(state, command.topic, command.cursor)
    if index < 0:
        return state, w.Refused(w.NO_CURSOR)
    row = state.cursors[index]
    if row.loading is None:
        return state, w.Refused(w.NO_LOAD)
    return state._replace(cursors=replaced(state.cursors, index, row._replace(loading=None))), DONE


def get(config: w.Config, state: State, command: w.Get, dialect: Dialect) -> Stepped:
    item = find(state.queue, command.topic, command.ledger, command.entry)
    if item is None:
        return state, w.Miss()
    accessed = item._replace(accessed=True)
    if dialect.has(named.EVERY_COPY_COUNTS):
        accessed = take_read(config, state, accessed, dialect)
    after = state._replace(queue=with_items(state.queue, {item.serial: accessed}))
    return after, w.Hit((item.ledger, item.entry, item.size_bytes))


# ---- Deliveries -----------------------------------------------------------------------------------------------------


def release(config: w.Config, state: State, command: w.Release, dialect: Dialect) -> Stepped:
    index = _open_delivery(state, command)
    if index < 0:
        return state, w.Refused(w.NO_DELIVERY)
    return _released(config, state, index, True, dialect), DONE


def fail_delivery(config: w.Config, state: State, command: w.FailDelivery, dialect: Dialect) -> Stepped:
    index = _open_delivery(state, command)
    if index < 0:
        return state, w.Refused(w.NO_DELIVERY)
    state = _to_replay(config, state, command, dialect) or state
    return _released(config, state, index, not dialect.has(named.UNDELIVERED_RELEASE_FREE), dialect), DONE


def redeliver(config: w.Config, state: State, command: w.Redeliver, dialect: Dialect) -> Stepped:
    if find_cursor(state, command.topic, command.cursor) < 0:
        return state, w.Refused(w.NO_CURSOR)
    after = _to_replay(config, state, command, dialect)
    return (state, w.Refused(w.NO_ENTRY)) if after is None else (after, DONE)


def replay(config: w.Config, state: State, command: w.Replay, dialect: Dialect) -> Stepped:
    index = find_cursor(state, command.topic, command.cursor)
    if index < 0:
        return state, w.Refused(w.NO_CURSOR)
    row, position = state.cursors[index], (command.ledger, command.entry)
    if position not in row.replays:
        return state, w.Refused(w.NOT_REPLAYING)
    left = tuple([each for each in row.replays if each != position])
    state = state._replace(cursors=replaced(state.cursors, index, row._replace(replays=left)))
    size_bytes = size_in_log(state.topics[TOPIC_INDEX[command.topic]], *position)
    if size_bytes is None:
        return state, w.Refused(w.LEDGER_GONE)
    item = find(state.queue, command.topic, *position)
    serial = 0
    if item is not None:
        serial = item.serial
        state = state._replace(queue=with_items(state.queue, {serial: item._replace(accessed=True)}))
    elif dialect.has(named.REPLAY_MISS_CACHED):
        state, shared = _load_buffer(config, state, size_bytes)
        state, serial = _loaded(config, state, row, (command.topic, *position, size_bytes), shared, dialect)
    delivery = w.DeliveryRow(command.topic, command.cursor, *position, serial)
    state = state._replace(deliveries=(*state.deliveries, delivery))
    return state, w.Delivered(command.ledger, (command.entry,), ((*position, size_bytes),), item is not None)


def _open_delivery(state: State, command: Any) -> int:
    """The index of the oldest open delivery that a command names, -1 for none."""
    key = (command.topic, command.cursor, command.ledger, command.entry)
    for index, row in enumerate(state.deliveries):
        if row[:4] == key:
            return index
    return -1


def _released(config: w.Config, state: State, index: int, takes: bool, dialect: Dialect) -> State:
    """A delivery lets go; a read is taken from the very entry that it was made from, if that is still resident."""
    serial = state.deliveries[index].serial
    after = state._replace(deliveries=(*state.deliveries[:index], *state.deliveries[index + 1 :]))
    if not serial or not takes:
        return after
    for item in state.queue:
        if item is not None and item.serial == serial:
            taken = take_read(config, state, item, dialect)
            return after if taken is item else after._replace(queue=with_items(state.queue, {serial: taken}))
    return after


def _to_replay(config: w.Config, state: State, command: Any, dialect: Dialect) -> State | None:
    """The state after a position entered its cursor's replay queue; none where it can not."""
    index = find_cursor(state, command.topic, command.cursor)
    if index < 0:
        return None
    row, position = state.cursors[index], (command.ledger, command.entry)
    topic = state.topics[TOPIC_INDEX[command.topic]]
    if not row.acked < position < row.read or position in row.replays or size_in_log(topic, *position) is None:
        return None
    waiting = row._replace(replays=tuple(sorted((*row.replays, position))))
    after = state._replace(cursors=replaced(state.cursors, index, waiting))
    item = find(state.queue, command.topic, *position)
    if item is None or not counts_reads(config, dialect):
        return after
    return after._replace(queue=with_items(state.queue, {item.serial: add_read(state, item, dialect)}))
