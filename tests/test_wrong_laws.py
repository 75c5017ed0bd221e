"""Laws that sound right and are not: each is broken by the reference itself, on a committed case of a few commands.

They stand in docs/pip-430.md, because a reader of the proposal would believe them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from brokerlaw.driver.checker import run
from brokerlaw.reference.table import Entry, entry_named
from brokerlaw.spec import cursor_ranks as ranks
from brokerlaw.spec.core import VACUOUS, Broken, Case, Law, System, Verdict, always, read_case, step
from brokerlaw.spec.entry_cache import words as cache

# ---- entry_cache ----------------------------------------------------------------------------------------------------


@step("PIP-430, Configuration", on=(cache.EvictionCheck,), reads=("queue", "settings"))
def an_entry_stays_two_ttl_where_access_extends(
    config: Any, before: cache.Snapshot, command: Any, outcome: Any, after: cache.Snapshot
) -> Verdict:
    """Where recent access extends, the minimum eviction time is 2 x ttl."""
    left = {item.serial for item in after.queue}
    ages = [after.now_ms - item.ts_ms for item in before.queue if item.serial not in left]
    if not ages or not before.settings.extend_accessed:
        return VACUOUS
    return min(ages) >= 2 * before.settings.ttl_ms or Broken(f"gone at age {min(ages)}")


@step("PIP-430, Goals", on=(cache.SizePass,), reads=("queue",))
def a_size_pass_keeps_what_is_expected_to_be_read(
    config: Any, before: cache.Snapshot, command: Any, outcome: Any, after: cache.Snapshot
) -> Verdict:
    """A size pass removes no entry that somebody is still expected to read."""
    left = {item.serial for item in after.queue}
    lost = [item.serial for item in before.queue if item.reads > 0 and item.serial not in left]
    return not lost or Broken(f"removed with expected reads: serials {lost}")


@step("PIP-430, Detailed Design 4, OpAddEntry", on=(cache.Append,), reads=("cursors",))
def an_append_is_cached_for_active_cursors_only(
    config: Any, before: cache.Snapshot, command: cache.Append, outcome: Any, after: cache.Snapshot
) -> Verdict:
    """An appended entry is cached if, and only if, its topic has an active cursor."""
    active = any(cursor.active for cursor in before.cursors if cursor.topic == command.topic)
    return outcome.cached == active or Broken(f"{outcome} with {before.cursors}")


@always("PIP-430, High Level Design 2", reads=("queue", "cursors", "deliveries"))
def the_count_is_the_reads_that_can_still_happen(config: Any, now: cache.Snapshot) -> Verdict:
    """While no cursor leaves, jumps or turns inactive, an entry's count is the number of reads that can still happen:
    active cursors that have yet to read it, its open deliveries, replays that wait for it."""
    for item in now.queue:
        position = (item.ledger, item.entry)
        mine = [cursor for cursor in now.cursors if cursor.topic == item.topic]
        to_come = sum(cursor.active and cursor.read <= position for cursor in mine)
        replays = sum(position in cursor.replays for cursor in mine)
        possible = to_come + replays + sum(delivery.serial == item.serial for delivery in now.deliveries)
        if item.reads != possible:
            return Broken(f"serial {item.serial} expects {item.reads}; {possible} can still happen")
    return True


# ---- cursor_ranks ---------------------------------------------------------------------------------------------------


@step("PIP-430, Detailed Design 3", on=(ranks.Rank,), reads=("cursors",))
def the_slowest_cursor_has_rank_one(
    config: Any, before: ranks.Snapshot, command: ranks.Rank, outcome: Any, after: ranks.Snapshot
) -> Verdict:
    """Ranks are the places 1 to n, so that the slowest cursor has rank 1."""
    places = {row.cursor: row.position for row in before.cursors if row.position is not None}
    if command.cursor not in places or places[command.cursor] != min(places.values()):
        return VACUOUS
    return outcome == ranks.Count(1) or Broken(f"the slowest cursor has {outcome}")


@step("PIP-430, Detailed Design 3", on=(ranks.Rank,), reads=("cursors",))
def the_foremost_cursor_has_rank_size(
    config: Any, before: ranks.Snapshot, command: ranks.Rank, outcome: Any, after: ranks.Snapshot
) -> Verdict:
    """The rank of the foremost cursor is the number of cursors."""
    places = {row.cursor: row.position for row in before.cursors if row.position is not None}
    if command.cursor not in places or places[command.cursor] != max(places.values()):
        return VACUOUS
    return outcome == ranks.Count(len(before.cursors)) or Broken(f"{outcome} of {len(before.cursors)} cursors")


# ---- Each is broken, and shortly ------------------------------------------------------------------------------------

WRONG: dict[str, Law] = {
    "entry_cache/two-ttl": an_entry_stays_two_ttl_where_access_extends,
    "entry_cache/size-pass-keeps-expected": a_size_pass_keeps_what_is_expected_to_be_read,
    "entry_cache/append-needs-a-cursor": an_append_is_cached_for_active_cursors_only,
    "entry_cache/late-cursor": the_count_is_the_reads_that_can_still_happen,
    "entry_cache/acknowledged-replay": the_count_is_the_reads_that_can_still_happen,
    "cursor_ranks/shared-position": the_slowest_cursor_has_rank_one,
    "cursor_ranks/untracked-cursor": the_foremost_cursor_has_rank_size,
}
FOLDER = Path("cases/pip-430/wrong-laws")


def _read(path: Path) -> tuple[Case, Entry]:
    found = entry_named(path.parent.name)
    assert found is not None
    return read_case(path.read_bytes(), lambda name: found.system if name == found.name else None, path.name), found


def _breaks(entry: Entry, law: Law, case: Case) -> bool:
    """Whether the reference breaks a law on a case, while it obeys all of its own."""
    system: System = evolve(entry.system, laws=(*entry.system.laws, law))
    broken = {breach.law for breach in run(system, entry.reference(), case).breaches}
    assert broken <= {law.name}
    return bool(broken)


@pytest.mark.parametrize("name", WRONG)
def test_a_plausible_law_is_broken_by_the_reference(root: Path, name: str) -> None:
    case, entry = _read(root / FOLDER / f"{name}.json")
    assert _breaks(entry, WRONG[name], case)


@pytest.mark.parametrize("name", WRONG)
def test_no_command_of_its_case_can_be_dropped(root: Path, name: str) -> None:
    case, entry = _read(root / FOLDER / f"{name}.json")
    for place in range(len(case.commands)):
        shorter = case.with_commands(case.commands[:place] + case.commands[place + 1 :])
        assert not _breaks(entry, WRONG[name], shorter), f"without {case.commands[place]} it breaks all the same"


def test_every_committed_case_has_its_law(root: Path) -> None:
    found = {f"{path.parent.name}/{path.stem}" for path in (root / FOLDER).glob("*/*.json")}
    assert found == set(WRONG)
    assert {name.partition("/")[0] for name in found} == {"entry_cache", "cursor_ranks"}
