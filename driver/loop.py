"""The loop: cases drawn from a seed, run one after the other as fast as Python allows.

Policy, stated here and counted in the tally: one case in sixteen (`CHECKED_RATE`) is *checked*: every law is asked at
every step, with the history that the laws over time need.  In the others every outcome is compared with the model's,
and the snapshot every few steps.  A subject whose outcomes and snapshots are the model's breaks no law that the model
keeps; as soon as one differs, the whole case is run again with everything on, and the finding is named by the law that
it breaks.
"""

from __future__ import annotations

import marshal
from collections import Counter
from collections.abc import Callable, Collection
from hashlib import blake2b
from typing import Any

import attrs
from attrs import Factory, define, frozen

from ..spec.core import Case, Subject, System
from .checker import Breach, Checker, Plan, SubjectError, plan_for, run
from .finding import Finding
from .swarm import MAX_DRAIN, STRAY_RATE, Swarm, draw_swarm
from .tally import Tally

MakeSubject = Callable[[], Subject]
TRIES = 12  # draws of a command that is enabled, before a stray one is sent


@frozen
class Job:
    """What a campaign does to one system: everything that a case needs beside its number."""

    system: System
    make_subject: MakeSubject
    subject_name: str
    seed: int
    dialect: str = "text"
    only: tuple[str, ...] = ()  # laws to ask; empty: all
    model: bool = True
    checked: bool | None = None  # None: the policy above; True: every law at every step of every case
    max_findings: int = 8  # kept for each thing that breaks


@define
class Result:
    """What a range of cases gave."""

    tally: Tally = Factory(Tally)
    findings: list[Finding] = Factory(list)
    broken: dict[str, int] = Factory(dict)  # "kind law" -> in how many cases
    unobserved: tuple[str, ...] = ()

    def add(self, other: Result) -> None:
        self.tally.add(other.tally)
        self.findings += other.findings
        for key, count in other.broken.items():
            self.broken[key] = self.broken.get(key, 0) + count
        self.unobserved = other.unobserved or self.unobserved


def run_cases(job: Job, numbers: Collection[int], starting: Callable[[int], None] = lambda number: None) -> Result:
    """Runs cases by number.  `starting` is told each number before its case runs."""
    result = Result()
    subject = job.make_subject()
    plan = plan_for(job.system, job.system.dialect(job.dialect), subject, job.only)
    result.unobserved = plan.unobserved
    for law in plan.asked:
        if law.kind == "sometimes":
            result.tally.reached.setdefault(law.name, 0)
        else:
            result.tally.law(law.name)
    for number in numbers:
        starting(number)
        found = run_number(job, plan, subject, number, result.tally)
        if found is None:
            continue
        key = " ".join(found.breach.key)
        result.broken[key] = result.broken.get(key, 0) + 1
        if result.broken[key] <= job.max_findings:
            result.findings.append(found)
        subject = job.make_subject()  # one that failed may be in any state
    return result


def run_number(job: Job, plan: Plan, subject: Subject, number: int, tally: Tally) -> Finding | None:
    """Runs one case by its number, adds it to the tally, and returns what it found."""
    checked = True if not job.model else job.checked
    swarm = draw_swarm(job.system, job.seed, number, plan.unsupported, checked)
    commands: list[Any] = []
    outcomes: list[Any] = []
    if swarm.checked:
        checker = Checker(plan, subject, swarm.config, model=job.model)
        broken = _run_checked(checker, swarm, commands, outcomes)
        case_tally = checker.tally
        tally.add(case_tally)
        tally.checked_cases += 1
        tally.checked_steps += len(outcomes)
        judged = sorted(case_tally.laws.items())
    else:
        broken = _run_light(plan, subject, swarm, commands, outcomes, tally)
        judged = []
    tally.cases += 1
    tally.steps += len(outcomes)
    _cover(tally, commands, outcomes)
    case = Case(job.system.name, swarm.config, commands, job.dialect, observe=swarm.observe)
    breach = _locate(job, case) if broken else None
    named = breach[0].key if breach else ()
    tally.digest = (tally.digest + case_hash(number, outcomes, [judged, named])) % 2**64
    if breach is None:
        return None
    return Finding(
        job.system.name, job.subject_name, breach[0], breach[1], job.seed, number, commands_before=len(commands)
    )


def _run_light(
    plan: Plan, subject: Subject, swarm: Swarm, commands: list[Any], outcomes: list[Any], tally: Tally
) -> bool:
    """The fast path: outcomes against the model's at each step, snapshots now and then; whether something differed."""
    system, dialect, config = plan.system, plan.dialect, swarm.config
    steps = {command: action.step for command, action in system.model.by_command.items()}
    state = system.model.start(config)
    apply, every = subject.apply, swarm.observe
    next_look = every or -1
    try:
        subject.reset(config, dialect)
        for command in _commands(swarm, system, lambda: state):
            commands.append(command)
            outcome = apply(command)
            outcomes.append(outcome)
            state, expected = steps[type(command)](config, state, command, dialect)
            if outcome != expected:
                return True
            if len(outcomes) == next_look:
                next_look += every
                tally.observed_steps += 1
                if _snapshot_differs(plan, subject, state):
                    return True
        tally.observed_steps += 1
        return _snapshot_differs(plan, subject, state)
    except Exception:
        return True  # the run with everything on says where it came from


def _run_checked(checker: Checker, swarm: Swarm, commands: list[Any], outcomes: list[Any]) -> bool:
    """Everything on; whether something broke."""
    try:
        checker.start()
        for command in _commands(swarm, checker.plan.system, lambda: checker.state):
            commands.append(command)
            broken = checker.step(command)
            outcomes.append(checker.outcome)
            if broken:
                return True
        return bool(checker.breaches)
    except SubjectError:
        return True


def _commands(swarm: Swarm, system: System, state: Callable[[], Any]) -> Any:
    """The commands of a case, drawn as the run goes on from the model's state, then those that bring it to rest."""
    random, draws, strays = swarm.random, swarm.draws, swarm.strays
    slots, kinds = len(draws), len(strays)
    for _ in range(swarm.length):
        command = None
        if random() >= STRAY_RATE:
            now = state()
            for _ in range(TRIES):
                command = draws[int(random() * slots)](now)
                if command is not None:
                    break
        if command is None:
            command = strays[int(random() * kinds)](None)
        yield command
    if swarm.drains:
        drain = system.model.drain
        for _ in range(MAX_DRAIN):
            command = drain(swarm.config, state())
            if command is None:
                break
            yield command


def _snapshot_differs(plan: Plan, subject: Subject, state: Any) -> bool:
    seen, view = subject.snapshot(), plan.system.model.view(state)
    return any(seen[index] != view[index] for index in plan.compared)


def _locate(job: Job, case: Case) -> tuple[Breach, Case]:
    """What a case breaks, with everything on; as it was run where looking at every step hides it."""
    closely = attrs.evolve(case, observe=1)
    for attempt in (closely, case):
        breach = run(job.system, job.make_subject(), attempt, only=job.only, model=job.model).breach
        if breach is not None:
            return breach, attempt
    evidence = "it differed from the model once, and not when the same case was run again"
    return Breach("model", "not repeatable", len(case.commands), evidence), case


def _cover(tally: Tally, commands: list[Any], outcomes: list[Any]) -> None:
    """Counts which commands met which outcomes."""
    pairs = Counter(zip(map(type, commands), map(_label, outcomes), strict=False))
    coverage = tally.coverage
    for (command, label), count in pairs.items():
        key = f"{command.__name__} > {label}"
        coverage[key] = coverage.get(key, 0) + count


def _label(outcome: Any) -> str:
    return getattr(outcome, "why", None) or type(outcome).__name__


def case_hash(number: int, outcomes: list[Any], judged: Any) -> int:
    """A 64-bit hash of what a case showed: the same in every process, on every machine."""
    plain = [_plain(outcome) for outcome in outcomes]
    try:
        data = marshal.dumps([number, plain, judged], 2)
    except ValueError:  # a subject answered with something that is not plain data
        data = repr([number, plain, judged]).encode()
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")


_PLAIN: dict[type, Callable[[Any], Any]] = {}


def _plain(outcome: Any) -> Any:
    """An outcome as a tuple of plain data."""
    make = _PLAIN.get(type(outcome))
    if make is None:
        make = _PLAIN[type(outcome)] = _plainer(type(outcome))
    return make(outcome)


def _plainer(kind: type) -> Callable[[Any], Any]:
    if not attrs.has(kind):
        return repr
    name = kind.__name__
    fields = [a.name for a in attrs.fields(kind)]
    if not fields:
        return lambda outcome: name
    if len(fields) == 1:
        (only,) = fields
        return lambda outcome: (name, getattr(outcome, only))
    return lambda outcome: (name, *[getattr(outcome, field) for field in fields])
