"""The checker: one run of a subject, with the laws and the model on.

Everything that judges a step is here, so that the Hypothesis machine, the seeded driver, replay and the shrinker agree
on what a broken law is.
"""

from __future__ import annotations

import traceback
from collections.abc import Collection, Iterable
from typing import Any, Literal

from attrs import Factory, define, field, frozen

from ..spec.core import (
    NOT_OBSERVED,
    VACUOUS,
    Broken,
    Case,
    Dialect,
    Law,
    Subject,
    System,
    unobserved_by,
    unsupported_by,
)
from .tally import Tally

BreachKind = Literal["law", "model", "error", "checker", "hang", "crash", "memory"]
MAX_EVIDENCE = 4_000  # characters; a subject may answer with anything


def _bounded(text: str) -> str:
    return text if len(text) <= MAX_EVIDENCE else f"{text[: MAX_EVIDENCE - 3]}..."


@frozen
class Breach:
    """Something that went wrong at a step: a broken law, a difference from the model, an exception."""

    kind: BreachKind
    law: (
        str  # the law's name; for the other kinds what differed ("outcome", a part of the snapshot, an exception).  The
    )
    # kind "checker" is a law that raised: nothing is known of it, and nothing has passed
    step: int  # 1 for the first command, 0 for the state before it
    evidence: str = field(converter=_bounded)

    @property
    def key(self) -> tuple[str, str]:
        """What makes two breaches the same one to a shrinker."""
        return self.kind, "" if self.kind == "model" else self.law


class SubjectError(Exception):
    """An exception that came out of a subject; carries the breach."""

    def __init__(self, breach: Breach) -> None:
        super().__init__(breach.evidence)
        self.breach = breach


@frozen
class Plan:
    """Which laws can be asked of a subject in a dialect, sorted by when they are asked."""

    system: System
    dialect: Dialect
    always: tuple[Law, ...]
    step: dict[type, tuple[Law, ...]]
    past: dict[type, tuple[Law, ...]]  # laws that look at the history: within and sometimes
    compared: tuple[int, ...]  # indices of the parts that are compared with the model's
    unobserved: tuple[str, ...]  # names of the laws that this subject can not be asked
    unsupported: frozenset[str]
    asked: tuple[Law, ...]  # every law of the plan, once, in the order of the spec
    remembers: bool  # whether the subject shows what the history reads


def plan_for(system: System, dialect: Dialect, subject: Subject, only: Collection[str] = ()) -> Plan:
    """The plan for a subject; `only` keeps the laws of these names."""
    blind, missing = unobserved_by(subject), unsupported_by(subject)
    claimed = [law for law in system.laws_in(dialect) if not only or law.name in only]

    remembers = blind.isdisjoint(system.history_reads)

    def can_ask(law: Law) -> bool:
        commands = {command.__name__ for command in law.on}
        if law.recalls and not remembers:
            return False
        return blind.isdisjoint(law.reads) and (not commands or not commands <= missing)

    asked = [law for law in claimed if can_ask(law)]
    after = {
        command: [law for law in asked if law.kind != "always" and (not law.on or command in law.on)]
        for command in system.commands
    }
    view = system.model.view(system.model.start(system.config()))
    return Plan(
        system,
        dialect,
        tuple(law for law in asked if law.kind == "always"),
        {command: tuple(law for law in laws if law.kind == "step") for command, laws in after.items()},
        {command: tuple(law for law in laws if law.kind in ("within", "sometimes")) for command, laws in after.items()},
        tuple(
            index
            for index, part in enumerate(system.parts)
            if part not in blind and getattr(view, part) is not NOT_OBSERVED
        ),
        tuple(law.name for law in claimed if not can_ask(law)),
        missing,
        tuple(asked),
        remembers,
    )


@define
class Checker:
    """Feeds commands to a subject and judges each step.  `model=False` sets the model aside: laws alone."""

    plan: Plan
    subject: Subject
    config: Any
    tally: Tally = Factory(Tally)
    model: bool = True
    state: Any = None
    now: Any = None
    past: Any = None
    steps: int = 0
    outcome: Any = None
    expected: Any = None
    breaches: list[Breach] = Factory(list)
    asking: Law | None = None  # the law that is being asked, so that an exception in it is not the subject's

    def start(self, look: bool = True) -> None:
        """Resets the subject and, where it may look, judges the state before the first command."""
        system = self.plan.system
        for law in self.plan.asked:
            if law.kind != "sometimes":
                self.tally.law(law.name)
        self.state = system.model.start(self.config)
        self.past = system.history(self.config)
        self._guard(lambda: self.subject.reset(self.config, self.plan.dialect), "reset")
        if look:
            self.look()

    def step(self, command: Any) -> list[Breach]:
        """Applies one command; returns what it broke."""
        found = len(self.breaches)
        self.apply(command)
        before, self.now = self.now, self._guard(self._snapshot, "snapshot")
        self._guard(lambda: self._judge(before, command), "judging what it showed")
        return self.breaches[found:]

    def apply(self, command: Any) -> None:
        """Applies one command and compares its outcome, without looking at the snapshot."""
        self.steps += 1
        self.outcome = self._guard(lambda: self.subject.apply(command), command)
        self.state, self.expected = self.plan.system.model.step(self.config, self.state, command, self.plan.dialect)
        if self.model and self._guard(lambda: bool(self.outcome != self.expected), "comparing its outcome"):
            answered = self._guard(lambda: repr(self.outcome), "showing its outcome")
            self._differs("outcome", f"{command!r} answered {answered}; the model says {self.expected!r}")

    def look(self) -> list[Breach]:
        """Looks at the snapshot now, after steps without looking: laws over one state, and the model."""
        found = len(self.breaches)
        self.now = self._guard(self._snapshot, "snapshot")
        self._guard(self._judge_state, "judging what it showed")
        return self.breaches[found:]

    def _snapshot(self) -> Any:
        shown, parts = self.subject.snapshot(), self.plan.system.parts
        if not isinstance(shown, tuple) or len(shown) != len(parts):
            raise TypeError(f"expected a {self.plan.system.snapshot.__name__}({', '.join(parts)}), got {shown!r}")
        return shown

    def _judge(self, before: Any, command: Any) -> None:
        self._judge_state()
        self._ask_step(before, command)

    def _judge_state(self) -> None:
        self._compare_snapshot()
        self._ask_always()

    def _guard(self, call: Any, doing: object) -> Any:
        """What a call gives; where it raises, the run ends with a breach that says in doing what."""
        try:
            return call()
        except MemoryError:
            breach = Breach("memory", "MemoryError", self.steps, f"out of memory in {doing}")
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            shown = f"{type(error).__name__}: {error}"[:500]
            evidence = (
                f"{doing} raised {shown} ({where.name}, line {where.lineno} of {where.filename.rpartition('/')[2]})"
            )
            breach = Breach("error", type(error).__name__, self.steps, evidence)
            if self.asking is not None:
                evidence = f"{self.asking.name} could not be asked: {evidence}"
                breach = Breach("checker", self.asking.name, self.steps, evidence)
        self.asking = None
        self.breaches.append(breach)
        raise SubjectError(breach)

    def _compare_snapshot(self) -> None:
        if not self.model:
            return
        view, now = self.plan.system.model.view(self.state), self.now
        for index in self.plan.compared:
            if view[index] != now[index]:
                part = self.plan.system.parts[index]
                self._differs(part, f"{part} is {now[index]!r}; the model says {view[index]!r}")
                return

    def _differs(self, part: str, evidence: str) -> None:
        """Notes the first difference from the model; after it the two are on different paths, and only laws speak."""
        self.breaches.append(Breach("model", part, self.steps, evidence))
        self.model = False

    def _ask_always(self) -> None:
        config, now, counted = self.config, self.now, self.tally.laws
        for law in self.plan.always:
            self.asking = law
            verdict, counts = law.check(config, now), counted[law.name]
            if verdict is True:
                counts[0] += 1
            elif verdict is VACUOUS:
                counts[1] += 1
            else:
                self._broken(law, verdict)
        self.asking = None

    def _ask_step(self, before: Any, command: Any) -> None:
        config, outcome, now, past = self.config, self.outcome, self.now, self.past
        counted, reached = self.tally.laws, self.tally.reached
        if self.plan.remembers:
            past.record(before, command, outcome, now)
        for law in self.plan.step[type(command)]:
            self.asking = law
            verdict, counts = law.check(config, before, command, outcome, now), counted[law.name]
            if verdict is True:
                counts[0] += 1
            elif verdict is VACUOUS:
                counts[1] += 1
            else:
                self._broken(law, verdict)
        for law in self.plan.past[type(command)]:
            self.asking = law
            verdict = law.check(past, config, before, command, outcome, now)
            if law.kind == "sometimes":
                if verdict is True:
                    reached[law.name] = reached.get(law.name, 0) + 1
            elif verdict is True:
                counted[law.name][0] += 1
            elif verdict is VACUOUS:
                counted[law.name][1] += 1
            else:
                self._broken(law, verdict)
        self.asking = None

    def _broken(self, law: Law, verdict: Any) -> None:
        self.tally.law(law.name)[2] += 1
        evidence = verdict.evidence if isinstance(verdict, Broken) else "the law does not hold"
        self.breaches.append(Breach("law", law.name, self.steps, evidence))


@frozen
class Row:
    """One step of a run, as replay shows it."""

    step: int
    command: Any
    outcome: Any
    expected: Any
    snapshot: Any  # None where the case did not look
    breaches: tuple[Breach, ...]


@frozen
class Run:
    """A whole run: its rows (where they were kept) and everything that broke."""

    case: Case
    rows: tuple[Row, ...]
    breaches: tuple[Breach, ...]
    tally: Tally
    start: Any = None

    @property
    def breach(self) -> Breach | None:
        """The one to name: the first exception or broken law, else the first difference from the model."""
        named = [breach for breach in self.breaches if breach.kind != "model"]
        return next(iter(named or self.breaches), None)


def run(
    system: System,
    subject: Subject,
    case: Case,
    *,
    only: Collection[str] = (),
    model: bool = True,
    keep_rows: bool = False,
    stop_at: tuple[str, str] | None = None,
) -> Run:
    """Runs a case with everything on (as far as it looks: `case.observe`).

    `stop_at`, the key of a breach, ends the run as soon as that breach was seen: what a shrinker needs to know.
    """
    checker = Checker(plan_for(system, system.dialect(case.dialect), subject, only), subject, case.config, model=model)
    rows: list[Row] = []
    start = command = None
    try:
        checker.start(look=case.observe == 1)
        start = checker.now
        commands = _supported(case.commands, checker.plan.unsupported)
        for command in commands:
            found = len(checker.breaches)
            looked = _one_step(checker, command, case.observe, last=checker.steps + 1 == len(commands))
            fresh = checker.breaches[found:]
            if keep_rows:
                shown = checker.now if looked else None
                rows.append(Row(checker.steps, command, checker.outcome, checker.expected, shown, tuple(fresh)))
            if stop_at is not None and _seen(fresh, stop_at):
                break
    except SubjectError as error:
        if keep_rows and error.breach.step > 0:
            rows.append(Row(error.breach.step, command, None, None, None, (error.breach,)))
    return Run(case, tuple(rows), tuple(checker.breaches), checker.tally, start)


def _supported(commands: tuple[Any, ...], unsupported: frozenset[str]) -> tuple[Any, ...]:
    return tuple([command for command in commands if type(command).__name__ not in unsupported])


def _one_step(checker: Checker, command: Any, observe: int, last: bool) -> bool:
    """One step of a case; whether it looked at the snapshot."""
    if observe == 1:
        checker.step(command)
        return True
    checker.apply(command)
    if last or (observe and checker.steps % observe == 0):
        checker.look()
        return True
    return False


def _seen(breaches: Iterable[Breach], key: tuple[str, str]) -> bool:
    return any(breach.key == key for breach in breaches)
