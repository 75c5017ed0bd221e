"""entry_cache, part 7: what commands do to the log and the cursors.

One function a command, in the order of `words.py`: (config, state, command, dialect) -> (state, outcome).
"""

from __future__ import annotations

from typing import Any

from ..core import Dialect
from . import naming as named
from . import words as w
from .counts import pay_back
from .passes import evict_behind_cursors
from .rules import append_is_cached, continue_caching_ms, trigger_bytes
from .state import (
    TOPIC_INDEX,
    Ledger,
    Receive,
    State,
    Topic,
    active_cursors,
    find_cursor,
    replaced,
)

Stepped = tuple[State, Any]
DONE = w.Done()

# ---- Publishing -----------------------------------------------------------------------------------------------------


def append(config: w.Config, state: State, command: w.Append, dialect: Dialect) -> Stepped:
    index, size_bytes = TOPIC_INDEX[command.topic], command.size_bytes
    topic = state.topics[index]
    ledger, entry = topic.end()
    written = Ledger(ledger, (*topic.ledgers[-1].sizes, size_bytes))
    topics = replaced(state.topics, index, Topic(topic.left_ms, (*topic.ledgers[:-1], written)))
    receive = _received(config, state, size_bytes)
    shared = (0, 0) if receive is None else (receive.buffer, receive.buffer_bytes)
    state = state._replace(topics=topics, receive=receive, buffers=max(state.buffers, shared[0]))
    settings, active = state.settings, active_cursors(state, command.topic)
    window_ms = continue_caching_ms(config.continue_caching_ms, settings.ttl_ms)
    since_left_ms = state.now_ms - topic.left_ms
    if not append_is_cached(settings.max_size_bytes, active, config.by_expected_reads, since_left_ms, window_ms):
        return state, w.Appended(ledger, entry, False)
    reads = active if config.by_expected_reads else 0
    state = put(config, state, (command.topic, ledger, entry, size_bytes), reads, shared, dialect)
    return state, w.Appended(ledger, entry, True)


def _received(config: w.Config, state: State, size_bytes: int) -> Receive | None:
    """The bytes of a publish land in the receive buffer, or begin a new one.  A copying cache does not keep it."""
    receive = state.receive
    if config.copy_entries:
        return receive
    if receive is not None and receive.used_bytes + size_bytes <= config.receive_buffer_bytes:
        return Receive(receive.buffer, receive.used_bytes + size_bytes, receive.buffer_bytes)
    return Receive(state.buffers + 1, size_bytes, max(config.receive_buffer_bytes, size_bytes))


def put(
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
