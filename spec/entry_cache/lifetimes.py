"""entry_cache, laws 3: how long an entry stays.

All of them at constant settings and a clock that never stepped back; an entry that was removed by force or by the
cursors says nothing here.  δ is the interval between two checks; checks come on time (the clock waits for them).
"""

from __future__ import annotations

from typing import Any

from ..core import VACUOUS, Broken, Verdict, within
from .history import History, Life
from .rules import (
    after_access_bound_ms,
    expected_least_ms,
    idle_bound_ms,
    scheduled_bound_ms,
    unaccessed_bound_ms,
)
from .words import Config, Evicted, EvictionCheck, Snapshot

READS = ("queue", "settings", "now_ms")


@within(
    "PIP-430, Configuration, managedLedgerCacheEvictionTimeThresholdMillis",
    reads=READS,
    on=(EvictionCheck,),
    follows_from=(
        "time_pass_acts_on_the_expired_prefix",
        "expired_entry_is_requeued_iff_entitled",
        "checks_come_at_their_interval",
        "no_size_pass_at_or_below_the_trigger",
        "hit_marks_accessed_and_nothing_else",
    ),
)
def idle_entry_stays_ttl_and_at_most_one_interval_more(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """An entry that nobody expects to read and nobody reads stays at most ttl + δ, and, while no size pass runs, longer
    than ttl."""
    if not past.steady or not isinstance(outcome, Evicted):
        return VACUOUS
    ttl_ms, now_ms = before.settings.ttl_ms, after.now_ms
    idle = [life for life in _lives(past) if not (life.was_accessed or life.expected_ever)]
    ended = [life for life in idle if life.serial in past.ended and not life.size_pass]
    early = [life for life in ended if now_ms - life.born_ms <= ttl_ms]
    if early:
        return Broken(f"serial {early[0].serial} went at age {now_ms - early[0].born_ms}, though ttl is {ttl_ms}")
    bound_ms = idle_bound_ms(ttl_ms, past.check_gap_ms())
    return _gone_in_time(past, [(life, now_ms - life.born_ms, bound_ms) for life in idle])


@within(
    "PIP-430, Configuration, …WithRemainingExpectedReadsMaxTimes",
    reads=READS,
    on=(EvictionCheck,),
    follows_from=(
        "extensions_by_expected_reads_are_bounded",
        "expired_entry_is_requeued_iff_entitled",
        "time_pass_acts_on_the_expired_prefix",
        "checks_come_at_their_interval",
        "hit_marks_accessed_and_nothing_else",
    ),
)
def unread_entry_is_gone_by_its_budget(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """An entry that nobody reads is gone by (M + 1)(ttl + δ) after it came, whatever reads are still expected of it,
    stale ones included, size passes or not."""
    if not past.steady or not isinstance(outcome, Evicted):
        return VACUOUS
    settings = before.settings
    bound_ms = unaccessed_bound_ms(settings.ttl_ms, past.check_gap_ms(), settings.max_extensions)
    unread = [life for life in _lives(past) if life.expected_ever and not life.was_accessed]
    return _gone_in_time(past, [(life, after.now_ms - life.born_ms, bound_ms) for life in unread])


@within(
    "PIP-430, Configuration, …WithRemainingExpectedReadsMaxTimes",
    reads=READS,
    on=(EvictionCheck,),
    follows_from=(
        "extensions_by_expected_reads_are_bounded",
        "expired_entry_is_requeued_iff_entitled",
        "time_pass_acts_on_the_expired_prefix",
        "checks_come_at_their_interval",
        "hit_marks_accessed_and_nothing_else",
    ),
)
def unread_entry_is_gone_on_schedule(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """The same without size passes, exactly: at a fixed interval it is gone by (ttl + δ) + M δ (⌊ttl/δ⌋ + 1)."""
    if not past.steady or not isinstance(outcome, Evicted):
        return VACUOUS
    settings = before.settings
    bound_ms = scheduled_bound_ms(settings.ttl_ms, past.check_gap_ms(), settings.max_extensions)
    unread = [life for life in _lives(past) if life.expected_ever and not life.was_accessed and not life.size_pass]
    return _gone_in_time(past, [(life, after.now_ms - life.born_ms, bound_ms) for life in unread])


@within(
    "PIP-430, Configuration, …WithRemainingExpectedReadsMaxTimes",
    reads=READS,
    on=(EvictionCheck,),
    follows_from=(
        "expired_entry_is_requeued_iff_entitled",
        "requeue_renews_and_spends",
        "time_pass_acts_on_the_expired_prefix",
        "no_size_pass_at_or_below_the_trigger",
    ),
)
def expected_entry_stays_for_its_whole_budget(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """An entry with expected reads left all its life, while no size pass runs, stays longer than (M + 1) ttl."""
    if not past.steady or not isinstance(outcome, Evicted) or not config.by_expected_reads:
        return VACUOUS
    least, asked = expected_least_ms(before.settings.ttl_ms, before.settings.max_extensions), False
    for life in past.ended.values():
        if life.expected_always and not life.size_pass:
            asked = True
            if after.now_ms - life.born_ms <= least:
                return Broken(
                    f"serial {life.serial} went at age {after.now_ms - life.born_ms}; more than {least} was due"
                )
    return asked or VACUOUS


@within(
    "PIP-430, Configuration, managedLedgerCacheEvictionExtendTTLOfRecentlyAccessed",
    reads=READS,
    on=(EvictionCheck,),
    follows_from=(
        "expired_entry_is_requeued_iff_entitled",
        "requeue_renews_and_spends",
        "time_pass_acts_on_the_expired_prefix",
        "checks_come_at_their_interval",
        "hit_marks_accessed_and_nothing_else",
        "passes_and_forced_removal_alone_evict",
    ),
)
def entry_is_gone_soon_after_its_last_access(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """Once accesses stop, an entry is gone by 2 (ttl + δ) after the last one if no reads are expected from then on,
    else by (1 + max(1, M - extensions spent then)) (ttl + δ)."""
    if not past.steady or not isinstance(outcome, Evicted):
        return VACUOUS
    settings, gap_ms = before.settings, past.check_gap_ms()

    def bound_ms(life: Life) -> int:
        return after_access_bound_ms(
            settings.ttl_ms, gap_ms, settings.max_extensions, life.extensions_then, life.expected_since
        )

    read = [life for life in _lives(past) if life.was_accessed]
    return _gone_in_time(past, [(life, after.now_ms - life.accessed_ms, bound_ms(life)) for life in read])


@within(
    "PIP-430, Configuration, managedLedgerCacheEvictionExtendTTLOfRecentlyAccessed",
    reads=READS,
    on=(EvictionCheck,),
    follows_from=("expired_entry_is_requeued_iff_entitled",),
)
def entry_that_is_read_again_and_again_stays(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """Where recent access extends, and while no size pass runs, an entry that was accessed since it came or was last
    requeued is not removed by a check."""
    if not past.steady or not isinstance(outcome, Evicted) or not before.settings.extend_accessed:
        return VACUOUS
    accessed = [item.serial for item in before.queue if item.accessed]
    if not accessed:
        return VACUOUS
    lost = [serial for serial in accessed if serial in past.ended and not past.ended[serial].size_pass]
    return not lost or Broken(f"accessed since, and removed all the same: serials {lost}")


def _lives(past: History) -> list[Life]:
    """The entries that were resident before this step."""
    return [*past.lives.values(), *past.ended.values()]


def _gone_in_time(past: History, due: list[tuple[Life, int, int]]) -> Verdict:
    """Whether each of these entries went by its bound, given how much time it has had; says something once one went."""
    for life, had_ms, bound_ms in due:
        if had_ms > bound_ms or (had_ms == bound_ms and life.serial not in past.ended):
            return Broken(f"serial {life.serial} has had {had_ms} ms, and should be gone by {bound_ms}")
    return any(life.serial in past.ended for life, _, _ in due) or VACUOUS


LAWS = (
    idle_entry_stays_ttl_and_at_most_one_interval_more,
    unread_entry_is_gone_by_its_budget,
    unread_entry_is_gone_on_schedule,
    expected_entry_stays_for_its_whole_budget,
    entry_is_gone_soon_after_its_last_access,
    entry_that_is_read_again_and_again_stays,
)
