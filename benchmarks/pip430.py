"""pip430: the proposal's own claims, new design against the one it replaces.

(a) by time: a check costs what has expired, not what there is.  (b) by size: the oldest entries of all topics go first,
and what is still expected to be read stays.  (c) without copying, a cached slice holds on to the buffer it came in.

Work is counted by the designs themselves: nodes handled by the new one, caches and entries visited by the legacy one.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from attrs import frozen

from brokerlaw.reference.entry_cache import CacheManager, Parts
from brokerlaw.reference.entry_cache.switches import Switches
from brokerlaw.reference.entry_cache.wrapper import Wrapper
from brokerlaw.reference.legacy.entry_cache import LegacyManager
from brokerlaw.spec.entry_cache.words import Config

from . import pip430_hits, pip430_memory
from .measure import Spread, cpu, number, ratios, table

SEED = 430
ENTRY_BYTES = 1_000


@frozen
class Sizes:
    """How much is measured."""

    rounds: int = 5
    topics: int = 10_000
    entries: int = 30_000  # resident, over all topics
    checks: int = 20  # eviction checks of each round
    leaving: int = 10  # entries that expire, or are too many, at each check


QUICK = Sizes(rounds=2, topics=50, entries=150, checks=3, leaving=2)


@frozen
class Passes:
    """What one round of eviction checks took."""

    work: float  # for each check
    us: float  # for each check
    oldest: float  # share of the removed entries that were among the oldest of all


def _manager(design: type[CacheManager], config: Config) -> CacheManager:
    manager = Parts(manager=design).manager(Parts(manager=design), Switches())
    manager.configure(config)
    return manager


def _insert(manager: CacheManager, random: Random, topics: int, at_ms: int, sizes: dict[str, int]) -> None:
    """One entry of about the usual size, on a topic of which the first are busier than the last."""
    topic = f"t{int(random.random() ** 2 * topics)}"
    entry = sizes[topic] = sizes.get(topic, -1) + 1
    size_bytes = ENTRY_BYTES // 2 + int(random.random() * ENTRY_BYTES)
    manager.insert(topic, (0, entry), size_bytes, 0, (0, 0), at_ms)


def by_time(design: type[CacheManager], sizes: Sizes) -> Passes:
    """A full cache, entries inserted one each millisecond; at each check a few have expired."""
    config = Config(max_size_bytes=2**40, ttl_ms=sizes.entries, by_expected_reads=False, extend_accessed=False)
    return _passes(design, config, sizes, lambda manager, now_ms: manager.time_pass(now_ms))


def by_size(design: type[CacheManager], sizes: Sizes) -> Passes:
    """A full cache with a few entries more at each check; the size pass brings it back to the watermark."""
    config = Config(
        max_size_bytes=sizes.entries * ENTRY_BYTES,
        watermark_percent=98,  # as high as the trigger, so that a pass removes what is too much and no more
        ttl_ms=2**40,
        by_expected_reads=False,
        extend_accessed=False,
    )
    return _passes(design, config, sizes, lambda manager, now_ms: manager.size_pass(now_ms))


def _passes(
    design: type[CacheManager], config: Config, sizes: Sizes, evict: Callable[[CacheManager, int], object]
) -> Passes:
    manager, random, last = _manager(design, config), Random(SEED), dict[str, int]()
    topics = [manager.cache(f"t{each}") for each in range(sizes.topics)]  # also those without an entry
    assert len(topics) == sizes.topics
    now_ms = 0
    for _ in range(sizes.entries):
        now_ms += 1
        _insert(manager, random, sizes.topics, now_ms, last)
    now_ms += 1
    evict(manager, now_ms)
    work, seconds, removed, oldest = manager.work, 0.0, 0, 0
    for _ in range(sizes.checks):
        for _ in range(sizes.leaving):
            now_ms += 1
            _insert(manager, random, sizes.topics, now_ms, last)
        before = _resident(manager)
        took, _ = cpu(lambda: evict(manager, now_ms))  # noqa: B023
        seconds += took
        gone = before.keys() - _resident(manager).keys()
        removed += len(gone)
        oldest += len(gone & set(sorted(before)[: len(gone)]))
    return Passes(
        (manager.work - work) / sizes.checks, seconds / sizes.checks * 1e6, oldest / removed if removed else 1.0
    )


def _resident(manager: CacheManager) -> dict[int, Wrapper]:
    """Nodes by the serial of the entry they carry: serials are in order of insertion."""
    return {node.value.serial: node for node in manager.queue.nodes if node.value is not None}


def compare(title: str, measure: Callable[[type[CacheManager], Sizes], Passes], sizes: Sizes) -> str:
    """Prints both designs side by side; returns how much less work and time the new one takes."""
    pairs = [(measure(CacheManager, sizes), measure(LegacyManager, sizes)) for _ in range(sizes.rounds)]
    new, legacy = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    faster = ratios(Spread.of(each.us for each in legacy), Spread.of(each.us for each in new))
    rows = [
        (name, number(each[0].work), number(Spread.of(one.us for one in each).median), f"{each[0].oldest:.0%}")
        for name, each in (("new", new), ("legacy", legacy))
    ]
    print(f"{title}: {sizes.topics:,} topics, {sizes.entries:,} entries, about {sizes.leaving} leave at each check")
    print(table(("design", "operations/check", "us/check", "removed were the oldest of all"), rows))
    less = legacy[0].work / new[0].work
    print(f"legacy against new: {less:,.0f}x the operations, {faster.times()} the time\n")
    return f"{less:,.0f}x operations and {faster.median:,.0f}x time"


def run(quick: bool) -> str:
    """Measures the three claims; the figure."""
    sizes = QUICK if quick else Sizes()
    timed = compare("(a) eviction by time", by_time, sizes)
    sized = compare("(b) eviction by size", by_size, sizes)
    hits = pip430_hits.report(quick)
    memory = pip430_memory.report(quick)
    return f"pip430, legacy against new: by time {timed}, by size {sized}; {hits}; {memory}"
