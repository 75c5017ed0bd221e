"""entry_cache, part 9: forced removal, eviction, the clock and settings, command by command."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from ..core import Dialect
from . import words as w
from .counts import pay_back
from .passes import remove_now, size_pass, time_pass
from .state import TOPIC_INDEX, State, Topic, replaced

Stepped = tuple[State, Any]
DONE = w.Done()

# ---- Forced removal -------------------------------------------------------------------------------------------------


def begin_removal(config: w.Config, state: State, command: w.BeginRemoval, dialect: Dialect) -> Stepped:
    if _under_way(state, command) >= 0:
        return state, w.Refused(w.UNDER_WAY)
    topic = state.topics[TOPIC_INDEX[command.topic]]
    if command.what == "ledger":
        if command.ledger == topic.end()[0]:
            return state, w.Refused(w.LEDGER_OPEN)
        if command.ledger not in [ledger.number for ledger in topic.ledgers]:
            return state, w.Refused(w.LEDGER_GONE)
    noted = tuple(sorted([item.serial for item in state.queue if item is not None and _in_scope(command, item)]))
    row = w.RemovalRow(command.what, command.topic, command.ledger, command.entry, noted)
    state = state._replace(removals=(*state.removals, row))
    if command.what == "ledger":
        state = _delete_ledger(state, command)
    if command.what == "topic":
        state = _close_topic(config, state, command.topic, dialect)
    return state, w.Began(len(noted))


def finish_removal(config: w.Config, state: State, command: w.FinishRemoval, dialect: Dialect) -> Stepped:
    index = _under_way(state, command)
    if index < 0:
        return state, w.Refused(w.NO_REMOVAL)
    noted = frozenset(state.removals[index].serials)
    over = state._replace(removals=(*state.removals[:index], *state.removals[index + 1 :]))
    after, removed, removed_bytes = remove_now(over, lambda item: item.serial in noted)
    return after, w.Removed(removed, removed_bytes)


def _in_scope(command: w.BeginRemoval, item: w.Item) -> bool:
    if command.what == "all":
        return True
    if item.topic != command.topic:
        return False
    if command.what == "topic":
        return True
    if command.what == "ledger":
        return item.ledger == command.ledger
    if command.what == "upto":
        return (item.ledger, item.entry) < (command.ledger, command.entry)
    return (item.ledger, item.entry) == (command.ledger, command.entry)


def _under_way(state: State, command: Any) -> int:
    key = (command.what, command.topic, command.ledger, command.entry)
    for index, row in enumerate(state.removals):
        if row[:4] == key:
            return index
    return -1


def _delete_ledger(state: State, command: w.BeginRemoval) -> State:
    """The ledger leaves the log; cursors that stand in it find the next one when they read."""
    index = TOPIC_INDEX[command.topic]
    topic = state.topics[index]
    kept = tuple([ledger for ledger in topic.ledgers if ledger.number != command.ledger])
    return state._replace(topics=replaced(state.topics, index, Topic(topic.left_ms, kept)))


def _close_topic(config: w.Config, state: State, topic: str, dialect: Dialect) -> State:
    """The topic is closed and loaded anew: its cursors are gone, its log stands, its caching window begins again."""
    for row in state.cursors:
        if row.topic == topic:
            state = pay_back(config, state, row, row.replays, dialect)
    index = TOPIC_INDEX[topic]
    loaded = Topic(state.now_ms, state.topics[index].ledgers)
    return state._replace(
        cursors=tuple([row for row in state.cursors if row.topic != topic]),
        topics=replaced(state.topics, index, loaded),
    )


# ---- Eviction and time ----------------------------------------------------------------------------------------------


def eviction_check(config: w.Config, state: State, command: w.EvictionCheck, dialect: Dialect) -> Stepped:
    if state.now_ms < state.next_check_ms:
        return state, w.Refused(w.NOT_DUE)
    timed = time_pass(config, state, dialect)
    sized = size_pass(config, timed.state, dialect)
    due_ms = max(state.next_check_ms, state.now_ms) + config.check_interval_ms
    after = sized.state._replace(next_check_ms=due_ms, size_pass_due=False)
    return after, w.Evicted(timed.removed, timed.removed_bytes, sized.removed, sized.removed_bytes)


def run_size_pass(config: w.Config, state: State, command: w.SizePass, dialect: Dialect) -> Stepped:
    if not state.size_pass_due:
        return state, w.Refused(w.NOT_DUE)
    sized = size_pass(config, state, dialect)
    return sized.state._replace(size_pass_due=False), w.Evicted(0, 0, sized.removed, sized.removed_bytes)


def tick(config: w.Config, state: State, command: w.Tick, dialect: Dialect) -> Stepped:
    if state.now_ms >= state.next_check_ms:
        return state, w.Refused(w.CHECK_DUE)
    now_ms = min(state.now_ms + command.ms, state.next_check_ms)
    return state._replace(now_ms=now_ms), w.Clock(now_ms)


def clock_back(config: w.Config, state: State, command: w.ClockBack, dialect: Dialect) -> Stepped:
    now_ms = state.now_ms - command.ms
    return state._replace(now_ms=now_ms), w.Clock(now_ms)


# ---- Settings that change at run time -------------------------------------------------------------------------------


def set_max_size(config: w.Config, state: State, command: w.SetMaxSize, dialect: Dialect) -> Stepped:
    return state._replace(settings=evolve(state.settings, max_size_bytes=command.max_size_bytes)), DONE


def set_watermark(config: w.Config, state: State, command: w.SetWatermark, dialect: Dialect) -> Stepped:
    return state._replace(settings=evolve(state.settings, watermark_percent=command.watermark_percent)), DONE


def set_ttl(config: w.Config, state: State, command: w.SetTtl, dialect: Dialect) -> Stepped:
    return state._replace(settings=evolve(state.settings, ttl_ms=command.ttl_ms)), DONE


def set_max_extensions(config: w.Config, state: State, command: w.SetMaxExtensions, dialect: Dialect) -> Stepped:
    return state._replace(settings=evolve(state.settings, max_extensions=command.max_extensions)), DONE


def set_extend_accessed(config: w.Config, state: State, command: w.SetExtendAccessed, dialect: Dialect) -> Stepped:
    return state._replace(settings=evolve(state.settings, extend_accessed=command.extend_accessed)), DONE
