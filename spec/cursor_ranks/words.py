"""cursor_ranks, part 1: what can be set, what can happen, what its caller sees, what an observer sees."""

from __future__ import annotations

from typing import NamedTuple

from attrs import frozen

from ..core import choice, integer, maybe

# ---- What can be set ------------------------------------------------------------------------------------------------


@frozen
class Config:
    """One knob, of the implementation: it must change no answer, only when the order is rebuilt and what that costs."""

    rebuild_percent: int = integer(
        0,
        1000,
        usual=(50, 65),  # about the shares that a few cursors often have, so that the threshold itself is met
        edges=(0, 25, 100, 150, 1000),
        small=(50,),
        default=50,
        doc="a question that settles applies the pending updates by one rebuild if they are at least this percentage "
        "of the tracked cursors, and one by one if they are fewer",
    )


# ---- What can happen ------------------------------------------------------------------------------------------------

NAMES = tuple(f"c{number}" for number in range(16))


def _cursor() -> str:
    name: str = choice(*NAMES, small=2)  # narrowed to four or eight in most cases, so that they meet
    return name


def _ledger_or_none() -> int | None:
    number: int | None = maybe(integer(0, 2**63 - 1, usual=(0, 1), small=(0,)), none_rate=0.12, small=(None, 0))
    return number


def _entry() -> int:
    number: int = integer(0, 2**63 - 1, usual=(0, 5), edges=(0, 2**63 - 1), small=(0, 1))
    return number


@frozen
class Add:
    """A cursor becomes active, at a position or (ledger none) at no position yet: then it counts for `Size` alone.
    Under a name that is there already the new cursor takes the old one's place, position included."""

    cursor: str = _cursor()
    ledger: int | None = _ledger_or_none()
    entry: int = _entry()


@frozen
class Move:
    """A cursor moves, forward or back, or (ledger none) is no longer tracked.  Of an absent name: nothing, and says
    so."""

    cursor: str = _cursor()
    ledger: int | None = _ledger_or_none()
    entry: int = _entry()


@frozen
class Remove:
    """A cursor is no longer active.  Of an absent name: nothing, and says so."""

    cursor: str = _cursor()


@frozen
class Rank:
    """How many tracked cursors stand at this cursor's position or before it; 0 if it is absent or not tracked."""

    cursor: str = _cursor()


@frozen
class RankAt:
    """How many tracked cursors stand at a position or before it."""

    ledger: int = integer(0, 2**63 - 1, usual=(0, 1), small=(0,))
    entry: int = _entry()


@frozen
class Slowest:
    """The least position of a tracked cursor."""


@frozen
class Size:
    """How many cursors were added and not removed, tracked or not."""


@frozen
class Find:
    """Which cursor goes by this name: the number of the `Add` that brought it."""

    cursor: str = _cursor()


COMMANDS = (Add, Move, Remove, Rank, RankAt, Slowest, Size, Find)

# ---- What its caller sees -------------------------------------------------------------------------------------------


@frozen
class Added:
    """It was added; adds are numbered from 1 (an add under a present name takes a number too)."""

    number: int


@frozen
class Done:
    """It was carried out."""


@frozen
class Absent:
    """There is no cursor of that name; nothing changed."""


@frozen
class Count:
    """The answer of Rank, RankAt and Size."""

    value: int


@frozen
class At:
    """The answer of Slowest; none when no cursor is tracked."""

    position: tuple[int, int] | None


@frozen
class Found:
    """The answer of Find."""

    number: int


OUTCOMES = (Added, Done, Absent, Count, At, Found)

# ---- What an observer sees ------------------------------------------------------------------------------------------


class CursorRow(NamedTuple):
    """A cursor as its caller last placed it, whether or not the container has caught up."""

    cursor: str
    number: int  # of the Add that brought it
    position: tuple[int, int] | None


class Snapshot(NamedTuple):
    """What the laws speak of.  All but the cursors are the container's own affair: no model says what they are, only
    laws bound them.  Looking must not apply pending updates."""

    cursors: tuple[CursorRow, ...]  # in order of name
    pending: int  # updates collected and not yet applied, one for each cursor concerned at most
    held: int  # cursors that the container keeps in memory in any way, removed ones included
    work: int  # position comparisons and node visits so far, in all
    rebuilds: int  # how often so far all that was pending was applied by ordering and counting all cursors anew
