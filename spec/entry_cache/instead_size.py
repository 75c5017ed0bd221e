"""entry_cache, laws 8: what size passes do instead, where a deviation takes the place of a law about them.

Each law here is claimed only where its deviation is in force, and not beside another one that changes what it says.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import evolve

from ..core import VACUOUS, Broken, Verdict, step
from . import naming as named
from .rules import entitled_by_access, is_expired
from .sight import entitled, expired_prefix, laps_of, missing, need_of, queue_met, size_pass_start
from .words import PASSES, Config, Evicted, Item, Snapshot

READS = ("queue", "settings", "now_ms")
ANOTHER_QUEUE = (named.SEPARATE_BUDGETS, named.SCAN_PAST_UNEXPIRED, named.READS_WITHOUT_STRATEGY)
"""Under these a size pass meets another queue than under the text, or other entries are entitled in it."""


@step(
    "PIP-430, Configuration, …WithRemainingExpectedReadsMaxTimes, against Detailed Design 1",
    reads=READS,
    on=PASSES,
    only=(named.ONE_LAP,),
    unless=(named.STASH, named.SIZE_PASS_HONOURS_EXPIRY, *ANOTHER_QUEUE),
)
def size_pass_makes_one_lap(config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot) -> Verdict:
    """A size pass removes, from the head, first the entries that nothing entitles and then the others, until it has
    freed enough and no longer; it requeues no entry twice."""
    start = size_pass_start(config, before, command, outcome)
    if not start:
        return VACUOUS
    return _requeued_twice(start, after) or _removed_in_order(
        sorted(start, key=lambda item: entitled(item, config, before.settings)), start, before.settings, after
    )


@step(
    "PIP-430, High Level Design 1, Requeuing Mechanism; Alternatives 2",
    reads=READS,
    on=PASSES,
    only=(named.STASH,),
    unless=(named.SIZE_PASS_HONOURS_EXPIRY, *ANOTHER_QUEUE),
)
def size_pass_sets_aside_what_is_entitled(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A size pass removes, from the head, entries that nothing entitles until it has freed enough or none is left; the
    entitled ones that it meets are requeued once, and stay.  In a check, the time pass comes first."""
    start = size_pass_start(config, before, command, outcome)
    if start is None and isinstance(outcome, Evicted) and need_of(before.queue, before.settings):
        return Broken(f"{outcome.expired} entries expired of {before.queue[: expired_prefix(before)]}")
    if not start:
        return VACUOUS
    free = [item for item in start if not entitled(item, config, before.settings)]
    return _requeued_twice(start, after) or _removed_in_order(free, start, before.settings, after)


@step(
    "PIP-430, Configuration, …WithRemainingExpectedReadsMaxTimes",
    reads=READS,
    on=PASSES,
    only=(named.SEPARATE_BUDGETS,),
    unless=(
        *(named.ONE_LAP, named.STASH, named.SIZE_PASS_HONOURS_EXPIRY),
        *(named.SCAN_PAST_UNEXPIRED, named.READS_WITHOUT_STRATEGY),
    ),
)
def size_pass_gives_an_access_a_round_of_its_own(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A size pass removes entries in order of the rounds they have coming, then of their place, until it has freed
    enough and no longer; an access is good for one round beside those that expected reads still have."""
    start, settings = (
        queue_met(config, before, command, outcome, expired_prefix(before), access_is_free=True),
        before.settings,
    )
    if not start:
        return VACUOUS

    def rounds(item: Item) -> int:
        by_access = entitled_by_access(settings.extend_accessed, item.accessed)
        return by_access + laps_of(item._replace(accessed=False), config, settings)

    return _removed_in_order(sorted(start, key=rounds), start, settings, after)


@step(
    "PIP-430, Detailed Design 1 and 5; Configuration, cacheEvictionByExpectedReadCount",
    reads=READS,
    on=PASSES,
    only=(named.SIZE_PASS_HONOURS_EXPIRY,),
    unless=(named.ONE_LAP, named.STASH, named.TTL_ADDED, *ANOTHER_QUEUE),
)
def expected_reads_save_no_expired_entry_from_a_size_pass(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """Under the strategy, a size pass removes entries in order of the rounds they have coming, then of their place,
    until it has freed enough and no longer; one that is expired when it begins has none for its expected reads, unless
    an access renews it first."""
    start, settings = size_pass_start(config, before, command, outcome), before.settings
    if not start or not config.by_expected_reads:
        return VACUOUS

    def rounds(item: Item) -> int:
        renewed = entitled_by_access(settings.extend_accessed, item.accessed)
        expired = is_expired(item.ts_ms, before.now_ms, settings.ttl_ms)
        return 0 if expired and not renewed else laps_of(item, config, settings)

    return _removed_in_order(sorted(start, key=rounds), start, settings, after)


@step(
    "PIP-430, High Level Design 1, Timestamp-Based Eviction",
    reads=READS,
    on=PASSES,
    only=(named.SCAN_PAST_UNEXPIRED,),
    unless=(
        *(named.ONE_LAP, named.STASH, named.SIZE_PASS_HONOURS_EXPIRY),
        *(named.SEPARATE_BUDGETS, named.READS_WITHOUT_STRATEGY),
    ),
)
def size_pass_follows_a_scan_of_the_whole_queue(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """In a check every expired entry is acted on first, wherever it stands; then, as in any size pass, entries go in
    order of the rounds they have coming and of their place, until enough is freed and no longer."""
    start, settings = queue_met(config, before, command, outcome, len(before.queue)), before.settings
    if start is None and isinstance(outcome, Evicted) and need_of(before.queue, before.settings):
        return Broken(f"{outcome.expired} entries expired of {before.queue}")
    if not start:
        return VACUOUS
    order = sorted(start, key=lambda item: laps_of(item, config, settings))
    return _removed_in_order(order, start, settings, after)


@step(
    "shipped: RangeCacheRemovalQueue, 4.2.4",
    reads=READS,
    on=PASSES,
    only=(named.READS_WITHOUT_STRATEGY,),
    unless=(
        *(named.ONE_LAP, named.STASH, named.SIZE_PASS_HONOURS_EXPIRY),
        *(named.SEPARATE_BUDGETS, named.SCAN_PAST_UNEXPIRED),
    ),
)
def expected_reads_give_rounds_without_the_strategy_too(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """Without the strategy too, a size pass removes entries in order of the rounds that accesses and expected reads
    give them, then of their place, until it has freed enough and no longer."""
    if config.by_expected_reads:
        return VACUOUS
    counted = counting(config)
    start = size_pass_start(counted, before, command, outcome)
    if start is None and isinstance(outcome, Evicted) and need_of(before.queue, before.settings):
        return Broken(f"{outcome.expired} entries expired of {before.queue[: expired_prefix(before)]}")
    if not start:
        return VACUOUS
    order = sorted(start, key=lambda item: laps_of(item, counted, before.settings))
    return _removed_in_order(order, start, before.settings, after)


# ---- What they have in common ----------------------------------------------------------------------------------------


def counting(config: Config) -> Config:
    """The config as if the strategy were on, for the laws that say the same without it."""
    return evolve(config, by_expected_reads=True)


def _removed_in_order(order: Iterable[Item], start: tuple[Item, ...], settings: Config, after: Snapshot) -> Verdict:
    """Whether a size pass took the first entries in this order, just enough of them, and no others."""
    need = need_of(start, settings)
    gone = {item.serial for item in missing(start, after)}
    expected, freed = set[int](), 0
    for item in order:
        if freed >= need:
            break
        expected.add(item.serial)
        freed += item.size_bytes
    if not gone and not expected and need == 0:
        return VACUOUS
    return gone == expected or Broken(f"{need} bytes to free: removed {sorted(gone)}, and should {sorted(expected)}")


def _requeued_twice(start: tuple[Item, ...], after: Snapshot) -> Broken | None:
    """The entries that a size pass requeued more than once, as evidence."""
    met = {item.serial: item.extensions for item in start}
    twice = [item for item in after.queue if item.extensions > met.get(item.serial, item.extensions) + 1]
    return Broken(f"requeued more than once: {twice}") if twice else None


LAWS = (
    size_pass_makes_one_lap,
    size_pass_sets_aside_what_is_entitled,
    size_pass_gives_an_access_a_round_of_its_own,
    expected_reads_save_no_expired_entry_from_a_size_pass,
    size_pass_follows_a_scan_of_the_whole_queue,
    expected_reads_give_rounds_without_the_strategy_too,
)
