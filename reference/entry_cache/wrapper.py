"""Cached entries, and the recycled queue nodes (wrappers) that carry them.

A wrapper is what a range cache maps a position to and what the removal queue holds.  Wrappers come from a pool and go
back to it when they leave the queue, so a wrapper seen earlier may carry another entry by now: whoever kept one
compares before acting on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...spec.entry_cache.words import Item
from .payload import Holdings, Payload, View

if TYPE_CHECKING:
    from .range_cache import RangeCache

Position = tuple[int, int]
Buffer = tuple[int, int]  # number, bytes


class CachedEntry:
    """One entry that was put into a cache: its place, its payload and its expected reads."""

    __slots__ = (
        *("buffer", "buffer_bytes", "key", "payload", "reads"),
        *("serial", "size_bytes", "starts_at_zero", "topic", "wrapper"),
    )

    def __init__(
        self, serial: int, topic: str, key: Position, size_bytes: int, reads: int, buffer: Buffer, held: Holdings
    ) -> None:
        self.serial = serial
        self.topic = topic
        self.key = key
        self.size_bytes = size_bytes
        self.reads = reads
        self.starts_at_zero = reads == 0
        self.buffer, self.buffer_bytes = buffer
        self.payload = Payload(serial, View(*key, size_bytes), held)
        self.wrapper: Wrapper | None = None  # the node that carries it; none once it has left the cache

    def set_reads(self, reads: int) -> None:
        self.reads = reads
        if self.wrapper is not None:
            self.wrapper.item = None


class Wrapper:
    """A node of the removal queue; one without a value is a tombstone, or rests in the pool."""

    __slots__ = ("accessed", "cache", "extensions", "item", "key", "ts_ms", "value")

    def __init__(self) -> None:
        self.cache: RangeCache | None = None
        self.key: Position | None = None
        self.value: CachedEntry | None = None
        self.ts_ms = 0
        self.accessed = False
        self.extensions = 0
        self.item: Item | None = None  # the observer's row, kept while nothing in it changes

    def carry(self, cache: RangeCache, entry: CachedEntry, ts_ms: int) -> None:
        """Begins to carry an entry.  The other fields are as the pool left them: cleared."""
        self.cache = cache
        self.key = entry.key
        self.value = entry
        self.ts_ms = ts_ms
        entry.wrapper = self

    def value_for(self, key: Position) -> CachedEntry | None:
        """The entry, if it is the one at this position: between a lookup and this call the node may have moved on."""
        return self.value if self.key == key else None

    def mark_accessed(self) -> None:
        if not self.accessed:
            self.accessed = True
            self.item = None

    def renew(self, ts_ms: int, extensions: int) -> None:
        """What a requeue does to the node."""
        self.ts_ms = ts_ms
        self.accessed = False
        self.extensions = extensions
        self.item = None

    def bury(self) -> None:
        """The entry is gone; in the queue the node is a tombstone from now on."""
        self.value = None
        self.item = None

    def row(self, entry: CachedEntry) -> Item:
        """The observer's row; O(1), and free while nothing in it changed."""
        if self.item is None:
            ledger, number = entry.key
            self.item = Item(
                *(entry.serial, entry.topic, ledger, number, entry.size_bytes),
                *(self.ts_ms, self.accessed, self.extensions, entry.reads),
                *(entry.buffer, entry.buffer_bytes),
            )
        return self.item


class Pool:
    """Wrappers at rest.  Taking and giving back are O(1); a node is cleared when it comes back, not when it leaves."""

    __slots__ = ("resting",)

    def __init__(self) -> None:
        self.resting: list[Wrapper] = []

    def take(self) -> Wrapper:
        return self.resting.pop() if self.resting else Wrapper()

    def recycle(self, wrapper: Wrapper) -> None:
        self.clear(wrapper)
        self.resting.append(wrapper)

    def clear(self, wrapper: Wrapper) -> None:
        wrapper.cache = None
        wrapper.key = None
        wrapper.value = None
        wrapper.ts_ms = 0
        wrapper.accessed = False
        wrapper.extensions = 0
        wrapper.item = None
