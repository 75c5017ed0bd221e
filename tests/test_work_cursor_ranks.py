"""The reference of cursor_ranks counts as work what it does: a second count beside its own says so."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile

import pytest

from brokerlaw.reference.cursor_ranks import CursorRanks
from brokerlaw.reference.ranked_line import Counter, Cursor, FurthestFirst, Position
from brokerlaw.spec.core import TEXT_DIALECT
from brokerlaw.spec.cursor_ranks import At, Config, Count, Rank, Slowest

from .test_reference_cursor_ranks import CONFIGS, RUNS, drawn


class Comparing(FurthestFirst):
    """The heap, with each comparison counted where it is made."""

    made = 0

    def goes_first(self, one: Cursor, other: Cursor) -> bool:
        self.made += 1
        return super().goes_first(one, other)


class Counting(CursorRanks):
    """The reference with a second count beside its own: visits are counted from the list as it stands before each
    walk, comparisons of the heap where they are made."""

    visits = 0

    def _new_heap(self) -> FurthestFirst:
        return Comparing()

    def counted(self) -> int:
        assert isinstance(self._pending, Comparing)
        return self.visits + self._pending.made

    def _rank(self, command: Rank) -> Count:
        self.visits += 1  # the cursor's node
        return super()._rank(command)

    def _slowest(self, command: Slowest) -> At:
        self.visits += 1  # the head
        return super()._slowest(command)

    def _note(self, cursor: Cursor) -> None:
        self.visits += 1  # where it stands against where it wants to
        super()._note(cursor)

    def _heir(self, cursor: Cursor) -> Cursor | None:
        self.visits += 1  # the one beside
        return super()._heir(cursor)

    def _go(self, cursor: Cursor) -> None:
        self.visits += 1  # where it stands against where it wants to
        super()._go(cursor)

    def _rebuild(self) -> None:
        self.visits += len(self._pending)
        super()._rebuild()

    def _number(self) -> None:
        self.visits += 2 * len(list(self._line()))  # each visited, and compared with the one before
        super()._number()

    def _lower(self, start: Cursor | None, left: Counter, there: Position, by: int) -> Cursor | None:
        self._walk(self._from(start, 1), lambda at: at < there)
        return super()._lower(start, left, there, by)

    def _raise(self, start: Cursor | None, left: Counter | None, there: Position) -> Cursor | None:
        self._walk(self._from(start, -1), lambda at: at > there)
        return super()._raise(start, left, there)

    def _back_to(self, start: Cursor | None, there: Position) -> Cursor | None:
        self._walk(self._from(start, -1), lambda at: at > there)
        return super()._back_to(start, there)

    def _from(self, start: Cursor | None, step: int) -> list[Cursor]:
        line = list(self._line())
        return [] if start is None else line[line.index(start) :: step]

    def _walk(self, ahead: list[Cursor], passes: Callable[[Position], bool]) -> None:
        passed = len(list(takewhile(lambda cursor: passes(cursor.position), ahead)))
        self.visits += 2 * min(passed + 1, len(ahead))  # each visited and compared, the one that it stops at too


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"{config.rebuild_percent}%")
def test_work_is_what_is_done(config: Config) -> None:
    for seed in range(RUNS // 2):
        ranks = Counting()
        ranks.reset(config, TEXT_DIALECT)
        for command in drawn(seed):
            ranks.apply(command)
            assert ranks.snapshot().work == ranks.counted(), (seed, command)
