"""entry_cache, part 1, continued: what can happen.

Every command is total: where one makes no sense it changes nothing and answers `Refused` with the reason, where there
are several with the first one that `refusals.py` lists for it.
Where the proposal's text is silent, a sentence here says which reading `text` takes; the other readings are the
deviations of `readings.py`.
"""

from __future__ import annotations

from attrs import frozen

from ..core import choice, flag, integer


def _topic() -> str:
    name: str = choice("t0", "t1", "t2", "t3", small=1)
    return name


def _cursor() -> str:
    name: str = choice("c0", "c1", "c2", "c3", "c4", small=1, narrows=False)
    return name


def _ledger() -> int:
    number: int = integer(0, 2**40, usual=(0, 3), small=(0, 1))
    return number


def _entry() -> int:
    number: int = integer(0, 2**40, usual=(0, 9), small=(0, 1))
    return number


# Publishing.


@frozen
class Append:
    """A producer publishes an entry: it is written to the topic's open ledger at the next position.

    It is cached (when the cache is on, that is max size > 0) if a cursor of the topic is active, or, under
    `by_expected_reads` only, if less than `continue_caching_ms` has passed since the last active cursor left or the
    topic was loaded.  It starts with as many expected reads as the topic has active cursors (0 unless
    `by_expected_reads`).  With copying on, the cached payload is an allocation of its own; else it is a slice of the
    broker's current receive buffer, and a new buffer of max(receive_buffer_bytes, size) begins when the slice does not
    fit what is left of it.  The receive buffer is filled by every append, cached or not.

    Source: PIP-430, Detailed Design 4, OpAddEntry; the window: Configuration, managedLedgerContinueCaching…; buffers:
    Note About Entry Cache Size.
    """

    topic: str = _topic()
    size_bytes: int = integer(1, 5 * 2**20, usual=(1, 40), edges=(1,), small=(1, 3))


@frozen
class RollLedger:
    """The topic's open ledger is closed and the next one begins; refused while the open one is empty.

    Source: the log, not the proposal: something to delete.
    """

    topic: str = _topic()


# Cursors.


@frozen
class OpenCursor:
    """A subscription's cursor opens, active, before everything the topic holds or after it.

    Source: PIP-430, High Level Design 2, Initialization (active cursors).
    """

    topic: str = _topic()
    cursor: str = _cursor()
    at: str = choice("latest", "earliest", narrows=False)


@frozen
class CloseCursor:
    """A cursor leaves: its replay queue and its load under way are forgotten; deliveries it made stay open.

    Source: PIP-430, silent on what a leaving cursor owed (`leaver-pays-back`).
    """

    topic: str = _topic()
    cursor: str = _cursor()


@frozen
class SetActive:
    """A cursor becomes active or inactive (its consumers came or went).

    Source: PIP-430, Modified Behavior (a cursor is "active" for caching purposes).
    """

    topic: str = _topic()
    cursor: str = _cursor()
    active: bool = flag()


@frozen
class Seek:
    """A cursor's read position jumps, forward or back, to a position of the log (beyond the end means the end).  Its
    mark-delete moves just before it; its replay queue and its load under way are forgotten.

    Source: PIP-430, silent.
    """

    topic: str = _topic()
    cursor: str = _cursor()
    ledger: int = _ledger()
    entry: int = _entry()


@frozen
class MarkDelete:
    """Everything up to and including a position that the cursor has read is acknowledged; replays of it are forgotten.
    Refused unless the position is before the read position and after the present mark-delete.

    Source: PIP-430, Modified Behavior, cacheEvictionByMarkDeletedPosition.
    """

    topic: str = _topic()
    cursor: str = _cursor()
    ledger: int = _ledger()
    entry: int = _entry()


# Reading.


@frozen
class Read:
    """A cursor reads on.  From its next entry, within one ledger, the longest run of at most `count` entries that are
    all cached, or all not cached, is taken.  Cached: they are handed out at once (`Delivered`), each marked accessed,
    each opening a delivery, and the read position moves behind them.  Not cached: a load from storage begins
    (`Loading`); the read position moves when it ends.  Refused while a load of this cursor is under way.

    Source: PIP-430, Background; that a run is all hits or all misses is ours: a broker splits a mixed range so.
    """

    topic: str = _topic()
    cursor: str = _cursor()
    count: int = integer(1, 1000, usual=(1, 4), edges=(1,), small=(1, 2))


@frozen
class FinishLoad:
    """A load arrives: each entry, in order, is put into the cache and handed out.

    A position that is resident by now keeps what it has (first put wins) and the delivery counts as a read of the
    resident one.  A new one starts with the number of the topic's active cursors at or before that entry (0 unless
    `by_expected_reads`); read positions are those before this load moved its own.  The entries of one load share a
    buffer of their total size, unless copying is on.  Not offered to the cache at all (and then the delivery has a
    payload of its own, whatever is resident): when max size is 0, or without `by_expected_reads` when the cursor does
    not cache its reads (CheckBacklogs).  Fails when the ledger is gone.

    Source: PIP-430, High Level Design 2, Initialization, 2nd point, and Detailed Design 4, readFromStorage.
    """

    topic: str = _topic()
    cursor: str = _cursor()


@frozen
class FailLoad:
    """A load ends in an error: nothing changes but that it is over.

    Source: PIP-430, silent.
    """

    topic: str = _topic()
    cursor: str = _cursor()


@frozen
class Get:
    """Somebody looks an entry up in the cache; a hit marks it accessed and does nothing else.

    Source: PIP-430, Goals, LRU Cache Behavior; shipped code counts its copy as a read (`every-copy-counts`).
    """

    topic: str = _topic()
    ledger: int = _ledger()
    entry: int = _entry()


# Deliveries.


@frozen
class Release:
    """A delivery ends well: its hold on the payload goes, and one expected read is taken from the cached entry that it
    was made from, if that very entry (not a later one at its position) is still resident; never below zero.  Of several
    open deliveries to the cursor at that position the oldest ends.

    Source: PIP-430, High Level Design 2, Dynamic Updates, 1st point; the floor at zero is ours (`count-below-zero`).
    """

    topic: str = _topic()
    cursor: str = _cursor()
    ledger: int = _ledger()
    entry: int = _entry()


@frozen
class FailDelivery:
    """A delivery found no consumer: the position enters the cursor's replay queue (as `Redeliver` does, if the cursor
    is open, has read it and has not acknowledged it, and it is not there yet), then its copy is released as by
    `Release`.

    Source: PIP-430, High Level Design 2, Dynamic Updates; whether the release counts is not said
    (`undelivered-release-free`).
    """

    topic: str = _topic()
    cursor: str = _cursor()
    ledger: int = _ledger()
    entry: int = _entry()


@frozen
class Redeliver:
    """A consumer asks for an entry again: the position enters the cursor's replay queue, and the cached entry there, if
    any, expects one more read (under `by_expected_reads`).  Refused unless the log holds it, the cursor has read it and
    not acknowledged it, and it is not in the queue yet.

    Source: PIP-430, High Level Design 2, Dynamic Updates, 2nd point.
    """

    topic: str = _topic()
    cursor: str = _cursor()
    ledger: int = _ledger()
    entry: int = _entry()


@frozen
class Replay:
    """A cursor reads an entry of its replay queue, which leaves the queue.  Cached: marked accessed and handed out.
    Else it is read from storage and handed out, and not put into the cache.  Refused when its ledger is gone.

    Source: PIP-430, Background, Key_Shared; that a miss is not cached is the shipped code's: RangeEntryCacheImpl.
    """

    topic: str = _topic()
    cursor: str = _cursor()
    ledger: int = _ledger()
    entry: int = _entry()


# Forced removal: a beginning and an end, so that what happens in between is a list of commands.

WHAT = ("entry", "upto", "ledger", "topic", "all")


@frozen
class BeginRemoval:
    """A forced removal begins: it notes the entries that are resident now and in its scope; they stay readable.

    entry: that position.  upto: positions of the topic before (ledger, entry).  ledger: that ledger, which is deleted
    from the log now (refused for the open ledger and for one that is not there).  topic: the topic's entries; it is
    closed and loaded anew, all its cursors and loads are gone now.  all: every topic's entries.
    Refused while one with the same arguments is under way.

    Source: PIP-430, High Level Design 2, Eviction Consideration; "upto" as the shipped code has it: exclusive.
    """

    what: str = choice(*WHAT, narrows=False)
    topic: str = _topic()
    ledger: int = _ledger()
    entry: int = _entry()


@frozen
class FinishRemoval:
    """The forced removal that began with these arguments ends: each entry it noted that is still resident goes,
    whatever its reads, its accesses or its age.  A later entry at the same position was not noted, and stays.

    Source: PIP-430, High Level Design 2, Eviction Consideration; by identity: Detailed Design 1.
    """

    what: str = choice(*WHAT, narrows=False)
    topic: str = _topic()
    ledger: int = _ledger()
    entry: int = _entry()


# Eviction and time.


@frozen
class EvictionCheck:
    """The scheduled check: a time pass, then a size pass.  Refused unless the clock stands at (or beyond) the time it
    is due; the next one is due one interval after that time, or after now if that has passed.

    Source: PIP-430, Detailed Design 5, doCacheEviction.
    """


@frozen
class SizePass:
    """The size pass that an insert made due, run by the eviction executor as soon as it gets to it.

    Source: PIP-430, Detailed Design 5, triggerEvictionWhenNeeded.
    """


@frozen
class CheckBacklogs:
    """The broker's minutely look at backlogs; does nothing under `by_expected_reads`.

    backlogged_threshold > 0: a cursor becomes active if fewer than that many entries lie at or behind its read
    position, else inactive.  min_backlog_cursors > 0: a cursor caches its reads from now on iff its backlog is at least
    min_backlog_entries and at least min_backlog_cursors other cursors of the topic have a backlog that differs from its
    own by at most max_backlog_between_cursors.

    Source: PIP-430, Modified Behavior, names the settings; the rules are the shipped code's: checkCursorsToCacheEntries
    and checkBackloggedCursors, 4.2.4.
    """


@frozen
class Tick:
    """Time passes, up to the moment at which the next check is due and no further.

    Source: ours: checks come on time.
    """

    ms: int = integer(1, 2**40, usual=(1, 20), edges=(1,), small=(1,))


@frozen
class ClockBack:
    """The clock steps back; later inserts carry older timestamps than those in the queue.

    Source: ours: PIP-430 assumes a queue in order of time.
    """

    ms: int = integer(1, 2**40, usual=(1, 10), edges=(1,), small=(1,))


# Settings that change at run time.


@frozen
class SetMaxSize:
    """managedLedgerCacheSizeMB changes; 0 turns the cache off: residents go at the next pass, nothing is added."""

    max_size_bytes: int = integer(0, 2**50, usual=(20, 1200), edges=(0, 1), small=(0, 4))


@frozen
class SetWatermark:
    """managedLedgerCacheEvictionWatermark changes."""

    watermark_percent: int = integer(1, 100, usual=(30, 100), edges=(1, 98, 99, 100), small=(50,))


@frozen
class SetTtl:
    """managedLedgerCacheEvictionTimeThresholdMillis changes."""

    ttl_ms: int = integer(0, 2**40, usual=(1, 150), edges=(0, 1), small=(0, 1))


@frozen
class SetMaxExtensions:
    """The maximum number of extensions for entries with remaining expected reads changes."""

    max_extensions: int = integer(0, 1000, usual=(0, 5), edges=(0, 1), small=(0, 1))


@frozen
class SetExtendAccessed:
    """Whether recently accessed entries are extended changes."""

    extend_accessed: bool = flag()


COMMANDS = (
    *(Append, RollLedger, OpenCursor, CloseCursor, SetActive, Seek, MarkDelete),
    *(Read, FinishLoad, FailLoad, Get, Release, FailDelivery, Redeliver, Replay),
    *(BeginRemoval, FinishRemoval, EvictionCheck, SizePass, CheckBacklogs, Tick, ClockBack),
    *(SetMaxSize, SetWatermark, SetTtl, SetMaxExtensions, SetExtendAccessed),
)
