"""entry_cache, laws 4: expected reads, puts, hits and payloads."""

from __future__ import annotations

from typing import Any

from ..core import VACUOUS, Broken, Verdict, step, within
from .history import History
from .rules import append_is_cached, continue_caching_ms, read_taken
from .sight import cursor_of, ended, entered, entered_replay, stayed
from .words import (
    PASSES,
    Append,
    Appended,
    Config,
    Delivered,
    DeliveryRow,
    FailDelivery,
    FinishLoad,
    Get,
    Hit,
    Read,
    Redeliver,
    Release,
    Replay,
    Snapshot,
)


@step("PIP-430, High Level Design 2, Initialization, 1st point", reads=("queue", "cursors"), on=(Append,))
def appended_entry_expects_every_active_cursor(
    config: Config, before: Snapshot, command: Append, outcome: Any, after: Snapshot
) -> Verdict:
    """An appended entry starts with one expected read for each active cursor of its topic (none where expected reads
    are not the strategy)."""
    new = entered(before, after)
    if not new:
        return VACUOUS
    active = sum([row.active and row.topic == command.topic for row in before.cursors])
    expected = active if config.by_expected_reads else 0
    return new[0].reads == expected or Broken(f"{new[0].reads} expected reads, {active} active cursors")


@step("PIP-430, High Level Design 2, Initialization, 2nd point", reads=("queue", "cursors"), on=(FinishLoad,))
def loaded_entry_expects_the_cursors_at_or_before_it(
    config: Config, before: Snapshot, command: FinishLoad, outcome: Any, after: Snapshot
) -> Verdict:
    """An entry loaded from storage starts with one expected read for each active cursor at its position or before it,
    as they stood when it arrived."""
    new = entered(before, after)
    if not new:
        return VACUOUS
    for item in new:
        active = [row for row in before.cursors if row.active and row.topic == item.topic]
        expected = sum([row.read <= item.position for row in active]) if config.by_expected_reads else 0
        if item.reads != expected:
            return Broken(f"{item} expects {item.reads} reads; {expected} cursors are at or before it")
    return True


@step("PIP-430, High Level Design 2, Dynamic Updates", reads=("queue", "deliveries", "cursors"))
def expected_reads_follow_releases_and_replays(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """After its start the count moves by replays and releases alone: plus one when the position enters a replay queue,
    minus one, never below zero, when a delivery made from that very entry is released.  (What a pass does to it,
    another law says.)"""
    if not before.queue or isinstance(command, PASSES):
        return VACUOUS
    asked = isinstance(command, Release | FailDelivery | Redeliver)
    replayed = entered_replay(before, after, command) if asked else None
    released = ended(before, after) if asked else None
    asked = asked and bool(replayed or (released and released.serial))
    for was, now in stayed(before, after):
        expected = was.reads
        if config.by_expected_reads:
            if replayed == was.key:
                expected += 1
            if released is not None and released.serial == was.serial:
                expected = read_taken(expected)
        if now.reads != expected:
            return Broken(f"{type(command).__name__}: {was} expects {now.reads} reads afterwards, not {expected}")
    return asked or VACUOUS


@within(
    "PIP-430, High Level Design 2",
    reads=("queue", "cursors", "deliveries"),
    follows_from=(
        "appended_entry_expects_every_active_cursor",
        "loaded_entry_expects_the_cursors_at_or_before_it",
        "expected_reads_follow_releases_and_replays",
        "deliveries_open_and_end_one_by_one",
        "cursor_reads_on_without_gap_or_repeat",
        "requeue_renews_and_spends",
        "cursors_change_only_as_told",
    ),
)
def expected_reads_are_those_that_can_still_happen(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """While no cursor of its topic has come late, left, jumped, turned inactive, given up a replay, or loaded past a
    cache that was off, the count of an entry is the number of reads that can still happen: active cursors that have yet
    to read it, open deliveries made from it, replays that wait for it.  Can not see: what a leaving cursor leaves
    behind; the budget bounds that."""
    if not config.by_expected_reads or not after.queue:
        return VACUOUS
    asked = False
    for item in after.queue:
        if not past.lives[item.serial].exact:
            continue
        asked = True
        position = item.position
        possible = sum([delivery.serial == item.serial for delivery in after.deliveries])
        for row in after.cursors:
            if row.topic == item.topic:
                possible += (row.active and row.read <= position) + (position in row.replays)
        if item.reads != possible:
            return Broken(f"{item} expects {item.reads} reads; {possible} can still happen")
    return asked or VACUOUS


@step("PIP-430, High Level Design 1, Entry Tracking", reads=("queue", "now_ms"), on=(Append, FinishLoad))
def new_entry_starts_fresh_at_the_tail(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A new entry stands at the tail, with the present time, not accessed and with no extension spent."""
    new = entered(before, after)
    if not new:
        return VACUOUS
    if list(after.queue[len(after.queue) - len(new) :]) != new:
        return Broken(f"new, but not at the tail: {new}")
    for item in new:
        if item.ts_ms != after.now_ms or item.accessed or item.extensions:
            return Broken(f"not fresh at {after.now_ms}: {item}")
    return True


@step("shipped: RangeCache.put, 4.2.4 (putIfAbsent); PIP-430 is silent", reads=("queue",), on=(FinishLoad,))
def first_put_wins(config: Config, before: Snapshot, command: FinishLoad, outcome: Any, after: Snapshot) -> Verdict:
    """A load that finds a position resident changes nothing about the entry there: not its age, not its place, not its
    size, not its expected reads, not whether it was accessed."""
    if not isinstance(outcome, Delivered):
        return VACUOUS
    loaded = {(command.topic, outcome.ledger, entry) for entry in outcome.entries}
    now = {item.key: item for item in after.queue}
    met = [(was, now[was.key]) for was in before.queue if was.key in loaded and was.key in now]
    if not met:
        return VACUOUS
    changed = [(old, new) for old, new in met if old != new]
    return not changed or Broken(f"resident before the load, and changed by it: {changed}")


@step("PIP-430, Goals, LRU Cache Behavior", reads=("queue",), on=(Read, Get, Replay))
def hit_marks_accessed_and_nothing_else(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """Handing an entry out, or looking it up, marks it accessed; it changes nothing else about it and nothing at all
    about the others.  (Its expected reads are taken at release.)"""
    hits = _hits(command, outcome)
    if not hits:
        return VACUOUS if before.queue == after.queue else Broken("no hit, and yet the cache changed")
    for was, now in stayed(before, after):
        expected = was._replace(accessed=True) if was.key in hits else was
        if now._replace(reads=was.reads) != expected:
            return Broken(f"{was} became {now}")
    return True


@step(
    "ours, after apache/pulsar#24836: a read moves no shared view", reads=("queue",), on=(Read, Get, Replay, FinishLoad)
)
def readers_get_the_whole_payload(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """Whoever is handed an entry can read all of it, and it is the entry of that position, however often it was read
    before."""
    if isinstance(outcome, Hit):
        told = {(command.topic, command.ledger, command.entry): outcome.content}
    elif isinstance(outcome, Delivered):
        positions = [(command.topic, outcome.ledger, entry) for entry in outcome.entries]
        told = dict(zip(positions, outcome.contents, strict=True))
    else:
        return VACUOUS
    sizes = {item.key: item.size_bytes for item in (*before.queue, *after.queue)}
    for position, content in told.items():
        size = sizes.get(position, content[2])
        if content != (*position[1:], size) or content[2] < 1:
            return Broken(f"{position} of {size} bytes was read as {content}")
    return True


@step(
    "PIP-430, Configuration, managedLedgerContinueCaching…",
    reads=("queue", "cursors", "topics", "settings", "now_ms"),
    on=(Append,),
)
def append_is_cached_while_somebody_may_want_it(
    config: Config, before: Snapshot, command: Append, outcome: Any, after: Snapshot
) -> Verdict:
    """An appended entry is cached while the topic has an active cursor, and for the configured time after the last one
    left or the topic was loaded (under the expected-read strategy); otherwise, and while the cache is off, not."""
    if not isinstance(outcome, Appended):
        return VACUOUS
    settings = before.settings
    active = sum([row.active and row.topic == command.topic for row in before.cursors])
    left_ms = next(row.left_ms for row in before.topics if row.topic == command.topic)
    window_ms = continue_caching_ms(config.continue_caching_ms, settings.ttl_ms)
    since_ms = before.now_ms - left_ms
    wanted = append_is_cached(settings.max_size_bytes, active, config.by_expected_reads, since_ms, window_ms)
    seen = any(item.key == (command.topic, outcome.ledger, outcome.entry) for item in after.queue)
    if seen != outcome.cached:
        return Broken(f"{outcome}, but resident: {seen}")
    return seen == wanted or Broken(f"cached: {seen}; {active} active cursors, the last left {since_ms} ms ago")


@step(
    "PIP-430, High Level Design 2 and Modified Behavior, …CursorBackloggedThreshold",
    reads=("queue", "cursors", "settings", "counters"),
    on=(FinishLoad,),
)
def load_is_cached_where_the_strategy_says_so(
    config: Config, before: Snapshot, command: FinishLoad, outcome: Any, after: Snapshot
) -> Verdict:
    """Loaded entries are cached under the expected-read strategy; without it only for cursors that cache their reads;
    and never while the cache is off.  Can not see: an entry that cursor-based eviction takes in the same step."""
    reader = cursor_of(before, command)
    if reader is None or not isinstance(outcome, Delivered):
        return VACUOUS
    resident = {item.key for item in before.queue}
    fresh = [(command.topic, outcome.ledger, entry) for entry in outcome.entries]
    fresh = [position for position in fresh if position not in resident]
    wanted = before.settings.max_size_bytes > 0 and (config.by_expected_reads or reader.caches_reads)
    added = after.counters.added - before.counters.added
    return added == (len(fresh) if wanted else 0) or Broken(f"{added} entries added of {fresh}; wanted: {wanted}")


@step("ours: what a delivery says of itself", reads=("cursors", "queue"), on=(Read, FinishLoad, Replay))
def delivery_is_of_what_was_asked_for(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A load hands out the entries that it was for, a replay the one that it names (what a read hands out, another law
    says).  Said to be from the cache is what a read hands out, nothing that was loaded, and a replayed entry iff it is
    resident."""
    if not isinstance(outcome, Delivered):
        return VACUOUS
    handed_out = (outcome.ledger, outcome.entries[0], len(outcome.entries)) if outcome.entries else None
    asked, cached = handed_out, True
    if isinstance(command, FinishLoad):
        reader = cursor_of(before, command)
        asked, cached = None if reader is None else reader.loading, False
    elif isinstance(command, Replay):
        position = (command.topic, command.ledger, command.entry)
        asked, cached = (*position[1:], 1), any(item.key == position for item in before.queue)
    if handed_out != asked or handed_out is None:
        return Broken(f"{outcome}: {handed_out} was handed out, and {asked} asked for")
    return outcome.from_cache == cached or Broken(f"{outcome}: it is from the cache: {cached}")


@step("PIP-430, Detailed Design 4, EntryImpl.release", reads=("deliveries", "queue"))
def deliveries_open_and_end_one_by_one(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A delivery opens for each entry handed out, tied to the resident entry it was made from; it ends by a release or
    a failure, the oldest of its kind first; nothing else opens or ends one."""
    if isinstance(command, Release | FailDelivery):
        key = (command.topic, command.cursor, command.ledger, command.entry)
        index = next((i for i, row in enumerate(before.deliveries) if row[:4] == key), None)
        expected = before.deliveries if index is None else before.deliveries[:index] + before.deliveries[index + 1 :]
    elif isinstance(outcome, Delivered):
        there = {item.key: item.serial for item in before.queue}
        there.update({item.key: item.serial for item in entered(before, after)})
        expected = before.deliveries + tuple(
            DeliveryRow(command.topic, command.cursor, outcome.ledger, entry, 0) for entry in outcome.entries
        )
        opened = after.deliveries[len(before.deliveries) :]
        ties = [there.get((row.topic, row.ledger, row.entry), 0) for row in opened]
        for row, tie in zip(opened, ties, strict=True):
            if tie and row.serial != tie and config.by_expected_reads and before.settings.max_size_bytes:
                return Broken(f"{row} is tied to serial {row.serial}; resident there is {tie}")
        same = [row[:4] for row in after.deliveries] == [row[:4] for row in expected]
        return same or Broken(f"deliveries {before.deliveries} became {after.deliveries}")
    else:
        expected = before.deliveries
        if not expected and not after.deliveries:
            return VACUOUS
    return after.deliveries == expected or Broken(f"deliveries {before.deliveries} became {after.deliveries}")


def _hits(command: Any, outcome: Any) -> set[tuple[str, int, int]]:
    """The positions that a command was answered for from the cache."""
    if isinstance(outcome, Hit):
        return {(command.topic, command.ledger, command.entry)}
    if isinstance(outcome, Delivered) and outcome.from_cache:
        return {(command.topic, outcome.ledger, entry) for entry in outcome.entries}
    return set()


LAWS = (
    appended_entry_expects_every_active_cursor,
    loaded_entry_expects_the_cursors_at_or_before_it,
    expected_reads_follow_releases_and_replays,
    expected_reads_are_those_that_can_still_happen,
    new_entry_starts_fresh_at_the_tail,
    first_put_wins,
    hit_marks_accessed_and_nothing_else,
    readers_get_the_whole_payload,
    append_is_cached_while_somebody_may_want_it,
    load_is_cached_where_the_strategy_says_so,
    delivery_is_of_what_was_asked_for,
    deliveries_open_and_end_one_by_one,
)
