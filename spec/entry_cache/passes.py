"""entry_cache, part 5: how entries leave.

Two passes over the removal queue, each atomic; and removal by other means, which leaves tombstones behind.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from ..core import Dialect
from . import naming as named
from .rules import bytes_to_free, entitled_by_access, entitled_by_reads, is_expired
from .state import Position, State
from .words import Config, Counters, CursorRow, Item


class Passed(NamedTuple):
    """What a pass did: the state after it, how many entries and bytes it removed."""

    state: State
    removed: int
    removed_bytes: int


def counts_reads(config: Config, dialect: Dialect) -> bool:
    """Whether expected reads are counted at all."""
    return config.by_expected_reads or dialect.has(named.READS_WITHOUT_STRATEGY)


def time_pass(config: Config, state: State, dialect: Dialect) -> Passed:
    """From the head, while expired: requeue what is entitled, remove the rest; stop at the first not expired."""
    now, settings, counting = state.now_ms, state.settings, counts_reads(config, dialect)
    scan_on, requeue = dialect.has(named.SCAN_PAST_UNEXPIRED), _requeue(state, dialect)
    ahead: list[Item | None] = []  # what a pass that scans on leaves where it is
    requeued: list[Item | None] = []
    removed: list[Item] = []
    handled = 0
    for item in state.queue:
        if item is None:
            handled += 1  # a tombstone is dropped
            continue
        if not is_expired(item.ts_ms, now, settings.ttl_ms):
            if not scan_on:
                break
            ahead.append(item)
        elif entitled(item, settings, counting):
            requeued.append(requeue(item))
        else:
            removed.append(item)
        handled += 1
    if handled == 0:
        return Passed(state, 0, 0)
    return _left(state, (*ahead, *state.queue[handled:], *requeued), removed)


def size_pass(config: Config, state: State, dialect: Dialect) -> Passed:
    """From the head, until enough is freed: requeue what is entitled, remove the rest.  It comes round again, and every
    round spends what entitles an entry, so it always reaches its target."""
    settings, counting = state.settings, counts_reads(config, dialect)
    need = bytes_to_free(state.total_bytes, settings.max_size_bytes, settings.watermark_percent)
    if need == 0:
        return Passed(state, 0, 0)
    may_requeue, may_meet_again = _size_pass_readings(state, counting, dialect)
    requeue = _requeue(state, dialect)
    line = deque(state.queue)
    stash: list[Item | None] = []
    removed: list[Item] = []
    freed = 0
    while line and freed < need:
        item = line.popleft()
        if item is None:
            continue
        if may_requeue(item):
            (line if may_meet_again else stash).append(requeue(item))
        else:
            removed.append(item)
            freed += item.size_bytes
    return _left(state, (*line, *stash), removed)


def entitled(item: Item, settings: Config, counting: bool) -> bool:
    """Whether a pass requeues an entry rather than remove it."""
    return entitled_by_access(settings.extend_accessed, item.accessed) or entitled_by_reads(
        counting, item.reads, item.extensions, settings.max_extensions
    )


def remove_now(state: State, goes: Callable[[Item], bool]) -> Passed:
    """Removal by other means than a pass: no entitlement counts, and a tombstone stays in the queue for each."""
    removed = [item for item in state.queue if item is not None and goes(item)]
    if not removed:
        return Passed(state, 0, 0)
    gone = {item.serial for item in removed}
    queue = tuple([None if item is None or item.serial in gone else item for item in state.queue])
    return _left(state, queue, removed)


def evict_behind_cursors(config: Config, state: State, topic: str, dialect: Dialect) -> State:
    """Cursor-based eviction, where expected reads are not the strategy: what the slowest active cursor is past, goes.

    PIP-430, "Cursor-based eviction": up to the slowest read position, or mark-delete position."""
    if config.by_expected_reads:
        return state
    passed = _passed_by(config, [row for row in state.cursors if row.topic == topic and row.active], dialect)

    def goes(item: Item) -> bool:
        return item.topic == topic and passed(item[2:4])

    if not dialect.has(named.CURSOR_EVICTION_THROUGH_QUEUE):
        return remove_now(state, goes).state
    removed = [item for item in state.queue if item is not None and goes(item)]
    return _left(state, tuple([item for item in state.queue if item is None or not goes(item)]), removed).state


def _passed_by(config: Config, active: list[CursorRow], dialect: Dialect) -> Callable[[Position], bool]:
    """Whether all of these cursors are past a position."""
    if not active:
        return lambda position: True
    if not config.by_mark_delete:
        slowest = min(row.read for row in active)
        return lambda position: position < slowest
    acked = min(row.acked for row in active)
    if dialect.has(named.MARK_DELETE_EXCLUSIVE):
        return lambda position: position < acked
    return lambda position: position <= acked


def _requeue(state: State, dialect: Dialect) -> Callable[[Item], Item]:
    """How an entry goes to the tail now: renewed, no longer accessed, one extension spent."""
    now_ms, settings = state.now_ms, state.settings
    ttl_added, separate = dialect.has(named.TTL_ADDED), dialect.has(named.SEPARATE_BUDGETS)

    def requeue(item: Item) -> Item:
        ts_ms = item.ts_ms + settings.ttl_ms if ttl_added else now_ms
        spent = 0 if separate and entitled_by_access(settings.extend_accessed, item.accessed) else 1
        return item._replace(ts_ms=ts_ms, accessed=False, extensions=item.extensions + spent)

    return requeue


def _size_pass_readings(state: State, counting: bool, dialect: Dialect) -> tuple[Callable[[Item], bool], bool]:
    """Which entries a size pass requeues, and whether it can meet a requeued one again."""
    settings, once = state.settings, set[int]()
    one_lap, honours_expiry = dialect.has(named.ONE_LAP), dialect.has(named.SIZE_PASS_HONOURS_EXPIRY)

    def may_requeue(item: Item) -> bool:
        if one_lap:
            if item.serial in once:
                return False
            once.add(item.serial)
        if honours_expiry and is_expired(item.ts_ms, state.now_ms, settings.ttl_ms):
            return entitled_by_access(settings.extend_accessed, item.accessed)
        return entitled(item, settings, counting)

    return may_requeue, not dialect.has(named.STASH)


def _left(state: State, queue: tuple[Item | None, ...], removed: list[Item]) -> Passed:
    """The state after entries left."""
    size = sum([item.size_bytes for item in removed])
    added, added_bytes, gone, gone_bytes = state.counters
    counters = Counters(added, added_bytes, gone + len(removed), gone_bytes + size)
    after = state._replace(queue=queue, total_bytes=state.total_bytes - size, counters=counters)
    return Passed(after, len(removed), size)
