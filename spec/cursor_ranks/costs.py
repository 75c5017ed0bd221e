"""cursor_ranks, part 4: what it may cost.

The proposal says that the count is O(1) to get; that updates are collected, and what they cost, is the rule of the code
that shipped, and marked so.  Work is counted by the container itself: laws bound it from above, by its order and with
constants, and from below, since a container that counts nothing would keep every bound.
"""

from __future__ import annotations

from typing import Any

from ..core import VACUOUS, Broken, Verdict, always, step, within
from .sight import SHIPPED, UPDATES, History, tracked_in
from .words import Add, Added, At, Config, Count, Done, Find, Move, Rank, RankAt, Size, Slowest, Snapshot

THE_COST = "PIP-430, Detailed Design 3, 3rd sentence"
THE_SETTING = "ours: the words of rebuild_percent; the text does not say what settling costs"

SETTLED_QUERY_WORK = 4  # a look at the cursor's node or the list's head, with room for a check or two
LINGERING = 2  # removed cursors that may be held beyond the bound, for containers that clean up in small batches

# ---- What waits and what is kept ------------------------------------------------------------------------------------


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


# ---- What an answer or an update costs ------------------------------------------------------------------------------


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


@step("ours: the unit of work is a position comparison or a node visit", reads=("work",))
def nothing_is_for_free(config: Config, before: Snapshot, command: Any, outcome: object, after: Snapshot) -> Verdict:
    """An Add or a Move to a position, and a Rank, RankAt or Slowest that found a cursor take work: each had to look at
    a node, and looking one up is one visit.  Can not see: how much of what was done was counted."""
    if not _looked_at_a_cursor(command, outcome):
        return VACUOUS
    return after.work > before.work or Broken(f"{command} -> {outcome} took {after.work - before.work}; expected some")


# ---- What settling costs --------------------------------------------------------------------------------------------


@step(THE_SETTING, on=(Rank, RankAt, Slowest), reads=("cursors", "pending", "rebuilds"))
def many_updates_are_applied_by_a_rebuild(
    config: Config, before: Snapshot, command: Any, outcome: object, after: Snapshot
) -> Verdict:
    """A Rank, RankAt or Slowest that settles rebuilds once if what was pending is at least `rebuild_percent` of the
    tracked cursors, and not at all if it is less.  Can not see: what a rebuild is, only that it is said to be one."""
    if not _settled(before, after):
        return VACUOUS
    tracked, rebuilds = len(tracked_in(before)), after.rebuilds - before.rebuilds
    expected = 1 if before.pending * 100 >= config.rebuild_percent * tracked else 0
    if rebuilds == expected:
        return True
    share = f"{before.pending} pending for {tracked} tracked, {config.rebuild_percent} percent"
    return Broken(f"{command} took {rebuilds} rebuilds with {share}; expected {expected}")


@step(THE_SETTING, reads=("pending", "rebuilds"))
def nothing_but_settling_rebuilds(
    config: Config, before: Snapshot, command: Any, outcome: object, after: Snapshot
) -> Verdict:
    """No update rebuilds, nor does a Size or a Find, nor a question that finds nothing pending."""
    if isinstance(command, (Rank, RankAt, Slowest)) and before.pending:
        return VACUOUS
    return after.rebuilds == before.rebuilds or Broken(
        f"{after.rebuilds - before.rebuilds} rebuilds by {command} with {before.pending} pending; expected none"
    )


@step(THE_SETTING, on=(Rank, Slowest), reads=("pending", "held", "work", "rebuilds"))
def walking_costs_the_others_for_each_pending(
    config: Config, before: Snapshot, command: Any, outcome: object, after: Snapshot
) -> Verdict:
    """Settling p pending updates one by one, with n cursors held, takes at most 4 p (n - 1) + p + 2 p log2(p), the
    logarithm rounded down, and what the answer itself may take: each is found, and passes the others twice at most, to
    mend what a removal left and to move, a visit and a comparison each.  Can not see: time; work that the container
    does not count."""
    if not _settled(before, after) or after.rebuilds != before.rebuilds:
        return VACUOUS
    bound = before.pending * (4 * (before.held - 1) + 1) + _sorting(before.pending)
    return _within(bound, before, command, after)


@step(THE_SETTING, on=(Rank, Slowest), reads=("cursors", "pending", "work", "rebuilds"))
def rebuilding_costs_the_tracked_once(
    config: Config, before: Snapshot, command: Any, outcome: object, after: Snapshot
) -> Verdict:
    """Settling p pending updates by a rebuild, with n tracked cursors, takes at most 4 n + n log2(n) + p + 2 p log2(p),
    the logarithms rounded down, and what the answer itself may take: a rebuild may sort all that are tracked, and puts
    each in its place and counts it once, a visit and a comparison each, whatever is pending.  Can not see: time; work
    that the container does not count."""
    if not _settled(before, after) or after.rebuilds == before.rebuilds:
        return VACUOUS
    tracked = len(tracked_in(before))
    bound = 4 * tracked + tracked * _log2(tracked) + before.pending + _sorting(before.pending)
    return _within(bound, before, command, after)


@step(THE_SETTING, on=(Rank, RankAt, Slowest), reads=("pending", "work"))
def settling_looks_at_all_that_was_pending(
    config: Config, before: Snapshot, command: Any, outcome: object, after: Snapshot
) -> Verdict:
    """Settling takes work, one unit at least for each update that is no longer pending.  Can not see: how much of what
    was done was counted."""
    if not _settled(before, after):
        return VACUOUS
    settled, work = before.pending - after.pending, after.work - before.work
    return work >= settled or Broken(f"{command} settled {settled} updates and took {work}; expected >= {settled}")


# ---- Words of this part ---------------------------------------------------------------------------------------------


def _settled(before: Snapshot, after: Snapshot) -> bool:
    return after.pending < before.pending


def _sorting(pending: int) -> int:
    """What it takes at most to get p updates from a heap in order."""
    return 2 * pending * _log2(pending)


def _log2(number: int) -> int:
    """The logarithm rounded down; 0 for none."""
    return max(1, number).bit_length() - 1


def _within(bound: int, before: Snapshot, command: object, after: Snapshot) -> Verdict:
    work, most = after.work - before.work, bound + SETTLED_QUERY_WORK
    return work <= most or Broken(f"{command} took {work} with {before.pending} pending; expected <= {most}")


def _looked_at_a_cursor(command: object, outcome: object) -> bool:
    match command, outcome:
        case (Add(_, ledger), Added()) | (Move(_, ledger), Done()):
            return ledger is not None
        case (Rank() | RankAt(), Count(value)):
            return value > 0
        case (Slowest(), At(position)):
            return position is not None
    return False


COSTS = (
    removed_cursors_are_not_held,
    pending_is_bounded,
    settled_after_query,
    settled_query_is_constant,
    update_is_logarithmic,
    nothing_is_for_free,
    many_updates_are_applied_by_a_rebuild,
    nothing_but_settling_rebuilds,
    walking_costs_the_others_for_each_pending,
    rebuilding_costs_the_tracked_once,
    settling_looks_at_all_that_was_pending,
)
