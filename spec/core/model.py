"""Models: the oracle of a spec, a pure function from state and command to state and outcome.

A model is a table of actions, one for each command.  Whether a command makes sense now (`targets`, `when`) stands apart
from what it does (`step`): engines send mostly enabled commands, and every command is total, so that any list of
commands is a legal run.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from attrs import field, frozen

from .dialect import Dialect

Step = Callable[[Any, Any, Any, Dialect], tuple[Any, Any]]
Targets = Callable[[Any, Any], Sequence[tuple[Any, ...]]]


@frozen
class Action:
    """What one command does, and when a careful caller would send it.

    `targets(config, state)` lists the values that the command's first fields can take now (the open deliveries, say);
    the remaining fields are free.  Without it every field is free.  `when(config, state)` is a guard on the whole.
    """

    command: type
    step: Step
    targets: Targets | None = None
    when: Callable[[Any, Any], bool] | None = None
    weight: int = 4  # how often it is sent, among the others
    rare: bool = False  # most cases leave it out: once it was sent, laws over time say less


@frozen
class Model:
    """The oracle.  States are immutable, hashable and equal when nothing can tell them apart by `canonical`."""

    start: Callable[[Any], Any]  # config -> state
    actions: tuple[Action, ...]
    view: Callable[[Any], Any]  # state -> what a perfect observer would see: a snapshot
    canonical: Callable[[Any], Hashable]
    """state -> a form without ghosts: counters, absolute times, ids.  Its repr is the same in every process: tuples and
    not sets, which have no order."""
    drain: Callable[[Any, Any], Any | None]  # (config, state) -> the next command towards rest, None when there
    by_command: dict[type, Action] = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "by_command", {action.command: action for action in self.actions})

    def step(self, config: Any, state: Any, command: Any, dialect: Dialect) -> tuple[Any, Any]:
        """The state after a command, and what its caller saw."""
        return self.by_command[type(command)].step(config, state, command, dialect)

    def enabled(self, config: Any, state: Any, command: Any) -> bool:
        """Whether a careful caller would send it now; engines send the others only now and then."""
        action = self.by_command[type(command)]
        if action.when is not None and not action.when(config, state):
            return False
        if action.targets is None:
            return True
        rows = action.targets(config, state)
        if not rows:
            return False
        names = [f.name for f in command.__attrs_attrs__][: len(rows[0])]
        return tuple(getattr(command, name) for name in names) in set(rows)
