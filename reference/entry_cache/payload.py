"""Payloads: bytes that several holders share, counted, and read through a view with a reader index.

The cache holds a payload once while the entry is resident, and each open delivery made from that entry holds it once.
A payload let go too often does not raise: its count goes wrong, and the observer's list of payloads shows it.
"""

from __future__ import annotations

Content = tuple[int, int, int]


class View:
    """A window on a payload's bytes.  Reading moves the reader index, as reading from a network buffer does."""

    __slots__ = ("entry", "ledger", "reader", "size_bytes")

    def __init__(self, ledger: int, entry: int, size_bytes: int, reader: int = 0) -> None:
        self.ledger = ledger
        self.entry = entry
        self.size_bytes = size_bytes
        self.reader = reader

    def duplicate(self) -> View:
        """The same bytes with a reader index of its own."""
        return View(self.ledger, self.entry, self.size_bytes, self.reader)

    def read_all(self) -> Content:
        """What is left to read: the position written in the payload, and the number of bytes from the index on."""
        readable = self.size_bytes - self.reader
        self.reader = self.size_bytes
        return (self.ledger, self.entry, readable)


class Payload:
    """A cached entry's bytes, reference-counted.  Every operation is O(1)."""

    __slots__ = ("_holdings", "holders", "serial", "ties", "view")

    def __init__(self, serial: int, view: View, holdings: Holdings) -> None:
        self.serial = serial
        self.view = view
        self.holders = 1  # the cache, which made it
        self.ties = 1  # who ought to hold it now; for the observer alone, it decides nothing
        self._holdings = holdings
        holdings.note(self)

    def retain(self) -> None:
        self.holders += 1
        self._holdings.note(self)

    def release(self) -> None:
        self.holders -= 1
        self._holdings.note(self)

    def read_copy(self) -> Content:
        """What a reader of its own copy sees; the shared view stays where it was."""
        return self.view.duplicate().read_all()

    def lend(self) -> None:
        """A delivery takes hold of it."""
        self.ties += 1
        self.retain()

    def give_back(self) -> None:
        """A delivery, or the cache, lets go of it."""
        self.ties -= 1
        self.release()


class Holdings:
    """The payloads that somebody holds, or ought to; a sound payload leaves the list when the last holder lets go."""

    __slots__ = ("_rows", "held")

    def __init__(self) -> None:
        self.held: dict[int, Payload] = {}
        self._rows: tuple[tuple[int, int], ...] | None = None

    def note(self, payload: Payload) -> None:
        self._rows = None
        if payload.holders or payload.ties:
            self.held[payload.serial] = payload
        else:
            self.held.pop(payload.serial, None)

    def rows(self) -> tuple[tuple[int, int], ...]:
        """(serial, holders) of each, by serial; O(1) while nothing changed."""
        if self._rows is None:
            self._rows = tuple(sorted([(serial, payload.holders) for serial, payload in self.held.items()]))
        return self._rows
