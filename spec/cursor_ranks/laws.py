"""cursor_ranks, part 3: what must hold of answers and of what changes.  What it may cost is in `costs`."""

from __future__ import annotations

from typing import Any

from ..core import VACUOUS, Broken, Verdict, step, within
from .model import RANK_LEAVES_ITSELF_OUT, RE_ADD_KEEPS_OLD_CURSOR
from .sight import SHIPPED, UPDATES, History, place_in, rank_in, row_named, tracked_in
from .words import (
    Absent,
    Add,
    Added,
    At,
    Config,
    Count,
    CursorRow,
    Done,
    Find,
    Found,
    Move,
    Rank,
    RankAt,
    Remove,
    Size,
    Slowest,
    Snapshot,
)

THE_COUNT = "PIP-430, High Level Design 2, Initialization, 2nd item; Detailed Design 3, 1st sentence"

# ---- What the answers are -------------------------------------------------------------------------------------------


@step(THE_COUNT, on=(Rank,), reads=("cursors",))
def rank_counts_at_or_before(
    config: Config, before: Snapshot, command: Rank, outcome: object, after: Snapshot
) -> Verdict:
    """A cursor's rank is the number of tracked cursors at its position or before it, itself included; 0 if it is absent
    or not tracked."""
    return _counts(outcome, _rank(before, command.cursor), command, before)


@step(THE_COUNT, on=(Rank,), reads=("cursors",), only=(RANK_LEAVES_ITSELF_OUT,))
def rank_counts_the_others(
    config: Config, before: Snapshot, command: Rank, outcome: object, after: Snapshot
) -> Verdict:
    """A cursor's rank is the number of other tracked cursors at its position or before it."""
    return _counts(outcome, max(0, _rank(before, command.cursor) - 1), command, before)


@step(THE_COUNT, on=(RankAt,), reads=("cursors",))
def rank_at_counts_at_or_before(
    config: Config, before: Snapshot, command: RankAt, outcome: object, after: Snapshot
) -> Verdict:
    """A position's rank is the number of tracked cursors at it or before it."""
    return _counts(outcome, rank_in(before, (command.ledger, command.entry)), command, before)


@step(f"{SHIPPED}.getSlowestCursorPosition, 4.2.4", on=(Slowest,), reads=("cursors",))
def slowest_is_the_least(
    config: Config, before: Snapshot, command: Slowest, outcome: object, after: Snapshot
) -> Verdict:
    """The slowest position is the least one of a tracked cursor; none if no cursor is tracked.
    Can not see: which of several cursors at that position was meant."""
    least = min(tracked_in(before), default=None)
    if isinstance(outcome, At) and outcome.position == least:
        return True
    return Broken(f"Slowest answered {outcome}; the least tracked position is {least} in {_shown(before)}")


@step("PIP-430, Detailed Design 4, OpAddEntry", on=(Size,), reads=("cursors",))
def size_counts_every_cursor(
    config: Config, before: Snapshot, command: Size, outcome: object, after: Snapshot
) -> Verdict:
    """Size counts every cursor that is there, tracked or not, applied or still pending."""
    return _counts(outcome, len(before.cursors), command, before)


@step(f"{SHIPPED}.removeCursor and get, 4.2.4; Move by analogy", on=(Move, Remove, Find), reads=("cursors",))
def absent_is_said(
    config: Config, before: Snapshot, command: Move | Remove | Find, outcome: object, after: Snapshot
) -> Verdict:
    """A Move, Remove or Find answers Absent when no cursor goes by the name, and only then."""
    present = row_named(before, command.cursor) is not None
    if isinstance(outcome, Absent) != present:
        return True
    return Broken(f"{command} answered {outcome}; the cursors were {_shown(before)}")


@within("shipped: ActiveManagedCursorContainerNavigableSetImpl.add and get, 4.2.4", on=(Add, Find), reads=())
def find_gives_the_newest(
    past: History, config: Config, before: Snapshot, command: Add | Find, outcome: object, after: Snapshot
) -> Verdict:
    """Adds are numbered in order, and a name that is there refers to the last cursor that was added under it."""
    return _numbered(past.newest.get(command.cursor), command, outcome, "the last")


@within(f"{SHIPPED}.add and get, 4.2.4", on=(Add, Find), reads=(), only=(RE_ADD_KEEPS_OLD_CURSOR,))
def find_gives_the_oldest(
    past: History, config: Config, before: Snapshot, command: Add | Find, outcome: object, after: Snapshot
) -> Verdict:
    """A name that is there refers to the cursor that was added when it was absent; an Add meanwhile answers that
    one."""
    return _numbered(past.oldest.get(command.cursor), command, outcome, "the first")


@within(
    "PIP-430, Detailed Design 3, 1st sentence",
    on=(Rank, RankAt, Slowest, Size, Find),
    reads=(),
    follows_from=(
        "rank_counts_at_or_before",
        "rank_at_counts_at_or_before",
        "slowest_is_the_least",
        "size_counts_every_cursor",
        "find_gives_the_newest",
        "nothing_else_moves",
    ),
)
def answers_do_not_depend_on_earlier_queries(
    past: History, config: Config, before: Snapshot, command: Any, outcome: object, after: Snapshot
) -> Verdict:
    """The same question asked again, with other questions but no update in between, gets the same answer.  It needs no
    sight of the cursors.  Can not see: a query that changes the answers to questions not yet asked."""
    if past.earlier is None:
        return VACUOUS
    return outcome == past.earlier or Broken(f"{command} answered {outcome}, and before that {past.earlier}")


# ---- What changes ---------------------------------------------------------------------------------------------------


@step(f"{SHIPPED}.add, updateCursor and removeCursor, 4.2.4", reads=("cursors",))
def nothing_else_moves(config: Config, before: Snapshot, command: Any, outcome: object, after: Snapshot) -> Verdict:
    """A query changes no cursor; an Add, a Move to a position and a Remove change their own, to what they say, and no
    other.  Can not see: a Move to no position, of which it says only that no other cursor changes."""
    expected = _as_told(before, command, outcome, after)
    if after.cursors == expected:
        return True
    return Broken(f"after {command} -> {outcome} the cursors are {_shown(after)}; expected {expected}")


@step("apache/pulsar#26629; shipped: ActiveManagedCursorContainer.add, 4.2.4", on=(Move,), reads=("cursors",))
def untracking_forgets_the_position(
    config: Config, before: Snapshot, command: Move, outcome: object, after: Snapshot
) -> Verdict:
    """A cursor that moved to no position has none.  Can not see: a position that is kept inside and comes back later,
    unless a rank shows it."""
    if command.ledger is not None or not isinstance(outcome, Done):
        return VACUOUS
    row = row_named(after, command.cursor)
    return (row is not None and row.position is None) or Broken(f"after {command} its row is {row}")


# ---- Words of the laws ----------------------------------------------------------------------------------------------


def _rank(now: Snapshot, name: str) -> int:
    row = row_named(now, name)
    return 0 if row is None else rank_in(now, row.position)


def _counts(outcome: object, expected: int, command: object, before: Snapshot) -> Verdict:
    if isinstance(outcome, Count) and outcome.value == expected:
        return True
    return Broken(f"{command} answered {outcome}; expected {expected} of {_shown(before)}")


def _numbered(expected: int | None, command: Add | Find, outcome: object, which: str) -> Verdict:
    if expected is None:
        return VACUOUS
    if isinstance(outcome, (Added, Found)) and outcome.number == expected:
        return True
    return Broken(f"{command} answered {outcome}; {which} add under this name was number {expected}")


def _as_told(before: Snapshot, command: Any, outcome: object, after: Snapshot) -> tuple[CursorRow, ...]:
    """The cursors as they should be after a command, its own row built from what it said and answered."""
    if not isinstance(command, UPDATES) or isinstance(outcome, Absent):
        return before.cursors
    name = command.cursor
    others = [row for row in before.cursors if row.cursor != name]
    if isinstance(command, Remove):
        return tuple(others)
    if isinstance(command, Add):
        own = CursorRow(name, outcome.number if isinstance(outcome, Added) else 0, place_in(command))
    else:
        old, new = row_named(before, name), row_named(after, name)
        position = new.position if command.ledger is None and new is not None else place_in(command)
        own = CursorRow(name, 0 if old is None else old.number, position)
    return tuple(sorted([*others, own]))


def _shown(now: Snapshot) -> str:
    return ", ".join(f"{row.cursor}#{row.number}@{row.position}" for row in now.cursors) or "no cursors"


LAWS = (
    rank_counts_at_or_before,
    rank_counts_the_others,
    rank_at_counts_at_or_before,
    slowest_is_the_least,
    size_counts_every_cursor,
    absent_is_said,
    find_gives_the_newest,
    find_gives_the_oldest,
    answers_do_not_depend_on_earlier_queries,
    nothing_else_moves,
    untracking_forgets_the_position,
)
