"""Diff: the shortest case on which two dialects, or two subjects, give different outcomes or snapshots.

First by exploration: both sides take the same steps, breadth first, so that the first difference is a shortest one in
its scope.  Then by seeded search: cases are drawn, run on both, and the first that tells them apart is cut down.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol

from attrs import define, evolve, frozen

from ..driver.loop import Job, MakeSubject, drawn_case
from ..spec.core import NOT_OBSERVED, Case, Dialect, Scope, System, unsupported_by
from .explorer import NO_LIMITS, Limits, Ways

CUTS = 400  # attempts to cut a case down


class Side(Protocol):
    """One of the two things that are compared."""

    @property
    def name(self) -> str: ...

    @property
    def unsupported(self) -> frozenset[str]:
        """Commands that it does not take; known once it has started."""

    def start(self, config: Any) -> Any:
        """The state before the first command."""

    def step(self, config: Any, state: Any, command: Any) -> tuple[Any, Any]:
        """A new state and what the caller saw; the old state stays as it is."""

    def shows(self, state: Any) -> Any:
        """The snapshot of a state."""

    def key(self, state: Any) -> Hashable:
        """What tells two states apart."""


@frozen
class ByDialect:
    """The model, in a dialect."""

    system: System
    dialect: Dialect
    unsupported: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return self.dialect.name

    def start(self, config: Any) -> Any:
        return self.system.model.start(config)

    def step(self, config: Any, state: Any, command: Any) -> tuple[Any, Any]:
        return self.system.model.step(config, state, command, self.dialect)

    def shows(self, state: Any) -> Any:
        return self.system.model.view(state)

    def key(self, state: Any) -> Hashable:
        return self.system.model.canonical(state)


@define
class BySubject:
    """A subject that can be copied, in the dialect `text` unless another one is named."""

    name: str
    make: MakeSubject
    dialect: Dialect
    unsupported: frozenset[str] = frozenset()

    def start(self, config: Any) -> Any:
        subject = self.make()
        self.unsupported = unsupported_by(subject)
        subject.reset(config, self.dialect)
        return subject

    def step(self, config: Any, state: Any, command: Any) -> tuple[Any, Any]:
        after = state.clone()
        return after, after.apply(command)

    def shows(self, state: Any) -> Any:
        return state.snapshot()

    def key(self, state: Any) -> Hashable:
        key: Hashable = state.fingerprint()
        return key


@frozen
class Difference:
    """A case, and what the last step of it shows."""

    case: Case
    part: str  # "outcome", or a part of the snapshot
    left: Any
    right: Any


@define
class Compared:
    """What a comparison came to."""

    difference: Difference | None = None
    states: int = 0  # pairs of states that were visited
    depth: int = 0
    stopped: str = ""  # why the scope was not finished
    cases: int = 0  # that were drawn, after that
    seconds: float = 0.0


def _quiet(so_far: Compared) -> None:
    pass


def explore_both(
    system: System,
    scope: Scope,
    left: Side,
    right: Side,
    limits: Limits = NO_LIMITS,
    progress: Callable[[Compared], None] = _quiet,
) -> Compared:
    """Visits the pairs of states that the same commands lead to, until one tells the sides apart."""
    began, found, ways = time.monotonic(), Compared(), Ways()
    config, pair = scope.config, (left.start(scope.config), right.start(scope.config))
    commands = [c for c in scope.commands if type(c).__name__ not in left.unsupported | right.unsupported]
    seen = {(left.key(pair[0]), right.key(pair[1]))}
    frontier = [(0, pair)]
    while frontier and found.difference is None and not found.stopped:
        if scope.depth is not None and found.depth >= scope.depth:
            break
        ahead = []
        for state, (one, other) in frontier:
            for number, command in enumerate(commands):
                after, saw = left.step(config, one, command)
                beside, saw_too = right.step(config, other, command)
                part = told_apart(system, (saw, left.shows(after)), (saw_too, right.shows(beside)))
                if part is not None:
                    way = [commands[each] for each in (*ways.to(state), number)]
                    found.difference = Difference(Case(system.name, config, way), *part)
                    found.depth += 1
                    found.seconds = time.monotonic() - began
                    return found
                if scope.within is not None and isinstance(left, ByDialect) and not scope.within(config, after):
                    continue
                key = (left.key(after), right.key(beside))
                if key not in seen:
                    seen.add(key)
                    ahead.append((ways.add(state, number), (after, beside)))
            found.states, found.seconds = len(seen), time.monotonic() - began
            progress(found)
            if limits.seconds is not None and found.seconds >= limits.seconds:
                found.stopped = "the time was over"
            if limits.states is not None and found.states >= limits.states:
                found.stopped = f"there are more than {limits.states:,} pairs of states"
            if found.stopped:
                break
        found.depth += bool(ahead)
        frontier = ahead
    return found


def told_apart(system: System, one: tuple[Any, Any], other: tuple[Any, Any]) -> tuple[str, Any, Any] | None:
    """What differs between two answers, each an outcome and a snapshot; parts that one side can not show do not."""
    if one[0] != other[0]:
        return "outcome", one[0], other[0]
    for part, here, there in zip(system.parts, one[1], other[1], strict=True):
        if here != there and here is not NOT_OBSERVED and there is not NOT_OBSERVED:
            return part, here, there
    return None


# ---- By drawn cases -------------------------------------------------------------------------------------------------


def search_both(
    system: System,
    left: Side,
    right: Side,
    seed: int,
    cases: int,
    so_far: Compared,
    progress: Callable[[Compared], None] = _quiet,
) -> Compared:
    """Draws cases until one tells the sides apart, and cuts that one down."""
    began = time.monotonic() - so_far.seconds
    job = Job(system, lambda: None, "model", seed)  # type: ignore[arg-type, return-value]  # nothing is run but the model
    for number in range(cases):
        so_far.cases = number + 1
        case = drawn_case(job, number)
        found = differs_on(system, left, right, case)
        so_far.seconds = time.monotonic() - began
        progress(so_far)
        if found is not None:
            so_far.difference = _cut(system, left, right, found)
            break
    return so_far


def differs_on(system: System, left: Side, right: Side, case: Case) -> Difference | None:
    """The first difference on a case, which ends there."""
    one, other = left.start(case.config), right.start(case.config)
    missing, done = left.unsupported | right.unsupported, []
    for command in case.commands:
        if type(command).__name__ in missing:
            continue
        done.append(command)
        one, saw = left.step(case.config, one, command)
        other, saw_too = right.step(case.config, other, command)
        part = told_apart(system, (saw, left.shows(one)), (saw_too, right.shows(other)))
        if part is not None:
            return Difference(evolve(case.with_commands(done), observe=1), *part)
    return None


def _cut(system: System, left: Side, right: Side, found: Difference) -> Difference:
    """Leaves out stretches of commands, large ones first, for as long as the sides still differ."""
    size, attempts = len(found.case.commands) // 2, 0
    while size and attempts < CUTS:
        start = 0
        while start < len(found.case.commands) and attempts < CUTS:
            attempts += 1
            shorter = differs_on(system, left, right, found.case.with_commands(_without(found, start, size)))
            if shorter is not None and len(shorter.case.commands) < len(found.case.commands):
                found = shorter
            else:
                start += size
        size //= 2
    return found


def _without(found: Difference, start: int, size: int) -> Sequence[Any]:
    commands = found.case.commands
    return (*commands[:start], *commands[start + size :])
