"""The cache manager: every topic's range cache, the one removal queue over them, and the totals.

This is the design of the proposal without the broker around it.  It takes topic names as they come, any number of them.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from ...spec.entry_cache.words import TRIGGER, Config
from .payload import Holdings
from .range_cache import RangeCache
from .removal_queue import Freed, RemovalQueue
from .switches import Switches
from .wrapper import CachedEntry, Pool, Position, Wrapper

NOTHING: Freed = (0, 0)


class CacheManager:
    """Puts, finds and removes entries; sizes and counters are kept as entries come and go, never added up anew.

    find: O(1).  insert: O(log n) in the entries of the topic.  Removal of k entries: O(k log n), and where their nodes
    go with them (`cursor-eviction-through-queue`) the whole queue is gone through as well: O(queue + k log n).
    """

    def __init__(self, parts: Parts, switches: Switches) -> None:
        self.parts = parts
        self.switches = switches
        self.caches: dict[str, RangeCache] = {}
        self.holdings = Holdings()
        self.queue = parts.queue(parts.pool(), switches, self._evict)
        self.total_bytes = 0
        self.added = 0  # also the serial of the latest entry
        self.added_bytes = 0
        self.removed = 0
        self.removed_bytes = 0
        self.size_pass_due = False

    def configure(self, settings: Config) -> None:
        """Takes over the settings in force.  The broker computes its thresholds in doubles, and so do we."""
        self.max_size_bytes = settings.max_size_bytes
        self.trigger_bytes = int(settings.max_size_bytes * TRIGGER)
        self.watermark_bytes = int(settings.max_size_bytes * (settings.watermark_percent / 100))
        self.queue.configure(settings)

    def cache(self, topic: str) -> RangeCache:
        """A topic's range cache, made when first asked for."""
        found = self.caches.get(topic)
        if found is None:
            found = self.caches[topic] = self.parts.cache(topic)
        return found

    # ---- Entries come and are found

    def find(self, topic: str, key: Position) -> CachedEntry | None:
        """The resident entry at a position; looking changes nothing."""
        cache = self.caches.get(topic)
        return None if cache is None else cache.find(key)

    def hit(self, entry: CachedEntry) -> None:
        """A lookup or a read found this entry."""
        if entry.wrapper is not None:
            entry.wrapper.mark_accessed()

    def insert(
        self, topic: str, key: Position, size_bytes: int, reads: int, buffer: tuple[int, int], now_ms: int
    ) -> CachedEntry | None:
        """Puts a new entry; None, and nothing changed, where the position is resident: the first put wins."""
        cache = self.cache(topic)
        wrapper = self.queue.pool.take()
        if not cache.put(key, wrapper, size_bytes):
            self.queue.pool.recycle(wrapper)
            return None
        self._count_added(size_bytes)
        entry = CachedEntry(self.added, topic, key, size_bytes, reads, buffer, self.holdings)
        wrapper.carry(cache, entry, now_ms)
        if self.switches.put_counts_as_access:
            wrapper.mark_accessed()
        self.queue.append(wrapper)
        self._after_insert()
        return entry

    def _count_added(self, size_bytes: int) -> None:
        self.added += 1
        self.added_bytes += size_bytes
        self.total_bytes += size_bytes

    def _after_insert(self) -> None:
        if self._over_trigger():
            self.size_pass_due = True

    # ---- Entries go

    def _evict(self, wrapper: Wrapper) -> int:
        """Removes the entry that a pass decided to remove; its size.  The pass recycles the node."""
        size_bytes = self._take_out(wrapper)
        self._count_removed(1, size_bytes)
        return size_bytes

    def remove(self, wrapper: Wrapper) -> int:
        """Removes an entry by other means than a pass; its node stays in the queue, a tombstone.  Its size."""
        size_bytes = self._evict(wrapper)
        self.queue.leave_tombstone()
        return size_bytes

    def remove_each(self, wrappers: Iterable[Wrapper]) -> Freed:
        """Removes these; how many and how many bytes."""
        sizes = [self.remove(wrapper) for wrapper in wrappers]
        return len(sizes), sum(sizes)

    def remove_with_nodes(self, wrappers: list[Wrapper]) -> None:
        """Removes these and takes their nodes out of the queue, so that no tombstone is left."""
        for wrapper in wrappers:
            self._evict(wrapper)
        self.queue.take_out(wrappers)

    def clear(self, topic: str) -> Freed:
        """Removes every entry of a topic; O(n).  What the range cache reports is what the totals lose."""
        wrappers, size_bytes = self.cache(topic).clear()
        for wrapper in wrappers:
            self._let_go(wrapper)
            self.queue.leave_tombstone()
        self._count_removed(len(wrappers), size_bytes)
        return len(wrappers), size_bytes

    def _take_out(self, wrapper: Wrapper) -> int:
        entry, cache = wrapper.value, wrapper.cache
        if entry is None or cache is None or not cache.remove(entry.key, wrapper, entry.size_bytes):
            return 0
        self._let_go(wrapper)
        return entry.size_bytes

    def _let_go(self, wrapper: Wrapper) -> None:
        """The cache drops its own hold on the payload, once."""
        entry = wrapper.value
        if entry is not None:
            entry.wrapper = None
            wrapper.bury()
            entry.payload.give_back()

    def _count_removed(self, entries: int, size_bytes: int) -> None:
        self.removed += entries
        self.removed_bytes += size_bytes
        self.total_bytes -= size_bytes

    # ---- Passes

    def check(self, now_ms: int) -> tuple[Freed, Freed]:
        """The full check: a time pass, then a size pass over what it left."""
        self.size_pass_due = False
        expired = self.time_pass(now_ms)
        return expired, self.size_pass(now_ms)

    def time_pass(self, now_ms: int) -> Freed:
        return self.queue.time_pass(now_ms)

    def size_pass(self, now_ms: int) -> Freed:
        """Frees down to the watermark if the total is over the trigger."""
        if not self._over_trigger():
            return NOTHING
        need_bytes = self._excess()
        return self.queue.size_pass(now_ms, need_bytes) if need_bytes > 0 else NOTHING

    def due_size_pass(self, now_ms: int) -> Freed:
        """The size pass that an insert made due."""
        self.size_pass_due = False
        return self.size_pass(now_ms)

    def _over_trigger(self) -> bool:
        return self.total_bytes > self.trigger_bytes

    def _excess(self) -> int:
        return self.total_bytes - self.watermark_bytes

    @property
    def work(self) -> int:
        """What the passes did so far, in nodes handled; a cache that loses nothing is not looked at."""
        return self.queue.visits


@frozen
class Parts:
    """The classes that a cache is made of."""

    manager: type[CacheManager] = CacheManager
    queue: type[RemovalQueue] = RemovalQueue
    cache: type[RangeCache] = RangeCache
    pool: type[Pool] = Pool
