"""The loop: cases drawn from a seed, run one after the other as fast as Python allows.

Policy, stated here and counted in the tally: one case in forty-eight (`CHECKED_RATE`) is *checked*: every law is asked
at every step, with the history that the laws over time need.  In the others every outcome is compared with the model's,
and the snapshot every few steps.  A subject whose outcomes and snapshots are the model's breaks no law that the model
keeps; as soon as one differs, the whole case is run again with everything on, and the finding is named by the law that
it breaks.  Laws over parts that no model determines (work done, memory held) are asked in checked cases alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from itertools import islice, pairwise
from typing import Any

import attrs
from attrs import Factory, define, field, frozen

from ..spec.core import Case, Subject, System
from .checker import Breach, Checker, Plan, SubjectError, plan_for, run
from .digest import case_hash
from .finding import Finding, finding_from_json, finding_to_json
from .sketch import pair_hash, smallest, state_hash
from .swarm import MAX_DRAIN, STRAY_RATE, Swarm, draw_swarm
from .tally import Tally

MakeSubject = Callable[[], Subject]
STATE_STEPS = 8  # in a checked case, how often the model's state is looked at to count distinct ones
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
    max_steps: int | None = None  # cases are cut there; none: as long as they were drawn


@define
class Result:
    """What a range of cases gave."""

    tally: Tally = Factory(Tally)
    findings: list[Finding] = Factory(list)
    broken: dict[str, int] = Factory(dict)  # "kind law" -> in how many cases
    ended: list[Finding] = Factory(list)  # cases that a limit or a crash ended: in no count above, nor in the digest
    ended_count: dict[str, int] = Factory(dict)  # "kind cause" -> how many cases; `ended` may keep fewer
    unobserved: tuple[str, ...] = ()
    stopped: str = ""  # why not every case was run, where some were not

    def add(self, other: Result) -> None:
        self.tally.add(other.tally)
        self.findings += other.findings
        self.ended += other.ended
        for ours, theirs in ((self.broken, other.broken), (self.ended_count, other.ended_count)):
            for key, count in theirs.items():
                ours[key] = ours.get(key, 0) + count
        self.unobserved = other.unobserved or self.unobserved
        self.stopped = self.stopped or other.stopped

    def to_json(self) -> dict[str, Any]:
        return {
            "tally": self.tally.to_json(),
            "findings": [finding_to_json(finding) for finding in self.findings],
            "broken": dict(sorted(self.broken.items())),
            "ended": [finding_to_json(finding) for finding in self.ended],
            "ended_count": dict(sorted(self.ended_count.items())),
            "unobserved": list(self.unobserved),
            "stopped": self.stopped,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any], system: System) -> Result:
        return cls(
            Tally.from_json(data["tally"]),
            [finding_from_json(item, system) for item in data["findings"]],
            data["broken"],
            [finding_from_json(item, system) for item in data["ended"]],
            data["ended_count"],
            tuple(data["unobserved"]),
            data["stopped"],
        )


Keep = Callable[[Finding], Finding | None]
"""What becomes of a finding: kept as it is, kept in another form, or (none) only counted."""


@define
class Runner:
    """Runs cases of a job by number, on one subject as long as it does not fail, and adds up what they give."""

    job: Job
    keep: Keep
    subject: Subject = field(init=False)
    plan: Plan = field(init=False)
    result: Result = field(init=False)

    def __attrs_post_init__(self) -> None:
        job = self.job
        self.subject = job.make_subject()
        self.plan = plan_for(job.system, job.system.dialect(job.dialect), self.subject, job.only)
        self.result = _nothing_yet(self.plan)

    @property
    def unsupported(self) -> frozenset[str]:
        return self.plan.unsupported

    def run(self, number: int) -> None:
        """Runs one case."""
        found = run_number(self.job, self.plan, self.subject, number, self.result.tally)
        if found is None:
            return
        key = " ".join(found.breach.key)
        self.result.broken[key] = self.result.broken.get(key, 0) + 1
        kept = self.keep(found)
        if kept is not None:
            self.result.findings.append(kept)
        self.subject = self.job.make_subject()  # one that failed may be in any state

    def take(self) -> Result:
        """What the cases since the last call gave."""
        taken, self.result = self.result, _nothing_yet(self.plan)
        return taken


def _nothing_yet(plan: Plan) -> Result:
    """The result of no case: every law that can be asked has its line."""
    result = Result(unobserved=plan.unobserved)
    for law in plan.asked:
        if law.kind == "sometimes":
            result.tally.reached[law.name] = 0
        else:
            result.tally.law(law.name)
    return result


def run_cases(job: Job, numbers: Collection[int], starting: Callable[[int], None] = lambda number: None) -> Result:
    """Runs cases by number, in this process.  `starting` is told each number before its case runs."""
    kept: Counter[tuple[str, str]] = Counter()

    def keep(found: Finding) -> Finding | None:
        kept[found.breach.key] += 1
        return found if kept[found.breach.key] <= job.max_findings else None

    runner = Runner(job, keep)
    for number in numbers:
        starting(number)
        runner.run(number)
    return runner.take()


def run_number(job: Job, plan: Plan, subject: Subject, number: int, tally: Tally) -> Finding | None:
    """Runs one case by its number, adds it to the tally, and returns what it found.

    Raises MemoryError where the subject ran out of memory: how much there is belongs to the machine, not to the case,
    so that such a case is in no tally and no digest.
    """
    checked = True if not job.model else job.checked
    swarm = draw_swarm(job.system, job.seed, number, plan.unsupported, checked)
    commands: list[Any] = []
    outcomes: list[Any] = []
    if swarm.checked:
        checker = Checker(plan, subject, swarm.config, model=job.model)
        broken = _run_checked(checker, swarm, job.max_steps, commands, outcomes)
        case_tally = checker.tally
        tally.add(case_tally)
        tally.checked_cases += 1
        tally.checked_steps += len(outcomes)
        judged = sorted(case_tally.laws.items())
    else:
        broken = _run_light(plan, subject, swarm, job.max_steps, commands, outcomes, tally)
        judged = []
    tally.cases += 1
    tally.steps += len(outcomes)
    _cover(tally, commands, outcomes)
    case = Case(job.system.name, swarm.config, commands, job.dialect, observe=swarm.observe)
    breach = _locate(job, case, number, plan) if broken else None
    key = breach[0].key if breach else ()
    tally.digest = (tally.digest + case_hash(number, outcomes, [judged, key])) % 2**64
    if breach is None:
        return None
    named, located = breach
    return Finding(
        job.system.name, job.subject_name, named, located, job.seed, number, commands_before=len(located.commands)
    )


def _run_light(
    plan: Plan,
    subject: Subject,
    swarm: Swarm,
    max_steps: int | None,
    commands: list[Any],
    outcomes: list[Any],
    tally: Tally,
) -> bool:
    """The fast path: outcomes against the model's at each step, snapshots now and then; whether something differed."""
    system, dialect, config = plan.system, plan.dialect, swarm.config
    steps = {command: action.step for command, action in system.model.by_command.items()}
    state = system.model.start(config)
    apply, every = subject.apply, swarm.observe
    next_look = every or -1
    try:
        subject.reset(config, dialect)
        for command in _commands(swarm, system, max_steps, lambda: state):  # noqa: B023 - it asks for the newest state
            commands.append(command)
            outcome = apply(command)
            outcomes.append(outcome)
            state, expected = steps[type(command)](config, state, command, dialect)
            if not outcome == expected:  # noqa: SIM201 - attrs makes == fast and != slow
                return True
            if len(outcomes) == next_look:
                next_look += every
                tally.observed_steps += 1
                if _snapshot_differs(plan, subject, state):
                    return True
        tally.observed_steps += 1
        return _snapshot_differs(plan, subject, state)
    except MemoryError:
        raise
    except Exception:
        return True  # the run with everything on says where it came from


def _run_checked(
    checker: Checker, swarm: Swarm, max_steps: int | None, commands: list[Any], outcomes: list[Any]
) -> bool:
    """Everything on; whether something broke."""
    canonical, states = checker.plan.system.model.canonical, set[int]()
    try:
        checker.start()
        for command in _commands(swarm, checker.plan.system, max_steps, lambda: checker.state):
            commands.append(command)
            broken = checker.step(command)
            outcomes.append(checker.outcome)
            if broken:
                return True
            if len(outcomes) % STATE_STEPS == 0:
                states.add(state_hash(canonical(checker.state)))
        return bool(checker.breaches)
    except SubjectError:
        return True
    finally:
        checker.tally.states = smallest(states)
        checker.tally.pairs = _pairs(commands, outcomes)


def _commands(swarm: Swarm, system: System, max_steps: int | None, state: Callable[[], Any]) -> Iterator[Any]:
    """The commands of a case, as many of them as it may have."""
    return islice(_all_commands(swarm, system, state), max_steps)


def _all_commands(swarm: Swarm, system: System, state: Callable[[], Any]) -> Iterator[Any]:
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
            if command is None or type(command).__name__ in swarm.unsupported:
                break
            yield command


def drawn_case(job: Job, number: int, unsupported: frozenset[str] = frozenset()) -> Case:
    """The case of a number, whole, without any subject: commands are drawn from the model's state alone."""
    system, dialect = job.system, job.system.dialect(job.dialect)
    swarm = draw_swarm(system, job.seed, number, unsupported, True if not job.model else job.checked)
    states = [system.model.start(swarm.config)]
    commands = []
    for command in _commands(swarm, system, job.max_steps, lambda: states[-1]):
        commands.append(command)
        states[-1], _ = system.model.step(swarm.config, states[-1], command, dialect)
    return Case(system.name, swarm.config, commands, job.dialect, observe=swarm.observe)


def _snapshot_differs(plan: Plan, subject: Subject, state: Any) -> bool:
    seen, view = subject.snapshot(), plan.system.model.view(state)
    return any(seen[index] != view[index] for index in plan.compared)


def _locate(job: Job, case: Case, number: int, plan: Plan) -> tuple[Breach, Case]:
    """What a case breaks, with everything on and run to its end, since a law may speak only after the model does; as it
    was run where looking at every step hides it."""
    whole = attrs.evolve(drawn_case(job, number, plan.unsupported), observe=1)
    for attempt in (whole, case):
        breach = run(job.system, job.make_subject(), attempt, only=job.only, model=job.model).breach
        if breach is not None and breach.kind == "memory":
            raise MemoryError(breach.evidence)
        if breach is not None:
            return breach, attempt
    evidence = "it differed from the model once, and not when the same case was run again"
    return Breach("model", "not repeatable", len(case.commands), evidence), case


def _cover(tally: Tally, commands: list[Any], outcomes: list[Any]) -> None:
    """Counts which commands met which outcomes."""
    pairs = Counter(zip(map(type, commands), map(_label, outcomes), strict=False))
    for (command, label), count in pairs.items():
        tally.cover(command.__name__, label, count)


def _pairs(commands: list[Any], outcomes: list[Any]) -> set[int]:
    """What came after what, as small hashes."""
    done = zip(commands, outcomes, strict=False)  # the last command may have no outcome
    return {pair_hash(*pair) for pair in pairwise([f"{type(do).__name__} > {_label(seen)}" for do, seen in done])}


def _label(outcome: Any) -> str:
    return getattr(outcome, "why", None) or type(outcome).__name__
