"""cursor_ranks with one bug put back in: each mutant overrides one method, and its docstring says what goes wrong."""

from __future__ import annotations

from ...spec.cursor_ranks import Absent, Add, Added, At, Count, Done, Find, Found, Move, Rank, RankAt, Remove, Size
from ...spec.cursor_ranks import Slowest as SlowestCommand
from ..cursor_ranks import DONE, CursorRanks
from ..mutant import Inexpressible, Mutant
from ..ranked_line import END, Counter, Cursor, FurthestFirst, Position, rank_of

# ---- Bugs that shipped ----------------------------------------------------------------------------------------------


class RemovedStayPending(CursorRanks):
    """A cursor removed while an update of it is pending is kept with the pending ones until some query comes."""

    def _withdraw(self, cursor: Cursor) -> None:
        if cursor.slot >= 0:
            cursor.wanted = END
            self._pending.put(cursor)


class UntrackingKeepsPosition(CursorRanks):
    """A cursor that is no longer tracked keeps its old position, and a rank there, until it moves again."""

    def _leave(self, cursor: Cursor) -> None:
        """It stays in the list."""


# ---- Ranks ----------------------------------------------------------------------------------------------------------


class RankCountsBefore(CursorRanks):
    """A rank counts the cursors before the cursor's position and leaves out those at it."""

    def _rank(self, command: Rank) -> Count:
        super()._rank(command)
        cursor = here = self._cursors.get(command.cursor)
        while cursor is not None and here is not None and cursor.counter is here.counter:
            cursor = cursor.before
        return Count(rank_of(cursor))


class RankAtCountsBefore(CursorRanks):
    """The rank of a position leaves out the cursors that stand exactly there."""

    def _rank_at(self, command: RankAt) -> Count:
        self._settle()
        ledger, entry = command.ledger, command.entry
        return Count(rank_of(self._back_to(self._tail, (ledger, entry - 1))))


class RankAtWithoutSettling(CursorRanks):
    """The rank of a position is read off the list before the pending updates are applied."""

    def _rank_at(self, command: RankAt) -> Count:
        return Count(rank_of(self._back_to(self._tail, (command.ledger, command.entry))))


class RankSettlesItsOwnCursor(CursorRanks):
    """A rank applies the pending update of its own cursor and leaves the others pending."""

    def _rank(self, command: Rank) -> Count:
        cursor = self._cursors.get(command.cursor)
        if cursor is not None and cursor.slot >= 0:
            self._pending.take_out(cursor)
            if cursor.owed:
                self._pay(cursor)
            self._go(cursor)
        return Count(rank_of(cursor))


# ---- The slowest ----------------------------------------------------------------------------------------------------


class SlowestWithoutSettling(CursorRanks):
    """The slowest position is the one that was the least at the last query."""

    def _slowest(self, command: SlowestCommand) -> At:
        return At(None if self._head is None else self._head.position)


class SlowestIsFastest(CursorRanks):
    """The slowest position is read off the wrong end of the list."""

    def _slowest(self, command: SlowestCommand) -> At:
        super()._slowest(command)
        return At(None if self._tail is None else self._tail.position)


class SlowestByEntry(CursorRanks):
    """The slowest cursor is the one with the least entry, whatever its ledger."""

    def _slowest(self, command: SlowestCommand) -> At:
        super()._slowest(command)
        positions = [cursor.position for cursor in self._line()]
        return At(min(positions, key=lambda position: position[::-1], default=None))


# ---- One cursor walks -----------------------------------------------------------------------------------------------


class SplitForgotten(CursorRanks):
    """A cursor that moves back from a shared position goes on sharing the counter of those it left."""

    def _move_back(self, cursor: Cursor, there: Position) -> None:
        beside, left = cursor.before or cursor.after, cursor.counter
        super()._move_back(cursor, there)
        if beside is not None and beside.counter is left:
            cursor.counter = left


class JoinNotCounted(CursorRanks):
    """A cursor that comes from behind to an occupied position is not counted there."""

    def _join(self, cursor: Cursor, beside: Cursor) -> None:
        cursor.counter = beside.counter


class LeavingNotCounted(CursorRanks):
    """A cursor that moves forward from a shared position is still counted there."""

    def _advance(self, cursor: Cursor, start: Cursor | None, left: Counter, there: Position) -> None:
        left.rank += 1
        super()._advance(cursor, start, left, there)


class TailSharesCounter(CursorRanks):
    """A cursor that moves to the tail takes the counter of the last one instead of a counter of its own."""

    def _advance(self, cursor: Cursor, start: Cursor | None, left: Counter, there: Position) -> None:
        super()._advance(cursor, start, left, there)
        if cursor.after is None and cursor.before is not None:
            cursor.counter = cursor.before.counter


class HeadLowersNone(CursorRanks):
    """A move of the first cursor does not lower the ranks of those that it passes."""

    def _lower(self, start: Cursor | None, left: Counter, there: Position, by: int) -> Cursor | None:
        return super()._lower(start, left, there, 0 if start is self._head else by)


class PassedBackNotRaised(CursorRanks):
    """A cursor that moves back over several others raises the rank of the first one alone."""

    def _raise(self, start: Cursor | None, left: Counter | None, there: Position) -> Cursor | None:
        if start is not None and start.position > there:
            super()._raise(start, left, max(there, start.before.position if start.before is not None else there))
        return self._back_to(start, there)


class StopsShortOfSharedPosition(CursorRanks):
    """A move forward past several cursors at one position lowers their rank but stops short of them."""

    def _lower(self, start: Cursor | None, left: Counter, there: Position, by: int) -> Cursor | None:
        after = super()._lower(start, left, there, by)
        last = first = self._tail if after is None else after.before
        while first is not None and first.before is not None and first.before.counter is first.counter:
            first = first.before
        return after if first is last else first


class LeavingLowersNone(CursorRanks):
    """A cursor that is no longer tracked is taken out of the list without lowering the ranks behind it."""

    def _leave(self, cursor: Cursor) -> None:
        self._unlink(cursor)


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


def _put_back(name: str, origin: str, mutant: type[CursorRanks], breaks: str) -> Mutant:
    """A mutant whose docstring is its sentence."""
    return Mutant(name, origin, (mutant.__doc__ or "").strip(), mutant, breaks)


_SLIP = "first-order"
_RANK = "rank_counts_at_or_before"

MUTANTS: tuple[Mutant, ...] = (
    _put_back("removed-stay-pending", "apache/pulsar#26506", RemovedStayPending, "removed_cursors_are_not_held"),
    _put_back("untracking-keeps-position", "apache/pulsar#26629", UntrackingKeepsPosition, _RANK),
    _put_back("rank-counts-before", _SLIP, RankCountsBefore, _RANK),
    _put_back("rank-at-counts-before", _SLIP, RankAtCountsBefore, "rank_at_counts_at_or_before"),
    _put_back("rank-at-without-settling", _SLIP, RankAtWithoutSettling, "rank_at_counts_at_or_before"),
    _put_back("rank-settles-its-own-cursor", _SLIP, RankSettlesItsOwnCursor, _RANK),
    _put_back("split-forgotten", _SLIP, SplitForgotten, _RANK),
    _put_back("join-not-counted", _SLIP, JoinNotCounted, _RANK),
    _put_back("leaving-not-counted", _SLIP, LeavingNotCounted, _RANK),
    _put_back("tail-shares-counter", _SLIP, TailSharesCounter, _RANK),
    _put_back("head-lowers-none", _SLIP, HeadLowersNone, _RANK),
    _put_back("passed-back-not-raised", _SLIP, PassedBackNotRaised, _RANK),
    _put_back("stops-short-of-shared-position", _SLIP, StopsShortOfSharedPosition, _RANK),
    _put_back("leaving-lowers-none", _SLIP, LeavingLowersNone, _RANK),
    _put_back("rebuild-misses-nodes", _SLIP, RebuildMissesNodes, _RANK),
    _put_back("pending-in-wrong-order", _SLIP, PendingInWrongOrder, _RANK),
    _put_back("pending-not-reordered", _SLIP, PendingNotReordered, _RANK),
    _put_back("first-write-wins", _SLIP, FirstWriteWins, "nothing_else_moves"),
    _put_back("back-again-is-lost", _SLIP, BackAgainIsLost, "nothing_else_moves"),
    _put_back("pending-not-cleared", _SLIP, PendingNotCleared, "settled_after_query"),
    _put_back("one-at-once-per-query", _SLIP, OneAtOncePerQuery, _RANK),
    _put_back("removed-still-counted", _SLIP, RemovedStillCounted, _RANK),
    _put_back("debt-dies-with-its-bearer", _SLIP, DebtDiesWithItsBearer, _RANK),
    _put_back("size-counts-tracked", _SLIP, SizeCountsTracked, "size_counts_every_cursor"),
    _put_back("size-needs-settling", _SLIP, SizeNeedsSettling, "size_counts_every_cursor"),
    _put_back("slowest-without-settling", _SLIP, SlowestWithoutSettling, "slowest_is_the_least"),
    _put_back("slowest-is-fastest", _SLIP, SlowestIsFastest, "slowest_is_the_least"),
    _put_back("slowest-by-entry", _SLIP, SlowestByEntry, "slowest_is_the_least"),
    _put_back("find-gives-the-old", _SLIP, FindGivesTheOld, "find_gives_the_newest"),
    _put_back("re-add-keeps-position", _SLIP, ReAddKeepsPosition, "nothing_else_moves"),
    _put_back("remove-absent-done", _SLIP, RemoveAbsentDone, "absent_is_said"),
    _put_back("move-adds", _SLIP, MoveAdds, "absent_is_said"),
    _put_back("find-absent-gives-zero", _SLIP, FindAbsentGivesZero, "absent_is_said"),
    _put_back("move-takes-neighbours", _SLIP, MoveTakesNeighbours, "nothing_else_moves"),
    _put_back("query-always-rebuilds", _SLIP, QueryAlwaysRebuilds, "settled_query_is_constant"),
    _put_back("update-scans-the-list", _SLIP, UpdateScansTheList, "update_is_logarithmic"),
    _put_back("update-settles", _SLIP, UpdateSettles, "update_is_logarithmic"),
    _put_back("standing-still-rebuilds", _SLIP, StandingStillRebuilds, "update_is_logarithmic"),
)

INEXPRESSIBLE: tuple[Inexpressible, ...] = (
    Inexpressible(
        "slowest-by-mark-delete",
        "apache/pulsar#17273",
        "cursors were ordered by what they had acknowledged where the question was how far they had read; a cursor "
        "here has one position (slowest-by-entry is the nearest wrong order)",
    ),
    Inexpressible(
        "slowest-under-a-read-lock",
        "apache/pulsar#26511",
        "asking for the slowest cursor applied pending updates under a read lock, so that two readers could apply them "
        "at once; commands here come one after the other",
    ),
)
