"""entry_cache, part 14: what is explored exhaustively."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any

from attrs import evolve

from ..core import Scope, every
from .state import State
from .words import (
    Append,
    BeginRemoval,
    CloseCursor,
    Config,
    EvictionCheck,
    FailDelivery,
    FinishLoad,
    FinishRemoval,
    Get,
    Item,
    OpenCursor,
    Read,
    Redeliver,
    Release,
    Replay,
    SizePass,
    Tick,
)

TINY = Config(
    max_size_bytes=4,
    watermark_percent=50,
    ttl_ms=1,
    check_interval_ms=1,
    max_extensions=1,
    continue_caching_ms=0,
    copy_entries=True,
    backlogged_threshold=0,
)
TOPIC = ("t0",)


def at_most(entries: int, deliveries: int, reads: int) -> Callable[[Config, State], bool]:
    """States in which no more was published, no more is handed out, and of no entry more reads are expected."""

    def within(config: Config, state: State) -> bool:
        published = sum([len(ledger.sizes) for topic in state.topics for ledger in topic.ledgers])
        expected = max([item.reads for item in state.queue if item is not None], default=0)
        return published <= entries and len(state.deliveries) <= deliveries and expected <= reads

    return within


def steady(config: Config, state: State) -> State:
    """Two things make no difference while settings stay as they are: when the last cursor left, where nothing is cached
    for topics that have none; and how many extensions were spent beyond those that expected reads can give."""
    most, now_ms = config.max_extensions, state.now_ms
    queue = tuple([item if item is None or item.extensions <= most else _capped(item, most) for item in state.queue])
    return state._replace(queue=queue, topics=tuple([topic._replace(left_ms=now_ms) for topic in state.topics]))


def _capped(item: Item, most: int) -> Item:
    return item._replace(extensions=most)


def cursors_renamed(names: tuple[str, ...]) -> Callable[[State], Iterator[State]]:
    """Cursors of one topic differ by where they stand alone."""

    def renamings(state: State) -> Iterator[State]:
        for others in permutations(names):
            new = dict(zip(names, others, strict=True))
            yield state._replace(
                cursors=tuple(sorted([row._replace(cursor=new[row.cursor]) for row in state.cursors])),
                deliveries=tuple([row._replace(cursor=new[row.cursor]) for row in state.deliveries]),
            )

    return renamings


def _reading(cursors: tuple[str, ...], entries: int) -> tuple[Any, ...]:
    """Publishing, reading, eviction, time."""
    where = range(entries)
    return (
        *every(Append, topic=TOPIC, size_bytes=(1, 2)),
        *every(OpenCursor, topic=TOPIC, cursor=cursors, at=("earliest",)),
        *every(Read, topic=TOPIC, cursor=cursors, count=(1,)),
        *every(FinishLoad, topic=TOPIC, cursor=cursors),
        *every(Release, topic=TOPIC, cursor=cursors, ledger=(0,), entry=where),
        *every(Get, topic=TOPIC, ledger=(0,), entry=where),
        EvictionCheck(),
        SizePass(),
        Tick(1),
    )


def _replaying(cursors: tuple[str, ...], entries: int) -> tuple[Any, ...]:
    """Deliveries that fail or are asked for again, cursors that leave, removal by force."""
    places = {"topic": TOPIC, "cursor": cursors, "ledger": (0,), "entry": range(entries)}
    removals = {"what": ("entry", "upto", "all"), "topic": TOPIC, "ledger": (0,), "entry": range(entries)}
    return (
        *every(FailDelivery, **places),
        *every(Redeliver, **places),
        *every(Replay, **places),
        *every(CloseCursor, topic=TOPIC, cursor=cursors),
        *every(BeginRemoval, **removals),
        *every(FinishRemoval, **removals),
    )


def _scope(name: str, about: str, cursors: int, entries: int, **more: Any) -> Scope:
    names = tuple(f"c{number}" for number in range(cursors))
    commands = _reading(names, entries) + (_replaying(names, entries) if more.pop("replays", False) else ())
    return Scope(
        name,
        about,
        evolve(TINY, **more),
        commands,
        within=at_most(entries, deliveries=2, reads=3),
        alike=steady,
        renamings=cursors_renamed(names),
    )


SCOPES = (
    _scope("core", "one cursor reads at most two entries of one or two bytes", 1, 2),
    _scope("three", "the same with three entries", 1, 3),
    _scope("two", "two cursors read at most two entries", 2, 2),
    _scope("races", "one cursor, two entries: deliveries that fail, replays, forced removal", 1, 2, replays=True),
    _scope("patient", "as core, with two extensions and a finer clock", 1, 2, ttl_ms=2, max_extensions=2),
)
