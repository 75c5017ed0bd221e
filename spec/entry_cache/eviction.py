"""entry_cache, laws 2: the two passes.  Who goes, in which order, who stays and what that costs it."""

from __future__ import annotations

from typing import Any

from ..core import VACUOUS, Broken, Verdict, step, within
from .history import History
from .rules import is_expired, trigger_bytes, watermark_bytes
from .sight import (
    entered,
    entitled,
    expired_prefix,
    laps_of,
    left,
    missing,
    need_of,
    size_pass_start,
    stayed,
    time_pass_alone,
)
from .words import PASSES, Append, Config, Evicted, EvictionCheck, FinishLoad, Item, Snapshot


@step(
    "PIP-430, Detailed Design 1, evictLEntriesBeforeTimestamp",
    reads=("queue", "settings", "now_ms"),
    on=(EvictionCheck,),
)
def time_pass_acts_on_the_expired_prefix(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A time pass acts on the entries from the head up to the first that is not expired, and leaves the others as they
    are.  Asked where no size pass follows."""
    if not time_pass_alone(config, before, command, outcome):
        return VACUOUS
    if not before.queue:
        return VACUOUS
    count = expired_prefix(before)
    others = before.queue[count:]
    if after.queue[: len(others)] != others:
        return Broken(f"not expired, but touched: {others} became {after.queue[: len(others)]}")
    missed = [item for item in before.queue[:count] if item in after.queue]
    return not missed or Broken(f"expired, but not acted on: {missed}")


@step("PIP-430, High Level Design 1, Requeuing Mechanism", reads=("queue", "settings", "now_ms"), on=(EvictionCheck,))
def expired_entry_is_requeued_iff_entitled(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """Of the entries that a time pass acts on, those accessed since (where that extends) or with expected reads and
    extensions left stay, and all others go."""
    if not time_pass_alone(config, before, command, outcome):
        return VACUOUS
    acted = before.queue[: expired_prefix(before)]
    if not acted:
        return VACUOUS
    here = {item.serial for item in after.queue}
    for item in acted:
        deserves = entitled(item, config, before.settings)
        if (item.serial in here) != deserves:
            return Broken(f"{item} is {'entitled, and was removed' if deserves else 'not entitled, and stays'}")
    return True


@step("PIP-430, Detailed Design 1, REQUEUE", reads=("queue", "settings", "now_ms"), on=PASSES)
def requeue_renews_and_spends(config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot) -> Verdict:
    """A requeued entry goes to the tail with the time of the pass as its timestamp, no longer accessed, and one
    extension spent for each round; its reads stay.  A pass changes nothing else about an entry."""
    if not isinstance(outcome, Evicted):
        return VACUOUS
    changed = [(was, now) for was, now in stayed(before, after) if was != now]
    if not changed:
        return VACUOUS
    rounds = 1 if time_pass_alone(config, before, command, outcome) else 10**9
    for was, now in changed:
        spent = now.extensions - was.extensions
        renewed = now.ts_ms == before.now_ms and not now.accessed and now.reads == was.reads
        if not renewed or not 1 <= spent <= rounds:
            return Broken(f"{was} became {now}")
    tail = {now.serial for _, now in changed}
    behind = after.queue[len(after.queue) - len(tail) :]
    return {item.serial for item in behind} == tail or Broken(f"requeued, but not at the tail: {after.queue}")


@within(
    "PIP-430, Configuration, …WithRemainingExpectedReadsMaxTimes",
    reads=("queue", "settings"),
    on=PASSES,
    follows_from=(
        "time_pass_acts_on_the_expired_prefix",
        "expired_entry_is_requeued_iff_entitled",
        "requeue_renews_and_spends",
        "size_pass_takes_the_oldest_first",
        "passes_visit_no_more_than_they_need",
        "settings_and_time_rewrite_nothing",
    ),
)
def extensions_by_expected_reads_are_bounded(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """No entry is requeued for its expected reads more often than the largest maximum in force during its life."""
    extended = [life for life in past.lives.values() if life.by_reads]
    if not extended:
        return VACUOUS
    for life in extended:
        if life.by_reads > life.largest_max:
            return Broken(f"serial {life.serial}: {life.by_reads} extensions, at most {life.largest_max} allowed")
    return True


@step(
    "PIP-430, High Level Design 1, Size-Based Eviction; ours: that one pass comes round (not so in `stash`)",
    reads=("queue", "settings", "now_ms"),
    on=PASSES,
)
def size_pass_takes_the_oldest_first(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A size pass removes entries in order of the rounds they have coming, then of their place in the queue, whatever
    topic they belong to: it removes no entry before one that comes earlier in that order."""
    start = size_pass_start(config, before, command, outcome)
    gone = {item.serial for item in missing(start or (), after)}
    if not start or not gone or len(gone) == len(start):
        return VACUOUS
    order = _removal_order(config, start, before.settings)
    expected = {item.serial for item in order[: len(gone)]}
    return gone == expected or Broken(f"removed {sorted(gone)}; first in order are {sorted(expected)}")


@step("PIP-430, High Level Design 1, Size-Based Eviction", reads=("queue", "settings", "now_ms"), on=PASSES)
def size_pass_frees_no_more_than_it_must(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A size pass stops as soon as it has freed enough: without the last entry it removed it would not have."""
    start = size_pass_start(config, before, command, outcome)
    if not start:
        return VACUOUS
    gone, need = missing(start, after), need_of(start, before.settings)
    if not gone or need == 0:
        return VACUOUS
    serials = {item.serial for item in gone}
    last = next(item for item in reversed(_removal_order(config, start, before.settings)) if item.serial in serials)
    spared = sum([item.size_bytes for item in gone]) - last.size_bytes
    return spared < need or Broken(f"{need} bytes were to be freed; {spared} were without {last}")


@step(
    "PIP-430, High Level Design 1, Requeuing Mechanism; ours: that one pass comes round (not so in `stash`)",
    reads=("queue", "settings", "now_ms"),
    on=PASSES,
)
def size_pass_requeues_what_it_passes_over(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A size pass goes round the queue as far as the last entry that it removes: what it met on the way and spared
    stands at the tail, in order, an extension spent each time it was met; what it did not come to is as it was."""
    start, settings = size_pass_start(config, before, command, outcome), before.settings
    gone = {item.serial for item in missing(start, after)} if start else set()
    if not start or not gone or len(gone) == len(start):
        return VACUOUS
    order = _removal_order(config, start, settings)[: len(gone)]
    if gone != {item.serial for item in order}:
        return VACUOUS  # it took the wrong ones, and another law says so
    rounds, place = laps_of(order[-1], config, settings), start.index(order[-1])
    behind = [(item.serial, item.extensions + rounds) for item in start[place + 1 :] if item.serial not in gone]
    ahead = [(item.serial, item.extensions + rounds + 1) for item in start[:place] if item.serial not in gone]
    seen, expected = [(item.serial, item.extensions) for item in after.queue], behind + ahead
    return seen == expected or Broken(f"(serial, extensions) in the queue are {seen}, and should be {expected}")


@step("PIP-430, High Level Design 1, Size-Based Eviction", reads=("queue", "settings", "now_ms"), on=PASSES)
def size_pass_reaches_the_watermark(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """After a pass over the trigger the total is at or below the watermark, even if every entry was entitled."""
    start, settings = size_pass_start(config, before, command, outcome), before.settings
    if not start or need_of(start, settings) == 0:
        return VACUOUS
    mark = watermark_bytes(settings.max_size_bytes, settings.watermark_percent)
    total = sum([item.size_bytes for item in after.queue])
    return total <= mark or Broken(f"{total} bytes are left; the watermark is {mark}")


@step("PIP-430, High Level Design 1, Size-Based Eviction", reads=("queue", "settings", "now_ms"), on=PASSES)
def no_size_pass_at_or_below_the_trigger(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """While the total is not over the trigger, a size pass touches nothing: it removes none, moves none and spends no
    extension.  (What a check moves is its time pass's affair: another law says that.)"""
    start = size_pass_start(config, before, command, outcome)
    if not start or need_of(start, before.settings) > 0:
        return VACUOUS
    if isinstance(command, EvictionCheck):
        gone = missing(start, after)
        return not gone or Broken(f"nothing was to be freed, and {gone} went")
    expected, seen = ([(item.serial, item.extensions) for item in queue] for queue in (start, after.queue))
    return seen == expected or Broken(f"nothing was to be freed, and (serial, extensions) {expected} became {seen}")


@step(
    "PIP-430, Detailed Design 5, doCacheEviction",
    reads=("queue", "settings", "now_ms"),
    on=(EvictionCheck,),
)
def size_pass_counts_what_the_time_pass_freed(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """In a check whose time pass and size pass both have work, the time pass comes first: it expires all that it
    must, and the size pass frees only what is still to be freed then."""
    if not isinstance(outcome, Evicted) or expired_prefix(before) == 0 or need_of(before.queue, before.settings) == 0:
        return VACUOUS
    start = size_pass_start(config, before, command, outcome)
    if start is None:
        return Broken(f"{outcome.expired} entries expired of {before.queue[: expired_prefix(before)]}")
    need = need_of(start, before.settings)
    return (outcome.evicted_bytes > 0) == (need > 0) or Broken(
        f"{outcome.evicted_bytes} bytes evicted after {outcome.expired_bytes} had expired; {need} were still to free"
    )


@step(
    "shipped: RangeEntryCacheManagerEvictionHandler, 4.2.4; PIP-430 promises efficiency",
    reads=("queue", "settings", "now_ms", "tombstones", "visits"),
    on=PASSES,
)
def passes_visit_no_more_than_they_need(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A pass handles what leaves the queue by it, tombstones included, and for time, where no size pass follows, beside
    that only what it requeues; for size each entry at most once for each round it has coming and once more to remove
    it."""
    visits = after.visits - before.visits
    if not isinstance(outcome, Evicted) or (visits == 0 and not before.queue):
        return VACUOUS
    settings = before.settings
    acted = 0
    if isinstance(command, EvictionCheck):
        acted = len(left(before, after)) + sum([was != now for was, now in stayed(before, after)])
    for_size = sum([laps_of(item, config, settings) + 1 for item in before.queue])
    if sum([item.size_bytes for item in before.queue]) <= trigger_bytes(settings.max_size_bytes):
        for_size = 0
    dropped = before.tombstones - after.tombstones
    gone, bound = len(left(before, after)) + dropped, before.tombstones + acted + for_size
    if time_pass_alone(config, before, command, outcome):
        gone = bound = acted + dropped
    return gone <= visits <= bound or Broken(f"{visits} visits; {gone} to {bound} were needed")


@step(
    "PIP-430, Detailed Design 5, triggerEvictionWhenNeeded",
    reads=("queue", "settings", "size_pass_due", "counters"),
    on=(Append, FinishLoad),
)
def insert_over_the_trigger_makes_a_size_pass_due(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """An insert that takes the total over the trigger makes a size pass due at once, and no other insert does."""
    if not entered(before, after) or before.size_pass_due or after.counters.removed != before.counters.removed:
        return VACUOUS
    total = sum([item.size_bytes for item in after.queue])
    over = total > trigger_bytes(after.settings.max_size_bytes)
    return after.size_pass_due == over or Broken(
        f"{total} bytes, trigger {trigger_bytes(after.settings.max_size_bytes)}: due is {after.size_pass_due}"
    )


@step("PIP-430, Detailed Design 5, doEvictToWatermarkWhenOverThreshold", reads=("size_pass_due",), on=PASSES)
def pass_settles_what_was_due(config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot) -> Verdict:
    """After a pass that looked at the size none is due any more."""
    if not isinstance(outcome, Evicted) or not before.size_pass_due:
        return VACUOUS
    return not after.size_pass_due or Broken("a size pass ran, and one is still due")


@step(
    "PIP-430, Background, Timestamp-based eviction",
    reads=("queue", "settings", "now_ms"),
    on=(EvictionCheck,),
    follows_from=("time_pass_acts_on_the_expired_prefix",),
)
def nothing_expires_young(config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot) -> Verdict:
    """Where no size pass follows, no entry is removed at an age of ttl or less."""
    if not time_pass_alone(config, before, command, outcome):
        return VACUOUS
    gone = left(before, after)
    if not gone:
        return VACUOUS
    young = [item for item in gone if not is_expired(item.ts_ms, before.now_ms, before.settings.ttl_ms)]
    return not young or Broken(f"removed by time, but not expired at {before.now_ms}: {young}")


@step(
    "PIP-430, Goals, In Scope, 3rd point",
    reads=("queue", "settings", "now_ms"),
    on=(EvictionCheck,),
    follows_from=("time_pass_acts_on_the_expired_prefix", "requeue_renews_and_spends"),
)
def nothing_expired_survives_a_check(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """Where the queue is in order of time, nothing that is expired is left after a check unless it was requeued in it.
    Can not see: an expired entry behind an unexpired one, which the text leaves where it is."""
    if not isinstance(outcome, Evicted) or expired_prefix(before) == 0:
        return VACUOUS
    stamps = [item.ts_ms for item in before.queue]
    if stamps != sorted(stamps):
        return VACUOUS
    old = [item for item in after.queue if is_expired(item.ts_ms, before.now_ms, before.settings.ttl_ms)]
    return not old or Broken(f"expired at {before.now_ms}, and still there: {old}")


@step(
    "PIP-430, Goals, Expected Read Count, 2nd point",
    reads=("queue", "settings", "now_ms"),
    on=PASSES,
    follows_from=("size_pass_takes_the_oldest_first",),
)
def unentitled_entries_go_first(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A size pass removes no entry that was entitled when it began while one that was not is left."""
    start, settings = size_pass_start(config, before, command, outcome), before.settings
    if not start:
        return VACUOUS
    here = {item.serial for item in after.queue}
    spared = [item for item in start if item.serial in here and not entitled(item, config, settings)]
    lost = [item for item in start if item.serial not in here and entitled(item, config, settings)]
    if not spared and not lost:
        return VACUOUS
    return not (spared and lost) or Broken(f"removed {lost} before {spared}")


@within(
    "PIP-430, High Level Design 1, Timestamp-Based Eviction",
    reads=("queue",),
    follows_from=(
        "new_entry_starts_fresh_at_the_tail",
        "requeue_renews_and_spends",
        "passes_and_forced_removal_alone_evict",
        "hit_marks_accessed_and_nothing_else",
        "first_put_wins",
        "settings_and_time_rewrite_nothing",
    ),
)
def queue_is_in_order_of_time(
    past: History, config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """While the clock has never stepped back, timestamps never decrease from head to tail, so that a time pass that
    stops early misses nothing."""
    if past.clock_stepped_back or len(after.queue) < 2:
        return VACUOUS
    stamps = [item.ts_ms for item in after.queue]
    return stamps == sorted(stamps) or Broken(f"timestamps from the head: {stamps}")


def _removal_order(config: Config, start: tuple[Item, ...], settings: Config) -> list[Item]:
    """Entries in the order in which a size pass that takes everything removes them: sorting is stable, so that equal
    rounds keep the order of the queue."""
    return sorted(start, key=lambda item: laps_of(item, config, settings))


LAWS = (
    time_pass_acts_on_the_expired_prefix,
    expired_entry_is_requeued_iff_entitled,
    requeue_renews_and_spends,
    extensions_by_expected_reads_are_bounded,
    size_pass_takes_the_oldest_first,
    size_pass_frees_no_more_than_it_must,
    size_pass_requeues_what_it_passes_over,
    size_pass_reaches_the_watermark,
    no_size_pass_at_or_below_the_trigger,
    size_pass_counts_what_the_time_pass_freed,
    passes_visit_no_more_than_they_need,
    insert_over_the_trigger_makes_a_size_pass_due,
    pass_settles_what_was_due,
    nothing_expires_young,
    nothing_expired_survives_a_check,
    unentitled_entries_go_first,
    queue_is_in_order_of_time,
)
