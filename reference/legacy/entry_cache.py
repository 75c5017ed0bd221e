"""What PIP-430 replaces: eviction that visits each topic's cache on its own.

By time: at each check every cache is visited and scanned from its lowest position until the first entry that is not old
enough.  By size: the caches are sorted by size, the largest ones that together hold half of the total are picked, and
each gives up a share of the needed bytes in proportion to its size, lowest positions first.  Neither knows which entry
came first over all topics, which were accessed, or which are still expected to be read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from attrs import evolve

from ...spec.core import NOT_OBSERVED
from ...spec.entry_cache.words import Config, Snapshot
from ..entry_cache import CacheManager, EntryCache, Parts
from ..entry_cache.range_cache import RangeCache
from ..entry_cache.removal_queue import Freed
from ..entry_cache.switches import Switches
from ..entry_cache.wrapper import Wrapper

SHARE_CONSIDERED = 0.5  # of the total: how much the picked caches must hold together


def largest_caches(caches: Iterable[RangeCache], share: float = SHARE_CONSIDERED) -> list[RangeCache]:
    """The largest caches that together hold at least this share of all bytes, the largest first; O(c log c)."""
    by_size = sorted((cache for cache in caches if cache.size_bytes > 0), key=lambda cache: -cache.size_bytes)
    wanted = sum(cache.size_bytes for cache in by_size) * share
    picked: list[RangeCache] = []
    held = 0
    for cache in by_size:
        if held >= wanted:
            break
        picked.append(cache)
        held += cache.size_bytes
    return picked


def lowest_positions(cache: RangeCache, need_bytes: int) -> list[Wrapper]:
    """A cache's entries of the lowest positions that together have this many bytes; O(what it returns)."""
    victims: list[Wrapper] = []
    found_bytes = 0
    for wrapper in cache.all():
        if found_bytes >= need_bytes:
            break
        if wrapper.value is not None:
            victims.append(wrapper)
            found_bytes += wrapper.value.size_bytes
    return victims


def proportional_victims(caches: Iterable[RangeCache], need_bytes: int) -> list[Wrapper]:
    """What the size policy removes: from each of the largest caches its share, lowest positions first."""
    picked = largest_caches(caches)
    held = sum(cache.size_bytes for cache in picked)
    shares = [(cache, need_bytes * cache.size_bytes // held) for cache in picked]
    return [wrapper for cache, share_bytes in shares for wrapper in lowest_positions(cache, share_bytes)]


class LegacyManager(CacheManager):
    """Range caches evicted one by one.  The queue is kept for the observer alone: no decision looks at it.

    Time pass: O(caches + entries removed).  Size pass: O(caches log caches + entries removed).
    """

    def __init__(self, parts: Parts, switches: Switches) -> None:
        super().__init__(parts, switches)
        self._work = 0

    def time_pass(self, now_ms: int) -> Freed:
        expired = [wrapper for cache in self.caches.values() for wrapper in self._expired_prefix(cache, now_ms)]
        return self._remove_and_compact(expired)

    def _expired_prefix(self, cache: RangeCache, now_ms: int) -> list[Wrapper]:
        self._work += 1
        expired = []
        for wrapper in cache.all():
            self._work += 1
            if wrapper.ts_ms >= now_ms - self.queue.ttl_ms:
                break
            expired.append(wrapper)
        return expired

    def size_pass(self, now_ms: int) -> Freed:
        need_bytes = self._excess()
        if not self._over_trigger() or need_bytes <= 0:
            return (0, 0)
        victims = proportional_victims(self.caches.values(), need_bytes)
        self._work += len(self.caches) + len(victims)
        return self._remove_and_compact(victims)

    def _remove_and_compact(self, wrappers: list[Wrapper]) -> Freed:
        """Removes them; dead nodes leave the observer's queue once they are the greater part of it: amortised O(1)."""
        freed = self.remove_each(wrappers)
        if self.queue.tombstones > len(self.queue.nodes) // 2:
            for node in self.queue.nodes:
                if node.value is None:
                    self.queue.pool.recycle(node)
            self.queue.nodes = deque([node for node in self.queue.nodes if node.value is not None])
            self.queue.tombstones = 0
        return freed

    @property
    def work(self) -> int:
        """Cache visits and entry visits of the passes so far."""
        return self._work


class LegacyEntryCache(EntryCache):
    """The broker with the eviction that PIP-430 replaces: no expected reads, no extensions."""

    unsupported = frozenset({"SetMaxExtensions", "SetExtendAccessed"})
    unobserved = frozenset({"tombstones", "visits"})

    def __init__(self, parts: Parts | None = None) -> None:
        super().__init__(parts or Parts(manager=LegacyManager))

    def use(self, settings: Config) -> None:
        """The settings that the legacy design does not have are shown as they were set, and change nothing."""
        super().use(evolve(settings, by_expected_reads=False, extend_accessed=False, max_extensions=0))
        self.settings = settings

    def snapshot(self) -> Any:
        seen: Snapshot = super().snapshot()
        return seen._replace(tombstones=NOT_OBSERVED, visits=NOT_OBSERVED)

    @property
    def work(self) -> int:
        """Cache visits and entry visits of the passes so far."""
        return self.manager.work
