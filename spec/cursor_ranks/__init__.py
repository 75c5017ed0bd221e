"""cursor_ranks: how many active cursors stand at or before a position.

PIP-430, "ActiveManagedCursorContainer".  Active cursors are tracked by name and position; the container answers how
many tracked cursors stand at the same position as a given one or before it, in O(1) when nothing changed since the
last answer.  Updates may be collected and applied at the next query; nobody must be able to tell.

Read in this order: `words` (what can be set, what can happen, what its caller sees, what an observer sees), `model`
(what is the case), `laws` and `costs` (what must hold; `sight` has their words), `reached` (what a campaign must see),
`readings` (where the text is vague).
"""

from __future__ import annotations

from typing import Any

from ..core import System
from .costs import COSTS
from .laws import LAWS
from .model import MODEL
from .reached import REACHED
from .readings import CLAUSES, DEVIATIONS, DIALECTS
from .scopes import SCOPES
from .sight import UPDATES, History
from .words import (
    COMMANDS,
    OUTCOMES,
    Absent,
    Add,
    Added,
    At,
    Config,
    Count,
    CursorRow,
    Done,
    Find,
    Found,
    Move,
    Rank,
    RankAt,
    Remove,
    Size,
    Slowest,
    Snapshot,
)


def lanes(command: Any) -> str:
    """Who does it: a cursor that comes, moves or goes, or a read that asks."""
    return f"cursor {command.cursor}" if isinstance(command, UPDATES) else "reader"


CURSOR_RANKS = System(
    "cursor_ranks",
    title="How many active cursors stand at or before a position",
    proposal="PIP-430",
    config=Config,
    commands=COMMANDS,
    outcomes=OUTCOMES,
    snapshot=Snapshot,
    model=MODEL,
    laws=LAWS + COSTS + REACHED,
    deviations=DEVIATIONS,
    dialects=DIALECTS,
    history=History,
    lanes=lanes,
    scopes=SCOPES,
    clauses=CLAUSES,
)

__all__ = [
    "COMMANDS",
    "CURSOR_RANKS",
    "OUTCOMES",
    "Absent",
    "Add",
    "Added",
    "At",
    "Config",
    "Count",
    "CursorRow",
    "Done",
    "Find",
    "Found",
    "Move",
    "Rank",
    "RankAt",
    "Remove",
    "Size",
    "Slowest",
    "Snapshot",
]
