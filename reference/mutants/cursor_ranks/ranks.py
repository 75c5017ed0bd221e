"""Mutants of cursor_ranks: bugs that shipped, and slips in ranks and in moves along the list."""

from __future__ import annotations

from ....spec.cursor_ranks import At, Count, Rank, RankAt
from ....spec.cursor_ranks import Slowest as SlowestCommand
from ...cursor_ranks import CursorRanks
from ...ranked_line import END, Counter, Cursor, Position, rank_of

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
