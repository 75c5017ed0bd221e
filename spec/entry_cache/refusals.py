"""entry_cache, laws 6: refusals.  A command is refused where there is a reason, and the reason that it names is true.

`REASONS` is the table: for each command that can be refused what there can be against it.  All of it is seen in the
snapshot before the command, in every dialect.  A reason about a cursor speaks of one that is open; where there is none,
that is the reason.  Where several hold, the first in the table's order is named.

The table is in four parts, each with a pair of laws, by what of a snapshot its reasons look at: a subject that shows no
removals is still asked about its cursors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import VACUOUS, Broken, Verdict, step
from . import words as w
from .sight import cursor_of, log_of, next_in
from .words import Config, CursorRow, Refused, Snapshot

Reason = Callable[[Snapshot, Any], bool]  # whether it holds against a command, by the snapshot before it

# ---- What can be against a command ----------------------------------------------------------------------------------


def _no_cursor(before: Snapshot, command: Any) -> bool:
    return cursor_of(before, command) is None


def _cursor_open(before: Snapshot, command: Any) -> bool:
    return cursor_of(before, command) is not None


def _open_ledger_empty(before: Snapshot, command: Any) -> bool:
    return log_of(before, command.topic)[-1][1] == 0


def _no_delivery(before: Snapshot, command: Any) -> bool:
    named = (command.topic, command.cursor, command.ledger, command.entry)
    return all(row[:4] != named for row in before.deliveries)


def _no_removal(before: Snapshot, command: Any) -> bool:
    named = (command.what, command.topic, command.ledger, command.entry)
    return all(row[:4] != named for row in before.removals)


def _removal_under_way(before: Snapshot, command: Any) -> bool:
    return not _no_removal(before, command)


def _deletes_open_ledger(before: Snapshot, command: Any) -> bool:
    return command.what == "ledger" and bool(command.ledger == log_of(before, command.topic)[-1][0])


def _deletes_gone_ledger(before: Snapshot, command: Any) -> bool:
    return command.what == "ledger" and command.ledger not in dict(log_of(before, command.topic))


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
        row = cursor_of(before, command)
        return row is not None and reason(before, row, command)

    return holds


@_of_open_cursor
def _not_to_acknowledge(before: Snapshot, row: CursorRow, command: Any) -> bool:
    return not row.acked < _position(command) < row.read


@_of_open_cursor
def _not_to_replay(before: Snapshot, row: CursorRow, command: Any) -> bool:
    ledger, entry = position = _position(command)
    in_log = entry < dict(log_of(before, row.topic)).get(ledger, 0)
    return not in_log or position >= row.read or position <= row.acked or position in row.replays


@_of_open_cursor
def _loading(before: Snapshot, row: CursorRow, command: Any) -> bool:
    return row.loading is not None


@_of_open_cursor
def _not_loading(before: Snapshot, row: CursorRow, command: Any) -> bool:
    return row.loading is None


@_of_open_cursor
def _caught_up(before: Snapshot, row: CursorRow, command: Any) -> bool:
    return next_in(log_of(before, row.topic), row.read) is None


@_of_open_cursor
def _loads_from_gone_ledger(before: Snapshot, row: CursorRow, command: Any) -> bool:
    return row.loading is not None and row.loading[0] not in dict(log_of(before, row.topic))


@_of_open_cursor
def _not_replaying(before: Snapshot, row: CursorRow, command: Any) -> bool:
    return _position(command) not in row.replays


@_of_open_cursor
def _replays_from_gone_ledger(before: Snapshot, row: CursorRow, command: Any) -> bool:
    return _position(command) in row.replays and command.ledger not in dict(log_of(before, row.topic))


# ---- The table ------------------------------------------------------------------------------------------------------

Reasons = dict[type, dict[str, Reason]]

OF_CURSORS: Reasons = {
    w.RollLedger: {w.LEDGER_EMPTY: _open_ledger_empty},
    w.OpenCursor: {w.CURSOR_OPEN: _cursor_open},
    w.CloseCursor: {w.NO_CURSOR: _no_cursor},
    w.SetActive: {w.NO_CURSOR: _no_cursor},
    w.Seek: {w.NO_CURSOR: _no_cursor},
    w.MarkDelete: {w.NO_CURSOR: _no_cursor, w.BAD_POSITION: _not_to_acknowledge},
    w.Read: {w.NO_CURSOR: _no_cursor, w.LOADING: _loading, w.CAUGHT_UP: _caught_up},
    w.FinishLoad: {w.NO_CURSOR: _no_cursor, w.NO_LOAD: _not_loading, w.LEDGER_GONE: _loads_from_gone_ledger},
    w.FailLoad: {w.NO_CURSOR: _no_cursor, w.NO_LOAD: _not_loading},
    w.Redeliver: {w.NO_CURSOR: _no_cursor, w.NO_ENTRY: _not_to_replay},
    w.Replay: {w.NO_CURSOR: _no_cursor, w.NOT_REPLAYING: _not_replaying, w.LEDGER_GONE: _replays_from_gone_ledger},
}
OF_DELIVERIES: Reasons = {
    w.Release: {w.NO_DELIVERY: _no_delivery},
    w.FailDelivery: {w.NO_DELIVERY: _no_delivery},
}
OF_REMOVALS: Reasons = {
    w.BeginRemoval: {
        w.UNDER_WAY: _removal_under_way,
        w.LEDGER_OPEN: _deletes_open_ledger,
        w.LEDGER_GONE: _deletes_gone_ledger,
    },
    w.FinishRemoval: {w.NO_REMOVAL: _no_removal},
}
OF_TIME: Reasons = {
    w.EvictionCheck: {w.NOT_DUE: _check_not_due},
    w.SizePass: {w.NOT_DUE: _size_pass_not_due},
    w.Tick: {w.CHECK_DUE: _check_due},
}

REASONS: Reasons = {**OF_CURSORS, **OF_DELIVERIES, **OF_REMOVALS, **OF_TIME}
NEVER_REFUSED = tuple([command for command in w.COMMANDS if command not in REASONS])

# ---- The laws -------------------------------------------------------------------------------------------------------

TOTAL = "ours: commands are total, and say why not"
CURSORS: dict[str, Any] = {"reads": ("cursors", "topics"), "on": tuple(OF_CURSORS)}
DELIVERIES: dict[str, Any] = {"reads": ("deliveries",), "on": tuple(OF_DELIVERIES)}
REMOVALS: dict[str, Any] = {"reads": ("removals", "topics"), "on": tuple(OF_REMOVALS)}
TIME: dict[str, Any] = {"reads": ("now_ms", "next_check_ms", "size_pass_due"), "on": tuple(OF_TIME)}


@step(TOTAL, **CURSORS)
def cursor_command_is_refused_for_the_first_reason(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A roll, or a command of a cursor, that is refused names the first reason against it that holds."""
    return _names_the_first(before, command, outcome)


@step(TOTAL, **CURSORS)
def cursor_command_is_refused_where_there_is_a_reason(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A roll, or a command of a cursor, is refused where a reason against it holds."""
    return _is_refused(before, command, outcome)


@step(TOTAL, **DELIVERIES)
def only_an_absent_delivery_is_refused(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """The end of a delivery, good or bad, is refused because there is no such delivery, and only then."""
    return _names_the_first(before, command, outcome)


@step(TOTAL, **DELIVERIES)
def absent_delivery_is_refused(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """The end of a delivery, good or bad, is refused where there is no such delivery."""
    return _is_refused(before, command, outcome)


@step(TOTAL, **REMOVALS)
def removal_is_refused_for_the_first_reason(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """The beginning or the end of a forced removal that is refused names the first reason against it that holds."""
    return _names_the_first(before, command, outcome)


@step(TOTAL, **REMOVALS)
def removal_is_refused_where_there_is_a_reason(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """The beginning or the end of a forced removal is refused where a reason against it holds."""
    return _is_refused(before, command, outcome)


@step(TOTAL, **TIME)
def only_an_untimely_pass_or_tick_is_refused(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A check or a size pass is refused because it is not due, a tick because a check is, and only then."""
    return _names_the_first(before, command, outcome)


@step(TOTAL, **TIME)
def untimely_pass_or_tick_is_refused(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A check or a size pass that is not due is refused, and so is a tick while a check is."""
    return _is_refused(before, command, outcome)


@step(TOTAL, reads=(), on=NEVER_REFUSED)
def what_is_always_in_place_is_never_refused(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """An append, a lookup, a look at backlogs, a clock that steps back and a setting are never refused."""
    return not isinstance(outcome, Refused) or Broken(f"{command} was refused with {outcome.why!r}")


def _against(before: Snapshot, command: Any) -> list[str]:
    """The reasons against a command that hold, in the table's order."""
    reasons = next(REASONS[kind] for kind in type(command).__mro__ if kind in REASONS)
    return [why for why, holds in reasons.items() if holds(before, command)]


def _names_the_first(before: Snapshot, command: Any, outcome: Any) -> Verdict:
    if not isinstance(outcome, Refused):
        return VACUOUS
    against = _against(before, command)
    expected = f"the reason is {against[0]!r}" if against else "nothing is against it"
    return against[:1] == [outcome.why] or Broken(f"{command} was refused with {outcome.why!r}; {expected}")


def _is_refused(before: Snapshot, command: Any, outcome: Any) -> Verdict:
    against = _against(before, command)
    if not against:
        return VACUOUS
    return isinstance(outcome, Refused) or Broken(f"{command} answered {outcome}, though {' and '.join(against)}")


def _position(command: Any) -> tuple[int, int]:
    return command.ledger, command.entry


LAWS = (
    cursor_command_is_refused_for_the_first_reason,
    cursor_command_is_refused_where_there_is_a_reason,
    only_an_absent_delivery_is_refused,
    absent_delivery_is_refused,
    removal_is_refused_for_the_first_reason,
    removal_is_refused_where_there_is_a_reason,
    only_an_untimely_pass_or_tick_is_refused,
    untimely_pass_or_tick_is_refused,
    what_is_always_in_place_is_never_refused,
)
