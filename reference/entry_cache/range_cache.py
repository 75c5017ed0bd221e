"""One topic's range cache: positions in order, each with the wrapper that carries its entry."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sortedcontainers import SortedDict

from ...spec.entry_cache.words import CacheRow
from .wrapper import CachedEntry, Position, Wrapper


class RangeCache:
    """Wrappers by position, with the cache's own size kept as entries come and go.

    find: O(1).  put, remove: O(log n).  before: O(log n + what it returns).  clear: O(n).
    """

    __slots__ = ("kept", "size_bytes", "topic", "wrappers")

    def __init__(self, topic: str) -> None:
        self.topic = topic
        self.size_bytes = 0
        self.wrappers: Any = SortedDict()  # Position -> Wrapper
        self.kept: CacheRow | None = None  # the observer's row, while nothing in it changes

    def __len__(self) -> int:
        return len(self.wrappers)

    def find(self, key: Position) -> CachedEntry | None:
        """The resident entry at a position."""
        wrapper: Wrapper | None = self.wrappers.get(key)
        return None if wrapper is None else wrapper.value_for(key)

    def put(self, key: Position, wrapper: Wrapper, size_bytes: int) -> bool:
        """Puts a wrapper where none is; False, and nothing changed, where one is."""
        if key in self.wrappers:
            return False
        self.wrappers[key] = wrapper
        self.size_bytes += size_bytes
        self.kept = None
        return True

    def remove(self, key: Position, wrapper: Wrapper, size_bytes: int) -> bool:
        """Removes a position if this very wrapper is there (compare-and-remove)."""
        if self.wrappers.get(key) is not wrapper:
            return False
        del self.wrappers[key]
        self.size_bytes -= size_bytes
        self.kept = None
        return True

    def before(self, key: Position, inclusive: bool = False) -> list[Wrapper]:
        """The wrappers before a position (or up to and including it), in order."""
        wrappers = self.wrappers
        return [wrappers[found] for found in wrappers.irange(None, key, (True, inclusive))]

    def at_or_after(self, key: Position) -> list[Wrapper]:
        """The wrappers at or behind a position, in order."""
        wrappers = self.wrappers
        return [wrappers[found] for found in wrappers.irange(key, None)]

    def of_ledger(self, ledger: int) -> list[Wrapper]:
        """The wrappers of one ledger, in order."""
        wrappers = self.wrappers
        return [wrappers[found] for found in wrappers.irange((ledger,), (ledger + 1,))]

    def all(self) -> Iterable[Wrapper]:
        """Every wrapper, in order of position."""
        wrappers: Iterable[Wrapper] = self.wrappers.values()
        return wrappers

    def clear(self) -> tuple[list[Wrapper], int]:
        """Removes everything; says what that was and how many bytes in all."""
        wrappers, size_bytes = list(self.all()), self.size_bytes
        self.wrappers.clear()
        self.size_bytes = 0
        self.kept = None
        return wrappers, size_bytes

    def row(self) -> CacheRow:
        """The observer's row; O(n) after a change, else O(1)."""
        if self.kept is None:
            rows = [(*key, node.value.serial if node.value else 0) for key, node in self.wrappers.items()]
            self.kept = CacheRow(self.topic, self.size_bytes, tuple(rows))
        return self.kept
