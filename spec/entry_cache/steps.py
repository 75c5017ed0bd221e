"""entry_cache, part 5: what each command does to the log, the cursors, the deliveries and the cache.

One function a command, in the order of `words.py`: (config, state, command, dialect) -> (state, outcome).
"""

from __future__ import annotations

from typing import Any

from ..core import Dialect
from . import readings as named
from . import words as w
from .counts import add_read, pay_back, take_read
from .passes import counts_reads, evict_behind_cursors
from .rules import append_is_cached, continue_caching_ms, trigger_bytes
from .state import (
    TOPIC_INDEX,
    Ledger,
    Receive,
    State,
    Topic,
    active_at_or_before,
    active_cursors,
    find,
    find_cursor,
    next_entry,
    replaced,
    size_in_log,
    with_items,
)

Stepped = tuple[State, Any]
DONE = w.Done()

# ---- Publishing -----------------------------------------------------------------------------------------------------


def append(config: w.Config, state: State, command: w.Append, dialect: Dialect) -> Stepped:
    index = TOPIC_INDEX[command.topic]
    topic = state.topics[index]
    ledger, entry = topic.end()
    open_ledger = Ledger(ledger, (*topic.ledgers[-1].sizes, command.size_bytes))
    topics = replaced(state.topics, index, Topic(topic.left_ms, (*topic.ledgers[:-1], open_ledger)))
    state = _received(config, state._replace(topics=topics), command.size_bytes)
    settings, active = state.settings, active_cursors(state, command.topic)
    window_ms = continue_caching_ms(config.continue_caching_ms, settings.ttl_ms)
    since_left_ms = state.now_ms - topic.left_ms
    if not append_is_cached(settings.max_size_bytes, active, config.by_expected_reads, since_left_ms, window_ms):
        return state, w.Appended(ledger, entry, False)
    reads = active if config.by_expected_reads else 0
    receive = state.receive
    shared = (0, 0) if receive is None else (receive.buffer, receive.buffer_bytes)
    state = _put(config, state, (command.topic, ledger, entry, command.size_bytes), reads, shared, dialect)
    return state, w.Appended(ledger, entry, True)


def _received(config: w.Config, state: State, size_bytes: int) -> State:
    """The bytes of a publish land in the receive buffer, or begin a new one.  A copying cache does not hold on to it."""
    if config.copy_entries:
        return state
    receive = state.receive
    if receive is not None and receive.used_bytes + size_bytes <= config.receive_buffer_bytes:
        return state._replace(receive=receive._replace(used_bytes=receive.used_bytes + size_bytes))
    begun = Receive(state.buffers + 1, size_bytes, max(config.receive_buffer_bytes, size_bytes))
    return state._replace(buffers=begun.buffer, receive=begun)


def _put(
    config: w.Config,
    state: State,
    what: tuple[str, int, int, int],
    reads: int,
    shared: tuple[int, int],
    dialect: Dialect,
) -> State:
    """A new entry at the tail of the queue; the total over the trigger makes a size pass due."""
    size_bytes = what[3]
    buffers = state.buffers
    if config.copy_entries:
        buffers += 1
        shared = (buffers, size_bytes)
    added, added_bytes, removed, removed_bytes = state.counters
    serial = added + 1
    accessed = dialect.has(named.PUT_COUNTS_AS_ACCESS)
    item = w.Item(serial, *what, state.now_ms, accessed, 0, reads, *shared)
    total = state.total_bytes + size_bytes
    if reads == 0 and dialect.has(named.NO_COUNT_FROM_ZERO):
        state = state._replace(from_zero=state.from_zero | {serial})
    return state._replace(
        queue=(*state.queue, item),
        total_bytes=total,
        counters=w.Counters(serial, added_bytes + size_bytes, removed, removed_bytes),
        size_pass_due=state.size_pass_due or total > trigger_bytes(state.settings.max_size_bytes),
        buffers=buffers,
    )


def roll_ledger(config: w.Config, state: State, command: w.RollLedger, dialect: Dialect) -> Stepped:
    index = TOPIC_INDEX[command.topic]
    topic = state.topics[index]
    number, count = topic.end()
    if count == 0:
        return state, w.Refused(w.LEDGER_EMPTY)
    rolled = Topic(topic.left_ms, (*topic.ledgers, Ledger(number + 1, ())))
    return state._replace(topics=replaced(state.topics, index, rolled)), DONE


# ---- Cursors --------------------------------------------------------------------------------------------------------


def open_cursor(config: w.Config, state: State, command: w.OpenCursor, dialect: Dialect) -> Stepped:
    if find_cursor(state, command.topic, command.cursor) >= 0:
        return state, w.Refused(w.CURSOR_OPEN)
    topic = state.topics[TOPIC_INDEX[command.topic]]
    if command.at == "earliest":
        read, acked = (topic.ledgers[0].number, 0), (0, -1)
    else:
        read = topic.end()
        acked = (read[0], read[1] - 1)
    row = w.CursorRow(command.topic, command.cursor, True, read, acked, False, None, ())
    state = state._replace(cursors=tuple(sorted((*state.cursors, row))))
    return evict_behind_cursors(config, state, command.topic, dialect), DONE


def close_cursor(config: w.Config, state: State, command: w.CloseCursor, dialect: Dialect) -> Stepped:
    index = find_cursor(state, command.topic, command.cursor)
    if index < 0:
        return state, w.Refused(w.NO_CURSOR)
    row = state.cursors[index]
    after = pay_back(config, state, row, row.replays, dialect)
    after = after._replace(cursors=(*state.cursors[:index], *state.cursors[index + 1 :]))
    return _cursors_changed(config, state, after, command.topic, dialect), DONE


def set_active(config: w.Config, state: State, command: w.SetActive, dialect: Dialect) -> Stepped:
    index = find_cursor(state, command.topic, command.cursor)
    if index < 0:
        return state, w.Refused(w.NO_CURSOR)
    row = state.cursors[index]
    after = state
    if row.active != command.active:
        if row.active:
            after = pay_back(config, state, row, (), dialect)
        after = after._replace(cursors=replaced(state.cursors, index, row._replace(active=command.active)))
    return _cursors_changed(config, state, after, command.topic, dialect), DONE


def seek(config: w.Config, state: State, command: w.Seek, dialect: Dialect) -> Stepped:
    index = find_cursor(state, command.topic, command.cursor)
    if index < 0:
        return state, w.Refused(w.NO_CURSOR)
    row = state.cursors[index]
    read = min((command.ledger, command.entry), state.topics[TOPIC_INDEX[command.topic]].end())
    moved = row._replace(read=read, acked=(read[0], read[1] - 1), loading=None, replays=())
    after = pay_back(config, state, row, row.replays, dialect)
    after = after._replace(cursors=replaced(state.cursors, index, moved))
    return evict_behind_cursors(config, after, command.topic, dialect), DONE


def mark_delete(config: w.Config, state: State, command: w.MarkDelete, dialect: Dialect) -> Stepped:
    index = find_cursor(state, command.topic, command.cursor)
    if index < 0:
        return state, w.Refused(w.NO_CURSOR)
    row, position = state.cursors[index], (command.ledger, command.entry)
    if not row.acked < position < row.read:
        return state, w.Refused(w.BAD_POSITION)
    left = tuple([replay for replay in row.replays if replay > position])
    after = state._replace(cursors=replaced(state.cursors, index, row._replace(acked=position, replays=left)))
    return evict_behind_cursors(config, after, command.topic, dialect), DONE


def check_backlogs(config: w.Config, state: State, command: w.CheckBacklogs, dialect: Dialect) -> Stepped:
    if config.by_expected_reads:
        return state, DONE
    backlogs = [_backlog(state, row) for row in state.cursors]
    rows = []
    for row, backlog in zip(state.cursors, backlogs, strict=True):
        if config.backlogged_threshold > 0:
            row = row._replace(active=backlog < config.backlogged_threshold)
        if config.min_backlog_cursors > 0:
            near = sum(
                abs(backlog - other) <= config.max_backlog_between_cursors
                for peer, other in zip(state.cursors, backlogs, strict=True)
                if peer.topic == row.topic and peer.cursor != row.cursor
            )
            enough = backlog >= config.min_backlog_entries and near >= config.min_backlog_cursors
            row = row._replace(caches_reads=enough)
        rows.append(row)
    after = state._replace(cursors=tuple(rows))
    for topic in w.TOPICS:
        after = _cursors_changed(config, state, after, topic, dialect)
    return after, DONE


def _backlog(state: State, row: w.CursorRow) -> int:
    """How many entries of the log lie at or behind a cursor's read position."""
    ledgers = state.topics[TOPIC_INDEX[row.topic]].ledgers
    at = sum(max(0, len(ledger.sizes) - row.read[1]) for ledger in ledgers if ledger.number == row.read[0])
    return at + sum(len(ledger.sizes) for ledger in ledgers if ledger.number > row.read[0])


def _cursors_changed(config: w.Config, before: State, after: State, topic: str, dialect: Dialect) -> State:
    """After a topic's cursors came or went: note when the last active one left, then evict behind the slowest."""
    if active_cursors(before, topic) and not active_cursors(after, topic):
        index = TOPIC_INDEX[topic]
        left = after.topics[index]._replace(left_ms=after.now_ms)
        after = after._replace(topics=replaced(after.topics, index, left))
    return evict_behind_cursors(config, after, topic, dialect)


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
    after, shared = state, (0, 0)
    if not config.copy_entries:
        shared = (state.buffers + 1, sum(sizes))
        after = state._replace(buffers=state.buffers + 1)
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
    reads = _expected_by_load(config, state, reader, (ledger, entry), dialect)
    resident = find(state.queue, topic, ledger, entry)
    if resident is not None:  # first put wins
        if dialect.has(named.SECOND_PUT_REPLACES_COUNT):
            changed = resident._replace(reads=reads)
            state = state._replace(queue=with_items(state.queue, {resident.serial: changed}))
        return state, 0 if dialect.has(named.LOSING_LOAD_KEEPS_OWN_COUNT) else resident.serial
    wanted = config.by_expected_reads or reader.caches_reads
    if config.by_expected_reads and reads == 0 and dialect.has(named.ZERO_READS_NOT_CACHED):
        wanted = False
    if state.settings.max_size_bytes == 0 or not wanted:
        return state, 0
    state = _put(config, state, what, reads, shared, dialect)
    return state, state.counters.added


def _expected_by_load(
    config: w.Config, state: State, reader: w.CursorRow, position: tuple[int, int], dialect: Dialect
) -> int:
    """How many reads a loaded entry expects: one for each active cursor that has yet to read it, the reader included."""
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
