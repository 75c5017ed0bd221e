"""entry_cache, part 10: the model as a table: each command, what it does, and when a careful caller sends it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core import Action, Model
from . import reading, steps, upkeep
from . import words as w
from .state import TOPIC_INDEX, State, canonical, start, view

Rows = Sequence[tuple[Any, ...]]

# ---- What a command can be about now --------------------------------------------------------------------------------


def cursors(config: w.Config, state: State) -> Rows:
    return [row[:2] for row in state.cursors]


def cursors_that_can_turn(config: w.Config, state: State) -> Rows:
    return [(row.topic, row.cursor, not row.active) for row in state.cursors]


def cursors_behind(config: w.Config, state: State) -> Rows:
    return [
        row[:2]
        for row in state.cursors
        if row.loading is None and row.read < state.topics[TOPIC_INDEX[row.topic]].end()
    ]


def cursors_loading(config: w.Config, state: State) -> Rows:
    return [row[:2] for row in state.cursors if row.loading is not None]


def read_not_acked(config: w.Config, state: State) -> Rows:
    """The position that a cursor read last, where it has not acknowledged it."""
    return [
        (row.topic, row.cursor, row.read[0], row.read[1] - 1)
        for row in state.cursors
        if row.read[1] > 0 and row.acked < (row.read[0], row.read[1] - 1)
    ]


def replaying(config: w.Config, state: State) -> Rows:
    return [(row.topic, row.cursor, *position) for row in state.cursors for position in row.replays]


def open_deliveries(config: w.Config, state: State) -> Rows:
    return [row[:4] for row in state.deliveries]


def residents(config: w.Config, state: State) -> Rows:
    return [item[1:4] for item in state.queue if item is not None]


def removable(config: w.Config, state: State) -> Rows:
    """What forced removal could be about: single entries, prefixes, closed ledgers, and now and then everything."""
    here = residents(config, state)
    closed = [
        ("ledger", name, ledger.number, 0)
        for name, topic in zip(w.TOPICS, state.topics, strict=True)
        for ledger in topic.ledgers[:-1]
    ]
    rows = [(what, *position) for position in here for what in ("entry", "upto")] + closed
    rows += [("topic", topic, 0, 0) for topic in sorted({position[0] for position in here})]
    under_way = {row[:4] for row in state.removals}
    return [row for row in [*rows, ("all", "t0", 0, 0)] if row not in under_way]


def removals(config: w.Config, state: State) -> Rows:
    return [row[:4] for row in state.removals]


def check_is_due(config: w.Config, state: State) -> bool:
    return state.now_ms >= state.next_check_ms


def time_can_pass(config: w.Config, state: State) -> bool:
    return state.now_ms < state.next_check_ms


def size_pass_is_due(config: w.Config, state: State) -> bool:
    return state.size_pass_due


def backlogs_matter(config: w.Config, state: State) -> bool:
    return not config.by_expected_reads


# ---- The way to rest ------------------------------------------------------------------------------------------------

MAX_CHECKS = 150


def drain(config: w.Config, state: State) -> Any | None:
    """Finish what is under way, release every delivery, then let time pass until the cache is empty."""
    if state.removals:
        return w.FinishRemoval(*state.removals[0][:4])
    for row in state.cursors:
        if row.loading is not None:
            return w.FailLoad(row.topic, row.cursor)
    if state.deliveries:
        return w.Release(*state.deliveries[0][:4])
    settings = state.settings
    checks = (settings.max_extensions + 2) * (settings.ttl_ms // config.check_interval_ms + 2)
    if checks > MAX_CHECKS or all(item is None for item in state.queue):
        return None
    if check_is_due(config, state):
        return w.EvictionCheck()
    return w.Tick(state.next_check_ms - state.now_ms)


# ---- The table ------------------------------------------------------------------------------------------------------

MODEL = Model(
    start=start,
    view=view,
    canonical=canonical,
    drain=drain,
    actions=(
        Action(w.Append, steps.append, weight=24),
        Action(w.RollLedger, steps.roll_ledger, weight=2),
        Action(w.OpenCursor, steps.open_cursor, weight=6),
        Action(w.CloseCursor, steps.close_cursor, cursors, weight=1, rare=True),
        Action(w.SetActive, steps.set_active, cursors_that_can_turn, weight=2, rare=True),
        Action(w.Seek, steps.seek, cursors, weight=1, rare=True),
        Action(w.MarkDelete, steps.mark_delete, read_not_acked, weight=2),
        Action(w.Read, reading.read, cursors_behind, weight=20),
        Action(w.FinishLoad, reading.finish_load, cursors_loading, weight=6),
        Action(w.FailLoad, reading.fail_load, cursors_loading, weight=1),
        Action(w.Get, reading.get, residents, weight=4),
        Action(w.Release, reading.release, open_deliveries, weight=12),
        Action(w.FailDelivery, reading.fail_delivery, open_deliveries, weight=3),
        Action(w.Redeliver, reading.redeliver, read_not_acked, weight=3),
        Action(w.Replay, reading.replay, replaying, weight=6),
        Action(w.BeginRemoval, upkeep.begin_removal, removable, weight=1, rare=True),
        Action(w.FinishRemoval, upkeep.finish_removal, removals, weight=2),
        Action(w.EvictionCheck, upkeep.eviction_check, when=check_is_due, weight=24),
        Action(w.SizePass, upkeep.run_size_pass, when=size_pass_is_due, weight=12),
        Action(w.CheckBacklogs, steps.check_backlogs, when=backlogs_matter, weight=2),
        Action(w.Tick, upkeep.tick, when=time_can_pass, weight=14),
        Action(w.ClockBack, upkeep.clock_back, weight=1, rare=True),
        Action(w.SetMaxSize, upkeep.set_max_size, weight=1, rare=True),
        Action(w.SetWatermark, upkeep.set_watermark, weight=1, rare=True),
        Action(w.SetTtl, upkeep.set_ttl, weight=1, rare=True),
        Action(w.SetMaxExtensions, upkeep.set_max_extensions, weight=1, rare=True),
        Action(w.SetExtendAccessed, upkeep.set_extend_accessed, weight=1, rare=True),
    ),
)
