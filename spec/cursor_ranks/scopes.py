"""cursor_ranks, part 6: what is explored exhaustively."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Any

from ..core import Scope, every
from .model import State
from .words import Add, Config, Find, Move, Rank, RankAt, Remove, Size, Slowest


def _scope(name: str, cursors: int, entries: int) -> Scope:
    """So many cursors, and so many positions for them beside none."""
    names, where = tuple(f"c{number}" for number in range(cursors)), range(entries)
    positions: tuple[Any, ...] = (
        *every(Add, cursor=names, ledger=(0,), entry=where),
        *every(Add, cursor=names, ledger=(None,), entry=(0,)),
        *every(Move, cursor=names, ledger=(0,), entry=where),
        *every(Move, cursor=names, ledger=(None,), entry=(0,)),
    )
    questions: tuple[Any, ...] = (
        *every(Rank, cursor=names),
        *every(RankAt, ledger=(0,), entry=where),
        *every(Find, cursor=names),
        Slowest(),
        Size(),
    )
    return Scope(
        name,
        f"{cursors} cursors that are absent, untracked or at one of {entries} positions",
        Config(),
        (*positions, *every(Remove, cursor=names), *questions),
        renamings=_renamings(names),
    )


def _renamings(names: tuple[str, ...]) -> Any:
    """Cursors differ by their positions alone: which one has which name makes no difference to any answer but by that
    name."""

    def renamings(state: State) -> Iterator[State]:
        for others in permutations(names):
            new = dict(zip(names, others, strict=True))
            yield state._replace(cursors=tuple(sorted([row._replace(cursor=new[row.cursor]) for row in state.cursors])))

    return renamings


SCOPES = (
    _scope("pair", cursors=2, entries=3),
    _scope("trio", cursors=3, entries=3),
    _scope("four", cursors=4, entries=4),
    _scope("million", cursors=6, entries=8),
)
