"""Slips in doing what a command says of the log, the cursors and the clock."""

from __future__ import annotations

from ....spec.entry_cache.words import (
    NOT_DUE,
    Clock,
    ClockBack,
    Done,
    Evicted,
    FailDelivery,
    FailLoad,
    Refused,
    RollLedger,
    Seek,
    SizePass,
)
from ...entry_cache import EntryCache
from ...entry_cache.topic import Cursor
from ...entry_cache.wrapper import Position


class RollDoesNothing(EntryCache):
    """A ledger is said to be rolled, and the old one stays open."""

    def roll_ledger(self, command: RollLedger) -> Done | Refused:
        return Done()


class FailedDeliveryIsForgotten(EntryCache):
    """A delivery that found no consumer is released, and its position waits in no replay queue."""

    _failing = False

    def fail_delivery(self, command: FailDelivery) -> Done | Refused:
        self._failing = True
        answer = super().fail_delivery(command)
        self._failing = False
        return answer

    def _may_replay(self, cursor: Cursor, position: Position) -> bool:
        return not self._failing and super()._may_replay(cursor, position)


class DueSizePassIsRefused(EntryCache):
    """A size pass never runs when its turn comes: the next check has to do its work."""

    def size_pass(self, command: SizePass) -> Evicted | Refused:
        return Refused(NOT_DUE)


class FailedLoadGoesOn(EntryCache):
    """A load that ended in an error stays under way."""

    def fail_load(self, command: FailLoad) -> Done | Refused:
        cursor = self.cursor(command)
        loading = None if cursor is None else cursor.loading
        answer = super().fail_load(command)
        if cursor is not None and loading is not None:
            cursor.load(loading)
        return answer


class ClockStandsStill(EntryCache):
    """A clock that should step back stays where it is."""

    def clock_back(self, command: ClockBack) -> Clock:
        return Clock(self.now_ms)


class SeekKeepsMarkDelete(EntryCache):
    """A seek leaves the mark-delete position where it was."""

    def seek(self, command: Seek) -> Done | Refused:
        cursor = self.cursor(command)
        acked = None if cursor is None else cursor.acked
        answer = super().seek(command)
        if cursor is not None and acked is not None:
            cursor.acked = acked
        return answer
