"""The explorer: every state of a scope, breadth first, with the laws and the model on.

The model says which states there are: two are one where their canonical forms agree.  A subject goes along in lockstep.
One that can be copied (`clone`, `fingerprint`) is exhausted itself: a state is then a pair, the model's and its own.
One that can not is brought to each state of the model by one shortest way, and tried with every command there; the
result says which of the two it was.

Breadth first means that the first case that breaks a law is a shortest one.  Nothing behind a broken step is visited.
Laws that remember are asked along one shortest way to each state, since states with different pasts are one here.
"""

from __future__ import annotations

import copy
import time
from array import array
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from typing import Any, Literal

from attrs import Factory, define, evolve, frozen

from ..driver.checker import Breach, Checker, Plan, SubjectError, plan_for
from ..driver.loop import MakeSubject
from ..driver.tally import Tally
from ..spec.core import Case, Cloneable, Dialect, System
from ..spec.core.scope import Scope

How = Literal["the model alone", "the subject itself", "over the model's states"]
TOLD_EVERY = 2_000  # states between two lines of progress


@frozen
class Reached:
    """A breach, and the shortest case that shows it."""

    breach: Breach
    case: Case


@define
class Explored:
    """What an exploration saw."""

    system: str
    scope: str
    dialect: str
    subject: str
    how: How
    states: int = 0
    steps: int = 0  # commands tried, each in each state
    layers: list[int] = Factory(list)  # new states by the least number of commands that reaches them
    left_out: int = 0  # steps that led to a state outside the scope
    stopped: str = ""  # why it is not the whole scope
    broken: dict[tuple[str, str], Reached] = Factory(dict)  # the first of each kind
    tally: Tally = Factory(Tally)
    seconds: float = 0.0

    @property
    def depth(self) -> int:
        return len(self.layers) - 1

    @property
    def exhausted(self) -> bool:
        """Whether every state of the scope was visited, and none hidden behind a broken step."""
        return not self.stopped and not self.broken


def _quiet(explored: Explored) -> None:
    pass


@frozen
class Limits:
    """When to give up."""

    states: int | None = None
    seconds: float | None = None
    first: bool = False  # at the first thing that breaks


NO_LIMITS = Limits()


class Ways:
    """A shortest way to each state: a tree of numbers, 12 bytes a state."""

    def __init__(self) -> None:
        self._parents = array("q", [-1])
        self._commands = array("i", [-1])

    def add(self, parent: int, command: int) -> int:
        """A new state's number."""
        self._parents.append(parent)
        self._commands.append(command)
        return len(self._parents) - 1

    def to(self, state: int) -> list[int]:
        """The commands that lead to a state, by number."""
        way = []
        while state > 0:
            way.append(self._commands[state])
            state = self._parents[state]
        return way[::-1]


def key_maker(system: System, scope: Scope, symmetry: bool) -> Callable[[Any], Hashable]:
    """What two states of the model have in common that are one in this scope."""
    canonical, config, alike, renamings = system.model.canonical, scope.config, scope.alike, scope.renamings
    if symmetry and renamings is not None:
        return lambda state: min(
            [canonical(alike(config, each) if alike else each) for each in renamings(state)], key=repr
        )
    if alike is not None:
        return lambda state: canonical(alike(config, state))
    return canonical


def explore_model(
    system: System,
    scope: Scope,
    dialect: Dialect,
    *,
    symmetry: bool = False,
    limits: Limits = NO_LIMITS,
    progress: Callable[[Explored], None] = _quiet,
) -> Explored:
    """Visits the states of the model alone, and asks no law: how many there are."""
    found = Explored(system.name, scope.name, dialect.name, "model", "the model alone")
    key_of, config, within = key_maker(system, scope, symmetry), scope.config, scope.within
    moves = [(command, system.model.by_command[type(command)].step) for command in scope.commands]
    start = system.model.start(config)
    seen = {key_of(start)}
    began, frontier = time.monotonic(), [start]
    while frontier and not found.stopped:
        _layer(found, len(frontier), began)
        if scope.depth is not None and found.depth >= scope.depth:
            break
        ahead = []
        for count, state in enumerate(frontier):
            for command, step in moves:
                after, _ = step(config, state, command, dialect)
                if after is state:
                    continue
                if within is not None and not within(config, after):
                    found.left_out += 1
                    continue
                key = key_of(after)
                if key not in seen:
                    seen.add(key)
                    ahead.append(after)
            if count % TOLD_EVERY == 0 and _tell(found, began, len(seen), limits, progress):
                break
        found.steps += len(frontier) * len(moves)
        frontier = ahead
    found.seconds = time.monotonic() - began
    return found


def _layer(found: Explored, size: int, began: float) -> None:
    found.layers.append(size)
    found.states += size
    found.seconds = time.monotonic() - began


def _tell(found: Explored, began: float, seen: int, limits: Limits, progress: Callable[[Explored], None]) -> bool:
    """Shows how far it is; whether it has to stop."""
    found.seconds = time.monotonic() - began
    progress(evolve(found, states=seen))
    if limits.states is not None and seen >= limits.states:
        found.stopped = f"there are more than {limits.states:,} states"
    if limits.seconds is not None and found.seconds >= limits.seconds:
        found.stopped = "the time was over"
    return bool(found.stopped)


# ---- With a subject -------------------------------------------------------------------------------------------------


@define
class Lockstep:
    """An exploration of the model and a subject together."""

    system: System
    scope: Scope
    dialect: Dialect
    make: MakeSubject
    subject: str
    only: tuple[str, ...] = ()
    symmetry: bool = False  # only where the subject is not exhausted itself: what it holds can not be renamed
    limits: Limits = NO_LIMITS
    progress: Callable[[Explored], None] = _quiet
    ways: Ways = Factory(Ways)

    def run(self) -> Explored:
        """Visits every state, and tries every command in each."""
        first = self._started()
        copies = isinstance(first.subject, Cloneable)
        how: How = "the subject itself" if copies else "over the model's states"
        found = Explored(self.system.name, self.scope.name, self.dialect.name, self.subject, how, tally=first.tally)
        key_of = key_maker(self.system, self.scope, self.symmetry and not copies)
        seen = {self._key(first, key_of, copies)}
        began = time.monotonic()
        frontier: list[tuple[int, Checker | None]] = [(0, first if copies else None)]
        self._note(found, first, 0, None)
        while frontier and not self._over(found):
            _layer(found, len(frontier), began)
            if self.scope.depth is not None and found.depth >= self.scope.depth:
                break
            ahead: list[tuple[int, Checker | None]] = []
            for count, (state, checker) in enumerate(frontier):
                for number, after in self._steps(state, checker, first.plan, found):
                    if not self._inside(after, found):
                        continue
                    key = self._key(after, key_of, copies)
                    if key not in seen:
                        seen.add(key)
                        ahead.append((self.ways.add(state, number), after if copies else None))
                if count % (TOLD_EVERY // 10) == 0 and _tell(found, began, len(seen), self.limits, self.progress):
                    break
                if self._over(found):
                    break
            frontier = ahead
        found.seconds = time.monotonic() - began
        return found

    def _over(self, found: Explored) -> bool:
        if found.broken and self.limits.first and not found.stopped:
            found.stopped = "something broke"
        return bool(found.stopped)

    def _started(self) -> Checker:
        subject = self.make()
        checker = Checker(plan_for(self.system, self.dialect, subject, self.only), subject, self.scope.config)
        with suppress(SubjectError):  # it is among the breaches
            checker.start()
        return checker

    def _steps(self, state: int, checker: Checker | None, plan: Plan, found: Explored) -> Iterator[tuple[int, Checker]]:
        """Each command of the scope, tried in one state; those that broke nothing."""
        for number, command in enumerate(self.scope.commands):
            if type(command).__name__ in plan.unsupported:
                continue
            found.steps += 1
            here = self._brought_to(state) if checker is None else forked(checker)
            here.tally = found.tally
            with suppress(SubjectError):
                here.step(command)
            if here.breaches:
                self._note(found, here, state, number)
            else:
                yield number, here

    def _brought_to(self, state: int) -> Checker:
        """A fresh subject, led to a state by its shortest way; what is asked on the way counts for nothing."""
        checker = self._started()
        for number in self.ways.to(state):
            checker.step(self.scope.commands[number])
        return checker

    def _inside(self, checker: Checker, found: Explored) -> bool:
        within = self.scope.within
        inside = within is None or within(self.scope.config, checker.state)
        found.left_out += not inside
        return inside

    def _key(self, checker: Checker, key_of: Callable[[Any], Hashable], copies: bool) -> Hashable:
        key = key_of(checker.state)
        subject: Any = checker.subject
        return (key, subject.fingerprint()) if copies else key

    def _note(self, found: Explored, checker: Checker, state: int, number: int | None) -> None:
        """Keeps the first case that breaks each thing; a difference from the model only where nothing else broke."""
        named = [breach for breach in checker.breaches if breach.kind != "model"] or checker.breaches
        for breach in named:
            if breach.key not in found.broken:
                way = [*self.ways.to(state), *([] if number is None else [number])]
                commands = tuple([self.scope.commands[each] for each in way])
                case = Case(self.system.name, self.scope.config, commands, self.dialect.name)
                found.broken[breach.key] = Reached(breach, case)


def forked(checker: Checker) -> Checker:
    """A checker that goes on from the same state without disturbing the other."""
    subject: Any = checker.subject
    return evolve(checker, subject=subject.clone(), past=copy.deepcopy(checker.past), breaches=list(checker.breaches))
