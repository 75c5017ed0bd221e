"""cursor_ranks, part 2: what is the case.  The model is a list of cursors in order of name, and counting them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from ..core import NOT_OBSERVED, Action, Dialect, Model
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

Position = tuple[int, int]  # ledger, entry
Cursors = tuple[CursorRow, ...]

RE_ADD_KEEPS_OLD_CURSOR = "re-add-keeps-old-cursor"
UNTRACKED_KEEPS_POSITION = "untracked-keeps-position"
RANK_LEAVES_ITSELF_OUT = "rank-leaves-itself-out"


class State(NamedTuple):
    cursors: Cursors = ()  # in order of name
    adds: int = 0  # so far; numbers the next one


# ---- Words of the model ---------------------------------------------------------------------------------------------


def row_of(cursors: Cursors, name: str) -> CursorRow | None:
    for row in cursors:
        if row.cursor == name:
            return row
    return None


def position_in(command: Add | Move) -> Position | None:
    return None if command.ledger is None else (command.ledger, command.entry)


def at_or_before(cursors: Cursors, position: Position) -> int:
    return sum(row.position is not None and row.position <= position for row in cursors)


def _without(cursors: Cursors, name: str) -> Cursors:
    return tuple([row for row in cursors if row.cursor != name])


def _placed(cursors: Cursors, row: CursorRow) -> Cursors:
    return tuple(sorted((*_without(cursors, row.cursor), row)))  # names differ, so that names alone decide


# ---- What each command does -----------------------------------------------------------------------------------------


def add(config: Config, state: State, command: Add, dialect: Dialect) -> tuple[State, Added]:
    adds = state.adds + 1
    number = adds
    if dialect.has(RE_ADD_KEEPS_OLD_CURSOR):
        old = row_of(state.cursors, command.cursor)
        number = adds if old is None else old.number
    row = CursorRow(command.cursor, number, position_in(command))
    return State(_placed(state.cursors, row), adds), Added(number)


def move(config: Config, state: State, command: Move, dialect: Dialect) -> tuple[State, Done | Absent]:
    row = row_of(state.cursors, command.cursor)
    if row is None:
        return state, Absent()
    position = position_in(command)
    if position is None and dialect.has(UNTRACKED_KEEPS_POSITION):
        return state, Done()
    return State(_placed(state.cursors, CursorRow(row.cursor, row.number, position)), state.adds), Done()


def remove(config: Config, state: State, command: Remove, dialect: Dialect) -> tuple[State, Done | Absent]:
    if row_of(state.cursors, command.cursor) is None:
        return state, Absent()
    return State(_without(state.cursors, command.cursor), state.adds), Done()


def rank(config: Config, state: State, command: Rank, dialect: Dialect) -> tuple[State, Count]:
    row = row_of(state.cursors, command.cursor)
    if row is None or row.position is None:
        return state, Count(0)
    itself = 1 if dialect.has(RANK_LEAVES_ITSELF_OUT) else 0
    return state, Count(at_or_before(state.cursors, row.position) - itself)


def rank_at(config: Config, state: State, command: RankAt, dialect: Dialect) -> tuple[State, Count]:
    return state, Count(at_or_before(state.cursors, (command.ledger, command.entry)))


def slowest(config: Config, state: State, command: Slowest, dialect: Dialect) -> tuple[State, At]:
    return state, At(min((row.position for row in state.cursors if row.position is not None), default=None))


def size(config: Config, state: State, command: Size, dialect: Dialect) -> tuple[State, Count]:
    return state, Count(len(state.cursors))


def find(config: Config, state: State, command: Find, dialect: Dialect) -> tuple[State, Found | Absent]:
    row = row_of(state.cursors, command.cursor)
    return state, Absent() if row is None else Found(row.number)


# ---- The table ------------------------------------------------------------------------------------------------------


def start(config: Config) -> State:
    return State()


def present(config: Config, state: State) -> list[tuple[str]]:
    """The names that a careful caller would name."""
    return [(row.cursor,) for row in state.cursors]


def view(state: State) -> Snapshot:
    return Snapshot(state.cursors, *[NOT_OBSERVED] * 4)


def canonical(state: State) -> Hashable:
    """Without the add numbers: each name has one, so that renumbered in order of name they would tell nothing."""
    return tuple([(row.cursor, row.position) for row in state.cursors])


def drain(config: Config, state: State) -> None:
    """No law waits for anything: a run is at rest wherever it ends."""


MODEL = Model(
    start=start,
    actions=(
        Action(Add, add, weight=5),
        Action(Move, move, targets=present, weight=8),
        Action(Remove, remove, targets=present, weight=2),
        Action(Rank, rank, targets=present, weight=4),
        Action(RankAt, rank_at, weight=3),
        Action(Slowest, slowest, weight=2),
        Action(Size, size, weight=1),
        Action(Find, find, targets=present, weight=2),
    ),
    view=view,
    canonical=canonical,
    drain=drain,
)
