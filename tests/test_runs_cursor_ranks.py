"""The spec of cursor_ranks on random runs: any list of commands is legal, and its model keeps every law."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest

from brokerlaw.spec.core import TEXT_DIALECT, Broken, Shape, fields_of
from brokerlaw.spec.cursor_ranks import CURSOR_RANKS, Add, Move, Rank, RankAt, Slowest, Snapshot
from brokerlaw.spec.cursor_ranks.model import MODEL, State

from .test_spec_cursor_ranks import CONFIG, seen_by

DIALECTS = ["text", "pulsar-4", "text+untracked-keeps-position", "text+rank-leaves-itself-out"]


def random_commands(seed: int, count: int, present_rate: float = 0.8) -> Iterable[Any]:
    """Commands drawn from their declared domains, mostly naming cursors that are there."""
    luck = random.Random(seed)
    shape = Shape(width=luck.choice((0.4, 1.0)))
    actions = [action for action in MODEL.actions for _ in range(action.weight)]
    draws = {c: [f.domain.sampler(luck.random, shape) for f in fields_of(c)] for c in CURSOR_RANKS.commands}
    state = MODEL.start(CONFIG)
    for _ in range(count):
        action = luck.choice(actions)
        values = [draw() for draw in draws[action.command]]
        targets = action.targets(CONFIG, state) if action.targets else ()
        if targets and luck.random() < present_rate:
            values[0] = luck.choice(targets)[0]
        command = action.command(*values)
        state, _ = MODEL.step(CONFIG, state, command, TEXT_DIALECT)
        yield command


@pytest.mark.parametrize("name", DIALECTS)
def test_any_list_of_commands_runs_and_the_model_keeps_every_law_and_reaches_every_place(name: str) -> None:
    dialect = CURSOR_RANKS.dialect(name)
    laws = CURSOR_RANKS.laws_in(dialect)
    held: Counter[str] = Counter()
    for seed in range(40):
        state, past, lazy = MODEL.start(CONFIG), CURSOR_RANKS.history(CONFIG), Lazy()
        before = lazy.shown(state)
        for command in random_commands(seed, 150):
            state, outcome = MODEL.step(CONFIG, state, command, dialect)
            lazy.note(command, before)
            after = lazy.shown(state)
            assert isinstance(outcome, CURSOR_RANKS.outcomes)
            past.record(before, command, outcome, after)
            for law in laws:
                if law.on and not isinstance(command, law.on):
                    continue
                told = law.check(*seen_by(law, past, before, command, outcome, after))
                assert not isinstance(told, Broken), (seed, law.name, told)
                held[law.name] += told is True
            before = after
    assert [law.name for law in laws if not held[law.name]] == []


class Lazy:
    """The model as a lazy container would show itself: an update waits for a question, and costs one unit each time."""

    def __init__(self) -> None:
        self.waiting: set[str] = set()
        self.work = self.rebuilds = 0

    def note(self, command: Any, before: Snapshot) -> None:
        if isinstance(command, (Add, Move)):
            self.work += 1
            self.waiting.add(command.cursor)
        elif isinstance(command, (Rank, RankAt, Slowest)):
            self.work += 1 + before.pending
            tracked = sum(row.position is not None for row in before.cursors)
            self.rebuilds += bool(before.pending) and before.pending / max(1, tracked) >= CONFIG.rebuild_percent / 100
            self.waiting.clear()

    def shown(self, state: State) -> Snapshot:
        pending = len(self.waiting & {row.cursor for row in state.cursors})
        return Snapshot(state.cursors, pending, len(state.cursors), self.work, self.rebuilds)
