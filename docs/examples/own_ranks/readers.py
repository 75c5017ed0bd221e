"""A class of yours, as it might stand in your code: it knows nothing of brokerlaw.

Where each reader of a topic stands, and how many of them have not yet gone past a place.  It has a bug.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort

Place = tuple[int, int]


class Readers:
    """Readers by name; their places are kept in a sorted list, so that counting is a binary search."""

    def __init__(self) -> None:
        self.places: dict[str, Place | None] = {}  # None: joined, and stands nowhere yet
        self._sorted: list[Place] = []

    def join(self, name: str, place: Place | None) -> None:
        self.places[name] = None
        self.go(name, place)

    def go(self, name: str, place: Place | None) -> None:
        self._take_out(self.places[name])
        self.places[name] = place
        if place is not None:
            insort(self._sorted, place)

    def leave(self, name: str) -> None:
        self._take_out(self.places.pop(name))

    def up_to(self, place: Place | None) -> int:
        """How many readers stand at a place or before it."""
        return 0 if place is None else bisect_right(self._sorted, place)

    def last(self) -> Place | None:
        """Where the reader stands that is furthest behind."""
        return self._sorted[0] if self._sorted else None

    def _take_out(self, place: Place | None) -> None:
        if place is not None:
            del self._sorted[bisect_left(self._sorted, place)]
