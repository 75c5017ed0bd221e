"""Swarms: how one case differs from the next.

Each case draws its own config, a random subset of the commands with random weights, how wide and how edgy its values
are, how long it is, and how often it looks at the snapshot.  Everything comes from (campaign seed, system, case
number): no clock, no global randomness, no order of a hash.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from attrs import frozen

from ..spec.core import Action, Shape, System, fields_of

SLOTS = 128  # resolution of the table from which actions are picked
LENGTHS = (20, 50, 120, 300)
OBSERVE = (8, 24, 96, 0)  # look after every n-th command; 0: after the last one only
CHECKED_RATE = 1 / 48  # share of the cases in which every law is asked at every step
STRAY_RATE = 0.03  # share of the commands that are drawn without asking whether they make sense now
DRAIN_RATE = 0.5
KEPT, RARE_KEPT = 0.85, 0.2  # share of the cases that send a command at all
MAX_DRAIN = 400

Draw = Callable[[Any], Any]
"""From a model state to a command, or None where the action is not enabled in it."""


@frozen
class Swarm:
    """What one case drew before its first command."""

    config: Any
    length: int
    observe: int  # 1: every law at every step
    drains: bool
    draws: tuple[Draw, ...]  # SLOTS of them: pick one uniformly
    strays: tuple[Draw, ...]
    random: Callable[[], float]
    unsupported: frozenset[str]  # commands that the subject does not take: not sent to bring it to rest either

    @property
    def checked(self) -> bool:
        return self.observe == 1


def draw_swarm(
    system: System, seed: int, number: int, unsupported: frozenset[str] = frozenset(), checked: bool | None = None
) -> Swarm:
    """The swarm of one case.  `checked` overrules how often it looks (not what it does): True asks every law at every
    step, False never does."""
    source = Random(f"{seed}/{system.name}/{number}")
    random = source.random
    shape = Shape(
        width=(0.25, 0.25, 0.5, 1.0)[int(random() * 4)],
        edge_rate=(0.0, 0.05, 0.25)[int(random() * 3)],
        full_rate=(0.0, 0.0, 0.0, 0.02)[int(random() * 4)],
    )
    config = system.config(**{f.name: f.domain.sampler(random, shape)() for f in fields_of(system.config)})
    length = LENGTHS[int(random() * len(LENGTHS))]
    luck = random()
    every = OBSERVE[int(random() * len(OBSERVE))]
    asks_all = luck < CHECKED_RATE if checked is None else checked
    drains = random() < DRAIN_RATE
    weighed = [(action, _weight(action, random)) for action in system.model.actions]
    kept = [(a, w) for a, w in weighed if w > 0 and a.command.__name__ not in unsupported]
    if not kept:
        kept = [(a, 1.0) for a in system.model.actions if a.command.__name__ not in unsupported]
    draws = [_drawer(action, config, shape, random) for action, _ in kept]
    strays = tuple(_stray(action, shape, random) for action, _ in kept)
    slots = _slots([weight for _, weight in kept])
    return Swarm(
        config,
        length,
        1 if asks_all else every,
        drains,
        tuple(draws[index] for index in slots),
        strays,
        random,
        unsupported,
    )


def _weight(action: Action, random: Callable[[], float]) -> float:
    """An action's weight in this case; 0 leaves it out."""
    kept, tilt = random() < (RARE_KEPT if action.rare else KEPT), random()
    if not kept:
        return 0.0
    spread: float = 4.0 ** (tilt * 2 - 1)
    return action.weight * spread


def _slots(weights: list[float]) -> list[int]:
    """SLOTS indices, each weight with its share of them and one at least."""
    total = sum(weights)
    slots: list[int] = []
    for index, weight in enumerate(weights):
        slots += [index] * max(1, round(SLOTS * weight / total))
    return slots


def _drawer(action: Action, config: Any, shape: Shape, random: Callable[[], float]) -> Draw:
    """Draws enabled commands of one action: the first fields from its targets, the others from their domains."""
    make, targets, when = action.command, action.targets, action.when
    fields = fields_of(make)
    if not fields:
        only = make()
        return lambda state: only if when is None or when(config, state) else None
    count = len(fields)
    samplers: list[Callable[[], Any]] = []  # made when first needed: most actions are not drawn in a short case

    def draw(state: Any) -> Any:
        if when is not None and not when(config, state):
            return None
        row: tuple[Any, ...] = ()
        if targets is not None:
            rows = targets(config, state)
            if not rows:
                return None
            row = rows[int(random() * len(rows))]
            if len(row) == count:
                return make(*row)
        if not samplers:
            samplers.extend([f.domain.sampler(random, shape) for f in fields])
        return make(*row, *[sample() for sample in samplers[len(row) :]])

    return draw


def _stray(action: Action, shape: Shape, random: Callable[[], float]) -> Draw:
    """Draws any command of one action, whether it makes sense now or not."""
    make = action.command
    return lambda state: make(*[f.domain.sampler(random, shape)() for f in fields_of(make)])
