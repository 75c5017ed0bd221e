"""cursor_ranks, the design before PIP-430: a heap ordered by position, and an index by name.

The slowest cursor is on top of the heap, and an update is O(log n) at once, so that nothing is ever pending.  But the
heap knows no ranks: it has to count, O(n) for each question, however little changed since the last one; and there is
nothing to rebuild.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...spec.core import TEXT_DIALECT, Dialect
from ...spec.cursor_ranks import (
    Absent,
    Add,
    Added,
    At,
    Config,
    Count,
    CursorRow,
    Done,
    Find,
    Found,
    Move,
    Rank,
    RankAt,
    Remove,
    Size,
    Slowest,
    Snapshot,
)
from ..ranked_line import END, Cursor, FurthestFirst, Position


class SlowestFirst(FurthestFirst):
    """The same heap turned round: the least position on top."""

    def goes_first(self, one: Cursor, other: Cursor) -> bool:
        return one.wanted < other.wanted


class LegacyCursorRanks:
    """The container of cursors as it was, as a subject."""

    def __init__(self) -> None:
        self._handlers: dict[type, Callable[[Any], Any]] = {
            Add: self._add,
            Move: self._move,
            Remove: self._remove,
            Rank: self._rank,
            RankAt: self._rank_at,
            Slowest: self._slowest,
            Size: self._size,
            Find: self._find,
        }
        self.reset(Config(), TEXT_DIALECT)

    def reset(self, config: Config, dialect: Dialect) -> None:
        self._re_add_keeps_old_cursor = dialect.has("re-add-keeps-old-cursor")
        self._untracked_keeps_position = dialect.has("untracked-keeps-position")
        self._itself = 1 if dialect.has("rank-leaves-itself-out") else 0
        self._cursors: dict[str, Cursor] = {}
        self._heap = SlowestFirst()  # of the tracked ones
        self._adds = 0
        self._work = 0

    def apply(self, command: Any) -> Any:
        return self._handlers[type(command)](command)

    def _add(self, command: Add) -> Added:
        self._adds += 1
        cursor = self._cursors.get(command.cursor)
        if cursor is None or not self._re_add_keeps_old_cursor:
            if cursor is not None:
                self._heap.take_out(cursor)
            cursor = self._cursors[command.cursor] = Cursor(command.cursor, self._adds)
        self._place(cursor, command)
        return Added(cursor.number)

    def _move(self, command: Move) -> Done | Absent:
        cursor = self._cursors.get(command.cursor)
        if cursor is None:
            return Absent()
        if command.ledger is not None or not self._untracked_keeps_position:
            self._place(cursor, command)
        return Done()

    def _remove(self, command: Remove) -> Done | Absent:
        cursor = self._cursors.pop(command.cursor, None)
        if cursor is None:
            return Absent()
        self._heap.take_out(cursor)
        return Done()

    def _place(self, cursor: Cursor, command: Add | Move) -> None:
        self._work += 1
        if command.ledger is None:
            self._heap.take_out(cursor)
            cursor.wanted = END
        else:
            cursor.wanted = (command.ledger, command.entry)
            self._heap.put(cursor)

    def _rank(self, command: Rank) -> Count:
        cursor = self._cursors.get(command.cursor)
        if cursor is None or cursor.wanted == END:
            return Count(0)
        return Count(self._counted(cursor.wanted) - self._itself)

    def _rank_at(self, command: RankAt) -> Count:
        return Count(self._counted((command.ledger, command.entry)))

    def _counted(self, position: Position) -> int:
        self._work += 2 * len(self._heap)  # each is visited and compared
        return sum([cursor.wanted <= position for cursor in self._heap.cursors])

    def _slowest(self, command: Slowest) -> At:
        self._work += 1
        return At(self._heap.cursors[0].wanted if self._heap.cursors else None)

    def _size(self, command: Size) -> Count:
        return Count(len(self._cursors))

    def _find(self, command: Find) -> Found | Absent:
        cursor = self._cursors.get(command.cursor)
        return Absent() if cursor is None else Found(cursor.number)

    def snapshot(self) -> Snapshot:
        rows = [
            CursorRow(name, cursor.number, None if cursor.wanted == END else cursor.wanted)
            for name, cursor in sorted(self._cursors.items())
        ]
        held = len({*self._cursors.values(), *self._heap.cursors})
        return Snapshot(tuple(rows), 0, held, self._work + self._heap.comparisons, 0)
