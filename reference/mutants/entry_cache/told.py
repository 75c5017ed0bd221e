"""Slips in doing what a command says of the log, the cursors and the clock, and in telling what was done."""

from __future__ import annotations

from attrs import evolve

from ....spec.core import Dialect
from ....spec.entry_cache.words import (
    NOT_DUE,
    Clock,
    ClockBack,
    Config,
    Delivered,
    Done,
    Evicted,
    FailDelivery,
    FailLoad,
    FinishLoad,
    Refused,
    Replay,
    RollLedger,
    Seek,
    SizePass,
)
from ...entry_cache import EntryCache
from ...entry_cache.broker import Buffers
from ...entry_cache.removal_queue import RemovalQueue
from ...entry_cache.topic import Cursor, Topic
from ...entry_cache.wrapper import Buffer, CachedEntry, Position, Wrapper


class RollDoesNothing(EntryCache):
    """A ledger is said to be rolled, and the old one stays open."""

    def roll_ledger(self, command: RollLedger) -> Done | Refused:
        log = self.topic(command.topic).log
        return Done() if log.ledgers[log.open] else super().roll_ledger(command)


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


class EverySecondNumber(Buffers):
    """Gives every second number only."""

    def fresh(self, size_bytes: int) -> Buffer:
        self.last += 1
        return super().fresh(size_bytes)


class BufferNumbersSkip(EntryCache):
    """Every second number of a buffer is left out."""

    def reset(self, config: Config, dialect: Dialect) -> None:
        super().reset(config, dialect)
        self.buffers = EverySecondNumber(config.receive_buffer_bytes)


class LoadClaimsHit(EntryCache):
    """What was loaded from storage is said to be from the cache."""

    def finish_load(self, command: FinishLoad) -> Delivered | Refused:
        answer = super().finish_load(command)
        return evolve(answer, from_cache=True) if isinstance(answer, Delivered) else answer


class ReplayClaimsHit(EntryCache):
    """Every replay is said to be from the cache."""

    def replay(self, command: Replay) -> Delivered | Refused:
        answer = super().replay(command)
        return evolve(answer, from_cache=True) if isinstance(answer, Delivered) else answer


class ReadStopsShort(EntryCache):
    """A read of several entries leaves the last one of its run for the next read."""

    def _run_from(self, topic: Topic, first: Position, most: int) -> tuple[list[CachedEntry], int]:
        return super()._run_from(topic, first, max(1, most - 1))


class TombstoneIsCountedOn(RemovalQueue):
    """A tombstone that a time pass drops while others stand is counted on."""

    def _drop_tombstone(self, node: Wrapper) -> None:
        others = self.tombstones > 1 and self.need_bytes == 0
        super()._drop_tombstone(node)
        self.tombstones += others
