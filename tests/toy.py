"""A toy system, complete and small, for the tests of the engines: a turnstile.

Visitors insert coins; a push lets one visitor through and costs its price; credit that nobody uses comes back.  It has
laws of all four kinds, a deviation, a reference that can be cloned, and three mutants, each broken in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from attrs import frozen

from brokerlaw.reference.mutant import Mutant
from brokerlaw.spec.core import (
    VACUOUS,
    Action,
    Broken,
    Case,
    Deviation,
    Dialect,
    Model,
    Subject,
    System,
    Verdict,
    always,
    choice,
    integer,
    sometimes,
    step,
    within,
)

# ---- What can be set ------------------------------------------------------------------------------------------------


@frozen
class Config:
    """What the owner of the turnstile sets."""

    price_coins: int = integer(1, 9, usual=(1, 4), small=(1, 2), default=1)
    max_credit_coins: int = integer(1, 1_000, usual=(1, 12), edges=(1, 1_000), small=(1, 3), default=10)
    idle_ticks: int = integer(1, 50, usual=(1, 6), edges=(1,), small=(1, 2), default=3)


# ---- What can happen ------------------------------------------------------------------------------------------------


@frozen
class Insert:
    """A visitor inserts coins; what does not fit under the maximum comes back at once."""

    visitor: str = choice("ann", "bob", "cid", small=2)
    coins: int = integer(1, 1_000, usual=(1, 8), edges=(1, 1_000), small=(1, 3))


@frozen
class Push:
    """A visitor pushes the arm; it stays locked for one whose credit is below the price."""

    visitor: str = choice("ann", "bob", "cid", small=2)


@frozen
class Tick:
    """Time passes; credit that was not touched for `idle_ticks` ticks comes back."""


@frozen
class Reset:
    """The attendant gives every coin back."""


# ---- What its caller sees, what an observer sees --------------------------------------------------------------------


@frozen
class Accepted:
    kept: int
    returned: int


@frozen
class Passed:
    """The visitor went through."""


@frozen
class Locked:
    """The arm did not move."""


@frozen
class Returned:
    coins: int


class Snapshot(NamedTuple):
    credits: tuple[tuple[str, int], ...]  # (visitor, coins) of those who have any, in order of name
    passed: int


# ---- What is the case (the model) -----------------------------------------------------------------------------------


class Purse(NamedTuple):
    visitor: str
    coins: int
    idle: int  # ticks since the visitor last did anything


class State(NamedTuple):
    purses: tuple[Purse, ...] = ()  # in order of name
    passed: int = 0


REFUSE_WHOLE = "refuse-whole"


def _purse(state: State, visitor: str) -> Purse:
    return next((purse for purse in state.purses if purse.visitor == visitor), Purse(visitor, 0, 0))


def _with(state: State, visitor: str, coins: int) -> tuple[Purse, ...]:
    others = [purse for purse in state.purses if purse.visitor != visitor]
    return tuple(sorted([*others, Purse(visitor, coins, 0)] if coins else others))


def insert(config: Config, state: State, command: Insert, dialect: Dialect) -> tuple[State, Accepted]:
    credit = _purse(state, command.visitor).coins
    room = config.max_credit_coins - credit
    kept = min(command.coins, room)
    if dialect.has(REFUSE_WHOLE) and kept < command.coins:
        kept = 0
    purses = _with(state, command.visitor, credit + kept)
    return State(purses, state.passed), Accepted(kept, command.coins - kept)


def push(config: Config, state: State, command: Push, dialect: Dialect) -> tuple[State, Passed | Locked]:
    credit = _purse(state, command.visitor).coins
    if credit < config.price_coins:
        return State(_with(state, command.visitor, credit), state.passed), Locked()
    return State(_with(state, command.visitor, credit - config.price_coins), state.passed + 1), Passed()


def tick(config: Config, state: State, command: Tick, dialect: Dialect) -> tuple[State, Returned]:
    aged = [purse._replace(idle=purse.idle + 1) for purse in state.purses]
    kept = tuple(purse for purse in aged if purse.idle < config.idle_ticks)
    return State(kept, state.passed), Returned(sum(p.coins for p in aged) - sum(p.coins for p in kept))


def reset(config: Config, state: State, command: Reset, dialect: Dialect) -> tuple[State, Returned]:
    return State((), state.passed), Returned(sum(purse.coins for purse in state.purses))


def with_credit(config: Config, state: State) -> list[tuple[str]]:
    return [(purse.visitor,) for purse in state.purses if purse.coins >= config.price_coins]


def view(state: State) -> Snapshot:
    return Snapshot(tuple((purse.visitor, purse.coins) for purse in state.purses), state.passed)


def canonical(state: State) -> Hashable:
    return state.purses  # how many passed so far changes nothing later


def drain(config: Config, state: State) -> Tick | None:
    return Tick() if state.purses else None


MODEL = Model(
    start=lambda config: State(),
    actions=(
        Action(Insert, insert),
        Action(Push, push, targets=with_credit),
        Action(Tick, tick, when=lambda config, state: bool(state.purses)),
        Action(Reset, reset, weight=1, rare=True),
    ),
    view=view,
    canonical=canonical,
    drain=drain,
)

# ---- What must hold -------------------------------------------------------------------------------------------------


@always("TOY, Credit", reads=("credits",))
def credit_stays_within_the_maximum(config: Config, now: Snapshot) -> Verdict:
    """Nobody's credit is above the maximum."""
    if not now.credits:
        return VACUOUS
    most = max(coins for _, coins in now.credits)
    return most <= config.max_credit_coins or Broken(f"credit {most} > maximum {config.max_credit_coins}")


@step("TOY, Passing", on=(Push,), reads=("credits",))
def a_pass_costs_exactly_its_price(
    config: Config, before: Snapshot, command: Push, outcome: Any, after: Snapshot
) -> Verdict:
    """Whoever passes pays the price.  Can not see: who put the coins in."""
    if not isinstance(outcome, Passed):
        return VACUOUS
    paid = dict(before.credits).get(command.visitor, 0) - dict(after.credits).get(command.visitor, 0)
    return paid == config.price_coins or Broken(f"{command.visitor} paid {paid}, the price is {config.price_coins}")


class History:
    """For each visitor with credit, how many ticks ago he last did anything."""

    def __init__(self, config: Config) -> None:
        self.idle: dict[str, int] = {}

    def record(self, before: Snapshot, command: Any, outcome: Any, after: Snapshot) -> None:
        if isinstance(command, Tick):
            self.idle = {visitor: self.idle.get(visitor, 0) + 1 for visitor, _ in after.credits}
        elif isinstance(command, Insert | Push):
            self.idle[command.visitor] = 0


@within("TOY, Idle credit", on=(Tick,), reads=("credits",))
def idle_credit_comes_back(
    past: History, config: Config, before: Snapshot, command: Tick, outcome: Any, after: Snapshot
) -> Verdict:
    """Credit that was not touched for `idle_ticks` ticks is gone."""
    if not before.credits:
        return VACUOUS
    late = [visitor for visitor, _ in after.credits if past.idle[visitor] >= config.idle_ticks]
    return not late or Broken(f"{late[0]} was idle for {past.idle[late[0]]} ticks of {config.idle_ticks}")


@sometimes("TOY, Credit", on=(Insert,), reads=())
def a_coin_comes_back(
    past: History, config: Config, before: Snapshot, command: Insert, outcome: Any, after: Snapshot
) -> bool:
    """An insert went over the maximum."""
    return isinstance(outcome, Accepted) and outcome.returned > 0


@sometimes("TOY, Passing", on=(Push,), reads=("credits",))
def somebody_passes_while_another_waits(
    past: History, config: Config, before: Snapshot, command: Push, outcome: Any, after: Snapshot
) -> bool:
    """A visitor passed while another one had credit."""
    return isinstance(outcome, Passed) and len(before.credits) > 1


TOY = System(
    "toy",
    "a turnstile",
    "TOY",
    config=Config,
    commands=(Insert, Push, Tick, Reset),
    outcomes=(Accepted, Passed, Locked, Returned),
    snapshot=Snapshot,
    model=MODEL,
    laws=(
        credit_stays_within_the_maximum,
        a_pass_costs_exactly_its_price,
        idle_credit_comes_back,
        a_coin_comes_back,
        somebody_passes_while_another_waits,
    ),
    deviations=(
        Deviation(
            REFUSE_WHOLE,
            says='"What does not fit comes back": the part that does not fit, or the whole insert?',
            here="text: what fits is kept.  refuse-whole: an insert that does not fit comes back whole.",
            origin="silent",
            case=Case("toy", Config(max_credit_coins=1), (Insert("ann", 2),)),
        ),
    ),
    dialects={"text": (), "strict": (REFUSE_WHOLE,)},
    history=History,
    history_reads=("credits",),
    lanes=lambda command: getattr(command, "visitor", "owner"),
)

# ---- The reference and its mutants ----------------------------------------------------------------------------------


class Turnstile:
    """The reference: one dictionary of [coins, idle ticks] for each visitor."""

    def __init__(self) -> None:
        self.reset(Config(), TOY.dialect("text"))

    def reset(self, config: Config, dialect: Dialect) -> None:
        self.config, self.dialect = config, dialect
        self.purses: dict[str, list[int]] = {}
        self.passed = 0

    def apply(self, command: Any) -> Any:
        match command:
            case Insert(visitor, coins):
                return self.insert(visitor, coins)
            case Push(visitor):
                return self.push(visitor)
            case Tick():
                return Returned(self.tick())
            case _:
                coins, self.purses = sum(coins for coins, _ in self.purses.values()), {}
                return Returned(coins)

    def insert(self, visitor: str, coins: int) -> Accepted:
        credit = self.purses.get(visitor, [0, 0])[0]
        kept = min(coins, self.maximum() - credit)
        if self.dialect.has(REFUSE_WHOLE) and kept < coins:
            kept = 0
        self._put(visitor, credit + kept)
        return Accepted(kept, coins - kept)

    def push(self, visitor: str) -> Passed | Locked:
        credit = self.purses.get(visitor, [0, 0])[0]
        if credit < self.config.price_coins:
            self._put(visitor, credit)
            return Locked()
        self._put(visitor, credit - self.price(credit))
        self.passed += 1
        return Passed()

    def tick(self) -> int:
        returned = 0
        for visitor in self.aging():
            self.purses[visitor][1] += 1
            if self.purses[visitor][1] >= self.config.idle_ticks:
                returned += self.purses.pop(visitor)[0]
        return returned

    def maximum(self) -> int:
        return self.config.max_credit_coins

    def price(self, credit: int) -> int:
        return self.config.price_coins

    def aging(self) -> list[str]:
        return sorted(self.purses)

    def _put(self, visitor: str, coins: int) -> None:
        self.purses.pop(visitor, None)
        if coins:
            self.purses[visitor] = [coins, 0]

    def snapshot(self) -> Snapshot:
        return Snapshot(tuple(sorted((visitor, coins) for visitor, (coins, _) in self.purses.items())), self.passed)

    def clone(self) -> Turnstile:
        twin = type(self)()
        twin.config, twin.dialect, twin.passed = self.config, self.dialect, self.passed
        twin.purses = {visitor: list(purse) for visitor, purse in self.purses.items()}
        return twin

    def fingerprint(self) -> Hashable:
        return tuple(sorted((visitor, *purse) for visitor, purse in self.purses.items()))


class MaximumPlusOne(Turnstile):
    def maximum(self) -> int:
        return self.config.max_credit_coins + 1


class LastCoinIsFree(Turnstile):
    def price(self, credit: int) -> int:
        return 0 if credit == self.config.price_coins else self.config.price_coins


class OnlyFirstPurseAges(Turnstile):
    def aging(self) -> list[str]:
        return sorted(self.purses)[:1]


MUTANTS = (
    Mutant(
        "maximum-plus-one",
        "first-order",
        "The maximum is one coin too high.",
        MaximumPlusOne,
        breaks="credit_stays_within_the_maximum",
    ),
    Mutant(
        "last-coin-is-free",
        "first-order",
        "A visitor whose credit is just the price passes for nothing.",
        LastCoinIsFree,
        breaks="a_pass_costs_exactly_its_price",
    ),
    Mutant(
        "only-first-purse-ages",
        "first-order",
        "A tick ages the first purse alone.",
        OnlyFirstPurseAges,
        breaks="idle_credit_comes_back",
    ),
)


def mutant(name: str) -> Callable[[], Subject]:
    """The factory of a mutant by name."""
    return next(mutant.make for mutant in MUTANTS if mutant.name == name)
