"""A topic: its log, its cursors, and when its last active cursor left."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort

from ...spec.entry_cache.words import CursorRow, TopicRow
from .wrapper import Position

START: Position = (0, -1)  # the mark-delete of a cursor that has acknowledged nothing


class Log:
    """What storage holds: for each ledger the sizes of its entries.  The last ledger is the open one.

    append, holds: O(1).  next_at: O(ledgers skipped).  backlog: O(ledgers).
    """

    __slots__ = ("ledgers", "open")

    def __init__(self) -> None:
        self.open = 0
        self.ledgers: dict[int, list[int]] = {0: []}

    def append(self, size_bytes: int) -> Position:
        sizes = self.ledgers[self.open]
        sizes.append(size_bytes)
        return (self.open, len(sizes) - 1)

    def roll(self) -> None:
        self.open += 1
        self.ledgers[self.open] = []

    def delete(self, ledger: int) -> None:
        del self.ledgers[ledger]

    def holds(self, position: Position) -> bool:
        sizes = self.ledgers.get(position[0])
        return sizes is not None and 0 <= position[1] < len(sizes)

    @property
    def first(self) -> Position:
        return (next(iter(self.ledgers)), 0)

    @property
    def end(self) -> Position:
        return (self.open, len(self.ledgers[self.open]))

    def next_at(self, position: Position) -> Position | None:
        """The first entry at or after a position."""
        ledger, entry = position
        while ledger <= self.open:
            if entry < len(self.ledgers.get(ledger, ())):
                return (ledger, entry)
            ledger, entry = ledger + 1, 0
        return None

    def backlog(self, position: Position) -> int:
        """How many entries lie at or behind a position."""
        at, entry = position
        here = max(0, len(self.ledgers.get(at, ())) - entry)
        return here + sum(len(sizes) for ledger, sizes in self.ledgers.items() if ledger > at)


class Cursor:
    """A subscription's place in a topic.  Its replay queue is a sorted list: finding is O(log r)."""

    __slots__ = ("acked", "active", "caches_reads", "kept", "loading", "name", "read", "replays", "topic")

    def __init__(self, topic: str, name: str, read: Position, acked: Position) -> None:
        self.topic = topic
        self.name = name
        self.active = True
        self.read = read
        self.acked = acked
        self.caches_reads = False  # until a look at the backlogs says otherwise
        self.loading: tuple[int, int, int] | None = None
        self.replays: list[Position] = []
        self.kept: CursorRow | None = None  # the observer's row, while nothing in it changes

    def move(self, read: Position) -> None:
        self.read = read
        self.kept = None

    def jump(self, read: Position) -> None:
        """Moves anywhere; what it had acknowledged, was loading or had to replay is forgotten."""
        self.read = read
        self.acked = (read[0], read[1] - 1)
        self.loading = None
        self.replays.clear()
        self.kept = None

    def acknowledge(self, position: Position) -> None:
        self.acked = position
        del self.replays[: bisect_right(self.replays, position)]
        self.kept = None

    def load(self, loading: tuple[int, int, int] | None) -> None:
        self.loading = loading
        self.kept = None

    def set_flags(self, active: bool, caches_reads: bool) -> None:
        self.active = active
        self.caches_reads = caches_reads
        self.kept = None

    def replaying(self, position: Position) -> bool:
        at = bisect_left(self.replays, position)
        return at < len(self.replays) and self.replays[at] == position

    def queue_replay(self, position: Position) -> None:
        insort(self.replays, position)
        self.kept = None

    def drop_replay(self, position: Position) -> None:
        del self.replays[bisect_left(self.replays, position)]
        self.kept = None

    def row(self) -> CursorRow:
        if self.kept is None:
            self.kept = CursorRow(
                *(self.topic, self.name, self.active, self.read, self.acked, self.caches_reads),
                *(self.loading, tuple(self.replays)),
            )
        return self.kept


class Topic:
    """A topic's log and cursors; `active` counts its active cursors."""

    __slots__ = ("active", "cursors", "kept", "left_ms", "log", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.log = Log()
        self.cursors: dict[str, Cursor] = {}  # in order of name
        self.active = 0
        self.left_ms = 0
        self.kept: TopicRow | None = None  # the observer's row, while nothing in it changes

    def append(self, size_bytes: int) -> Position:
        self.kept = None
        return self.log.append(size_bytes)

    def roll(self) -> None:
        self.kept = None
        self.log.roll()

    def delete(self, ledger: int) -> None:
        self.kept = None
        self.log.delete(ledger)

    def left(self, now_ms: int) -> None:
        """The last active cursor left, or the topic was loaded."""
        self.kept = None
        self.left_ms = now_ms

    def open_cursor(self, cursor: Cursor) -> None:
        """O(c log c) in the topic's cursors: opening is rare, observing is not."""
        self.cursors = dict(sorted([*self.cursors.items(), (cursor.name, cursor)]))
        self.active += 1

    def set_flags(self, cursor: Cursor, active: bool, caches_reads: bool) -> None:
        self.active += active - cursor.active
        cursor.set_flags(active, caches_reads)

    def close_cursor(self, cursor: Cursor) -> None:
        del self.cursors[cursor.name]
        self.active -= cursor.active

    def close_all(self, now_ms: int) -> None:
        """The topic is closed and loaded anew."""
        self.cursors = {}
        self.active = 0
        self.left(now_ms)

    def active_cursors(self) -> list[Cursor]:
        return [cursor for cursor in self.cursors.values() if cursor.active]

    def active_reads(self) -> list[Position]:
        """The read positions of the active cursors, in order; O(c log c)."""
        return sorted([cursor.read for cursor in self.cursors.values() if cursor.active])

    def row(self) -> TopicRow:
        if self.kept is None:
            ledgers = tuple([(ledger, len(sizes)) for ledger, sizes in self.log.ledgers.items()])
            self.kept = TopicRow(self.name, self.left_ms, ledgers)
        return self.kept
