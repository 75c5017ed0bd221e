"""entry_cache, laws 9: what time passes, requeues and puts do instead, where a deviation takes the place of a law."""

from __future__ import annotations

from typing import Any

from ..core import VACUOUS, Broken, Verdict, step, within
from . import naming as named
from .accounting import tombstones_stand_for_what_left_otherwise
from .cursors import FOLLOWED
from .eviction import expired_entry_is_requeued_iff_entitled, passes_visit_no_more_than_they_need
from .history import History
from .instead_size import READS, counting
from .rules import entitled_by_access, is_expired
from .sight import entered, laps_of, need_of, queue_met, stayed, time_pass_alone
from .words import PASSES, Append, Config, Evicted, EvictionCheck, FinishLoad, Replay, Snapshot

# ---- Time passes -----------------------------------------------------------------------------------------------------


@step(
    "PIP-430, High Level Design 1, Timestamp-Based Eviction",
    reads=READS,
    on=(EvictionCheck,),
    only=(named.SCAN_PAST_UNEXPIRED,),
    unless=(named.READS_WITHOUT_STRATEGY,),
)
def time_pass_acts_on_all_that_is_expired(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A time pass requeues or removes every expired entry, wherever it stands, and leaves the others as they are and in
    their order ahead of those that it requeues.  Asked where no size pass follows."""
    start = queue_met(config, before, command, outcome, len(before.queue))
    if start is None and isinstance(outcome, Evicted) and not need_of(before.queue, before.settings):
        return Broken(f"{outcome.expired} entries expired of {before.queue}")
    if not start or outcome.evicted or need_of(start, before.settings):
        return VACUOUS
    others = [item for item in before.queue if not is_expired(item.ts_ms, before.now_ms, before.settings.ttl_ms)]
    if list(after.queue[: len(others)]) != others:
        return Broken(f"not expired, but touched: {others} became {after.queue[: len(others)]}")
    expected, seen = ([item.serial for item in queue] for queue in (start, after.queue))
    return seen == expected or Broken(f"serials {seen} are left in the queue, and should be {expected}")


@step(
    "shipped: RangeCacheRemovalQueue, 4.2.4",
    reads=READS,
    on=(EvictionCheck,),
    only=(named.READS_WITHOUT_STRATEGY,),
)
def expired_entry_is_requeued_for_reads_without_the_strategy_too(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """Without the strategy too, of the entries that a time pass acts on, those accessed since (where that extends) or
    with expected reads and extensions left stay, and all others go."""
    if config.by_expected_reads:
        return VACUOUS
    return expired_entry_is_requeued_iff_entitled.check(counting(config), before, command, outcome, after)


@step(
    "shipped: RangeCacheRemovalQueue, 4.2.4",
    reads=("queue", "settings", "now_ms", "tombstones", "visits"),
    on=PASSES,
    only=(named.READS_WITHOUT_STRATEGY,),
    unless=(named.SEPARATE_BUDGETS,),
)
def passes_visit_for_reads_without_the_strategy_too(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """Without the strategy too, a pass handles no more than it must: each entry once for each round that accesses and
    expected reads give it, and once more to remove it."""
    if config.by_expected_reads:
        return VACUOUS
    return passes_visit_no_more_than_they_need.check(counting(config), before, command, outcome, after)


# ---- Requeues, puts and tombstones -----------------------------------------------------------------------------------


@step(
    "PIP-430, Configuration; shipped: RangeCacheEntryWrapper.markRequeued, 4.2.4",
    reads=READS,
    on=PASSES,
    only=(named.SEPARATE_BUDGETS,),
    unless=(named.TTL_ADDED, named.READS_WITHOUT_STRATEGY),
)
def requeue_for_access_spends_nothing(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A requeued entry has the time of the pass as its timestamp, is no longer accessed and keeps its reads; a requeue
    for its access spends no extension, one for its expected reads alone spends one."""
    changed = [(was, now) for was, now in stayed(before, after) if was != now]
    if not isinstance(outcome, Evicted) or not changed:
        return VACUOUS
    settings = before.settings
    for was, now in changed:
        by_access = entitled_by_access(settings.extend_accessed, was.accessed)
        most = laps_of(was._replace(accessed=False), config, settings)
        if time_pass_alone(config, before, command, outcome):
            most = min(most, 0 if by_access else 1)
        least = 0 if by_access else 1
        renewed = (now.ts_ms, now.accessed, now.reads) == (before.now_ms, False, was.reads)
        if not renewed or not least <= now.extensions - was.extensions <= most:
            return Broken(f"{was} became {now}; {least} to {most} extensions were to be spent")
    return True


@step(
    "PIP-430, Configuration, managedLedgerCacheEvictionExtendTTLOfRecentlyAccessed",
    reads=READS,
    on=PASSES,
    only=(named.TTL_ADDED,),
    unless=(named.SEPARATE_BUDGETS,),
)
def requeue_adds_the_ttl(config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot) -> Verdict:
    """A requeued entry goes to the tail, its timestamp later by ttl and one extension spent for each round; it is no
    longer accessed and keeps its reads."""
    changed = [(was, now) for was, now in stayed(before, after) if was != now]
    if not isinstance(outcome, Evicted) or not changed:
        return VACUOUS
    for was, now in changed:
        rounds = now.extensions - was.extensions
        ts_ms = was.ts_ms + rounds * before.settings.ttl_ms
        if rounds < 1 or (now.ts_ms, now.accessed, now.reads) != (ts_ms, False, was.reads):
            return Broken(f"{was} became {now}; its timestamp should be {ts_ms}")
    tail = {now.serial for _, now in changed}
    behind = {item.serial for item in after.queue[len(after.queue) - len(tail) :]}
    return behind == tail or Broken(f"requeued, but not at the tail: {after.queue}")


@step(
    "PIP-430, Configuration, managedLedgerCacheEvictionExtendTTLOfRecentlyAccessed",
    reads=("queue", "now_ms"),
    on=(Append, FinishLoad, Replay),
    only=(named.PUT_COUNTS_AS_ACCESS,),
)
def new_entry_comes_accessed(config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot) -> Verdict:
    """A new entry stands at the tail, with the present time, accessed and with no extension spent."""
    new = entered(before, after)
    if not new:
        return VACUOUS
    if list(after.queue[len(after.queue) - len(new) :]) != new:
        return Broken(f"new, but not at the tail: {new}")
    wrong = [item for item in new if item.ts_ms != after.now_ms or not item.accessed or item.extensions]
    return not wrong or Broken(f"new at {after.now_ms}, and not as it should be: {wrong}")


@within(
    'PIP-430, Configuration: "Minimum eviction time is 2x"',
    reads=READS,
    on=(EvictionCheck,),
    only=(named.PUT_COUNTS_AS_ACCESS,),
    follows_from=("new_entry_comes_accessed", "expired_entry_is_requeued_iff_entitled"),
)
def entry_stays_twice_the_ttl(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """Where recent access extends, at constant settings and while no size pass runs, a check removes no entry that came
    2 ttl ago or less."""
    if not past.steady or not isinstance(outcome, Evicted) or not before.settings.extend_accessed:
        return VACUOUS
    ended = [life for life in past.ended.values() if not life.size_pass]
    early = [life for life in ended if after.now_ms - life.born_ms <= 2 * before.settings.ttl_ms]
    if early:
        return Broken(f"serial {early[0].serial} went at age {after.now_ms - early[0].born_ms}")
    return bool(ended) or VACUOUS


@step(
    "PIP-430, Modified Behavior, cacheEvictionByMarkDeletedPosition",
    reads=("counters", "tombstones", "queue", "settings", "now_ms"),
    only=(named.CURSOR_EVICTION_THROUGH_QUEUE,),
)
def cursor_eviction_leaves_no_tombstone(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """Without the strategy, an entry that goes because cursors are past it leaves no tombstone, and those that are
    there stay; by other means tombstones come and go as ever."""
    if config.by_expected_reads:
        return VACUOUS
    if not isinstance(command, FOLLOWED):
        return tombstones_stand_for_what_left_otherwise.check(config, before, command, outcome, after)
    if after.counters.removed == before.counters.removed and after.tombstones == before.tombstones:
        return VACUOUS
    return after.tombstones == before.tombstones or Broken(
        f"{after.counters.removed - before.counters.removed} entries left behind the cursors, and there are "
        f"{after.tombstones} tombstones after {before.tombstones}"
    )


LAWS = (
    time_pass_acts_on_all_that_is_expired,
    expired_entry_is_requeued_for_reads_without_the_strategy_too,
    passes_visit_for_reads_without_the_strategy_too,
    requeue_for_access_spends_nothing,
    requeue_adds_the_ttl,
    new_entry_comes_accessed,
    entry_stays_twice_the_ttl,
    cursor_eviction_leaves_no_tombstone,
)
