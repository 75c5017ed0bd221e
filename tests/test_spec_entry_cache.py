"""The model of entry_cache, by example: each behaviour that the proposal names, in a few commands."""

from __future__ import annotations

from typing import Any

import pytest

from brokerlaw.driver.checker import run
from brokerlaw.driver.loop import Job, drawn_case
from brokerlaw.driver.swarm import MAX_DRAIN
from brokerlaw.reference.entry_cache import EntryCache
from brokerlaw.spec.core import TEXT_DIALECT, Broken, Case
from brokerlaw.spec.entry_cache import ENTRY_CACHE
from brokerlaw.spec.entry_cache import words as w
from brokerlaw.spec.entry_cache.rules import (
    bytes_to_free,
    is_expired,
    laps,
    scheduled_bound_ms,
    trigger_bytes,
    unaccessed_bound_ms,
    watermark_bytes,
)

MODEL = ENTRY_CACHE.model
CHECK = (w.Tick(1_000), w.EvictionCheck())


def after(config: w.Config, *commands: Any) -> tuple[w.Snapshot, Any]:
    """What an observer sees after commands, and the last outcome; the reference must agree all the way."""
    case = Case(ENTRY_CACHE.name, config, commands)
    assert run(ENTRY_CACHE, EntryCache(), case).breach is None
    state, outcome = MODEL.start(config), None
    for command in commands:
        state, outcome = MODEL.step(config, state, command, TEXT_DIALECT)
    return MODEL.view(state), outcome


# ---- Arithmetic -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("most", "percent", "mark"), [(100, 90, 90), (100, 29, 28), (50, 29, 14), (0, 90, 0)])
def test_the_watermark_is_what_doubles_make_of_it(most: int, percent: int, mark: int) -> None:
    assert watermark_bytes(most, percent) == mark


def test_nothing_is_to_be_freed_at_the_trigger_and_down_to_the_watermark_above_it() -> None:
    assert trigger_bytes(100) == 98
    assert bytes_to_free(98, 100, 90) == 0
    assert bytes_to_free(99, 100, 90) == 9


def test_a_watermark_above_the_total_leaves_nothing_to_free() -> None:
    assert bytes_to_free(99, 100, 100) == 0


def test_exactly_as_old_as_the_ttl_is_not_expired() -> None:
    assert not is_expired(0, 10, 10)
    assert is_expired(0, 11, 10)


def test_rounds_by_access_spend_from_the_same_budget() -> None:
    assert laps(True, True, True, 1, 0, 5) == 5
    assert laps(True, True, True, 1, 5, 5) == 1
    assert laps(True, True, True, 0, 0, 5) == 1
    assert laps(False, True, False, 3, 0, 5) == 0


def test_the_exact_bound_meets_the_simple_one_where_the_interval_divides_the_ttl() -> None:
    for interval in range(1, 12):
        for ttl in range(0, 40):
            exact, simple = scheduled_bound_ms(ttl, interval, 3), unaccessed_bound_ms(ttl, interval, 3)
            assert exact <= simple
            assert (exact == simple) == (ttl % interval == 0)


# ---- Expected reads -------------------------------------------------------------------------------------------------


def test_an_append_expects_every_active_cursor_and_a_release_takes_one() -> None:
    opened = (w.OpenCursor("t0", "c0", "latest"), w.OpenCursor("t0", "c1", "latest"), w.Append("t0", 7))
    seen, outcome = after(w.Config(), *opened)
    assert (outcome, seen.queue[0].reads) == (w.Appended(0, 0, True), 2)
    seen, outcome = after(w.Config(), *opened, w.Read("t0", "c0", 3))
    assert outcome == w.Delivered(0, (0,), ((0, 0, 7),), True)
    assert (seen.queue[0].reads, seen.queue[0].accessed) == (2, True)
    seen, _ = after(w.Config(), *opened, w.Read("t0", "c0", 3), w.Release("t0", "c0", 0, 0))
    assert seen.queue[0].reads == 1


def test_a_failed_delivery_is_expected_again_and_counted_once() -> None:
    begun = (w.OpenCursor("t0", "c0", "latest"), w.Append("t0", 7), w.Read("t0", "c0", 1))
    seen, _ = after(w.Config(), *begun, w.FailDelivery("t0", "c0", 0, 0))
    assert (seen.queue[0].reads, seen.cursors[0].replays) == (1, ((0, 0),))
    seen, _ = after(
        w.Config(), *begun, w.FailDelivery("t0", "c0", 0, 0), w.Replay("t0", "c0", 0, 0), w.Release("t0", "c0", 0, 0)
    )
    assert (seen.queue[0].reads, seen.cursors[0].replays) == (0, ())


def test_a_leaving_cursor_pays_nothing_back_and_the_budget_bounds_what_is_stale() -> None:
    config = w.Config(ttl_ms=10, check_interval_ms=10, max_extensions=2, extend_accessed=False)
    left = (w.OpenCursor("t0", "c0", "latest"), w.Append("t0", 1), w.CloseCursor("t0", "c0"))
    seen, _ = after(config, *left)
    assert seen.queue[0].reads == 1
    checks = unaccessed_bound_ms(10, 10, 2) // 10
    seen, _ = after(config, *left, *(CHECK * (checks - 1)))
    assert [item.extensions for item in seen.queue] == [2]
    seen, outcome = after(config, *left, *(CHECK * checks))
    assert (seen.queue, outcome) == ((), w.Evicted(1, 1, 0, 0))


def test_a_loaded_entry_expects_those_that_have_yet_to_read_it() -> None:
    config = w.Config(continue_caching_ms=0)
    seen, outcome = after(
        config,
        w.Append("t0", 4),
        w.Append("t0", 5),
        w.OpenCursor("t0", "c0", "earliest"),
        w.OpenCursor("t0", "c1", "earliest"),
        w.Seek("t0", "c1", 0, 1),
        w.Read("t0", "c0", 2),
        w.FinishLoad("t0", "c0"),
    )
    assert outcome == w.Delivered(0, (0, 1), ((0, 0, 4), (0, 1, 5)), False)
    assert [item.reads for item in seen.queue] == [1, 2]
    assert {item.buffer_bytes for item in seen.queue} == {9}


# ---- Passes ---------------------------------------------------------------------------------------------------------


def test_a_size_pass_takes_the_oldest_whatever_its_topic_and_stops_when_it_has_enough() -> None:
    config = w.Config(max_size_bytes=100, watermark_percent=50)
    appends = [w.Append(topic, 20) for topic in ("t0", "t1", "t0", "t2", "t1")]
    seen, outcome = after(config, *appends, w.SizePass())
    assert outcome == w.Evicted(0, 0, 3, 60)
    assert [(item.topic, item.entry) for item in seen.queue] == [("t2", 0), ("t1", 1)]


def test_a_size_pass_comes_round_until_even_entitled_entries_go() -> None:
    config = w.Config(max_size_bytes=20, watermark_percent=10, max_extensions=3)
    seen, outcome = after(
        config, w.OpenCursor("t0", "c0", "latest"), w.Append("t0", 10), w.Append("t0", 10), w.SizePass()
    )
    assert outcome == w.Evicted(0, 0, 2, 20)
    assert seen.queue == ()


def test_an_accessed_entry_outlives_an_unread_one() -> None:
    config = w.Config(ttl_ms=5, check_interval_ms=10)
    seen, outcome = after(config, w.Append("t0", 1), w.Append("t0", 1), w.Get("t0", 0, 0), *CHECK)
    assert outcome == w.Evicted(1, 1, 0, 0)
    assert [(item.entry, item.ts_ms, item.accessed, item.extensions) for item in seen.queue] == [(0, 10, False, 1)]


def test_a_cache_that_is_turned_off_takes_nothing_and_empties_at_the_next_check() -> None:
    seen, outcome = after(w.Config(), w.Append("t0", 1), w.SetMaxSize(0), w.Append("t0", 1))
    assert outcome == w.Appended(0, 1, False)
    seen, _ = after(w.Config(), w.Append("t0", 1), w.SetMaxSize(0), *CHECK)
    assert seen.queue == ()


# ---- Removal by other means -----------------------------------------------------------------------------------------


def test_a_forced_removal_ignores_entitlement_and_spares_a_later_entry_at_the_same_position() -> None:
    config = w.Config(max_size_bytes=10, watermark_percent=10, continue_caching_ms=0)
    begin = (
        w.OpenCursor("t0", "c0", "latest"),
        w.Append("t0", 10),
        w.BeginRemoval("entry", "t0", 0, 0),
        w.SizePass(),
        w.Read("t0", "c0", 1),
        w.FinishLoad("t0", "c0"),
    )
    seen, outcome = after(config, *begin, w.FinishRemoval("entry", "t0", 0, 0))
    assert outcome == w.Removed(0, 0)
    assert [item.serial for item in seen.queue] == [2]


def test_a_deleted_ledger_is_gone_from_the_log_and_its_loads_fail() -> None:
    config = w.Config(continue_caching_ms=0)
    seen, outcome = after(
        config,
        w.Append("t0", 1),
        w.RollLedger("t0"),
        w.OpenCursor("t0", "c0", "earliest"),
        w.Read("t0", "c0", 1),
        w.BeginRemoval("ledger", "t0", 0, 0),
        w.FinishLoad("t0", "c0"),
    )
    assert outcome == w.Refused(w.LEDGER_GONE)
    assert seen.topics[0].ledgers == ((1, 0),)


def test_without_the_strategy_entries_go_behind_the_slowest_cursor() -> None:
    config = w.Config(by_expected_reads=False)
    seen, _ = after(
        config,
        w.OpenCursor("t0", "c0", "latest"),
        w.OpenCursor("t0", "c1", "latest"),
        w.Append("t0", 1),
        w.Append("t0", 1),
        w.Read("t0", "c0", 2),
        w.Read("t0", "c1", 1),
    )
    assert [item.entry for item in seen.queue] == [1]
    assert seen.tombstones == 1


# ---- The model as a whole -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(40))
def test_every_drawn_case_runs_comes_to_rest_and_has_hashable_states(number: int) -> None:
    job = Job(ENTRY_CACHE, EntryCache, "reference", seed=5)
    case = drawn_case(job, number)
    state = MODEL.start(case.config)
    for command in case.commands:
        state, _ = MODEL.step(case.config, state, command, TEXT_DIALECT)
    for _ in range(MAX_DRAIN):
        command = MODEL.drain(case.config, state)
        if command is None:
            break
        assert MODEL.enabled(case.config, state, command)
        state, _ = MODEL.step(case.config, state, command, TEXT_DIALECT)
    assert not state.deliveries
    assert not state.removals
    assert {state: 1}[MODEL.step(case.config, state, w.SizePass(), TEXT_DIALECT)[0]._replace(**state._asdict())] == 1
    assert {MODEL.canonical(state)} == {MODEL.canonical(state._replace(counters=w.Counters(9, 9, 9, 9)))}


def test_states_that_nothing_can_tell_apart_have_one_canonical_form() -> None:
    config = w.Config(ttl_ms=3, check_interval_ms=5, extend_accessed=False)
    once, twice = MODEL.start(config), MODEL.start(config)
    for command in (w.Append("t0", 2), w.Tick(5), w.EvictionCheck()):
        once, _ = MODEL.step(config, once, command, TEXT_DIALECT)
        twice, _ = MODEL.step(config, twice, command, TEXT_DIALECT)
    for command in (w.Tick(5), w.EvictionCheck()):
        twice, _ = MODEL.step(config, twice, command, TEXT_DIALECT)
    assert once != twice
    left = [topic.left_ms for topic in twice.topics]
    assert left == [0, 0, 0, 0]
    shifted = twice._replace(topics=tuple(topic._replace(left_ms=5) for topic in twice.topics))
    assert MODEL.canonical(once) == MODEL.canonical(shifted)


@pytest.mark.parametrize(
    ("window_ms", "reopens"), [(4, w.ClockBack(1)), (None, w.SetTtl(3))], ids=["clock back", "larger ttl"]
)
def test_states_whose_caching_windows_are_over_are_still_two(window_ms: int | None, reopens: Any) -> None:
    config = w.Config(ttl_ms=2, continue_caching_ms=window_ms, check_interval_ms=100)
    states = []
    for since_ms in (4, 6):
        state, _ = MODEL.step(config, MODEL.start(config), w.Tick(since_ms), TEXT_DIALECT)
        state, outcome = MODEL.step(
            config, state._replace(next_check_ms=state.now_ms + 9), w.Append("t0", 1), TEXT_DIALECT
        )
        assert outcome == w.Appended(0, 0, False)
        states.append(state)
    reopened = [MODEL.step(config, state, reopens, TEXT_DIALECT)[0] for state in states]
    cached = [MODEL.step(config, state, w.Append("t0", 1), TEXT_DIALECT)[1].cached for state in reopened]
    assert cached == [True, False]
    assert MODEL.canonical(states[0]) != MODEL.canonical(states[1])


def test_the_model_suggests_only_commands_that_it_calls_enabled() -> None:
    job = Job(ENTRY_CACHE, EntryCache, "reference", seed=6)
    refused = {w.NO_CURSOR, w.NO_DELIVERY, w.NO_LOAD, w.NOT_REPLAYING, w.NO_REMOVAL}
    for number in range(30):
        case = drawn_case(job, number)
        state = MODEL.start(case.config)
        for command in case.commands:
            enabled = MODEL.enabled(case.config, state, command)
            state, outcome = MODEL.step(case.config, state, command, TEXT_DIALECT)
            if enabled and isinstance(outcome, w.Refused):
                assert outcome.why not in refused, (command, outcome)


# ---- Refusals -------------------------------------------------------------------------------------------------------

DELETED = (w.Append("t0", 1), w.RollLedger("t0"), w.BeginRemoval("ledger", "t0", 0, 0))
LOADS = (*DELETED[:2], w.OpenCursor("t0", "c0", "earliest"), w.Read("t0", "c0", 1), DELETED[2])
UNCACHED = w.Config(continue_caching_ms=0)


@pytest.mark.parametrize(
    ("config", "commands", "command", "first", "other", "law"),
    [
        (w.Config(), DELETED, DELETED[2], w.UNDER_WAY, w.LEDGER_GONE, "removal_is_refused_for_the_first_reason"),
        (UNCACHED, LOADS, LOADS[3], w.LOADING, w.CAUGHT_UP, "cursor_command_is_refused_for_the_first_reason"),
    ],
)
def test_of_two_reasons_to_refuse_the_first_is_named(
    config: w.Config, commands: tuple[Any, ...], command: Any, first: str, other: str, law: str
) -> None:
    seen, outcome = after(config, *commands, command)
    assert outcome == w.Refused(first)
    check = ENTRY_CACHE.law_named[law].check
    assert check(config, seen, command, w.Refused(first), seen) is True
    for why in (other, w.NOT_DUE):
        assert check(config, seen, command, w.Refused(why), seen) == Broken(
            f"{command} was refused with {why!r}; the reason is {first!r}"
        )
