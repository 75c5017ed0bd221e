"""entry_cache, laws 6: refusals.  A command is refused where there is a reason, and the reason that it names is true.

`REASONS` is the table: for each command that can be refused what there can be against it.  All of it is seen in the
snapshot before the command, in every dialect.  A reason about a cursor speaks of one that is open; where there is none,
that is the reason.  Where several hold, any of them may be named.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import VACUOUS, Broken, Verdict, step
from . import words as w
from .words import Config, CursorRow, Refused, Snapshot

Reason = Callable[[Snapshot, Any], bool]  # whether it holds against a command, by the snapshot before it

# ---- What can be against a command ----------------------------------------------------------------------------------


def _no_cursor(before: Snapshot, command: Any) -> bool:
    return _cursor(before, command) is None


def _cursor_open(before: Snapshot, command: Any) -> bool:
    return _cursor(before, command) is not None


def _open_ledger_empty(before: Snapshot, command: Any) -> bool:
    return _log(before, command.topic)[-1][1] == 0


def _no_delivery(before: Snapshot, command: Any) -> bool:
    named = (command.topic, command.cursor, command.ledger, command.entry)
    return all(row[:4] != named for row in before.deliveries)


def _no_removal(before: Snapshot, command: Any) -> bool:
    named = (command.what, command.topic, command.ledger, command.entry)
    return all(row[:4] != named for row in before.removals)


def _removal_under_way(before: Snapshot, command: Any) -> bool:
    return not _no_removal(before, command)


def _deletes_open_ledger(before: Snapshot, command: Any) -> bool:
    return command.what == "ledger" and bool(command.ledger == _log(before, command.topic)[-1][0])


def _deletes_gone_ledger(before: Snapshot, command: Any) -> bool:
    return command.what == "ledger" and command.ledger not in dict(_log(before, command.topic))


def _check_due(before: Snapshot, command: Any) -> bool:
    return before.now_ms >= before.next_check_ms


def _check_not_due(before: Snapshot, command: Any) -> bool:
    return before.now_ms < before.next_check_ms


def _size_pass_not_due(before: Snapshot, command: Any) -> bool:
    return not before.size_pass_due


# ---- What can be against a command whose cursor is open -------------------------------------------------------------


def _of_open_cursor(reason: Callable[[Snapshot, CursorRow, Any], bool]) -> Reason:
    """A reason that looks at the row of the command's cursor; it does not hold where there is none."""

    def holds(before: Snapshot, command: Any) -> bool:
        row = _cursor(before, command)
        return row is not None and reason(before, row, command)

    return holds


@_of_open_cursor
def _not_to_acknowledge(before: Snapshot, row: CursorRow, command: Any) -> bool:
    return not row.acked < _position(command) < row.read


@_of_open_cursor
def _not_to_replay(before: Snapshot, row: CursorRow, command: Any) -> bool:
    ledger, entry = position = _position(command)
    in_log = entry < dict(_log(before, row.topic)).get(ledger, 0)
    return not in_log or position >= row.read or position <= row.acked or position in row.replays


@_of_open_cursor
def _loading(before: Snapshot, row: CursorRow, command: Any) -> bool:
    return row.loading is not None


@_of_open_cursor
def _not_loading(before: Snapshot, row: CursorRow, command: Any) -> bool:
    return row.loading is None


@_of_open_cursor
def _caught_up(before: Snapshot, row: CursorRow, command: Any) -> bool:
    return all(count == 0 or (ledger, count - 1) < row.read for ledger, count in _log(before, row.topic))


@_of_open_cursor
def _loads_from_gone_ledger(before: Snapshot, row: CursorRow, command: Any) -> bool:
    return row.loading is not None and row.loading[0] not in dict(_log(before, row.topic))


@_of_open_cursor
def _not_replaying(before: Snapshot, row: CursorRow, command: Any) -> bool:
    return _position(command) not in row.replays


@_of_open_cursor
def _replays_from_gone_ledger(before: Snapshot, row: CursorRow, command: Any) -> bool:
    return _position(command) in row.replays and command.ledger not in dict(_log(before, row.topic))


# ---- The table ------------------------------------------------------------------------------------------------------

REASONS: dict[type, dict[str, Reason]] = {
    w.RollLedger: {w.LEDGER_EMPTY: _open_ledger_empty},
    w.OpenCursor: {w.CURSOR_OPEN: _cursor_open},
    w.CloseCursor: {w.NO_CURSOR: _no_cursor},
    w.SetActive: {w.NO_CURSOR: _no_cursor},
    w.Seek: {w.NO_CURSOR: _no_cursor},
    w.MarkDelete: {w.NO_CURSOR: _no_cursor, w.BAD_POSITION: _not_to_acknowledge},
    w.Read: {w.NO_CURSOR: _no_cursor, w.LOADING: _loading, w.CAUGHT_UP: _caught_up},
    w.FinishLoad: {w.NO_CURSOR: _no_cursor, w.NO_LOAD: _not_loading, w.LEDGER_GONE: _loads_from_gone_ledger},
    w.FailLoad: {w.NO_CURSOR: _no_cursor, w.NO_LOAD: _not_loading},
    w.Release: {w.NO_DELIVERY: _no_delivery},
    w.FailDelivery: {w.NO_DELIVERY: _no_delivery},
    w.Redeliver: {w.NO_CURSOR: _no_cursor, w.NO_ENTRY: _not_to_replay},
    w.Replay: {w.NO_CURSOR: _no_cursor, w.NOT_REPLAYING: _not_replaying, w.LEDGER_GONE: _replays_from_gone_ledger},
    w.BeginRemoval: {
        w.UNDER_WAY: _removal_under_way,
        w.LEDGER_OPEN: _deletes_open_ledger,
        w.LEDGER_GONE: _deletes_gone_ledger,
    },
    w.FinishRemoval: {w.NO_REMOVAL: _no_removal},
    w.EvictionCheck: {w.NOT_DUE: _check_not_due},
    w.SizePass: {w.NOT_DUE: _size_pass_not_due},
    w.Tick: {w.CHECK_DUE: _check_due},
}

READS = ("cursors", "topics", "deliveries", "removals", "now_ms", "next_check_ms", "size_pass_due")

# ---- The laws -------------------------------------------------------------------------------------------------------


@step("ours: commands are total, and say why not", reads=READS)
def refusal_names_a_reason_that_holds(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A command that is refused names one of the reasons that there can be against it, and that one holds."""
    if not isinstance(outcome, Refused):
        return VACUOUS
    reason = REASONS.get(type(command), {}).get(outcome.why)
    if reason is None:
        return Broken(f"{command} was refused with {outcome.why!r}, which is never a reason against it")
    return reason(before, command) or Broken(f"{command} was refused with {outcome.why!r}, and that is not so")


@step("ours: commands are total, and say why not", reads=READS, on=tuple(REASONS))
def command_with_a_reason_against_it_is_refused(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A command is refused where a reason against it holds."""
    against = [why for why, holds in REASONS[type(command)].items() if holds(before, command)]
    if not against:
        return VACUOUS
    return isinstance(outcome, Refused) or Broken(f"{command} answered {outcome}, though {' and '.join(against)}")


def _cursor(before: Snapshot, command: Any) -> CursorRow | None:
    """The row of the cursor that a command names."""
    return next((row for row in before.cursors if row[:2] == (command.topic, command.cursor)), None)


def _log(before: Snapshot, topic: str) -> tuple[tuple[int, int], ...]:
    """A topic's log: (ledger, number of entries), the open ledger last."""
    return next(row.ledgers for row in before.topics if row.topic == topic)


def _position(command: Any) -> tuple[int, int]:
    return command.ledger, command.entry


LAWS = (
    refusal_names_a_reason_that_holds,
    command_with_a_reason_against_it_is_refused,
)
