"""entry_cache, laws 1: accounting.  Nothing is lost, counted twice, freed twice or held for ever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from ..core import VACUOUS, Broken, Verdict, always, step, within
from . import naming as named
from .history import History
from .sight import entered, expired_prefix, left, moved_by_pass, time_pass_alone
from .words import (
    PASSES,
    TOPICS,
    Append,
    BeginRemoval,
    CacheRow,
    Config,
    Counters,
    Evicted,
    FinishLoad,
    FinishRemoval,
    Item,
    Refused,
    Removed,
    Snapshot,
    TopicRow,
)

STARTS = "ours: what a broker is like when it starts"
EMPTY_CACHES = tuple([CacheRow(topic, 0, ()) for topic in TOPICS])
EMPTY_LOGS = tuple([TopicRow(topic, 0, ((0, 0),)) for topic in TOPICS])
NOTHING_COUNTED = Counters(0, 0, 0, 0)


@within(STARTS, reads=("queue", "tombstones", "caches", "total_bytes", "counters", "payloads"))
def cache_starts_empty(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A broker starts with nothing cached, held or counted, and no tombstone in its queue."""
    held = {"queue": (), "caches": EMPTY_CACHES, "payloads": ()}
    return _starts(past, before, tombstones=0, total_bytes=0, counters=NOTHING_COUNTED, **held)


@within(STARTS, reads=("cursors", "deliveries", "removals", "topics"))
def topics_start_empty(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A broker starts with one empty ledger for each topic, all loaded at time 0; no cursor or delivery is open, and no
    removal is under way."""
    return _starts(past, before, cursors=(), deliveries=(), removals=(), topics=EMPTY_LOGS)


@within(STARTS, reads=("now_ms", "next_check_ms", "size_pass_due", "settings"))
def clock_and_settings_start_as_configured(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A broker starts at time 0 with the settings that it was given; its first check is one interval away, and no size
    pass is due."""
    first_ms = config.check_interval_ms
    return _starts(past, before, now_ms=0, next_check_ms=first_ms, size_pass_due=False, settings=config)


def _starts(past: History, before: Snapshot, **expected: Any) -> Verdict:
    """Whether these parts are as they should be before the first command."""
    if past.steps > 1:
        return VACUOUS
    wrong = {part: getattr(before, part) for part, value in expected.items() if getattr(before, part) != value}
    return not wrong or Broken(f"it starts with {wrong}")


@always("PIP-430, High Level Design 1, Entry Tracking", reads=("queue", "caches"))
def queue_and_caches_agree(config: Config, now: Snapshot) -> Verdict:
    """The removal queue and the range caches hold the same live entries, each once, and each cache is in order of
    position."""
    if not now.queue and not any(row.positions for row in now.caches):
        return VACUOUS
    queued = sorted([(*item.key, item.serial) for item in now.queue])
    cached = [(row.topic, *position) for row in now.caches for position in row.positions]
    if cached != sorted(cached):
        return Broken(f"a cache is out of order: {cached}")
    if len({key[:3] for key in queued}) != len(queued):
        return Broken(f"a position is queued twice: {queued}")
    return queued == cached or Broken(f"queue holds {queued}, caches hold {cached}")


@always("PIP-430, Background, EntryCacheManager", reads=("queue", "caches", "total_bytes"))
def sizes_add_up(config: Config, now: Snapshot) -> Verdict:
    """Each cache's size is the sum of its entries, the total is the sum of all, and none is negative."""
    if not now.queue and now.total_bytes == 0 and not any(row.size_bytes for row in now.caches):
        return VACUOUS
    sums = dict.fromkeys([row.topic for row in now.caches], 0)
    for item in now.queue:
        sums[item.topic] += item.size_bytes
    for row in now.caches:
        if row.size_bytes != sums[row.topic]:
            return Broken(f"{row.topic} says {row.size_bytes} bytes and holds {sums[row.topic]}")
    total = sum(sums.values())
    return now.total_bytes == total or Broken(f"the total says {now.total_bytes} bytes; {total} are held")


@always("ours: what counters count; PIP-430, Metrics, says only that they continue", reads=("queue", "counters"))
def counters_add_up(config: Config, now: Snapshot) -> Verdict:
    """What was added and not removed is resident, in entries and in bytes."""
    added, added_bytes, removed, removed_bytes = now.counters
    if added == 0 and removed == 0:
        return VACUOUS
    size = sum([item.size_bytes for item in now.queue])
    if added - removed != len(now.queue):
        return Broken(f"{added} added - {removed} removed is not the {len(now.queue)} resident")
    return added_bytes - removed_bytes == size or Broken(
        f"{added_bytes} bytes added - {removed_bytes} removed is not the {size} resident"
    )


@always("PIP-430, Detailed Design 2 and 4 (EntryImpl.release)", reads=("payloads", "queue", "deliveries"))
def payload_lives_while_held(config: Config, now: Snapshot) -> Verdict:
    """A payload is held once by the cache while it is resident and once by each open delivery made from it, is freed
    when the last of them lets go, never before and never again."""
    counts = Counter([item.serial for item in now.queue])
    counts.update([delivery.serial for delivery in now.deliveries if delivery.serial])
    expected = tuple(sorted(counts.items()))
    if not expected and not now.payloads:
        return VACUOUS
    return now.payloads == expected or Broken(f"(serial, holders) are {now.payloads}; held are {expected}")


@always(
    "PIP-430, Note About Entry Cache Size",
    reads=("queue",),
    follows_from=("new_entries_lie_in_the_buffers_begun_for_them", "entries_keep_their_identity"),
)
def retained_memory_covers_what_is_accounted(config: Config, now: Snapshot) -> Verdict:
    """With copying on, entries keep alive exactly the bytes that are accounted; with copying off at least those,
    because a slice keeps its whole buffer.  Can not see: how much more (the benchmark pip430 measures it)."""
    if not now.queue:
        return VACUOUS
    accounted = sum([item.size_bytes for item in now.queue])
    retained = sum({item.buffer: item.buffer_bytes for item in now.queue}.values())
    if config.copy_entries and retained != accounted:
        return Broken(f"copies retain {retained} bytes for {accounted} accounted")
    return retained >= accounted or Broken(f"{accounted} bytes accounted, {retained} retained")


@within(
    "PIP-430, Note About Entry Cache Size; that buffers are numbered in order of use is ours",
    reads=("queue",),
    on=(Append, FinishLoad),
    unless=(named.REPLAY_MISS_CACHED,),  # there a replay may begin a buffer too
)
def new_entries_lie_in_the_buffers_begun_for_them(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """With copying on, each new entry has a buffer of its own size to itself.  With copying off, an appended entry is a
    slice of the receive buffer as long as it fits, else of a new one; those of a load share one of their total size.  A
    buffer that begins has the next number."""
    new = entered(before, after)
    if not new:
        return VACUOUS
    seen = [(item.buffer, item.buffer_bytes) for item in new]
    return seen == past.slices or Broken(f"(buffer, bytes) of new entries are {seen}, and should be {past.slices}")


@step("PIP-430, High Level Design 1", reads=("queue",), on=(FinishRemoval, *PASSES))
def removals_are_reported_as_they_are(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A pass or a forced removal reports the entries and bytes that left by it, no more and no less."""
    gone = left(before, after)
    size = sum([item.size_bytes for item in gone])
    if isinstance(outcome, Removed):
        told = outcome.entries, outcome.size_bytes
    elif isinstance(outcome, Evicted):
        told = outcome.expired + outcome.evicted, outcome.expired_bytes + outcome.evicted_bytes
    else:
        return VACUOUS
    if not gone and told == (0, 0):
        return VACUOUS
    return told == (len(gone), size) or Broken(f"told {told}, but {len(gone)} entries of {size} bytes left")


@step("PIP-430, Detailed Design 1, MISSING", reads=("counters", "tombstones", "queue", "settings", "now_ms"))
def tombstones_stand_for_what_left_otherwise(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """An entry that leaves other than by a pass leaves one tombstone in the queue; passes make none, and a time pass
    that goes through the whole queue drops them all."""
    change = after.tombstones - before.tombstones
    if isinstance(command, PASSES):
        if before.tombstones == 0 and change == 0:
            return VACUOUS
        if time_pass_alone(config, before, command, outcome) and expired_prefix(before) == len(before.queue):
            return after.tombstones == 0 or Broken(f"a pass over the whole queue left {after.tombstones} tombstones")
        right = 0 <= after.tombstones <= before.tombstones
        return right or Broken(f"before a pass {before.tombstones} tombstones, after it {after.tombstones}")
    gone = after.counters.removed - before.counters.removed
    if gone == 0 and change == 0:
        return VACUOUS
    return change == gone or Broken(f"{gone} entries left, and {change} tombstones came")


@step("ours: what it is to be an entry", reads=("queue",))
def entries_keep_their_identity(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """While it is resident an entry keeps its topic, position, size and buffer, and new entries get new serials."""
    if before.queue == after.queue:
        return VACUOUS
    old = {item.serial: item for item in before.queue}
    newest = max(old, default=0)
    for item in after.queue:
        was = old.get(item.serial)
        if was is None:
            if item.serial <= newest:
                return Broken(f"{item} came with a serial that is not new")
        elif (was[1:5], was[9:]) != (item[1:5], item[9:]):
            return Broken(f"{was} became {item}")
    return True


@step("PIP-430, High Level Design 2, Eviction Consideration", reads=("queue", "removals"), on=(FinishRemoval,))
def forced_removal_is_unconditional(
    config: Config, before: Snapshot, command: FinishRemoval, outcome: Any, after: Snapshot
) -> Verdict:
    """When a forced removal ends, every entry that it noted is gone, whatever its reads, its accesses or its age."""
    noted = next((set(row.serials) for row in before.removals if row[:4] == _key(command)), None)
    if noted is None or not any(item.serial in noted for item in before.queue):
        return VACUOUS
    still = [item for item in after.queue if item.serial in noted]
    return not still or Broken(f"still resident: {still}")


@step("PIP-430, High Level Design 2, Eviction Consideration", reads=("queue", "removals"), on=(FinishRemoval,))
def forced_removal_takes_only_what_it_noted(
    config: Config, before: Snapshot, command: FinishRemoval, outcome: Any, after: Snapshot
) -> Verdict:
    """A forced removal takes nothing but the entries that it noted: not a later entry at the same position."""
    gone = left(before, after)
    if not gone:
        return VACUOUS
    noted = next((set(row.serials) for row in before.removals if row[:4] == _key(command)), set[int]())
    wrong = [item for item in gone if item.serial not in noted]
    return not wrong or Broken(f"removed though not noted: {wrong}")


@step("PIP-430, High Level Design 2, Eviction Consideration", reads=("queue", "removals"), on=(BeginRemoval,))
def forced_removal_notes_what_is_in_its_scope(
    config: Config, before: Snapshot, command: BeginRemoval, outcome: Any, after: Snapshot
) -> Verdict:
    """A forced removal that begins notes exactly the resident entries in its scope, and removes none yet."""
    begun = [row for row in after.removals if row not in before.removals]
    if not begun:
        return VACUOUS
    position = (command.ledger, command.entry)
    scopes: dict[str, Callable[[Item], bool]] = {
        "all": lambda item: True,
        "topic": lambda item: item.topic == command.topic,
        "ledger": lambda item: item.topic == command.topic and item.ledger == command.ledger,
        "upto": lambda item: item.topic == command.topic and item.position < position,
        "entry": lambda item: item.topic == command.topic and item.position == position,
    }
    scope = {item.serial for item in before.queue if scopes[command.what](item)}
    if set(begun[0].serials) != scope:
        return Broken(f"noted {sorted(begun[0].serials)}; in scope are {sorted(scope)}")
    return not left(before, after) or Broken(f"removed already: {left(before, after)}")


@step("PIP-430, High Level Design 1", reads=("queue",))
def passes_and_forced_removal_alone_evict(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """Under the expected-read strategy an entry leaves by a pass or at the end of a forced removal, and in no other
    way; and nothing but a pass moves it in the queue."""
    if not config.by_expected_reads or isinstance(command, (*PASSES, FinishRemoval)):
        return VACUOUS
    if not before.queue:
        return VACUOUS
    if left(before, after):
        return Broken(f"{command} removed {left(before, after)}")
    return not moved_by_pass(before, after) or Broken("the queue was reordered without a pass")


@step("ours: commands are total", reads=("queue", "total_bytes", "deliveries", "counters"))
def refused_changes_nothing(config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot) -> Verdict:
    """A command that was refused changed nothing in the cache and opened or ended no delivery."""
    if not isinstance(outcome, Refused):
        return VACUOUS
    same = (before.queue, before.total_bytes, before.deliveries, before.counters) == (
        after.queue,
        after.total_bytes,
        after.deliveries,
        after.counters,
    )
    return same or Broken(f"{outcome} and yet: {before.queue} became {after.queue}")


def _key(command: Any) -> tuple[str, str, int, int]:
    return command.what, command.topic, command.ledger, command.entry


LAWS = (
    cache_starts_empty,
    topics_start_empty,
    clock_and_settings_start_as_configured,
    queue_and_caches_agree,
    sizes_add_up,
    counters_add_up,
    payload_lives_while_held,
    retained_memory_covers_what_is_accounted,
    new_entries_lie_in_the_buffers_begun_for_them,
    removals_are_reported_as_they_are,
    tombstones_stand_for_what_left_otherwise,
    entries_keep_their_identity,
    forced_removal_is_unconditional,
    forced_removal_takes_only_what_it_noted,
    forced_removal_notes_what_is_in_its_scope,
    passes_and_forced_removal_alone_evict,
    refused_changes_nothing,
)
