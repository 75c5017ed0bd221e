"""cursor_ranks, part 3: what must hold.

The proposal says what is counted and that the count is O(1) to get; that updates are collected, and what they cost, is
the rule of the code that shipped, and marked so.
"""

from __future__ import annotations

from typing import Any

from ..core import VACUOUS, Broken, Verdict, always, step, within
from .model import RANK_LEAVES_ITSELF_OUT, RE_ADD_KEEPS_OLD_CURSOR, at_or_before, position_in, row_of
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
THE_COST = "PIP-430, Detailed Design 3, 3rd sentence"
SHIPPED = "shipped: ActiveManagedCursorContainerImpl"

UPDATES = (Add, Move, Remove)
SETTLED_QUERY_WORK = 4  # a look at the cursor's node or the list's head, with room for a check or two
LINGERING = 2  # removed cursors that may be held beyond the bound, for containers that clean up in small batches

# ---- What the laws remember -----------------------------------------------------------------------------------------


class History:
    """Told of every command and its outcome; it never looks at a snapshot, so that rare looks do not mislead it."""

    def __init__(self, config: Config) -> None:
        self.adds = 0
        self.newest: dict[str, int] = {}  # live name -> the last Add under it
        self.oldest: dict[str, int] = {}  # live name -> the Add under it that found it absent
        self.most_live = 0  # at once, since the last Rank or Slowest
        self.earlier: object = None  # the answer to this very query, if nothing changed since
        self._answers: dict[object, object] = {}

    def record(self, before: Any, command: Any, outcome: Any, after: Any) -> None:
        if isinstance(command, UPDATES):
            self.earlier = None
            if not isinstance(outcome, Absent):
                self._answers.clear()
                self._update(command)
            return
        self.earlier = self._answers.get(command)
        self._answers[command] = outcome
        if isinstance(command, Slowest) or (isinstance(command, Rank) and isinstance(outcome, Count)):
            self.most_live = len(self.newest)

    def _update(self, command: Add | Move | Remove) -> None:
        if isinstance(command, Add):
            self.adds += 1
            self.newest[command.cursor] = self.adds
            self.oldest.setdefault(command.cursor, self.adds)
            self.most_live = max(self.most_live, len(self.newest))
        elif isinstance(command, Remove):
            self.newest.pop(command.cursor, None)
            self.oldest.pop(command.cursor, None)


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
    return _counts(outcome, at_or_before(before.cursors, (command.ledger, command.entry)), command, before)


@step(f"{SHIPPED}.getSlowestCursorPosition, 4.2.4", on=(Slowest,), reads=("cursors",))
def slowest_is_the_least(
    config: Config, before: Snapshot, command: Slowest, outcome: object, after: Snapshot
) -> Verdict:
    """The slowest position is the least one of a tracked cursor; none if no cursor is tracked.
    Can not see: which of several cursors at that position was meant."""
    least = min(_tracked(before), default=None)
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
    present = row_of(before.cursors, command.cursor) is not None
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
    expected = _as_told(before.cursors, command, outcome, after.cursors)
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
    row = row_of(after.cursors, command.cursor)
    return (row is not None and row.position is None) or Broken(f"after {command} its row is {row}")


# ---- What it may cost -----------------------------------------------------------------------------------------------


@within("apache/pulsar#26511; it replaced #26506", reads=("held",))
def removed_cursors_are_not_held(
    past: History, config: Config, before: Snapshot, command: Any, outcome: object, after: Snapshot
) -> Verdict:
    """Held are at most the live cursors, plus as many as were live at once since the last Rank or Slowest, plus two.
    A lazy container may keep a removed cursor linked until it next counts, but it linked only cursors that lived side
    by side: a name added and removed a thousand times is not held a thousand times.  A bound in the cursors that live
    now would forbid laziness, since all could be removed between two questions.  Can not see: which ones are held."""
    bound = len(past.newest) + past.most_live + LINGERING
    if after.held <= bound:
        return True
    return Broken(f"{after.held} held; {len(past.newest)} live, {past.most_live} at most at once: expected <= {bound}")


@always(f"{SHIPPED}.updateCursor, 4.2.4: one pending position to a node", reads=("pending", "held"))
def pending_is_bounded(config: Config, now: Snapshot) -> Verdict:
    """Updates that wait are at most one to a held cursor.  Can not see: the memory of an update."""
    return 0 <= now.pending <= now.held or Broken(f"{now.pending} updates pending for {now.held} held cursors")


@step(f"{SHIPPED}.processPendingPositions, 4.2.4", on=(Rank,), reads=("pending",))
def settled_after_query(config: Config, before: Snapshot, command: Rank, outcome: object, after: Snapshot) -> Verdict:
    """A Rank that counted leaves nothing pending, so that the next one is O(1).  The text would allow a container that
    counts without applying.  Can not see: updates that the container does not count as pending."""
    if not (isinstance(outcome, Count) and outcome.value > 0):
        return VACUOUS
    return after.pending == 0 or Broken(f"{after.pending} updates pending after {command} -> {outcome}")


@step(THE_COST, on=(Rank, Slowest, Size, Find), reads=("pending", "work"))
def settled_query_is_constant(
    config: Config, before: Snapshot, command: Any, outcome: object, after: Snapshot
) -> Verdict:
    """With nothing pending, a Rank, Slowest, Size or Find takes a constant amount of work, however many cursors there
    are.  Can not see: time; work that the container does not count."""
    if before.pending:
        return VACUOUS
    work = after.work - before.work
    return 0 <= work <= SETTLED_QUERY_WORK or Broken(
        f"{command} took {work} with nothing pending; expected <= {SETTLED_QUERY_WORK}"
    )


@step(f"{SHIPPED}.updateCursor, 4.2.4: pending updates in a heap", on=UPDATES, reads=("pending", "work"))
def update_is_logarithmic(config: Config, before: Snapshot, command: Any, outcome: object, after: Snapshot) -> Verdict:
    """An Add, Move or Remove takes work of the order of the logarithm of the pending updates: 4 + 4 log2(pending + 2),
    the logarithm rounded up.  Can not see: time; work that the container does not count."""
    work = after.work - before.work
    bound = 4 + 4 * (before.pending + 1).bit_length()
    return 0 <= work <= bound or Broken(f"{command} took {work} with {before.pending} pending; expected <= {bound}")


# ---- Words of the laws ----------------------------------------------------------------------------------------------


def _tracked(now: Snapshot) -> list[tuple[int, int]]:
    return [row.position for row in now.cursors if row.position is not None]


def _rank(now: Snapshot, name: str) -> int:
    row = row_of(now.cursors, name)
    return 0 if row is None or row.position is None else at_or_before(now.cursors, row.position)


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


def _as_told(
    cursors: tuple[CursorRow, ...], command: Any, outcome: object, after: tuple[CursorRow, ...]
) -> tuple[CursorRow, ...]:
    """The cursors as they should be after a command, its own row built from what it said and answered."""
    if not isinstance(command, UPDATES) or isinstance(outcome, Absent):
        return cursors
    name = command.cursor
    others = [row for row in cursors if row.cursor != name]
    if isinstance(command, Remove):
        return tuple(others)
    if isinstance(command, Add):
        own = CursorRow(name, outcome.number if isinstance(outcome, Added) else 0, position_in(command))
    else:
        old, new = row_of(cursors, name), row_of(after, name)
        position = new.position if command.ledger is None and new is not None else position_in(command)
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
    removed_cursors_are_not_held,
    pending_is_bounded,
    settled_after_query,
    settled_query_is_constant,
    update_is_logarithmic,
)
