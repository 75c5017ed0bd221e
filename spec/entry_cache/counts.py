"""entry_cache, part 6: how the count of expected reads moves after its start.

PIP-430, "Dynamic Updates": one is taken when a delivery is released, one is added when the entry enters a replay queue.
"""

from __future__ import annotations

from ..core import Dialect
from . import naming as named
from . import words as w
from .passes import counts_reads
from .rules import read_taken
from .state import Position, State, with_items


def take_read(config: w.Config, state: State, item: w.Item, dialect: Dialect) -> w.Item:
    """The entry after one expected read was done."""
    if not counts_reads(config, dialect) or _never_counted(state, item, dialect):
        return item
    reads = item.reads - 1 if dialect.has(named.COUNT_BELOW_ZERO) else read_taken(item.reads)
    return item._replace(reads=reads)


def set_reads(state: State, item: w.Item, reads: int, dialect: Dialect) -> w.Item:
    """The entry after a second put brought a count of its own."""
    return item if _never_counted(state, item, dialect) else item._replace(reads=reads)


def add_read(state: State, item: w.Item, dialect: Dialect) -> w.Item:
    """The entry after one more read was asked for."""
    return item if _never_counted(state, item, dialect) else item._replace(reads=item.reads + 1)


def pay_back(
    config: w.Config, state: State, row: w.CursorRow, forgotten: tuple[Position, ...], dialect: Dialect
) -> State:
    """What a leaving cursor owed.  The text pays nothing back; the amendment takes one read off each entry that the
    cursor had yet to read, and one off each whose replay it forgets."""
    if not dialect.has(named.LEAVER_PAYS_BACK) or not row.active:
        return state
    changed = {}
    for item in state.queue:
        if item is not None and item.topic == row.topic:
            position = (item.ledger, item.entry)
            owed = (position >= row.read) + (position in forgotten)
            if owed:
                changed[item.serial] = item._replace(reads=min(item.reads, max(0, item.reads - owed)))
    return state._replace(queue=with_items(state.queue, changed)) if changed else state


def _never_counted(state: State, item: w.Item, dialect: Dialect) -> bool:
    return dialect.has(named.NO_COUNT_FROM_ZERO) and item.serial in state.from_zero
