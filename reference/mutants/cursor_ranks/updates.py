"""Mutants of cursor_ranks: slips in pending updates, sizes, names, and work that is not needed."""

from __future__ import annotations

from ....spec.cursor_ranks import Absent, Add, Added, Count, Done, Find, Found, Move, Remove, Size, Snapshot
from ...cursor_ranks import DONE, CursorRanks
from ...ranked_line import END, Cursor, FurthestFirst, Position

# ---- What is pending ------------------------------------------------------------------------------------------------


class RebuildMissesNodes(CursorRanks):
    """A rebuild takes as many pending cursors as its threshold says, and misses those above it."""

    def _rebuild(self) -> None:
        enough = max(1, self._rebuild_percent * self._tracked // 100)
        missed = sorted(self._pending.cursors, key=lambda cursor: cursor.name)[enough:]
        for cursor in missed:
            self._pending.take_out(cursor)
        super()._rebuild()


class NearestFirst(FurthestFirst):
    """The heap turned round."""

    def goes_first(self, one: Cursor, other: Cursor) -> bool:
        return one.wanted < other.wanted


class PendingInWrongOrder(CursorRanks):
    """Pending cursors come nearest first, and a rebuild merges them as if they came furthest first."""

    def _new_heap(self) -> FurthestFirst:
        return NearestFirst()


class PutOnce(FurthestFirst):
    """The heap without a second look at a cursor that it holds."""

    def put(self, cursor: Cursor) -> None:
        if cursor.slot < 0:
            super().put(cursor)


class PendingNotReordered(CursorRanks):
    """A pending cursor that moves again keeps its turn, and a rebuild merges it as if it came furthest first."""

    def _new_heap(self) -> FurthestFirst:
        return PutOnce()


class FirstWriteWins(CursorRanks):
    """A move of a cursor that has an update pending is lost."""

    def _want(self, cursor: Cursor, wanted: Position) -> None:
        if cursor.slot < 0 or cursor.owed:
            super()._want(cursor, wanted)


class BackAgainIsLost(CursorRanks):
    """The second move of a cursor that goes away and comes back before the next query is lost."""

    def _want(self, cursor: Cursor, wanted: Position) -> None:
        if wanted != cursor.position or cursor.counter is None:
            super()._want(cursor, wanted)


class PendingNotCleared(CursorRanks):
    """Applied updates stay pending."""

    def _take_pending(self) -> list[Cursor]:
        pending = super()._take_pending()
        for cursor in pending:
            self._pending.put(cursor)
        return pending


class OneAtOncePerQuery(CursorRanks):
    """A query applies one pending update, however many there are."""

    def _take_pending(self) -> list[Cursor]:
        return [self._pending.pop()]


class RemovedStillCounted(CursorRanks):
    """A removed cursor goes on counting for those that stood beside it."""

    def _heir(self, cursor: Cursor) -> Cursor | None:
        after = super()._heir(cursor) and cursor.after
        while after is not None and after.counter is cursor.counter:
            after = after.after
        return after


class DebtDiesWithItsBearer(CursorRanks):
    """Where two neighbours are removed, the ranks behind are lowered for the second one alone."""

    def _bequeath(self, heir: Cursor, owed: int) -> None:
        super()._bequeath(heir, 1)


# ---- Names ----------------------------------------------------------------------------------------------------------


class SizeCountsTracked(CursorRanks):
    """The size leaves out cursors without a position."""

    def _size(self, command: Size) -> Count:
        return Count(self._tracked)


class SizeNeedsSettling(CursorRanks):
    """The size leaves out cursors that are still on their way into the list."""

    def _size(self, command: Size) -> Count:
        return Count(sum(cursor.slot < 0 or cursor.counter is not None for cursor in self._cursors.values()))


class FindGivesTheOld(CursorRanks):
    """After an add under a present name, the name still leads to the old cursor."""

    def _add(self, command: Add) -> Added:
        old = self._cursors.get(command.cursor)
        added = super()._add(command)
        self._cursors[command.cursor].number = added.number if old is None else old.number
        return added


class ReAddKeepsPosition(CursorRanks):
    """An add without a position under a present name leaves the new cursor at the old one's position."""

    def _add(self, command: Add) -> Added:
        old = self._cursors.get(command.cursor)
        added = super()._add(command)
        if old is not None and command.ledger is None:
            self._want(self._cursors[command.cursor], old.wanted)
        return added


class FindGivesTheLatest(CursorRanks):
    """A find gives the number that was given out last, whatever the name."""

    def _find(self, command: Find) -> Found | Absent:
        found = super()._find(command)
        return Found(self._adds) if isinstance(found, Found) else found


class RemoveAbsentDone(CursorRanks):
    """The remove of an absent name says that it was carried out."""

    def _remove(self, command: Remove) -> Done:
        super()._remove(command)
        return DONE


class MoveAdds(CursorRanks):
    """A move of an absent name adds it."""

    def _move(self, command: Move) -> Done | Absent:
        if command.cursor not in self._cursors:
            self._add(Add(command.cursor, command.ledger, command.entry))
        return super()._move(command)


class FindAbsentGivesZero(CursorRanks):
    """Under an absent name the number 0 is found."""

    def _find(self, command: Find) -> Found:
        found = super()._find(command)
        return found if isinstance(found, Found) else Found(0)


class MoveTakesNeighbours(CursorRanks):
    """A move takes along a cursor that stands at the same position."""

    def _want(self, cursor: Cursor, wanted: Position) -> None:
        beside = cursor.after
        if beside is not None and beside.counter is cursor.counter:
            super()._want(beside, wanted)
        super()._want(cursor, wanted)


class UntrackingIsIgnored(CursorRanks):
    """A move to no position says that it was carried out, and leaves the cursor tracked where it is."""

    def _move(self, command: Move) -> Done | Absent:
        tracked = command.cursor in self._cursors and command.ledger is None
        return DONE if tracked else super()._move(command)


# ---- Work -----------------------------------------------------------------------------------------------------------


class QueryAlwaysRebuilds(CursorRanks):
    """Every query rebuilds the list, with nothing pending too."""

    def _settle(self) -> None:
        self._rebuild()


class UpdateScansTheList(CursorRanks):
    """An update looks for its cursor from the head of the list."""

    def _want(self, cursor: Cursor, wanted: Position) -> None:
        self._work += sum(1 for _ in self._line())
        super()._want(cursor, wanted)


class UpdateSettles(CursorRanks):
    """An update is applied at once instead of being collected."""

    def _want(self, cursor: Cursor, wanted: Position) -> None:
        super()._want(cursor, wanted)
        self._settle()


class StandingStillRebuilds(CursorRanks):
    """A move to where the cursor stands already sorts everything anew."""

    def _want(self, cursor: Cursor, wanted: Position) -> None:
        if wanted == cursor.position != END:
            self._rebuild()
        super()._want(cursor, wanted)


class PendingCountsTwice(CursorRanks):
    """A pending cursor that moves waits twice, to leave its place and to enter another."""

    def _waiting(self) -> int:
        moving = [c for c in self._pending.cursors if END not in (c.position, c.wanted) and c.position != c.wanted]
        return len(self._pending) + len(moving)

    def _are_many(self, pending: int) -> bool:
        return super()._are_many(self._waiting())

    def snapshot(self) -> Snapshot:
        return super().snapshot()._replace(pending=self._waiting())
