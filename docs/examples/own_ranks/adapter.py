"""The adapter: commands of cursor_ranks in, calls of Readers out."""

from __future__ import annotations

from typing import Any

from readers import Place, Readers

from brokerlaw import NOT_OBSERVED, Dialect
from brokerlaw.spec.cursor_ranks import (
    Absent,
    Add,
    Added,
    At,
    Config,
    Count,
    CursorRow,
    Done,
    Move,
    Rank,
    RankAt,
    Remove,
    Size,
    Slowest,
    Snapshot,
)


class Ranks:
    """Readers as a subject of cursor_ranks."""

    unsupported = frozenset({"Find"})  # Readers has nothing like it
    # Readers puts nothing off, has nothing to rebuild, and does not count its work.
    unobserved = frozenset({"pending", "held", "work", "rebuilds"})

    def reset(self, config: Config, dialect: Dialect) -> None:
        self.readers = Readers()
        self.numbers: dict[str, int] = {}  # the system numbers the Adds
        self.adds = 0

    def apply(self, command: Any) -> Any:
        readers = self.readers
        match command:
            case Add(cursor, ledger, entry):
                readers.join(cursor, _place(ledger, entry))
                self.adds += 1
                self.numbers[cursor] = self.adds
                return Added(self.adds)
            case Move(cursor) | Remove(cursor) if cursor not in readers.places:
                return Absent()
            case Move(cursor, ledger, entry):
                readers.go(cursor, _place(ledger, entry))
                return Done()
            case Remove(cursor):
                readers.leave(cursor)
                return Done()
            case Rank(cursor):
                return Count(readers.up_to(readers.places.get(cursor)))
            case RankAt(ledger, entry):
                return Count(readers.up_to((ledger, entry)))
            case Slowest():
                return At(readers.last())
            case Size():
                return Count(len(readers.places))

    def snapshot(self) -> Snapshot:
        places = sorted(self.readers.places.items())
        rows = tuple(CursorRow(name, self.numbers[name], place) for name, place in places)
        return Snapshot(rows, *[NOT_OBSERVED] * 4)


def _place(ledger: int | None, entry: int) -> Place | None:
    return None if ledger is None else (ledger, entry)
