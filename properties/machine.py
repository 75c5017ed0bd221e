"""Machines: a Hypothesis state machine for each system, derived from its declarations.

One rule for each command, named as the command is: `state.append(topic='t0', size_bytes=3)`.  A rule applies where the
model says that the command is enabled.  Two more rules: one lets another do what one has just done, and one sends any
command, enabled or not.  The checker judges every step, as it does for every other engine.  An exception or a broken
law ends the run at once; a difference from the model is kept to the end, as the run may yet show which law it breaks.
"""

from __future__ import annotations

import keyword
import math
import re
import sys
from collections.abc import Callable, Collection, Sequence
from typing import Any, ClassVar

from attrs import Factory, define, evolve
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from ..driver.checker import Breach, Checker, Plan, SubjectError, plan_for, run
from ..driver.swarm import MAX_DRAIN
from ..spec.core import Action, Case, Subject, System, fields_of, shape_problems
from .blame import Blame, arguments, broken_as, call, name_of, to_blame
from .nearby import beside, narrowed, renamed
from .strategies import arguments_of, commands_of, configs_of

OBSERVE = (1, 1, 1, 4)  # look at the snapshot after every n-th command
RARE_TOGETHER = 4  # so many of the commands that most cases leave out are sent in one run, at most
LIKEWISE_WEIGHT = 36  # of the rule that lets another do what one has just done, as an action's
STRAY_WEIGHT = 9  # of the rule that sends what may make no sense
RECENT = 8  # how far back a command lies, at most, that is sent again


@define
class Watch:
    """One run under the checker: what was sent so far, and what to make of what broke."""

    checker: Checker
    make_subject: Callable[[], Subject]
    observe: int
    only: Collection[str]
    tolerate: Collection[str]
    with_model: bool
    blame: Blame | None
    without: Collection[type] = ()  # commands that this run leaves out
    commands: list[Any] = Factory(list)
    over: bool = False  # something broke that this run is not about
    rows: dict[type, Sequence[tuple[Any, ...]]] = Factory(dict)  # what each action can target now
    others: Sequence[Any] | None = None  # what `likewise` answers now

    def start(self) -> None:
        try:
            self.checker.start()
        except SubjectError:
            self.over = True
        self._judge(0)

    def send(self, command: Any) -> None:
        if self.over:
            return
        self.rows.clear()
        self.others = None
        self.commands.append(command)
        checker, found = self.checker, len(self.checker.breaches)
        try:
            if self.observe == 1:
                checker.step(command)
            else:
                checker.apply(command)
                if checker.steps % self.observe == 0:
                    checker.look()
        except SubjectError:
            self.over = True
        self._judge(found)

    def settle(self) -> None:
        """Brings the run to rest, so that what was promised within a time is due; then looks once more."""
        checker = self.checker
        plan = checker.plan
        for _ in range(MAX_DRAIN):
            command = plan.system.model.drain(checker.config, checker.state)
            if self.over or command is None or type(command).__name__ in plan.unsupported:
                break
            self.send(command)
        if self.over:
            return
        found = len(checker.breaches)
        if self.observe != 1:
            try:
                checker.look()
            except SubjectError:
                self.over = True
        self._judge(found)
        self._fail(to_blame(checker.breaches, self.tolerate))

    def targets(self, action: Action) -> Sequence[tuple[Any, ...]]:
        rows = self.rows.get(action.command)
        if rows is None:
            assert action.targets is not None
            rows = self.rows[action.command] = action.targets(self.checker.config, self.checker.state)
        return rows

    def can_send(self, action: Action) -> bool:
        if action.command.__name__ in self.checker.plan.unsupported or action.command in self.without:
            return False
        if action.when is not None and not action.when(self.checker.config, self.checker.state):
            return False
        return action.targets is None or len(self.targets(action)) > 0

    def likewise(self) -> Sequence[Any]:
        """The last command with another name in it, wherever that makes sense now."""
        if self.others is None:
            last = self.commands[-1:]
            self.others = [other for command in last for other in renamed(command) if self._makes_sense(other)]
        return self.others

    def _makes_sense(self, command: Any) -> bool:
        action = self.checker.plan.system.model.by_command[type(command)]
        if not self.can_send(action):
            return False
        if action.targets is None:
            return True
        rows = self.targets(action)
        return tuple(getattr(command, f.name) for f in fields_of(type(command))[: len(rows[0])]) in rows

    def _judge(self, found: int) -> None:
        """Fails on the first exception or broken law among the new breaches."""
        fresh = [breach for breach in self.checker.breaches[found:] if breach.kind != "model"]
        if fresh:
            self._fail(to_blame(fresh, self.tolerate))

    def _fail(self, breach: Breach | None) -> None:
        if breach is None:
            return
        plan = self.checker.plan
        case = Case(plan.system.name, self.checker.config, self.commands, plan.dialect.name, observe=self.observe)
        if case.observe != 1:
            breach, case = self._look_closely(breach, case)
        if breach is None or (self.blame is not None and not self.blame.takes(breach)):
            self.over = True
            return
        raise broken_as(breach)(plan.system, name_of(self.make_subject), breach, case)

    def _look_closely(self, breach: Breach, case: Case) -> tuple[Breach | None, Case]:
        """The same with every law asked at every step, which names the law; unless looking hides what broke."""
        closely = evolve(case, observe=1)
        again = run(self.checker.plan.system, self.make_subject(), closely, only=self.only, model=self.with_model)
        return (to_blame(again.breaches, self.tolerate), closely) if again.breaches else (breach, case)


class LawMachine(RuleBasedStateMachine):
    """What the machines of all systems share; `machine_for` adds the rules."""

    system: ClassVar[System]
    make_subject: ClassVar[Callable[[], Subject]]
    dialect: ClassVar[str]
    only: ClassVar[tuple[str, ...]]
    tolerate: ClassVar[tuple[str, ...]]
    model: ClassVar[bool]
    blame: ClassVar[Blame | None] = None  # where it is set, a run of the test tells one bug
    plan: ClassVar[Plan | None] = None

    def __init__(self) -> None:
        super().__init__()
        self.watch: Watch | None = None
        self.narrow = False
        self.sent: Any = None
        self.outer_error = sys.exc_info()[1]

    def begin(self, config: Any, observe: int, without: Collection[type] = (), narrow: bool = False) -> None:
        """Starts a run of a fresh subject.  A narrow one keeps to the first few of the names that narrow (one topic of
        four, say), so that what its commands are about meets more often."""
        kind = type(self)
        self.narrow = narrow
        self.sent = config
        subject = fresh_subject(kind.make_subject)
        if kind.plan is None:
            kind.plan = plan_for(kind.system, kind.system.dialect(kind.dialect), subject, kind.only)
        checker = Checker(kind.plan, subject, config, model=kind.model)
        self.watch = Watch(
            checker, kind.make_subject, observe, kind.only, kind.tolerate, kind.model, kind.blame, without
        )
        self.watch.start()

    def send(self, command: Any) -> None:
        """Sends a command to the subject and judges what it did."""
        assert self.watch is not None, "state.start(config) comes first"
        self.sent = narrowed(command) if self.narrow else command
        self.watch.send(self.sent)

    def teardown(self) -> None:
        """Lets the run settle, unless it has failed or was broken off by Hypothesis."""
        watch, self.watch = self.watch, None  # Hypothesis keeps machines; a run is large
        if watch is not None and sys.exc_info()[1] is self.outer_error:
            watch.settle()

    def _repr_step(self, rule: Any, data: Any, result: Any) -> str:
        """A step as a command with its fields.  Without this, Hypothesis shows the same in more words."""
        if rule.function.__name__ == "start":
            return f"state.start({call(self.sent)}, observe={data['observe']})"
        return f"state.{_rule_name(type(self.sent))}({arguments(self.sent)})"


def machine_for(
    system: System,
    make_subject: Callable[[], Subject],
    dialect: str = "text",
    only: Collection[str] = (),
    model: bool = True,
    tolerate: Collection[str] = (),
) -> type[LawMachine]:
    """The machine of a system on a subject.

    `only` asks these laws alone, `model=False` sets the model aside, `tolerate` passes over laws known to be broken.
    """
    check_names(system, dialect, (*only, *tolerate))
    name = f"{_camel(system.name)}LawsOn{_camel(name_of(make_subject))}"
    members: dict[str, Any] = {
        "__module__": __name__,
        "__doc__": f"{system.title}: every command a rule, every law asked at every step.",
        "system": system,
        "make_subject": staticmethod(make_subject),
        "dialect": dialect,
        "only": tuple(only),
        "tolerate": tuple(tolerate),
        "model": model,
        "start": _start_rule(system),
        **_copies("stray", _stray_rule(system), STRAY_WEIGHT),
        **_copies("likewise", _likewise_rule(), LIKEWISE_WEIGHT),
    }
    for action in system.model.actions:
        members |= _copies(_rule_name(action.command), _rule(action), action.weight)
    return type(name, (LawMachine,), members)


def _copies(name: str, rule: Any, weight: int) -> dict[str, Any]:
    """A rule several times, the oftener the more it weighs: Hypothesis draws all rules of a machine equally often.  The
    root of the weight will do, since runs are short."""
    return {name if copy == 0 else f"{name}__{copy}": rule for copy in range(max(1, round(math.sqrt(weight))))}


def check_names(system: System, dialect: str, laws: Collection[str]) -> None:
    """Raises ValueError, with what there is, where a system has no such dialect or no such law."""
    unknown = [name for name in laws if name not in system.law_named]
    if unknown:
        raise ValueError(f"{system.name} has no law {unknown[0]!r}; it has {', '.join(system.law_named)}")
    try:
        system.dialect(dialect)
    except KeyError as missing:
        raise ValueError(missing.args[0]) from None


def fresh_subject(make_subject: Callable[[], Subject]) -> Subject:
    """A new subject; raises TypeError, with what is missing, where that is not what is made."""
    subject = make_subject()
    problems = shape_problems(subject)
    if problems:
        raise TypeError(f"{name_of(make_subject)} makes no subject: " + "; ".join(problems))
    return subject


def _start_rule(system: System) -> Any:
    def start(
        self: LawMachine, config: Any, observe: int = 1, without: Collection[type] = (), narrow: bool = False
    ) -> None:
        self.begin(config, observe, without, narrow)

    return initialize(
        config=configs_of(system.config),
        observe=st.sampled_from(OBSERVE),
        without=_left_out(system),
        narrow=st.booleans(),
    )(start)


def _left_out(system: System) -> st.SearchStrategy[Collection[type]]:
    """What a run leaves out: all rare commands but a few."""
    rare = [action.command for action in system.model.actions if action.rare]
    if not rare:
        return st.just(())
    return st.frozensets(st.sampled_from(rare), max_size=RARE_TOGETHER).map(lambda kept: frozenset(rare) - kept)


def _likewise_rule() -> Any:
    """Lets another do what one has just done, so that what takes two commands overlaps more often."""

    @st.composite
    def others(draw: st.DrawFn) -> Any:
        likewise = _watch(draw(st.runner())).likewise()
        return likewise[draw(st.integers(0, len(likewise) - 1))]

    def likewise(self: LawMachine, drawn: Any) -> None:
        self.send(drawn)

    applies = precondition(lambda machine: machine.watch is not None and len(machine.watch.likewise()) > 0)
    return applies(rule(drawn=others())(_never_left_out(likewise)))


def _stray_rule(system: System) -> Any:
    """Sends any command at all, so that a small share of them makes no sense when it comes; or a recent one again, or
    off by one, as a caller might who has lost count."""
    commands = {command: commands_of(command) for command in system.commands}

    @st.composite
    def strays(draw: st.DrawFn) -> Any:
        watch = _watch(draw(st.runner()))
        how = draw(_HOW_STRAY) if watch.commands else "any"
        if how != "any":
            recent = watch.commands[-draw(st.integers(1, min(len(watch.commands), RECENT)))]
            near = beside(recent) if how == "beside" else []
            return draw(st.sampled_from(near)) if near else recent
        unsupported = watch.checker.plan.unsupported
        return draw(draw(st.sampled_from([commands[c] for c in commands if c.__name__ not in unsupported])))

    def stray(self: LawMachine, drawn: Any) -> None:
        self.send(drawn)

    return rule(drawn=strays())(_never_left_out(stray))


def _rule(action: Action) -> Any:
    """The rule of one command: its first fields from a row of what it can target, the others from their domains."""
    make, fields = action.command, fields_of(action.command)
    free = [arguments_of(fields[fixed:], 1 if action.targets else 2) for fixed in range(len(fields) + 1)]

    @st.composite
    def enabled(draw: st.DrawFn) -> Any:
        row: tuple[Any, ...] = ()
        if action.targets is not None:
            rows = _watch(draw(st.runner())).targets(action)
            row = rows[draw(st.integers(0, len(rows) - 1))]
        return make(*row, *draw(free[len(row)]))

    def carry_out(self: LawMachine, drawn: Any = None, **named: Any) -> None:
        self.send(make(**named) if drawn is None else drawn)

    carry_out.__qualname__ = _rule_name(make)
    carry_out.__doc__ = make.__doc__
    applies = precondition(lambda machine: machine.watch is not None and machine.watch.can_send(action))
    return applies(rule(drawn=enabled())(_never_left_out(carry_out)))


def _never_left_out(carry_out: Callable[..., None]) -> Callable[..., None]:
    """A rule under the one name that all rules have.  In each run Hypothesis leaves out rules by name, half of them on
    the average, and a run that needs five commands would have them all one time in six; it keeps one name at least."""
    carry_out.__name__ = "command"
    return carry_out


def _watch(machine: LawMachine) -> Watch:
    assert machine.watch is not None, "the first rule of every run starts it"
    return machine.watch


def _rule_name(command: type) -> str:
    """A command's name in snake case; with an underscore behind it where Python or the machine has a use for it."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", command.__name__).lower()
    taken = keyword.iskeyword(name) or name in _TAKEN
    return f"{name}_" if taken else name


_HOW_STRAY = st.sampled_from(("any", "any", "again", "beside"))
_TAKEN = frozenset({*dir(LawMachine), *LawMachine.__annotations__, "start", "stray", "likewise", "watch", "sent"})


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.findall(r"[A-Za-z0-9]+", name))
