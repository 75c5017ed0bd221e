"""cursor_ranks, part 5: what a campaign must have reached, or it has shown little."""

from __future__ import annotations

from typing import Any

from ..core import Law, sometimes
from .sight import History, Position, place_in, row_named, tracked_in
from .words import Add, Config, Done, Move, Remove, Snapshot

HARD_PLACES = "ours: places where a sorted list with shared counters goes wrong"


@sometimes(HARD_PLACES, on=(Add, Move), reads=("cursors",))
def four_or_more_are_tracked(
    past: History, config: Config, before: Snapshot, command: Any, outcome: object, after: Snapshot
) -> bool:
    """Four or more cursors are tracked: a list with a first, a last and a middle."""
    return len(tracked_in(after)) >= 4


@sometimes(HARD_PLACES, on=(Add, Move), reads=("cursors",))
def three_share_a_position(
    past: History, config: Config, before: Snapshot, command: Any, outcome: object, after: Snapshot
) -> bool:
    """Three cursors stand at one position and share one count."""
    return _most_at_one(tracked_in(after)) >= 3


@sometimes(HARD_PLACES, on=(Move,), reads=("cursors",))
def the_first_moves(
    past: History, config: Config, before: Snapshot, command: Move, outcome: object, after: Snapshot
) -> bool:
    """A cursor that stood before all others moves elsewhere."""
    moved = _moved(before, command)
    return moved is not None and moved.others != [] and moved.old < min(moved.others)


@sometimes(HARD_PLACES, on=(Move,), reads=("cursors",))
def the_last_moves(
    past: History, config: Config, before: Snapshot, command: Move, outcome: object, after: Snapshot
) -> bool:
    """A cursor that stood after all others moves elsewhere."""
    moved = _moved(before, command)
    return moved is not None and moved.others != [] and moved.old > max(moved.others)


@sometimes(HARD_PLACES, on=(Move,), reads=("cursors",))
def a_middle_one_moves(
    past: History, config: Config, before: Snapshot, command: Move, outcome: object, after: Snapshot
) -> bool:
    """A cursor with others before it and after it moves elsewhere."""
    moved = _moved(before, command)
    return moved is not None and moved.others != [] and min(moved.others) < moved.old < max(moved.others)


@sometimes(HARD_PLACES, on=(Move,), reads=("cursors",))
def a_move_crosses_a_shared_position(
    past: History, config: Config, before: Snapshot, command: Move, outcome: object, after: Snapshot
) -> bool:
    """A cursor moves from one side of a position that others share to the other side."""
    moved = _moved(before, command)
    return moved is not None and _most_at_one(moved.passed()) >= 2


@sometimes(HARD_PLACES, on=(Move,), reads=("cursors",))
def a_move_goes_back_past_several(
    past: History, config: Config, before: Snapshot, command: Move, outcome: object, after: Snapshot
) -> bool:
    """A cursor moves back past two positions or more at which others stand."""
    moved = _moved(before, command)
    return moved is not None and moved.new < moved.old and len(set(moved.passed())) >= 2


@sometimes(HARD_PLACES, on=(Add,), reads=("cursors",))
def a_name_is_added_again(
    past: History, config: Config, before: Snapshot, command: Add, outcome: object, after: Snapshot
) -> bool:
    """A cursor is added under a name that is there."""
    return row_named(before, command.cursor) is not None


@sometimes(HARD_PLACES, on=(Move,), reads=("cursors",))
def a_cursor_is_untracked(
    past: History, config: Config, before: Snapshot, command: Move, outcome: object, after: Snapshot
) -> bool:
    """A tracked cursor moves to no position."""
    row = row_named(before, command.cursor)
    return command.ledger is None and row is not None and row.position is not None


@sometimes(HARD_PLACES, on=(Remove,), reads=())
def a_cursor_is_removed(
    past: History, config: Config, before: Snapshot, command: Remove, outcome: object, after: Snapshot
) -> bool:
    """A cursor that was there is removed."""
    return isinstance(outcome, Done)


# ---- Words of this part ---------------------------------------------------------------------------------------------


class _Moved:
    """A tracked cursor's move to another position, among the other tracked cursors."""

    def __init__(self, old: Position, new: Position, others: list[Position]) -> None:
        self.old, self.new, self.others = old, new, others

    def passed(self) -> list[Position]:
        low, high = min(self.old, self.new), max(self.old, self.new)
        return [position for position in self.others if low < position < high]


def _moved(before: Snapshot, command: Move) -> _Moved | None:
    row, new = row_named(before, command.cursor), place_in(command)
    if row is None or row.position is None or new is None or new == row.position:
        return None
    others = [r.position for r in before.cursors if r.position is not None and r is not row]
    return _Moved(row.position, new, others)


def _most_at_one(positions: list[Position]) -> int:
    return max(map(positions.count, positions), default=0)  # of a handful, quicker than a table of counts


REACHED: tuple[Law, ...] = (
    four_or_more_are_tracked,
    three_share_a_position,
    the_first_moves,
    the_last_moves,
    a_middle_one_moves,
    a_move_crosses_a_shared_position,
    a_move_goes_back_past_several,
    a_name_is_added_again,
    a_cursor_is_untracked,
    a_cursor_is_removed,
)
