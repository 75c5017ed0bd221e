"""pip430 (b), quality: how many reads find their entry in the cache, under a mixed workload.

Every topic has two subscriptions that read an entry as soon as it is published.  One topic in ten has a third one that
reads each entry some time later, and one in ten has three that connect in the middle of the run and read all of its
past, one a little behind the other.  Which design does better depends on the room there is, so that is swept; in the
last scene there is room, but the late readers come when an entry's time to live is over.
"""

from __future__ import annotations

from collections import deque
from random import Random
from typing import Any

from attrs import Factory, define, frozen

from brokerlaw.reference.entry_cache import EntryCache
from brokerlaw.reference.legacy.entry_cache import LegacyEntryCache
from brokerlaw.spec.core import TEXT_DIALECT
from brokerlaw.spec.entry_cache.words import (
    Append,
    Config,
    Delivered,
    EvictionCheck,
    FinishLoad,
    Loading,
    OpenCursor,
    Read,
    Release,
    SizePass,
    Tick,
)

from .measure import table

SEED = 430
ENTRY_BYTES = 1_000
CHECK_EVERY_MS = 10
KINDS = ("tailing", "behind", "catching up")


@frozen
class Sizes:
    """How much is simulated."""

    topics: int = 500
    ms: int = 1_500
    published_each_ms: int = 5
    ttl_ms: int = 1_000
    behind_ms: int = 400
    cached_entries: int = 1_000
    stagger_ms: int = 20  # between two that catch up on one topic
    batch: int = 20  # entries that one which catches up reads at a time


ROOMS = (250, 500, 1_000, 2_000, 4_000)
SCENES = {
    **{f"room for {room:,}": Sizes(cached_entries=room) for room in ROOMS},
    "short time to live": Sizes(ttl_ms=200, behind_ms=300, cached_entries=20_000),
}
QUICK = {"quick": Sizes(topics=20, ms=60, ttl_ms=40, behind_ms=16, cached_entries=40, stagger_ms=4)}


@define
class Simulation:
    """A broker's cache under the workload; entries delivered from the cache, and in all, by kind of reader."""

    cache: EntryCache
    sizes: Sizes
    hits: dict[str, int] = Factory(lambda: dict.fromkeys(KINDS, 0))
    reads: dict[str, int] = Factory(lambda: dict.fromkeys(KINDS, 0))

    def run(self) -> None:
        sizes, random, apply = self.sizes, Random(SEED), self.cache.apply
        self._open()
        late: deque[tuple[int, str]] = deque()  # when to read, from which topic
        for now_ms in range(sizes.ms):
            for _ in range(sizes.published_each_ms):
                number = int(random.random() ** 2 * sizes.topics)
                topic = f"t{number}"
                apply(Append(topic, ENTRY_BYTES // 2 + int(random.random() * ENTRY_BYTES)))
                for cursor in ("tail0", "tail1"):
                    self._read("tailing", topic, cursor, 1)
                if number % 10 == 0:
                    late.append((now_ms + sizes.behind_ms, topic))
                if self.cache.manager.size_pass_due:
                    apply(SizePass())
            while late and late[0][0] <= now_ms:
                self._read("behind", late.popleft()[1], "behind", 1)
            self._catch_up(now_ms - sizes.ms // 2)
            apply(Tick(1))
            if self.cache.now_ms == self.cache.next_check_ms:
                apply(EvictionCheck())

    def _open(self) -> None:
        for number in range(self.sizes.topics):
            cursors = ["tail0", "tail1", *(["behind"] if number % 10 == 0 else [])]
            for cursor in cursors:
                self.cache.apply(OpenCursor(f"t{number}", cursor, "latest"))

    def _catch_up(self, since_ms: int) -> None:
        for each in range(3):
            begins_ms = each * self.sizes.stagger_ms
            for number in range(1, self.sizes.topics, 10):
                topic, cursor = f"t{number}", f"late{each}"
                if since_ms == begins_ms:
                    self.cache.apply(OpenCursor(topic, cursor, "earliest"))
                if since_ms >= begins_ms:
                    self._read("catching up", topic, cursor, self.sizes.batch)

    def _read(self, kind: str, topic: str, cursor: str, count: int) -> None:
        outcome: Any = self.cache.apply(Read(topic, cursor, count))
        if isinstance(outcome, Loading):
            outcome = self.cache.apply(FinishLoad(topic, cursor))
        if isinstance(outcome, Delivered):
            self.reads[kind] += len(outcome.entries)
            self.hits[kind] += len(outcome.entries) * outcome.from_cache
            for entry in outcome.entries:
                self.cache.apply(Release(topic, cursor, outcome.ledger, entry))

    def rate(self, *kinds: str) -> float:
        reads = sum([self.reads[kind] for kind in kinds])
        return sum([self.hits[kind] for kind in kinds]) / reads if reads else 0.0


def simulate(design: type[EntryCache], sizes: Sizes) -> Simulation:
    config = Config(
        max_size_bytes=sizes.cached_entries * ENTRY_BYTES, ttl_ms=sizes.ttl_ms, check_interval_ms=CHECK_EVERY_MS
    )
    cache = design()
    cache.reset(config, TEXT_DIALECT)
    simulation = Simulation(cache, sizes)
    simulation.run()
    return simulation


def report(quick: bool) -> str:
    """Prints the hit rates of both designs in each scene; returns this part of the figure."""
    rows, parts = [], []
    for scene, sizes in (QUICK if quick else SCENES).items():
        new, legacy = simulate(EntryCache, sizes), simulate(LegacyEntryCache, sizes)
        title = f"{scene}, {sizes.ttl_ms:,} ms to live, {sizes.behind_ms} ms behind"
        for name, each in (("new", new), ("legacy", legacy)):
            rates = [f"{each.rate(kind):.1%}" for kind in KINDS]
            rows.append((title, name, *rates, f"{each.rate(*KINDS):.1%}"))
        parts.append(f"{scene} {new.rate(*KINDS):.1%} new and {legacy.rate(*KINDS):.1%} legacy")
    print("(b) hit rate, by kind of reader")
    print(table(("scene", "design", *KINDS, "all"), rows), end="\n\n")
    return "hit rate " + ", ".join(parts)
