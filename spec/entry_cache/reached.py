"""entry_cache, laws 7: states that a campaign must reach, or it has shown little."""

from __future__ import annotations

from typing import Any

from ..core import sometimes
from .history import History
from .rules import is_expired
from .sight import expired_prefix, laps_of, left, need_of, stayed
from .words import (
    PASSES,
    Append,
    Config,
    Evicted,
    EvictionCheck,
    FinishLoad,
    FinishRemoval,
    MarkDelete,
    Read,
    Refused,
    Seek,
    Snapshot,
)


def _requeued(before: Snapshot, outcome: Any, after: Snapshot) -> list[Any]:
    if not isinstance(outcome, Evicted):
        return []
    return [was for was, now in stayed(before, after) if now.extensions > was.extensions]


@sometimes("PIP-430, Goals, LRU Cache Behavior", reads=("queue",), on=PASSES)
def requeued_for_access_alone(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> bool:
    """An entry is requeued because it was accessed, with no reads expected."""
    return any(was.accessed and was.reads < 1 for was in _requeued(before, outcome, after))


@sometimes("PIP-430, High Level Design 1, Requeuing Mechanism", reads=("queue",), on=PASSES)
def requeued_for_expected_reads_alone(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> bool:
    """An entry is requeued for its expected reads, not accessed since."""
    return any(not was.accessed and was.reads >= 1 for was in _requeued(before, outcome, after))


@sometimes("PIP-430, High Level Design 1, Requeuing Mechanism", reads=("queue", "settings"), on=PASSES)
def requeued_for_both(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> bool:
    """An entry is requeued that was accessed and has expected reads left."""
    settings = before.settings
    both = settings.extend_accessed and config.by_expected_reads
    return both and any(
        was.accessed and was.reads >= 1 and was.extensions < settings.max_extensions
        for was in _requeued(before, outcome, after)
    )


@sometimes("PIP-430, Configuration, …MaxTimes", reads=("queue", "settings"), on=PASSES)
def whole_budget_spent(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> bool:
    """An entry is removed with reads still expected, because it has used up all its extensions."""
    most = before.settings.max_extensions
    return isinstance(outcome, Evicted) and any(
        item.reads >= 1 and item.extensions >= most > 0 for item in left(before, after)
    )


@sometimes("PIP-430, High Level Design 1, Size-Based Eviction", reads=("queue", "settings", "now_ms"), on=PASSES)
def size_pass_of_two_rounds(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> bool:
    """A size pass comes round to an entry a second time."""
    return any(now.extensions - was.extensions >= 2 for was, now in stayed(before, after)) or (
        isinstance(outcome, Evicted)
        and expired_prefix(before) == 0
        and any(laps_of(item, config, before.settings) >= 2 for item in left(before, after))
    )


@sometimes("PIP-430, Detailed Design 1, MISSING", reads=("tombstones",), on=PASSES)
def tombstone_dropped(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> bool:
    """A pass meets an entry that was removed by other means."""
    return after.tombstones < before.tombstones


@sometimes("PIP-430, Detailed Design 2", reads=("queue", "deliveries"))
def removed_while_delivered(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> bool:
    """An entry leaves the cache while a delivery made from it is open."""
    gone = {item.serial for item in left(before, after)}
    return bool(gone) and any(row.serial in gone for row in before.deliveries)


@sometimes("PIP-430, High Level Design 1, Size-Based Eviction", reads=("queue", "settings", "now_ms"), on=PASSES)
def size_pass_empties_the_cache(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> bool:
    """A size pass removes everything there is."""
    return expired_prefix(before) == 0 and need_of(before.queue, before.settings) > 0 and not after.queue


@sometimes("PIP-430, High Level Design 2", reads=("queue", "cursors", "deliveries"), recalls=True)
def stale_count(past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot) -> bool:
    """An entry expects a read that can no longer happen: a cursor left, and paid nothing back."""
    for item in after.queue:
        if item.reads >= 1 and not past.lives[item.serial].exact:
            position = item.position
            possible = sum([row.serial == item.serial for row in after.deliveries])
            for row in after.cursors:
                if row.topic == item.topic:
                    possible += (row.active and row.read <= position) + (position in row.replays)
            if item.reads > possible:
                return True
    return False


@sometimes("shipped: RangeCache.put, 4.2.4 (putIfAbsent); PIP-430 is silent", reads=("queue",), on=(FinishLoad,))
def load_meets_a_resident_entry(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> bool:
    """A load arrives for a position that is resident by then."""
    if isinstance(outcome, Refused):
        return False
    loaded = {(command.topic, outcome.ledger, entry) for entry in outcome.entries}
    return any(item.key in loaded for item in before.queue)


@sometimes("PIP-430, Detailed Design 1, MISSING", reads=("queue", "removals"), on=(FinishRemoval,))
def forced_removal_finds_its_entry_gone(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> bool:
    """A forced removal ends, and a pass has removed an entry that it noted."""
    noted = next(
        (
            row.serials
            for row in before.removals
            if row[:4] == (command.what, command.topic, command.ledger, command.entry)
        ),
        (),
    )
    here = {item.serial for item in before.queue}
    return any(serial not in here for serial in noted)


@sometimes(
    "PIP-430, High Level Design 1, Timestamp-Based Eviction", reads=("queue", "settings", "now_ms"), on=(EvictionCheck,)
)
def expired_entry_behind_an_unexpired_one(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> bool:
    """A time pass stops before an expired entry, because one ahead of it is not: the queue is not in order of time."""
    return any(
        is_expired(item.ts_ms, before.now_ms, before.settings.ttl_ms) for item in before.queue[expired_prefix(before) :]
    )


@sometimes("PIP-430, Configuration, managedLedgerContinueCaching…", reads=("cursors",), on=(Append,))
def cached_without_a_cursor(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> bool:
    """An entry is cached though the topic has no active cursor."""
    return outcome.cached and not any(row.active and row.topic == command.topic for row in before.cursors)


@sometimes("PIP-430, Background, Cursor-based eviction", reads=("queue",))
def evicted_behind_the_slowest_cursor(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> bool:
    """Without the strategy, an entry goes because every active cursor is past it."""
    return (
        not config.by_expected_reads
        and isinstance(command, Read | FinishLoad | Seek | MarkDelete)
        and bool(left(before, after))
    )


LAWS = (
    requeued_for_access_alone,
    requeued_for_expected_reads_alone,
    requeued_for_both,
    whole_budget_spent,
    size_pass_of_two_rounds,
    tombstone_dropped,
    removed_while_delivered,
    size_pass_empties_the_cache,
    stale_count,
    load_meets_a_resident_entry,
    forced_removal_finds_its_entry_gone,
    expired_entry_behind_an_unexpired_one,
    cached_without_a_cursor,
    evicted_behind_the_slowest_cursor,
)
