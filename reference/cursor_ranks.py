"""cursor_ranks, the reference: a list sorted by position, one rank counter for each position, updates applied late.

Cursors stand in a doubly linked list in order of position.  Those at one position stand next to each other and share
one `Counter`: how many cursors stand there or before.  So a rank is read off in O(1), and a move has to mend only the
counters between the old place and the new one.  A cursor without a position is not in the list; it enters and leaves
at the tail, as if "no position" were behind every other.  (`ranked_line` has the list; this module says when it moves.)

Add and Move say where a cursor shall stand (`wanted`); where it does stand (`position`) changes when the next Rank,
RankAt or Slowest settles what is pending: each pending cursor walks from its old place to the new one, or, where many
are pending, they are all taken out, merged back in, and the list is numbered anew.  Pending cursors wait in a heap, the
furthest first: cursors that advance together then do not pass each other, and a merge needs one walk along the list.

A removed cursor leaves the list and the heap at once, and nothing of it is kept.  The counters from its place on are
then one too high.  Mending them is put off as well: a live cursor whose counter is too high, the nearest, *owes* the
difference on behalf of all that stand behind it, and is pending until it is paid.  So what is pending never outgrows
the cursors that there are, and where nothing is pending every counter is right.

With n tracked cursors and p pending ones, in position comparisons and node visits (`work`):

    Add, Move, Remove   O(log p)
    Rank, Slowest       O(1) where nothing is pending
    RankAt              O(n) where nothing is pending: it walks back from the tail
    Size, Find          O(1), and never settle anything
    settling            O(p log p), and O(d) for each pending cursor that moves over d others or pays with d behind it;
                        by a rebuild, which comes where p is at least `rebuild_percent` of n: O(n + p log p) in all
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..spec.core import TEXT_DIALECT, Dialect
from ..spec.cursor_ranks import (
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
from .ranked_line import END, Counter, Cursor, FurthestFirst, Position, RankedLine, rank_of

DONE = Done()
ABSENT = Absent()


class CursorRanks(RankedLine):
    """The container of active cursors, as a subject."""

    def __init__(self) -> None:
        super().__init__()
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
        self._rebuild_percent = config.rebuild_percent
        self._re_add_keeps_old_cursor = dialect.has("re-add-keeps-old-cursor")
        self._untracked_keeps_position = dialect.has("untracked-keeps-position")
        self._itself = 1 if dialect.has("rank-leaves-itself-out") else 0
        self._cursors: dict[str, Cursor] = {}
        self._clear()
        self._pending = self._new_heap()
        self._tracked = 0  # cursors that want a position
        self._adds = 0
        self._rebuilds = 0
        self._rows: tuple[CursorRow, ...] | None = ()  # kept from one snapshot to the next update

    def _new_heap(self) -> FurthestFirst:
        return FurthestFirst()

    def apply(self, command: Any) -> Any:
        return self._handlers[type(command)](command)

    # ---- Commands ---------------------------------------------------------------------------------------------------

    def _add(self, command: Add) -> Added:
        self._adds += 1
        cursor = self._cursors.get(command.cursor)
        if cursor is None or not self._re_add_keeps_old_cursor:
            if cursor is not None:
                self._forget(cursor)
            cursor = self._cursors[command.cursor] = Cursor(command.cursor, self._adds)
        self._want(cursor, _place(command))
        return Added(cursor.number)

    def _move(self, command: Move) -> Done | Absent:
        cursor = self._cursors.get(command.cursor)
        if cursor is None:
            return ABSENT
        if command.ledger is not None or not self._untracked_keeps_position:
            self._want(cursor, _place(command))
        return DONE

    def _remove(self, command: Remove) -> Done | Absent:
        cursor = self._cursors.get(command.cursor)
        if cursor is None:
            return ABSENT
        self._forget(cursor)
        return DONE

    def _rank(self, command: Rank) -> Count:
        self._settle()
        cursor = self._cursors.get(command.cursor)
        self._work += 1
        return Count(max(0, rank_of(cursor) - self._itself))

    def _rank_at(self, command: RankAt) -> Count:
        self._settle()
        return Count(rank_of(self._back_to(self._tail, (command.ledger, command.entry))))

    def _slowest(self, command: Slowest) -> At:
        self._settle()
        self._work += 1
        return At(None if self._head is None else self._head.position)

    def _size(self, command: Size) -> Count:
        return Count(len(self._cursors))

    def _find(self, command: Find) -> Found | Absent:
        cursor = self._cursors.get(command.cursor)
        return ABSENT if cursor is None else Found(cursor.number)

    # ---- Updates: collected -----------------------------------------------------------------------------------------

    def _want(self, cursor: Cursor, wanted: Position) -> None:
        self._rows = None
        self._tracked += (wanted != END) - (cursor.wanted != END)
        cursor.wanted = wanted
        self._note(cursor)

    def _note(self, cursor: Cursor) -> None:
        """A cursor is pending exactly while it stands elsewhere than it wants, or owes."""
        self._work += 1
        if cursor.wanted != cursor.position or cursor.owed:
            self._pending.put(cursor)
        else:
            self._pending.take_out(cursor)

    def _forget(self, cursor: Cursor) -> None:
        self._rows = None
        self._tracked -= cursor.wanted != END
        del self._cursors[cursor.name]
        self._withdraw(cursor)
        if cursor.counter is not None:
            heir, owed = self._heir(cursor), cursor.owed + 1
            self._unlink(cursor)
            if heir is not None:
                self._bequeath(heir, owed)

    def _withdraw(self, cursor: Cursor) -> None:
        self._pending.take_out(cursor)

    def _heir(self, cursor: Cursor) -> Cursor | None:
        """Whose counter is the first to be too high once a cursor is gone: one beside it, else the next behind."""
        self._work += 1
        beside = cursor.before
        if beside is not None and beside.counter is cursor.counter:
            return beside
        return cursor.after

    def _bequeath(self, heir: Cursor, owed: int) -> None:
        heir.owed += owed
        self._note(heir)

    # ---- Updates: applied -------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        pending = len(self._pending)
        if not pending:
            return
        if self._are_many(pending):
            self._rebuild()
        else:
            self._apply_one_by_one()

    def _are_many(self, pending: int) -> bool:
        return pending * 100 >= self._rebuild_percent * self._tracked

    def _take_pending(self) -> list[Cursor]:
        """All that was pending, the furthest first."""
        return [self._pending.pop() for _ in range(len(self._pending))]

    def _apply_one_by_one(self) -> None:
        pending = self._take_pending()
        for cursor in pending:
            if cursor.owed:
                self._pay(cursor)
        for cursor in pending:
            self._go(cursor)

    def _rebuild(self) -> None:
        self._rebuilds += 1
        pending = self._take_pending()
        for cursor in pending:
            self._work += 1
            if cursor.counter is not None:
                self._unlink(cursor)
        self._merge([cursor for cursor in pending if cursor.wanted != END])
        self._number()

    # ---- Observed, copied, checked ----------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        rows = self._rows
        if rows is None:
            rows = self._rows = tuple([_row(self._cursors[name]) for name in sorted(self._cursors)])
        work = self._work + self._pending.comparisons
        return Snapshot(rows, len(self._pending), len(self._held()), work, self._rebuilds)

    def _held(self) -> set[Cursor]:
        """Every cursor that can be reached from here in any way."""
        return {*self._cursors.values(), *self._line(), *self._pending.cursors}

    def clone(self) -> CursorRanks:
        """An independent copy, work done so far included."""
        counters = {id(c.counter): Counter(c.counter.rank) for c in self._line() if c.counter is not None}
        twins = {
            c: Cursor(c.name, c.number, c.wanted, c.position, counters.get(id(c.counter)), c.owed, c.slot)
            for c in self._held()
        }

        def twin_of(cursor: Cursor | None) -> Cursor | None:
            return None if cursor is None else twins[cursor]

        for cursor, copied in twins.items():
            copied.before, copied.after = twin_of(cursor.before), twin_of(cursor.after)
        twin = type(self)()
        own = ("_handlers", "_pending", "_cursors", "_head", "_tail")
        vars(twin).update({name: value for name, value in vars(self).items() if name not in own})
        twin._cursors = {name: twins[cursor] for name, cursor in self._cursors.items()}
        twin._head, twin._tail = twin_of(self._head), twin_of(self._tail)
        twin._pending.cursors = [twins[cursor] for cursor in self._pending.cursors]
        twin._pending.comparisons = self._pending.comparisons
        return twin

    def fingerprint(self) -> object:
        """What later answers depend on; add numbers, work and rebuilds, which only grow, are left out."""
        line = tuple([(cursor.name, cursor.position, rank_of(cursor), cursor.owed) for cursor in self._line()])
        wanted = tuple([(name, self._cursors[name].wanted) for name in sorted(self._cursors)])
        return line, wanted, tuple(sorted([cursor.name for cursor in self._pending.cursors]))

    def _check(self) -> None:
        """Raises AssertionError, with the whole state, where a structural invariant does not hold."""
        try:
            self._check_line()
            self._check_cursors()
            self._check_pending()
        except AssertionError as broken:
            line = "\n  ".join(map(str, self._line()))
            named = "\n  ".join(map(str, self._cursors.values()))
            raise AssertionError(f"{broken}\nin the list:\n  {line}\nby name:\n  {named}") from broken

    def _check_cursors(self) -> None:
        live = set(self._cursors.values())

        # The list holds the live cursors that have a place, and no other cursor is kept anywhere.
        assert set(self._line()) == {cursor for cursor in live if cursor.counter is not None}
        assert self._held() == live
        assert all(name == cursor.name for name, cursor in self._cursors.items())

        # A cursor that has no place has no trace of one.
        for cursor in live - set(self._line()):
            assert (cursor.position, cursor.before, cursor.after, cursor.owed) == (END, None, None, 0)

        # Tracked are the cursors that want a position.
        assert self._tracked == sum(cursor.wanted != END for cursor in live)

    def _check_pending(self) -> None:
        heap = self._pending

        # Pending are exactly the cursors that stand elsewhere than they want, or owe; each once.
        unsettled = {c for c in self._cursors.values() if c.wanted != c.position or c.owed}
        assert set(heap.cursors) == unsettled
        assert len(heap) == len(unsettled)

        # Each cursor knows its slot, and none goes before its parent.
        assert all(heap.cursors[cursor.slot] is cursor for cursor in heap.cursors)
        assert all(cursor.slot == -1 for cursor in set(self._cursors.values()) - unsettled)
        for slot, cursor in enumerate(heap.cursors[1:], 1):
            assert not heap.goes_first(cursor, heap.cursors[(slot - 1) // 2])


def _place(command: Add | Move) -> Position:
    return END if command.ledger is None else (command.ledger, command.entry)


def _row(cursor: Cursor) -> CursorRow:
    return CursorRow(cursor.name, cursor.number, None if cursor.wanted == END else cursor.wanted)
