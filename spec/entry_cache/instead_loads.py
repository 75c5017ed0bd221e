"""entry_cache, laws 11: what loads, replays and cursors do instead, where a deviation takes the place of a law."""

from __future__ import annotations

from typing import Any

from ..core import VACUOUS, Broken, Verdict, step
from . import naming as named
from .counting import deliveries_open_and_end_one_by_one, hit_marks_accessed_and_nothing_else
from .cursors import FOLLOWED
from .rules import trigger_bytes
from .sight import cursor_of, entered, left, stayed
from .words import (
    CheckBacklogs,
    Config,
    Delivered,
    FinishLoad,
    Get,
    Loading,
    Read,
    Refused,
    Replay,
    Snapshot,
)

READ_FROM_STORAGE = "shipped: RangeEntryCacheImpl.readFromStorage, 4.2.4"


# ---- Loads -----------------------------------------------------------------------------------------------------------


@step(READ_FROM_STORAGE, reads=("queue", "cursors"), on=(FinishLoad,), only=(named.RANK_OF_READER,))
def loaded_entry_expects_the_rank_of_its_reader(
    config: Config, before: Snapshot, command: FinishLoad, outcome: Any, after: Snapshot
) -> Verdict:
    """Under the strategy every entry of a load starts with one expected read for each active cursor at the reader's
    position or before it, as they stood when it arrived, and with none if the reader is not active."""
    new, reader = entered(before, after), cursor_of(before, command)
    if not new or reader is None or not config.by_expected_reads:
        return VACUOUS
    expected = _at_or_before(before, command.topic, reader.read) if reader.active else 0
    wrong = [item for item in new if item.reads != expected]
    return not wrong or Broken(f"the rank of {reader} is {expected}: {wrong}")


@step(READ_FROM_STORAGE, reads=("queue", "cursors", "settings"), on=(FinishLoad,), only=(named.ZERO_READS_NOT_CACHED,))
def load_is_cached_with_expected_reads_alone(
    config: Config, before: Snapshot, command: FinishLoad, outcome: Any, after: Snapshot
) -> Verdict:
    """Under the strategy, while the cache is on, what an active cursor loads is cached, and no load brings an entry
    without expected reads into the cache."""
    new, reader = entered(before, after), cursor_of(before, command)
    if reader is None or not config.by_expected_reads or not isinstance(outcome, Delivered):
        return VACUOUS
    useless = [item for item in new if item.reads <= 0]
    if useless:
        return Broken(f"cached without expected reads: {useless}")
    if not reader.active or not before.settings.max_size_bytes:
        return bool(new) or VACUOUS
    wanted = len(_fresh(before, command, outcome))
    return len(new) == wanted or Broken(f"{len(new)} of {wanted} entries were cached: {new}")


@step(
    READ_FROM_STORAGE,
    reads=("queue", "cursors", "settings"),
    on=(FinishLoad,),
    only=(named.ZERO_READS_NOT_CACHED,),
    unless=(named.RANK_OF_READER,),
)
def load_of_an_inactive_cursor_is_cached_for_the_others(
    config: Config, before: Snapshot, command: FinishLoad, outcome: Any, after: Snapshot
) -> Verdict:
    """Under the strategy, while the cache is on, an entry that an inactive cursor loads is cached iff an active one is
    at it or before it."""
    if not config.by_expected_reads or not isinstance(outcome, Delivered) or not before.settings.max_size_bytes:
        return VACUOUS
    reader = cursor_of(before, command)
    if reader is None or reader.active:
        return VACUOUS
    new = {item.key for item in entered(before, after)}
    wanted = {key for key in _fresh(before, command, outcome) if _at_or_before(before, key[0], key[1:])}
    return new == wanted or Broken(f"cached: {sorted(new)}, and expected by others: {sorted(wanted)}")


@step(READ_FROM_STORAGE, reads=("deliveries", "queue"), only=(named.LOSING_LOAD_KEEPS_OWN_COUNT,))
def losing_load_is_tied_to_nothing(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """Under the strategy a load opens a delivery for each entry, tied to the one that it put, and to none where the
    position was resident or is not cached; other deliveries open and end as ever."""
    if not config.by_expected_reads:
        return VACUOUS
    if not isinstance(command, FinishLoad) or not isinstance(outcome, Delivered):
        return deliveries_open_and_end_one_by_one.check(config, before, command, outcome, after)
    put = {item.key: item.serial for item in entered(before, after)}
    keys = [(command.topic, outcome.ledger, entry) for entry in outcome.entries]
    rows = [(key[0], command.cursor, *key[1:], put.get(key, 0)) for key in keys]
    return after.deliveries == (*before.deliveries, *rows) or Broken(
        f"deliveries {before.deliveries} became {after.deliveries}; {rows} were to open"
    )


@step(
    "ours: what a second put brings; PIP-430 is silent",
    reads=("queue", "cursors", "settings"),
    on=(FinishLoad,),
    only=(named.SECOND_PUT_REPLACES_COUNT,),
    unless=(named.RANK_OF_READER, named.NO_COUNT_FROM_ZERO),
)
def second_put_replaces_the_count_alone(
    config: Config, before: Snapshot, command: FinishLoad, outcome: Any, after: Snapshot
) -> Verdict:
    """Under the strategy, while the cache is on, a load that finds a position resident gives the entry there the count
    that it brings, one for each active cursor at it or before it, and changes nothing else, there or elsewhere."""
    if not config.by_expected_reads or not isinstance(outcome, Delivered):
        return VACUOUS
    loaded = {(command.topic, outcome.ledger, entry) for entry in outcome.entries}
    asked = False
    for was, now in stayed(before, after):
        expected = was
        if was.key in loaded and before.settings.max_size_bytes:
            expected, asked = was._replace(reads=_at_or_before(before, was.topic, was.position)), True
        if now != expected:
            return Broken(f"{was} became {now}, and should be {expected}")
    return asked or VACUOUS


# ---- Replays ---------------------------------------------------------------------------------------------------------


@step(
    "PIP-430, Detailed Design 4, asyncReadEntry",
    reads=("queue", "cursors", "deliveries", "settings", "now_ms", "size_pass_due"),
    on=(Read, Get, Replay),
    only=(named.REPLAY_MISS_CACHED,),
    unless=(named.ZERO_READS_NOT_CACHED,),
)
def missed_replay_is_cached_and_handed_out_from_there(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A replay that misses puts the entry at the tail of the queue, with the present time and a buffer of its own size,
    where a load by that cursor would be cached; its delivery is tied to it, and over the trigger a size pass becomes
    due.  A hit marks an entry accessed as ever, and nothing changes beside."""
    if not isinstance(command, Replay) or not isinstance(outcome, Delivered) or outcome.from_cache:
        return hit_marks_accessed_and_nothing_else.check(config, before, command, outcome, after)
    reader = cursor_of(before, command)
    offered = config.by_expected_reads or (reader is not None and reader.caches_reads)
    wanted = offered and before.settings.max_size_bytes > 0
    new = after.queue[len(before.queue) :]
    if after.queue[: len(before.queue)] != before.queue or len(new) != wanted:
        return Broken(f"to be cached: {wanted}; {before.queue} became {after.queue}")
    tie = after.deliveries[-1].serial if after.deliveries else 0
    due = before.size_pass_due
    for item in new:
        size_bytes = outcome.contents[0][2]
        put = (*(command.topic, command.ledger, command.entry, size_bytes, before.now_ms), 0, size_bytes)
        if (*item[1:6], item.extensions, item.buffer_bytes) != put or tie != item.serial:
            return Broken(f"{item} was put, and the delivery is tied to serial {tie}")
        total = sum([each.size_bytes for each in after.queue])
        due = due or total > trigger_bytes(before.settings.max_size_bytes)
    if not new and tie:
        return Broken(f"nothing was put, and the delivery is tied to serial {tie}")
    return after.size_pass_due == due or Broken(f"a size pass should be due: {due}")


@step(
    "PIP-430, Detailed Design 4, asyncReadEntry",
    reads=("queue", "cursors"),
    on=(Replay,),
    only=(named.REPLAY_MISS_CACHED,),
    unless=(named.RANK_OF_READER, named.READS_WITHOUT_STRATEGY, named.PUT_COUNTS_AS_ACCESS),
)
def replayed_entry_expects_what_a_loaded_one_would(
    config: Config, before: Snapshot, command: Replay, outcome: Any, after: Snapshot
) -> Verdict:
    """An entry that a replay puts into the cache starts with one expected read for each active cursor at its position
    or before it (none without the strategy), and is not accessed."""
    new = entered(before, after)
    if not new:
        return VACUOUS
    for item in new:
        expected = _at_or_before(before, item.topic, item.position) if config.by_expected_reads else 0
        if item.reads != expected or item.accessed:
            return Broken(f"{item} should expect {expected} reads, and not be accessed")
    return True


# ---- Cursors ---------------------------------------------------------------------------------------------------------


@step(
    "shipped: ManagedLedgerImpl.invalidateEntriesUpToSlowestReaderPosition, 4.2.4",
    reads=("queue", "cursors"),
    on=FOLLOWED,
    only=(named.MARK_DELETE_EXCLUSIVE,),
)
def eviction_spares_the_entry_at_the_mark_delete(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """Without the strategy, where mark-delete decides, whenever a topic's cursors move the entries before the least
    mark-delete position of its active cursors go, and the one at it stays; with no active cursor all of them go."""
    if config.by_expected_reads or not config.by_mark_delete or isinstance(outcome, Refused | Loading):
        return VACUOUS
    topics = {item.topic for item in before.queue} if isinstance(command, CheckBacklogs) else {command.topic}
    gone = [item for item in left(before, after) if item.topic in topics]
    acked = {topic: _least_acked(after, topic) for topic in topics}
    stale = [item for item in after.queue if item.topic in topics and not _needed(item.position, acked[item.topic])]
    early = [item for item in gone if _needed(item.position, acked[item.topic])]
    if stale or early:
        return Broken(f"acknowledged by all: {acked}; still there: {stale}, gone though not before it: {early}")
    return bool(gone) or VACUOUS


def _least_acked(seen: Snapshot, topic: str) -> tuple[int, int] | None:
    return min([row.acked for row in seen.cursors if row.topic == topic and row.active], default=None)


def _needed(position: tuple[int, ...], acked: tuple[int, int] | None) -> bool:
    return acked is not None and position >= acked


# ---- What they have in common ----------------------------------------------------------------------------------------


def _fresh(before: Snapshot, command: FinishLoad, outcome: Delivered) -> list[tuple[str, int, int]]:
    """The loaded positions that were not resident."""
    resident = {item.key for item in before.queue}
    loaded = [(command.topic, outcome.ledger, entry) for entry in outcome.entries]
    return [position for position in loaded if position not in resident]


def _at_or_before(before: Snapshot, topic: str, position: tuple[int, ...]) -> int:
    """How many active cursors of a topic have yet to read a position."""
    return sum([row.active and row.topic == topic and row.read <= position for row in before.cursors])


LAWS = (
    loaded_entry_expects_the_rank_of_its_reader,
    load_is_cached_with_expected_reads_alone,
    load_of_an_inactive_cursor_is_cached_for_the_others,
    losing_load_is_tied_to_nothing,
    second_put_replaces_the_count_alone,
    missed_replay_is_cached_and_handed_out_from_there,
    replayed_entry_expects_what_a_loaded_one_would,
    eviction_spares_the_entry_at_the_mark_delete,
)
