"""Systems: a proposal as a program, with everything that an engine needs to know of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from attrs import define, field

from .dialect import TEXT, Deviation, Dialect
from .law import Law
from .model import Model
from .scope import Scope, small_scope

SMALL_DEPTH = 3


class NoHistory:
    """The history of a system whose laws remember nothing."""

    def __init__(self, config: Any) -> None:
        """Nothing to set up."""

    def record(self, before: Any, command: Any, outcome: Any, after: Any) -> None:
        """Nothing to remember."""


@define(frozen=True, slots=False, eq=False)
class System:
    """One system: config, commands, model, laws, and the ways to read its text."""

    name: str
    title: str
    proposal: str
    config: type
    commands: tuple[type, ...]
    outcomes: tuple[type, ...]
    snapshot: type  # a NamedTuple; its fields are the parts
    model: Model
    laws: tuple[Law, ...]
    deviations: tuple[Deviation, ...] = ()
    dialects: dict[str, tuple[str, ...]] = field(factory=lambda: {TEXT: ()})
    history: Callable[[Any], Any] = NoHistory
    history_reads: tuple[str, ...] = ()  # the parts that it looks at; without them no law that remembers can be asked
    lanes: Callable[[Any], str] = lambda command: "broker"  # who does it, for the timeline
    scopes: tuple[Scope, ...] = ()  # finite parts of it, to be explored; there is always one more, `small`
    clauses: tuple[tuple[str, str], ...] = ()  # clauses of the proposal that no law covers, each with the reason

    def __attrs_post_init__(self) -> None:
        problems = problems_of(self)
        if problems:
            raise TypeError(f"system {self.name}: " + "; ".join(problems))

    @cached_property
    def command_named(self) -> dict[str, type]:
        return {command.__name__: command for command in self.commands}

    @cached_property
    def law_named(self) -> dict[str, Law]:
        return {law.name: law for law in self.laws}

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts of a snapshot."""
        names: tuple[str, ...] = self.snapshot._fields  # type: ignore[attr-defined]
        return names

    def dialect(self, name: str) -> Dialect:
        """A dialect by name; `text+deviation+deviation` names one that has no name of its own."""
        base, *extra = name.split("+")
        if base not in self.dialects:
            raise KeyError(f"{self.name} has no dialect {base!r}; it has {', '.join(self.dialects)}")
        known = [deviation.name for deviation in self.deviations]
        for deviation in extra:
            if deviation not in known:
                raise KeyError(f"{self.name} has no deviation {deviation!r}; it has {', '.join(known)}")
        return Dialect(name, frozenset(self.dialects[base]) | frozenset(extra))

    def scope(self, name: str) -> Scope:
        """A scope by name.  `small` is every command with small values, a few steps from the start."""
        for scope in self.scopes:
            if scope.name == name:
                return scope
        if name == "small":
            return small_scope(self.config, self.commands, SMALL_DEPTH)
        raise KeyError(f"{self.name} has no scope {name!r}; it has {', '.join(self.scope_names)}")

    @property
    def scope_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*[scope.name for scope in self.scopes], "small"]))

    def laws_in(self, dialect: Dialect) -> tuple[Law, ...]:
        """The laws that are claimed in a dialect.  One that a deviation gives up in some configs alone is there, and
        vacuous in those."""
        claimed = []
        for law in self.laws:
            giving_up = [d for d in self.deviations if dialect.has(d.name) and law.name in d.replaces]
            if law.holds_in(dialect.deviations) and all(d.where is not None for d in giving_up):
                claimed.append(law.except_where([d.where for d in giving_up if d.where is not None]))
        return tuple(claimed)


def problems_of(system: System) -> list[str]:
    """What is inconsistent in a declaration, in sentences."""
    problems: list[str] = []
    laws = [law.name for law in system.laws]
    deviations = [deviation.name for deviation in system.deviations]
    missing = [c.__name__ for c in system.commands if c not in system.model.by_command]
    if missing:
        problems.append(f"the model has no action for {', '.join(missing)}")
    problems += [f"two laws are called {name}" for name in sorted({n for n in laws if laws.count(n) > 1})]
    for law in system.laws:
        problems += [f"law {law.name} reads {p!r}, which no snapshot has" for p in law.reads if p not in system.parts]
        problems += [f"law {law.name} follows from unknown {o!r}" for o in law.follows_from if o not in laws]
        problems += [
            f"law {law.name} names unknown deviation {d!r}" for d in law.unless + law.only if d not in deviations
        ]
    for deviation in system.deviations:
        problems += [
            f"deviation {deviation.name} replaces unknown law {o!r}" for o in deviation.replaces if o not in laws
        ]
    for name, used in system.dialects.items():
        problems += [f"dialect {name} names unknown deviation {d!r}" for d in used if d not in deviations]
    problems += [
        f"scope {scope.name} has commands of no class of its own: {', '.join(sorted(wrong))}"
        for scope in system.scopes
        if (wrong := {type(command).__name__ for command in scope.commands if type(command) not in system.commands})
    ]
    problems += [f"its history reads {p!r}, as no snapshot has" for p in system.history_reads if p not in system.parts]
    if TEXT not in system.dialects:
        problems.append("it has no dialect called text")
    return problems
