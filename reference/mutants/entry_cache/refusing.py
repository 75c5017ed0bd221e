"""Slips in what is refused, and in the reason that is given."""

from __future__ import annotations

from typing import Any

from ....spec.entry_cache.words import (
    BAD_POSITION,
    CAUGHT_UP,
    LOADING,
    NO_CURSOR,
    NO_DELIVERY,
    NO_ENTRY,
    NO_LOAD,
    NOT_DUE,
    Began,
    BeginRemoval,
    Clock,
    Delivered,
    Done,
    Evicted,
    EvictionCheck,
    FailDelivery,
    FailLoad,
    FinishRemoval,
    Get,
    Loading,
    MarkDelete,
    Miss,
    OpenCursor,
    Read,
    Refused,
    Release,
    Removed,
    Replay,
    RollLedger,
    SizePass,
    Tick,
)
from ...entry_cache import EntryCache
from ...entry_cache.topic import Cursor
from ...entry_cache.wrapper import Position

# ---- Refused for nothing, or for another reason ----------------------------------------------------------------------


class LastReadIsNotAcknowledged(EntryCache):
    """The position just before the read position can not be acknowledged."""

    def mark_delete(self, command: MarkDelete) -> Done | Refused:
        cursor = self.cursor(command)
        if cursor is not None and (command.ledger, command.entry + 1) == cursor.read:
            return Refused(BAD_POSITION)
        return super().mark_delete(command)


class OneEntryIsNoLedger(EntryCache):
    """A ledger of one entry counts as empty, and is not rolled."""

    def roll_ledger(self, command: RollLedger) -> Done | Refused:
        log = self.topic(command.topic).log
        held_back = len(log.ledgers[log.open]) == 1 and log.ledgers[log.open].pop()
        answer = super().roll_ledger(command)
        if held_back:
            log.ledgers[log.open].append(held_back)
        return answer


class CaughtUpIsCalledLoading(EntryCache):
    """A cursor with nothing to read is told that a load is under way."""

    def read(self, command: Read) -> Delivered | Loading | Refused:
        answer = super().read(command)
        return Refused(LOADING) if answer == Refused(CAUGHT_UP) else answer


class AbsentCursorIsNotLoading(EntryCache):
    """A failed load of a cursor that is not open is refused because nothing is being loaded."""

    def fail_load(self, command: FailLoad) -> Done | Refused:
        answer = super().fail_load(command)
        return Refused(NO_LOAD) if answer == Refused(NO_CURSOR) else answer


class ReplayNeedsActiveCursor(EntryCache):
    """A cursor that is not active is as good as none where it replays."""

    def replay(self, command: Replay) -> Delivered | Refused:
        cursor = self.cursor(command)
        return super().replay(command) if cursor is not None and cursor.active else Refused(NO_CURSOR)


class LastReadIsNotReplayed(EntryCache):
    """The position just before the read position can not be asked for again."""

    def _read_and_unacknowledged(self, cursor: Cursor, position: Position) -> bool:
        ledger, entry = position
        return cursor.acked < position and (ledger, entry + 1) < cursor.read


class AbsentCursorIsNoDelivery(EntryCache):
    """The release of a delivery that is over is refused because the cursor is closed, where it is."""

    def release(self, command: Release) -> Done | Refused:
        answer = super().release(command)
        closed = answer == Refused(NO_DELIVERY) and self.cursor(command) is None
        return Refused(NO_CURSOR) if closed else answer


class AbsentRemovalHasNoEntry(EntryCache):
    """The end of a removal that is not under way is refused because there is no such entry."""

    def finish_removal(self, command: FinishRemoval) -> Removed | Refused:
        answer = super().finish_removal(command)
        return Refused(NO_ENTRY) if isinstance(answer, Refused) else answer


class MissedLookupIsRefused(EntryCache):
    """A lookup that finds nothing is refused."""

    def get(self, command: Get) -> Any:
        answer = super().get(command)
        return Refused(NO_ENTRY) if isinstance(answer, Miss) else answer


class CheckAtItsTimeIsEarly(EntryCache):
    """A check at the very time that it is due is refused."""

    def eviction_check(self, command: EvictionCheck) -> Evicted | Refused:
        return Refused(NOT_DUE) if self.now_ms <= self.next_check_ms else super().eviction_check(command)


# ---- Not refused -----------------------------------------------------------------------------------------------------


class AcknowledgedAgain(EntryCache):
    """The position of the present mark-delete can be acknowledged again."""

    def mark_delete(self, command: MarkDelete) -> Done | Refused:
        cursor = self.cursor(command)
        if cursor is not None and (command.ledger, command.entry) == cursor.acked:
            return Done()
        return super().mark_delete(command)


class AcknowledgedUnread(EntryCache):
    """The position that a cursor reads next can be acknowledged."""

    def mark_delete(self, command: MarkDelete) -> Done | Refused:
        cursor = self.cursor(command)
        if cursor is None or (command.ledger, command.entry) != cursor.read:
            return super().mark_delete(command)
        cursor.acknowledge(cursor.read)
        self._evict_behind_cursors(self.topics[command.topic])
        return Done()


class AcknowledgedIsReplayed(EntryCache):
    """The entry at the mark-delete position can be asked for again."""

    def _read_and_unacknowledged(self, cursor: Cursor, position: Position) -> bool:
        return cursor.acked <= position < cursor.read


class UnreadIsReplayed(EntryCache):
    """The entry that a cursor reads next can be asked for again."""

    def _read_and_unacknowledged(self, cursor: Cursor, position: Position) -> bool:
        return cursor.acked < position <= cursor.read


class OpenedTwice(EntryCache):
    """Opening a cursor that is open is said to be done."""

    def open_cursor(self, command: OpenCursor) -> Done | Refused:
        super().open_cursor(command)
        return Done()


class EmptyLedgerIsRolled(EntryCache):
    """A ledger without entries is rolled too."""

    def roll_ledger(self, command: RollLedger) -> Done | Refused:
        self.topic(command.topic).roll()
        return Done()


class ReleasedTwice(EntryCache):
    """The release of a delivery that is over is said to be done."""

    def release(self, command: Release) -> Done | Refused:
        super().release(command)
        return Done()


class FailsWithoutDelivery(EntryCache):
    """A delivery that is over can still fail, without consequence."""

    def fail_delivery(self, command: FailDelivery) -> Done | Refused:
        super().fail_delivery(command)
        return Done()


class RemovalBeginsAgain(EntryCache):
    """A forced removal that is under way begins anew."""

    def begin_removal(self, command: BeginRemoval) -> Began | Refused:
        if command.what != "ledger":
            self.removals.pop((command.what, command.topic, command.ledger, command.entry), None)
        return super().begin_removal(command)


class CheckComesEarly(EntryCache):
    """A check runs one millisecond before it is due."""

    def eviction_check(self, command: EvictionCheck) -> Evicted | Refused:
        self.now_ms += 1
        answer = super().eviction_check(command)
        self.now_ms -= 1
        return answer


class UnaskedSizePass(EntryCache):
    """A size pass runs though none is due."""

    def size_pass(self, command: SizePass) -> Evicted | Refused:
        self.manager.size_pass_due = True
        return super().size_pass(command)


class TimeDoesNotWait(EntryCache):
    """Time passes on while a check is due."""

    def tick(self, command: Tick) -> Clock | Refused:
        if self.now_ms < self.next_check_ms:
            return super().tick(command)
        self.now_ms += command.ms
        return Clock(self.now_ms)


SLIPS: dict[str, tuple[tuple[str, type], ...]] = {
    "cursor_command_is_refused_for_the_first_reason": (
        ("last-read-is-not-acknowledged", LastReadIsNotAcknowledged),
        ("one-entry-is-no-ledger", OneEntryIsNoLedger),
        ("caught-up-is-called-loading", CaughtUpIsCalledLoading),
        ("absent-cursor-is-not-loading", AbsentCursorIsNotLoading),
        ("replay-needs-active-cursor", ReplayNeedsActiveCursor),
        ("last-read-is-not-replayed", LastReadIsNotReplayed),
    ),
    "only_an_absent_delivery_is_refused": (("absent-cursor-is-no-delivery", AbsentCursorIsNoDelivery),),
    "removal_is_refused_for_the_first_reason": (("absent-removal-has-no-entry", AbsentRemovalHasNoEntry),),
    "only_an_untimely_pass_or_tick_is_refused": (("check-at-its-time-is-early", CheckAtItsTimeIsEarly),),
    "what_is_always_in_place_is_never_refused": (("missed-lookup-is-refused", MissedLookupIsRefused),),
    "cursor_command_is_refused_where_there_is_a_reason": (
        ("acknowledged-again", AcknowledgedAgain),
        ("acknowledged-unread", AcknowledgedUnread),
        ("acknowledged-is-replayed", AcknowledgedIsReplayed),
        ("unread-is-replayed", UnreadIsReplayed),
        ("opened-twice", OpenedTwice),
        ("empty-ledger-is-rolled", EmptyLedgerIsRolled),
    ),
    "absent_delivery_is_refused": (
        ("released-twice", ReleasedTwice),
        ("fails-without-delivery", FailsWithoutDelivery),
    ),
    "removal_is_refused_where_there_is_a_reason": (("removal-begins-again", RemovalBeginsAgain),),
    "untimely_pass_or_tick_is_refused": (
        ("check-comes-early", CheckComesEarly),
        ("unasked-size-pass", UnaskedSizePass),
        ("time-does-not-wait", TimeDoesNotWait),
    ),
}
"""By the law that they break."""
