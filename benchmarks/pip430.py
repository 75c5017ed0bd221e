"""pip430: the proposal's own claims, new design against the one it replaces.

(a) by time: a check costs what has expired, not what there is.  (b) by size: the oldest entries of all topics go first,
and what is still expected to be read stays.  (c) without copying, a cached slice holds on to the buffer it came in.

Work is counted by the designs themselves: nodes handled by the new one, caches and entries visited by the legacy one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random
from statistics import median

from attrs import frozen

from brokerlaw.reference.entry_cache import CacheManager, Parts
from brokerlaw.reference.entry_cache.switches import Switches
from brokerlaw.reference.legacy.entry_cache import LegacyManager
from brokerlaw.spec.entry_cache.words import Config

from . import pip430_hits, pip430_memory
from .measure import Spread, number, table

SEED = 430
ENTRY_BYTES = 1_000


@frozen
class Sizes:
    """How much is measured."""

    rounds: int = 5
    topics: int = 10_000
    entries: int = 30_000  # resident, over all topics
    checks: int = 20  # eviction checks of each round
    leaving: int = 10  # entries that have expired at each check by time


QUICK = Sizes(rounds=2, topics=50, entries=150, checks=3, leaving=2)


@frozen
class Passes:
    """What a number of eviction checks took, each on average."""

    work: float
    us: float
    removed: float
    oldest: float | None = None  # share of the removed entries that were among the oldest of all; none: not looked at


Measure = Callable[[type[CacheManager], Sizes, bool], Passes]
"""Measures a design; with True it looks at what leaves, which is slow, and not timed."""


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


def by_time(design: type[CacheManager], sizes: Sizes, looks: bool) -> Passes:
    """Entries are inserted one each millisecond; at each check a few have expired."""
    config = Config(max_size_bytes=2**40, ttl_ms=sizes.entries, by_expected_reads=False, extend_accessed=False)
    manager = _manager(design, config)

    def due(since_check: int) -> bool:
        return since_check >= sizes.leaving

    return _passes(manager, sizes, due, manager.time_pass, looks)


def by_size(watermark_percent: int) -> Measure:
    """Entries are inserted until they are too many; the size pass brings them back to the watermark."""

    def measure(design: type[CacheManager], sizes: Sizes, looks: bool) -> Passes:
        config = Config(
            max_size_bytes=sizes.entries * ENTRY_BYTES,
            watermark_percent=watermark_percent,
            ttl_ms=2**40,
            by_expected_reads=False,
            extend_accessed=False,
        )
        manager = _manager(design, config)
        return _passes(manager, sizes, lambda since_check: manager.size_pass_due, manager.due_size_pass, looks)

    return measure


def _passes(
    manager: CacheManager, sizes: Sizes, due: Callable[[int], bool], evict: Callable[[int], object], looks: bool
) -> Passes:
    random, last, now_ms = Random(SEED), dict[str, int](), 0
    for each in range(sizes.topics):
        manager.cache(f"t{each}")  # a topic has its cache, whether or not there is anything in it
    while now_ms < sizes.entries and not manager.size_pass_due:
        now_ms += 1
        _insert(manager, random, sizes.topics, now_ms, last)
    evict(now_ms)
    work, removed, seconds, oldest = manager.work, manager.removed, 0.0, 0
    for _ in range(sizes.checks):
        since_check = 0
        while not due(since_check):
            now_ms, since_check = now_ms + 1, since_check + 1
            _insert(manager, random, sizes.topics, now_ms, last)
        before = _resident(manager) if looks else []
        began = time.process_time()
        evict(now_ms)
        seconds += time.process_time() - began
        if looks:
            gone = set(before) - set(_resident(manager))
            oldest += len(gone & set(sorted(before)[: len(gone)]))
    removed = manager.removed - removed
    share = oldest / removed if looks and removed else None
    return Passes((manager.work - work) / sizes.checks, seconds / sizes.checks * 1e6, removed / sizes.checks, share)


def _resident(manager: CacheManager) -> list[int]:
    """The serials of the resident entries; the lower, the older."""
    return [node.value.serial for node in manager.queue.nodes if node.value is not None]


def compare(title: str, measure: Measure, sizes: Sizes) -> str:
    """Prints both designs side by side; returns how much more work and time the legacy one takes."""
    designs: dict[str, type[CacheManager]] = {"new": CacheManager, "legacy": LegacyManager}
    looked = {name: measure(design, sizes, True) for name, design in designs.items()}
    rounds = [{name: measure(design, sizes, False).us for name, design in designs.items()} for _ in range(sizes.rounds)]
    slower = Spread.of(each["legacy"] / each["new"] for each in rounds)
    rows = [
        (
            *(name, number(passes.removed), number(passes.work), number(passes.work / passes.removed)),
            *(number(median([each[name] for each in rounds])), f"{passes.oldest or 0:.0%}"),
        )
        for name, passes in looked.items()
    ]
    print(f"{title}: {sizes.topics:,} topics, about {sizes.entries:,} entries")
    head = ("removed/check", "operations/check", "operations/removed", "us/check", "removed were the oldest of all")
    print(table(("design", *head), rows))
    more = looked["legacy"].work / looked["new"].work
    print(f"legacy against new: {more:,.1f}x the operations, {slower.times()} the time\n")
    return f"{more:,.1f}x operations and {slower.median:,.1f}x time"


def run(quick: bool) -> str:
    """Measures the three claims; the figure."""
    sizes = QUICK if quick else Sizes()
    timed = compare("(a) eviction by time, little has expired", by_time, sizes)
    few = compare("(b) eviction by size, watermark 98%: a little too much", by_size(98), sizes)
    many = compare("(b) eviction by size, watermark 90% (the default)", by_size(90), sizes)
    hits = pip430_hits.report(quick)
    memory = pip430_memory.report(quick)
    return (
        f"pip430, legacy against new: a check by time {timed}; by size {few}, with the default watermark {many}; "
        f"{hits}; {memory}"
    )
