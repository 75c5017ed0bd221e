"""cursor_ranks: what the laws see in a snapshot, and what they remember.  They share nothing with the model."""

from __future__ import annotations

from typing import Any

from .words import Absent, Add, Config, Count, CursorRow, Move, Rank, Remove, Slowest, Snapshot

Position = tuple[int, int]  # ledger, entry

SHIPPED = "shipped: ActiveManagedCursorContainerImpl"
UPDATES = (Add, Move, Remove)


def row_named(now: Snapshot, name: str) -> CursorRow | None:
    """A cursor's row, if it is there."""
    return next((row for row in now.cursors if row.cursor == name), None)


def tracked_in(now: Snapshot) -> list[Position]:
    """Where the tracked cursors stand, in order of their names."""
    return [row.position for row in now.cursors if row.position is not None]


def rank_in(now: Snapshot, position: Position | None) -> int:
    """How many tracked cursors stand at a position or before it; none do where there is no position."""
    return 0 if position is None else len([at for at in tracked_in(now) if at <= position])


def place_in(command: Add | Move) -> Position | None:
    """Where a command puts its cursor."""
    return None if command.ledger is None else (command.ledger, command.entry)


class History:
    """Told of every command and its outcome; it never looks at a snapshot, so that rare looks do not mislead it."""

    def __init__(self, config: Config) -> None:
        self.adds = 0
        self.newest: dict[str, int] = {}  # live name -> the last Add under it
        self.oldest: dict[str, int] = {}  # live name -> the Add under it that found it absent
        self.most_live = 0  # at once, since the last Rank or Slowest
        self.earlier: object = None  # the answer to this very query, if nothing changed since
        self._answers: dict[object, object] = {}

    def record(self, before: Any, command: Any, outcome: Any, after: Any) -> None:
        if isinstance(command, UPDATES):
            self.earlier = None
            if not isinstance(outcome, Absent):
                self._answers.clear()
                self._update(command)
            return
        self.earlier = self._answers.get(command)
        self._answers[command] = outcome
        if isinstance(command, Slowest) or (isinstance(command, Rank) and isinstance(outcome, Count)):
            self.most_live = len(self.newest)

    def _update(self, command: Add | Move | Remove) -> None:
        if isinstance(command, Add):
            self.adds += 1
            self.newest[command.cursor] = self.adds
            self.oldest.setdefault(command.cursor, self.adds)
            self.most_live = max(self.most_live, len(self.newest))
        elif isinstance(command, Remove):
            self.newest.pop(command.cursor, None)
            self.oldest.pop(command.cursor, None)
