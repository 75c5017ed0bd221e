"""A list of cursors sorted by position, one rank counter for each position; and the heap in which cursors wait.

A cursor that moves walks from its old place to the new one and mends the counters that it passes, no others.  A cursor
without a position is not in the list; it stands at END, behind every other, so it enters and leaves at the tail.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from attrs import define, field

Position = tuple[int, int]

END: Position = (2**63, 0)  # behind every position: where a cursor stands that has none


@define(eq=False)
class Counter:
    """How many cursors stand at one position or before it; shared by all that stand there."""

    rank: int


@define(eq=False)
class Cursor:
    """A cursor, and its node in the list."""

    name: str
    number: int
    wanted: Position = END  # where its caller placed it
    position: Position = END  # where it stands in the list
    counter: Counter | None = None  # none exactly while it is not in the list
    owed: int = 0  # by how much its counter, and every one behind, is too high
    slot: int = -1  # its place in a heap; -1: in none
    before: Cursor | None = field(default=None, repr=False)
    after: Cursor | None = field(default=None, repr=False)


class FurthestFirst:
    """A binary heap of cursors, the furthest wanted position on top.

    Each cursor knows its slot, so that one can be moved or taken out in O(log n) comparisons and none is in twice.
    """

    def __init__(self) -> None:
        self.cursors: list[Cursor] = []
        self.comparisons = 0

    def __len__(self) -> int:
        return len(self.cursors)

    def goes_first(self, one: Cursor, other: Cursor) -> bool:
        return one.wanted > other.wanted

    def put(self, cursor: Cursor) -> None:
        """Puts a cursor in, or where it belongs after its wanted position changed."""
        if cursor.slot < 0:
            cursor.slot = len(self.cursors)
            self.cursors.append(cursor)
        if not self._rise(cursor):
            self._sink(cursor)

    def take_out(self, cursor: Cursor) -> None:
        """Takes a cursor out, if it is in."""
        slot, cursor.slot = cursor.slot, -1
        if slot < 0:
            return
        last = self.cursors.pop()
        if last is not cursor:
            self._stand(last, slot)
            if not self._rise(last):
                self._sink(last)

    def pop(self) -> Cursor:
        top = self.cursors[0]
        self.take_out(top)
        return top

    def _stand(self, cursor: Cursor, slot: int) -> None:
        self.cursors[slot] = cursor
        cursor.slot = slot

    def _rise(self, cursor: Cursor) -> bool:
        """Moves a cursor up to its place; says whether it moved at all."""
        start = slot = cursor.slot
        while slot:
            parent = self.cursors[(slot - 1) // 2]
            self.comparisons += 1
            if not self.goes_first(cursor, parent):
                break
            above = parent.slot
            self._stand(parent, slot)
            slot = above
        self._stand(cursor, slot)
        return slot != start

    def _sink(self, cursor: Cursor) -> None:
        slot = cursor.slot
        while (child := self._first_child(slot)) is not None:
            self.comparisons += 1
            if not self.goes_first(child, cursor):
                break
            below = child.slot
            self._stand(child, slot)
            slot = below
        self._stand(cursor, slot)

    def _first_child(self, slot: int) -> Cursor | None:
        left = 2 * slot + 1
        if left >= len(self.cursors):
            return None
        if left + 1 == len(self.cursors):
            return self.cursors[left]
        self.comparisons += 1
        one, other = self.cursors[left], self.cursors[left + 1]
        return other if self.goes_first(other, one) else one


class RankedLine:
    """The list.  Counts position comparisons and node visits in `_work`."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._head: Cursor | None = None
        self._tail: Cursor | None = None
        self._work = 0

    def _line(self) -> Iterator[Cursor]:
        cursor = self._head
        while cursor is not None:
            yield cursor
            cursor = cursor.after

    # ---- One cursor at a time ---------------------------------------------------------------------------------------

    def _pay(self, cursor: Cursor) -> None:
        assert cursor.counter is not None, f"{cursor} owes and has no place"
        owed, cursor.owed = cursor.owed, 0
        cursor.counter.rank -= owed
        self._lower(cursor.after, cursor.counter, END, owed)

    def _go(self, cursor: Cursor) -> None:
        here, there = cursor.position, cursor.wanted
        self._work += 1
        if here == there:
            return
        if here == END:
            self._enter(cursor, there)
        elif there == END:
            self._leave(cursor)
        elif here < there:
            self._move_forward(cursor, there)
        else:
            self._move_back(cursor, there)

    def _enter(self, cursor: Cursor, there: Position) -> None:
        self._retreat(cursor, self._tail, None, there)

    def _leave(self, cursor: Cursor) -> None:
        assert cursor.counter is not None, f"{cursor} leaves and has no place"
        cursor.counter.rank -= 1
        self._lower(cursor.after, cursor.counter, END, 1)
        self._unlink(cursor)

    def _move_forward(self, cursor: Cursor, there: Position) -> None:
        start, left = cursor.after, cursor.counter
        assert left is not None, f"{cursor} moves and has no place"
        self._unlink(cursor)
        self._advance(cursor, start, left, there)

    def _advance(self, cursor: Cursor, start: Cursor | None, left: Counter, there: Position) -> None:
        """From before `start`, where it shared the counter `left`, towards the tail."""
        left.rank -= 1
        after = self._lower(start, left, there, 1)
        self._link(cursor, there, self._tail if after is None else after.before, after)
        if after is not None and after.position == there:
            cursor.counter = after.counter  # which counts this cursor already, as one before
        else:
            cursor.counter = self._own_counter(cursor)

    def _move_back(self, cursor: Cursor, there: Position) -> None:
        start, left = cursor.before, cursor.counter
        self._unlink(cursor)
        self._retreat(cursor, start, left, there)

    def _retreat(self, cursor: Cursor, start: Cursor | None, left: Counter | None, there: Position) -> None:
        """From behind `start`, where it shared the counter `left` if any, towards the head."""
        before = self._raise(start, left, there)
        self._link(cursor, there, before, self._head if before is None else before.after)
        if before is not None and before.position == there:
            self._join(cursor, before)
        else:
            cursor.counter = self._own_counter(cursor)

    def _join(self, cursor: Cursor, beside: Cursor) -> None:
        assert beside.counter is not None, f"{beside} has no place"
        cursor.counter = beside.counter
        cursor.counter.rank += 1

    def _own_counter(self, cursor: Cursor) -> Counter:
        return Counter(rank_of(cursor.before) + 1)

    def _lower(self, start: Cursor | None, left: Counter, there: Position, by: int) -> Cursor | None:
        """Lowers each counter but `left` from `start` to those before `there`; the first cursor not before `there`."""
        cursor, seen = start, left
        while cursor is not None:
            self._work += 2
            if cursor.position >= there:
                break
            if cursor.counter is not None and cursor.counter is not seen:
                seen = cursor.counter
                seen.rank -= by
            cursor = cursor.after
        return cursor

    def _raise(self, start: Cursor | None, left: Counter | None, there: Position) -> Cursor | None:
        """Raises each counter but `left` from `start` back to those behind `there`; the last cursor not behind it."""
        cursor, seen = start, left
        while cursor is not None:
            self._work += 2
            if cursor.position <= there:
                break
            if cursor.counter is not None and cursor.counter is not seen:
                seen = cursor.counter
                seen.rank += 1
            cursor = cursor.before
        return cursor

    # ---- Many at once -----------------------------------------------------------------------------------------------

    def _merge(self, arriving: list[Cursor]) -> None:
        """Links cursors in, the furthest first, in one walk from the tail."""
        before = self._tail
        for cursor in arriving:
            before = self._back_to(before, cursor.wanted)
            self._link(cursor, cursor.wanted, before, self._head if before is None else before.after)

    def _number(self) -> None:
        """Gives each position a fresh counter, in one walk from the head."""
        counter, position = Counter(0), END
        for rank, cursor in enumerate(self._line(), 1):
            self._work += 2
            if cursor.position != position:
                counter, position = Counter(rank), cursor.position
            counter.rank = rank
            cursor.counter = counter

    # ---- Links ------------------------------------------------------------------------------------------------------

    def _back_to(self, start: Cursor | None, there: Position) -> Cursor | None:
        """The last cursor not behind a place, looked for from `start` towards the head."""
        cursor = start
        while cursor is not None:
            self._work += 2
            if cursor.position <= there:
                break
            cursor = cursor.before
        return cursor

    def _link(self, cursor: Cursor, there: Position, before: Cursor | None, after: Cursor | None) -> None:
        cursor.position, cursor.before, cursor.after = there, before, after
        if before is None:
            self._head = cursor
        else:
            before.after = cursor
        if after is None:
            self._tail = cursor
        else:
            after.before = cursor

    def _unlink(self, cursor: Cursor) -> None:
        before, after = cursor.before, cursor.after
        if before is None:
            self._head = after
        else:
            before.after = after
        if after is None:
            self._tail = before
        else:
            after.before = before
        cursor.position, cursor.owed = END, 0
        cursor.counter = cursor.before = cursor.after = None

    # ---- Invariants -------------------------------------------------------------------------------------------------

    def _check_line(self) -> None:
        line = list(self._line())

        # The list can be walked both ways and ends where it says.
        assert all(one.after is other and other.before is one for one, other in pairwise(line))
        assert (self._head, self._tail) == ((line[0], line[-1]) if line else (None, None))
        assert all(end is None for end in [*[c.before for c in line[:1]], *[c.after for c in line[-1:]]])

        # It is sorted, and two neighbours share a counter exactly where they share a position.
        for one, other in pairwise(line):
            assert one.position <= other.position
            assert (one.counter is other.counter) == (one.position == other.position)

        # A counter is too high by exactly what is owed at its position and before it.
        for cursor in line:
            so_far = [other for other in line if other.position <= cursor.position]
            assert rank_of(cursor) == len(so_far) + sum(other.owed for other in so_far)


def rank_of(cursor: Cursor | None) -> int:
    return 0 if cursor is None or cursor.counter is None else cursor.counter.rank
