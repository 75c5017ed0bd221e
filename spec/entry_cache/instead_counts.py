"""entry_cache, laws 10: how expected reads move instead, where a deviation takes the place of a law about them.

A law here is claimed only where one of its deviations is in force, and says nothing about entries whose count another
deviation may move in another way: so most of them hold beside any other deviation.
"""

from __future__ import annotations

from typing import Any

from ..core import VACUOUS, Broken, Verdict, step, within
from . import naming as named
from .history import History
from .sight import ended, entered, entered_replay, stayed
from .words import (
    COMMANDS,
    PASSES,
    BeginRemoval,
    CloseCursor,
    Config,
    CursorRow,
    FailDelivery,
    FinishLoad,
    Get,
    Hit,
    Redeliver,
    Refused,
    Release,
    Seek,
    SetActive,
    Snapshot,
)

LEAVING = (CloseCursor, SetActive, Seek, BeginRemoval)
OTHERS = tuple([c for c in COMMANDS if c not in (Release, FailDelivery, Redeliver, Get, FinishLoad, *LEAVING, *PASSES)])
DYNAMIC_UPDATES = "PIP-430, High Level Design 2, Dynamic Updates"
READS = ("queue", "deliveries", "cursors")

# ---- What stays as it is ---------------------------------------------------------------------------------------------


@step(
    DYNAMIC_UPDATES,
    reads=READS,
    on=(Release, Redeliver),
    only=(
        *(named.LEAVER_PAYS_BACK, named.UNDELIVERED_RELEASE_FREE, named.COUNT_BELOW_ZERO),
        *(named.SECOND_PUT_REPLACES_COUNT, named.EVERY_COPY_COUNTS, named.READS_WITHOUT_STRATEGY),
    ),
    unless=(named.NO_COUNT_FROM_ZERO,),
)
def releases_and_replays_move_counts_as_ever(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A release takes one from the entry that the delivery was made from, if any are left, and a replay that is asked
    for adds one; other entries keep their counts."""
    return _moved_by_one(config, before, command, after)


@step(
    DYNAMIC_UPDATES,
    reads=READS,
    on=(FailDelivery,),
    only=(
        *(named.LEAVER_PAYS_BACK, named.NO_COUNT_FROM_ZERO, named.COUNT_BELOW_ZERO),
        *(named.SECOND_PUT_REPLACES_COUNT, named.EVERY_COPY_COUNTS, named.READS_WITHOUT_STRATEGY),
    ),
    unless=(named.UNDELIVERED_RELEASE_FREE,),
)
def failed_delivery_moves_counts_as_ever(
    config: Config, before: Snapshot, command: FailDelivery, outcome: Any, after: Snapshot
) -> Verdict:
    """A delivery that fails takes one from the entry that it was made from, if any are left, and adds one to the entry
    at its position where that enters the replay queue; other entries keep their counts."""
    released, replayed = _released(before, after), entered_replay(before, after, command)
    for was, now in stayed(before, after):
        moves = (was.key == replayed) - (was.serial == released)
        if moves and was.reads <= 0:
            continue  # deviations say differently what happens then
        if now.reads != was.reads + moves:
            return Broken(f"{was} expects {now.reads} reads afterwards, not {was.reads + moves}")
    return bool(released or replayed) or VACUOUS


@step(
    DYNAMIC_UPDATES,
    reads=("queue",),
    on=OTHERS,
    only=(
        *(named.COUNT_BELOW_ZERO, named.LEAVER_PAYS_BACK, named.UNDELIVERED_RELEASE_FREE, named.NO_COUNT_FROM_ZERO),
        *(named.SECOND_PUT_REPLACES_COUNT, named.EVERY_COPY_COUNTS, named.READS_WITHOUT_STRATEGY),
    ),
)
def no_other_command_moves_a_count(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """Reads, replays, appends, acknowledgements, newcomers, settings, the clock and forced removals move no count."""
    if not before.queue:
        return VACUOUS
    moved = [(was, now) for was, now in stayed(before, after) if was.reads != now.reads]
    return not moved or Broken(f"{type(command).__name__} moved counts: {moved}")


# ---- Releases and replays --------------------------------------------------------------------------------------------


@step(
    DYNAMIC_UPDATES,
    reads=READS,
    on=(FailDelivery,),
    only=(named.UNDELIVERED_RELEASE_FREE,),
    unless=(named.NO_COUNT_FROM_ZERO,),
)
def failed_delivery_takes_no_read(
    config: Config, before: Snapshot, command: FailDelivery, outcome: Any, after: Snapshot
) -> Verdict:
    """Under the strategy a delivery that fails takes no expected read; it adds one to the entry at its position where
    that enters the replay queue."""
    released, replayed = _released(before, after), entered_replay(before, after, command)
    if not config.by_expected_reads or not (released or replayed):
        return VACUOUS
    for was, now in stayed(before, after):
        if now.reads != was.reads + (was.key == replayed):
            return Broken(f"{was} expects {now.reads} reads afterwards")
    return True


@within(
    "shipped: EntryReadCountHandlerImpl.maybeCreate, 4.2.4",
    reads=READS,
    on=(Release, Redeliver, FailDelivery, Get, FinishLoad),
    only=(named.NO_COUNT_FROM_ZERO,),
)
def entry_that_came_without_reads_expects_none(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """An entry that came without expected reads expects none for as long as it stays; of the others a release takes
    one, if any are left, and a replay that is asked for adds one."""
    uncounted = _came_without_reads(past)
    counted = [item for item in after.queue if item.serial in uncounted and item.reads]
    if counted:
        return Broken(f"came without expected reads: {counted}")
    if isinstance(command, Release | Redeliver):
        return _moved_by_one(config, before, command, after, uncounted)
    return bool(uncounted) or VACUOUS


@within(
    "shipped: EntryReadCountHandlerImpl.markRead, 4.2.4",
    reads=READS,
    on=(Release,),
    only=(named.COUNT_BELOW_ZERO,),
)
def release_takes_one_below_zero_too(
    past: History, config: Config, before: Snapshot, command: Release, outcome: Any, after: Snapshot
) -> Verdict:
    """A release takes one from an entry that came with expected reads although none are left."""
    released = _released(before, after)
    return VACUOUS if released in _came_without_reads(past) else _taken_below_zero(released, before, after)


@within(
    "shipped: EntryReadCountHandlerImpl.markRead, 4.2.4",
    reads=READS,
    on=(Release,),
    only=(named.COUNT_BELOW_ZERO,),
    unless=(named.NO_COUNT_FROM_ZERO,),
)
def count_that_began_at_zero_goes_below_it(
    past: History, config: Config, before: Snapshot, command: Release, outcome: Any, after: Snapshot
) -> Verdict:
    """Under the strategy a release takes one from an entry that came without expected reads, though it has none."""
    released = _released(before, after)
    if not config.by_expected_reads or released not in _came_without_reads(past):
        return VACUOUS
    return _taken_below_zero(released, before, after)


@step(
    "shipped: EntryImpl.create(Entry), decreaseReadCountOnRelease defaults to true, 4.2.4",
    reads=("queue",),
    on=(Get,),
    only=(named.EVERY_COPY_COUNTS,),
)
def lookup_takes_a_read(config: Config, before: Snapshot, command: Get, outcome: Any, after: Snapshot) -> Verdict:
    """A lookup that hits takes one expected read from the entry that it finds, if any are left; no other entry's count
    moves."""
    if not isinstance(outcome, Hit):
        return VACUOUS
    asked = False
    for was, now in stayed(before, after):
        found = was.key == (command.topic, command.ledger, command.entry)
        if found and was.reads <= 0:
            continue
        asked = asked or found
        if now.reads != was.reads - found:
            return Broken(f"{was} expects {now.reads} reads after a lookup, not {was.reads - found}")
    return asked or VACUOUS


@step(
    "shipped: ManagedCursorImpl.getNumberOfCursorsAtSamePositionOrBefore, 4.2.4",
    reads=READS,
    on=(Redeliver, FinishLoad),
    only=(named.READS_WITHOUT_STRATEGY,),
    unless=(named.NO_COUNT_FROM_ZERO,),
)
def reads_are_counted_without_the_strategy_too(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """Without the strategy too, a replay that is asked for adds one expected read to the entry at its position; and an
    entry that a load puts into the cache starts with one."""
    if config.by_expected_reads:
        return VACUOUS
    replayed = entered_replay(before, after, command) if isinstance(command, Redeliver) else None
    met = [(was.reads, now) for was, now in stayed(before, after) if was.key == replayed]
    met += [(0, item) for item in entered(before, after)]
    wrong = [now for reads, now in met if now.reads != reads + 1]
    if wrong:
        return Broken(f"one more read should be expected: {wrong}")
    return bool(met) or VACUOUS


# ---- Leavers ---------------------------------------------------------------------------------------------------------


@step("ours: what a leaver owes; PIP-430 is silent", reads=READS, on=LEAVING, only=(named.LEAVER_PAYS_BACK,))
def leaver_takes_back_what_it_had_yet_to_read(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """An active cursor that is closed, jumps or turns inactive takes one off the count of each entry that it had yet to
    read, and one for each replay that it forgets, never below zero; other counts stay."""
    leaving = [] if isinstance(outcome, Refused) else [row for row in before.cursors if _leaves(row, command)]
    asked = False
    for was, now in stayed(before, after):
        owed = 0
        for row in leaving:
            if row.topic == was.topic:
                forgets = not isinstance(command, SetActive) and was.position in row.replays
                owed += (row.read <= was.position) + forgets
        asked = asked or owed > 0
        expected = min(was.reads, max(0, was.reads - owed))
        if now.reads != expected:
            return Broken(f"{was} expects {now.reads} reads afterwards, not {expected}")
    return asked or VACUOUS


def _leaves(row: CursorRow, command: Any) -> bool:
    """Whether an active cursor leaves, or jumps, by a command that is carried out."""
    if isinstance(command, BeginRemoval):
        return row.active and command.what == "topic" and row.topic == command.topic
    turns = not isinstance(command, SetActive) or not command.active
    return row.active and turns and row[:2] == (command.topic, command.cursor)


# ---- What they have in common ----------------------------------------------------------------------------------------


def _released(before: Snapshot, after: Snapshot) -> int:
    """The serial of the entry that the delivery was made from which ended in this step; 0 for none."""
    delivery = ended(before, after)
    return 0 if delivery is None else delivery.serial


def _came_without_reads(past: History) -> set[int]:
    """The serials of the resident entries that came without expected reads."""
    return {life.serial for life in past.lives.values() if life.came_without_reads}


def _moved_by_one(
    config: Config, before: Snapshot, command: Any, after: Snapshot, uncounted: set[int] | None = None
) -> Verdict:
    """Whether a release took one and a replay added one, uncounted entries left aside.  An entry that expects nothing
    is asked about only where it is surely counted."""
    released, replayed = _released(before, after), entered_replay(before, after, command)
    for was, now in stayed(before, after):
        moves = (was.key == replayed) - (was.serial == released)
        at_zero = was.serial == released and was.reads <= 0
        unsure = was.reads == 0 and not config.by_expected_reads
        if at_zero or (moves and (unsure or was.serial in (uncounted or ()))):
            continue
        if now.reads != was.reads + moves:
            return Broken(f"{was} expects {now.reads} reads afterwards, not {was.reads + moves}")
    return bool(released or replayed) or VACUOUS


def _taken_below_zero(serial: int, before: Snapshot, after: Snapshot) -> Verdict:
    """Whether one was taken from an entry although it expects nothing."""
    for was, now in stayed(before, after):
        if was.serial == serial and was.reads <= 0:
            return now.reads == was.reads - 1 or Broken(f"{was} expects {now.reads} reads after a release")
    return VACUOUS


LAWS = (
    releases_and_replays_move_counts_as_ever,
    failed_delivery_moves_counts_as_ever,
    no_other_command_moves_a_count,
    failed_delivery_takes_no_read,
    entry_that_came_without_reads_expects_none,
    release_takes_one_below_zero_too,
    count_that_began_at_zero_goes_below_it,
    lookup_takes_a_read,
    reads_are_counted_without_the_strategy_too,
    leaver_takes_back_what_it_had_yet_to_read,
)
