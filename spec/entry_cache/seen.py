"""entry_cache, part 1, continued: what the caller of a command sees, and what an observer sees."""

from __future__ import annotations

from typing import NamedTuple

from attrs import frozen

from .settings import Config

# ---- What its caller sees -------------------------------------------------------------------------------------------


@frozen
class Done:
    """It was carried out, and there is nothing to tell."""


@frozen
class Refused:
    """It made no sense now; nothing changed (but what the command's own text says)."""

    why: str


@frozen
class Appended:
    """Where the entry was written, and whether it was cached."""

    ledger: int
    entry: int
    cached: bool


@frozen
class Delivered:
    """The entries handed out: for each its entry number and what its reader could read, (ledger, entry, bytes), as
    written in the payload itself."""

    ledger: int
    entries: tuple[int, ...]
    contents: tuple[tuple[int, int, int], ...]
    from_cache: bool


@frozen
class Loading:
    """A load from storage has begun."""

    ledger: int
    first: int
    count: int


@frozen
class Hit:
    """A lookup found the entry; what could be read of it."""

    content: tuple[int, int, int]


@frozen
class Miss:
    """A lookup did not find it."""


@frozen
class Began:
    """A forced removal began and noted this many entries."""

    entries: int


@frozen
class Removed:
    """A forced removal ended: what it removed itself, not counting what was gone by then."""

    entries: int
    size_bytes: int


@frozen
class Evicted:
    """What the passes removed: by time, and for size."""

    expired: int
    expired_bytes: int
    evicted: int
    evicted_bytes: int


@frozen
class Clock:
    """The time after the clock moved."""

    now_ms: int


OUTCOMES = (Done, Refused, Appended, Delivered, Loading, Hit, Miss, Began, Removed, Evicted, Clock)

# Reasons to refuse.
NO_CURSOR = "no such cursor"
CURSOR_OPEN = "the cursor is open already"
LOADING = "a load is under way"
NO_LOAD = "no load is under way"
CAUGHT_UP = "nothing to read"
NO_DELIVERY = "no such delivery"
NO_ENTRY = "not to be replayed"
NOT_REPLAYING = "not in the replay queue"
LEDGER_GONE = "the ledger is gone"
LEDGER_OPEN = "the ledger is open"
LEDGER_EMPTY = "the ledger is empty"
BAD_POSITION = "not a position to acknowledge"
UNDER_WAY = "such a removal is under way"
NO_REMOVAL = "no such removal is under way"
NOT_DUE = "not due"
CHECK_DUE = "a check is due"

# ---- What an observer sees ------------------------------------------------------------------------------------------
# Rows are named tuples: a campaign makes and compares millions of them.


class Item(NamedTuple):
    """A cached entry as the removal queue holds it.  `serial` tells entries apart: the n-th one ever added is n."""

    serial: int
    topic: str
    ledger: int
    entry: int
    size_bytes: int
    ts_ms: int  # when it was put, or last requeued
    accessed: bool  # since it was put, or last requeued
    extensions: int  # how often it was requeued
    reads: int  # expected reads left
    buffer: int  # the buffer that its payload is a slice of (buffers are numbered in order of use, from 1)
    buffer_bytes: int

    @property
    def key(self) -> tuple[str, int, int]:
        """(topic, ledger, entry): what it is found by."""
        return self[1:4]

    @property
    def position(self) -> tuple[int, int]:
        """(ledger, entry)."""
        return self[2:4]


class CacheRow(NamedTuple):
    """One topic's range cache: its own size figure, and (ledger, entry, serial) in order of position."""

    topic: str
    size_bytes: int
    positions: tuple[tuple[int, int, int], ...]


class Counters(NamedTuple):
    """Everything ever added and removed."""

    added: int
    added_bytes: int
    removed: int
    removed_bytes: int


class CursorRow(NamedTuple):
    """A cursor: (topic, name), where it reads next, what it has acknowledged, what it is doing."""

    topic: str
    cursor: str
    active: bool
    read: tuple[int, int]  # the next position that it will read
    acked: tuple[int, int]  # mark-delete: everything up to and including this one; (0, -1) for nothing
    caches_reads: bool  # only of consequence without by_expected_reads
    loading: tuple[int, int, int] | None  # (ledger, first entry, count) of a load under way
    replays: tuple[tuple[int, int], ...]  # its replay queue, in order of position


class DeliveryRow(NamedTuple):
    """An open delivery, oldest first; `serial` of the cached entry that it was made from, 0 for none."""

    topic: str
    cursor: str
    ledger: int
    entry: int
    serial: int


class RemovalRow(NamedTuple):
    """A forced removal under way, and the serials it noted, in order."""

    what: str
    topic: str
    ledger: int
    entry: int
    serials: tuple[int, ...]


class TopicRow(NamedTuple):
    """A topic's log: when its last active cursor left (or it was loaded), and (ledger, number of entries) in order."""

    topic: str
    left_ms: int
    ledgers: tuple[tuple[int, int], ...]


class Snapshot(NamedTuple):
    """Everything that the laws speak of.  A subject that can not see a part puts NOT_OBSERVED there."""

    now_ms: int
    next_check_ms: int
    settings: Config  # in force
    queue: tuple[Item, ...]  # the removal queue from its head, live entries only
    tombstones: int  # entries in the queue that were removed by other means and not yet dropped
    caches: tuple[CacheRow, ...]  # topics t0 to t3, each one
    total_bytes: int
    counters: Counters
    size_pass_due: bool
    visits: int  # queue nodes that passes have handled so far: removed, requeued or dropped
    payloads: tuple[tuple[int, int], ...]  # (serial, holders) of each payload that is held, or freed wrongly
    cursors: tuple[CursorRow, ...]  # in order of (topic, cursor)
    deliveries: tuple[DeliveryRow, ...]
    removals: tuple[RemovalRow, ...]  # in order of their beginning
    topics: tuple[TopicRow, ...]  # t0 to t3, each one


TOPICS = ("t0", "t1", "t2", "t3")
