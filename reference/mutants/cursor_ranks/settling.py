"""Mutants of cursor_ranks: slips in how pending updates are applied, what that costs, and what of it is counted."""

from __future__ import annotations

from ....spec.cursor_ranks import Add, Added, Count, Rank
from ...cursor_ranks import CursorRanks
from ...ranked_line import END, Cursor, Position

# ---- When it rebuilds -----------------------------------------------------------------------------------------------


class RebuildsAboveTheShare(CursorRanks):
    """Updates of exactly the share from which a rebuild is due are applied one by one."""

    def _are_many(self, pending: int) -> bool:
        return pending * 100 > self._rebuild_percent * self._tracked


class RebuildShareIgnored(CursorRanks):
    """A rebuild comes from half of the tracked cursors on, whatever is set."""

    def _are_many(self, pending: int) -> bool:
        return pending * 100 >= 50 * self._tracked


class RebuildShareOfAll(CursorRanks):
    """The share is one of all cursors, tracked or not."""

    def _are_many(self, pending: int) -> bool:
        return pending * 100 >= self._rebuild_percent * len(self._cursors)


class AlwaysRebuilds(CursorRanks):
    """Whatever is pending is applied by a rebuild, be it one update."""

    def _are_many(self, pending: int) -> bool:
        return True


class NeverRebuilds(CursorRanks):
    """Whatever is pending is applied one by one, be it an update of every cursor."""

    def _are_many(self, pending: int) -> bool:
        return False


class RemovedStayTracked(CursorRanks):
    """A removed cursor still counts as tracked where the share is worked out."""

    def _forget(self, cursor: Cursor) -> None:
        self._tracked += cursor.wanted != END
        super()._forget(cursor)


class UntrackedStayTracked(CursorRanks):
    """A cursor that is no longer tracked still counts where the share is worked out."""

    def _want(self, cursor: Cursor, wanted: Position) -> None:
        self._tracked += cursor.wanted != END == wanted
        super()._want(cursor, wanted)


class ReAddedAreTrackedTwice(CursorRanks):
    """A cursor added under a name that is there is counted beside the old one where the share is worked out."""

    def _add(self, command: Add) -> Added:
        old = self._cursors.get(command.cursor)
        self._tracked += old is not None and old.wanted != END
        return super()._add(command)


class EmptyListIsRebuilt(CursorRanks):
    """A question rebuilds a list in which nobody stands, though nothing is pending."""

    def _settle(self) -> None:
        if not self._pending and self._head is None:
            self._rebuild()
        super()._settle()


# ---- What it costs --------------------------------------------------------------------------------------------------


class SettledQueryRenumbers(CursorRanks):
    """A question with nothing pending counts the whole list anew."""

    def _settle(self) -> None:
        if not self._pending:
            self._number()
        super()._settle()


class EachRankIsRecounted(CursorRanks):
    """After each cursor that walked the rank of every one is counted from the head."""

    def _go(self, cursor: Cursor) -> None:
        super()._go(cursor)
        for rank, _ in enumerate(self._line(), 1):
            self._work += 2 * rank


class RebuildNumbersEachTime(CursorRanks):
    """A rebuild links the cursors in one at a time, each from the tail, and numbers the list after each."""

    def _merge(self, arriving: list[Cursor]) -> None:
        for cursor in arriving:
            super()._merge([cursor])
            self._number()


class OwnNodeNotCounted(CursorRanks):
    """The look at the node of the cursor that is asked for is not counted as work."""

    def _rank(self, command: Rank) -> Count:
        answer = super()._rank(command)
        self._work -= 1
        return answer


class RebuildNotCounted(CursorRanks):
    """What a rebuild does is not counted as work."""

    def _rebuild(self) -> None:
        work, comparisons = self._work, self._pending.comparisons
        super()._rebuild()
        self._work, self._pending.comparisons = work, comparisons
