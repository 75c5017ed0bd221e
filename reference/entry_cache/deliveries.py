"""Open deliveries: what was handed to consumers and not released yet."""

from __future__ import annotations

from collections import deque

from ...spec.entry_cache.words import DeliveryRow
from .wrapper import CachedEntry

Address = tuple[str, str, int, int]  # topic, cursor, ledger, entry


class Delivery:
    """One copy in a consumer's hands, and the cached entry that it was made from, if any."""

    __slots__ = ("address", "entry", "number", "row")

    def __init__(self, number: int, address: Address, entry: CachedEntry | None) -> None:
        self.number = number
        self.address = address
        self.entry = entry
        self.row = DeliveryRow(*address, entry.serial if entry else 0)


class Deliveries:
    """The open deliveries, oldest first, and by whom and where; opening and closing are O(1)."""

    __slots__ = ("_last", "_rows", "by_address", "open")

    def __init__(self) -> None:
        self.open: dict[int, Delivery] = {}
        self.by_address: dict[Address, deque[Delivery]] = {}
        self._last = 0
        self._rows: tuple[DeliveryRow, ...] | None = None

    def add(self, address: Address, entry: CachedEntry | None) -> None:
        self._last += 1
        delivery = Delivery(self._last, address, entry)
        self.open[delivery.number] = delivery
        self.by_address.setdefault(address, deque()).append(delivery)
        self._rows = None

    def take_oldest(self, address: Address) -> Delivery | None:
        """Closes the oldest open delivery of an address."""
        waiting = self.by_address.get(address)
        if waiting is None:
            return None
        delivery = waiting.popleft()
        if not waiting:
            del self.by_address[address]
        del self.open[delivery.number]
        self._rows = None
        return delivery

    def rows(self) -> tuple[DeliveryRow, ...]:
        if self._rows is None:
            self._rows = tuple([delivery.row for delivery in self.open.values()])
        return self._rows
