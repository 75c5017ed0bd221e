"""A class of yours, as it might stand in your code: it knows nothing of brokerlaw.

Recently published messages, kept in memory for a while; what was read since it came gets a second round.  It has a
bug.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass


@dataclass
class Kept:
    """A message in the cache."""

    data: bytes
    since_ms: int
    was_read: bool = False


@dataclass
class Gone:
    """What a sweep removed."""

    messages: int = 0
    size_bytes: int = 0


class RecentMessages:
    """Messages in order of arrival; `expire` and `shrink` take them from the front."""

    def __init__(self, capacity_bytes: int, shrink_to_bytes: int, ttl_ms: int, second_round: bool) -> None:
        self.capacity_bytes, self.shrink_to_bytes = capacity_bytes, shrink_to_bytes
        self.ttl_ms, self.second_round = ttl_ms, second_round
        self.size_bytes = 0
        self._kept: OrderedDict[Hashable, Kept] = OrderedDict()

    def put(self, key: Hashable, data: bytes, now_ms: int) -> None:
        self._kept[key] = Kept(data, now_ms)
        self.size_bytes += len(data)

    def get(self, key: Hashable) -> bytes | None:
        kept = self._kept.get(key)
        if kept is None:
            return None
        kept.was_read = True
        return kept.data

    def expire(self, now_ms: int) -> Gone:
        """Removes what is older than the ttl."""
        gone = Gone()
        while self._kept:
            key, oldest = next(iter(self._kept.items()))
            if oldest.since_ms >= now_ms - self.ttl_ms:
                break
            self._sweep(key, oldest, now_ms, gone)
        return gone

    def shrink(self, now_ms: int) -> Gone:
        """Removes the oldest until the rest is small enough, if the cache is over its capacity."""
        gone = Gone()
        while self.size_bytes > self.capacity_bytes:
            key, oldest = next(iter(self._kept.items()))
            self._sweep(key, oldest, now_ms, gone)
        return gone

    def _sweep(self, key: Hashable, kept: Kept, now_ms: int, gone: Gone) -> None:
        if self.second_round and kept.was_read:
            kept.was_read, kept.since_ms = False, now_ms
            self._kept.move_to_end(key)
            return
        del self._kept[key]
        self.size_bytes -= len(kept.data)
        gone.messages += 1
        gone.size_bytes += len(kept.data)
