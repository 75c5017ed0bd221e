"""The engine: a campaign on Spark from its options to its report."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil, inf
from typing import Any

from attrs import define, evolve, frozen

from ..driver.campaign import Options, check_names, corpus_of, job_of, known_identity, noted, replay, system_report
from ..driver.corpus import SavedCase
from ..driver.errors import Usage
from ..driver.identity import Identity, code_version, environment, source_hash
from ..driver.loop import Job, Result
from ..driver.report import Canary, Report
from ..driver.subjects import find_entry
from ..driver.supervisor import BUDGET_ENDED, INTERRUPTED, RANGE_SIZE, supervise_many
from ..reference.table import TABLE, Entry
from ..spec.core import System
from .plan import Lane, Plan
from .session import Session, check_ready, session
from .storage import Folder
from .totals import LaneTotals, totals
from .waves import Counts, Waves

TRIAL_SECONDS = 0.7  # to see how fast a subject is, before a range size is chosen for it
TRIAL_CASES = 2_000
TASK_SECONDS = 5.0  # what a range should take; others of the same campaign may be some times faster or slower
LONGEST_SECONDS = 20.0  # and no range of whole stretches may take longer, by the trial
TASKS_IN_BUDGET = 12  # one after the other on a core, at least, so that a short campaign has something to show
TASKS_EACH = 4  # ranges of a lane for each core, at least, so that cores end about together
LOST = "some of its ranges are not in its files any more"


@frozen
class FuzzOptions:
    """What a campaign on Spark does."""

    campaign: Options
    names: tuple[str, ...]  # of the systems, as an executor can look them up
    out: str
    master: str | None = None
    range_size: int | None = None  # none: chosen by a trial
    resume: bool = False
    verbose: bool = False
    settings: dict[str, str] | None = None  # for Spark


@frozen
class Progress:
    """How far a campaign is."""

    ranges: int
    ranges_asked: int
    cases: int
    cases_asked: int
    steps: int
    findings: int
    seconds: float  # since the first wave of this run
    seconds_left: float | None
    doing: str = ""  # where nothing is counted yet


@define
class Done:
    """A campaign that ended, while its Spark still runs: there is a report to write."""

    report: Report
    session: Session
    folder: Folder
    environment: dict[str, Any]
    seconds: float  # in all
    waves_seconds: float  # without the start of Spark and the adding up
    resumed_ranges: int  # that were there already
    range_size: int
    given_up_ranges: int  # that were under way when the campaign was ended
    retried_ranges: int
    peak_kib: int


def _quiet(progress: Progress) -> None:
    pass


def _never() -> bool:
    return False


@contextmanager
def fuzz(
    options: FuzzOptions,
    progress: Callable[[Progress], None] = _quiet,
    interrupted: Callable[[], bool] = _never,
) -> Iterator[Done]:
    """Runs a campaign, and gives what it came to while there is still a Spark to write it with.

    Raises Usage where an option can not be used, where the folder holds another campaign, or where Spark can not start.
    """
    began = time.monotonic()
    check_ready()
    ready = _prepared(options, progress, interrupted)
    jobs = ready.jobs
    speed = 0.0 if options.range_size or options.resume else _trial(options, jobs, progress)
    progress(_only("starting Spark"))
    with session(options.master, options.verbose, options.settings) as running:
        if interrupted():
            raise KeyboardInterrupt  # nothing is there to show, and nothing was written
        folder = Folder(running, options.out)
        size = options.range_size or range_size(options.campaign, speed, running.slots)
        plan = _settled(folder, _plan(options, ready, size), options)
        resumed = sum(wave.stop - wave.first for wave in folder.waves())
        waves_seconds, given_up = _run(options, running, folder, plan, resumed, progress, interrupted)
        progress(_only("adding up"))
        lanes = totals(running, folder, plan, _systems(options, plan), jobs[0].max_findings)
        report = _report(options, plan, ready, lanes, running.slots, interrupted())
        spark = {"spark": running.context.version, "java": running.java, "master": running.context.master}
        yield Done(
            report,
            running,
            folder,
            {**ready.environment, **spark},
            time.monotonic() - began,
            waves_seconds,
            resumed,
            plan.range_size,
            given_up,
            sum(lane.retried for lane in lanes),
            max(lane.peak_kib for lane in lanes),
        )


@frozen
class _Ready:
    """What is known, and done, before Spark starts: what is tested is named as it was when the campaign began."""

    jobs: list[Job]
    identities: list[Identity]
    sources: tuple[str, ...]  # a hash for each
    environment: dict[str, Any]
    saved: list[tuple[SavedCase, ...]]
    skipped: int | None
    replayed: list[Result]


def _prepared(options: FuzzOptions, progress: Callable[[Progress], None], interrupted: Callable[[], bool]) -> _Ready:
    """Looks everything up, and runs the saved cases: a fork copies the thread that calls it, so that comes before Spark
    has threads of its own."""
    campaign, began = options.campaign, time.monotonic()
    check_names(campaign)
    jobs = [job_of(campaign, entry) for entry in campaign.entries]
    identities = [known_identity(entry, campaign.subject) for entry in campaign.entries]
    named = zip(campaign.entries, options.names, strict=True)
    sources = tuple(source_hash(entry, name, campaign.subject) for entry, name in named)
    around, corpus = environment(), corpus_of(campaign)
    saved = [noted(corpus, job) for job in jobs]
    if any(saved):
        progress(_only("running the saved cases"))
    replayed = []
    for job, cases in zip(jobs, saved, strict=True):
        budget = campaign.time_budget_seconds
        left = None if budget is None else max(0.0, budget - (time.monotonic() - began))
        replayed.append(replay(campaign, job, cases, interrupted, left))
    skipped = corpus.skipped if campaign.corpus is not None else None
    return _Ready(jobs, identities, sources, around, saved, skipped, replayed)


def _only(doing: str) -> Progress:
    return Progress(0, 0, 0, 0, 0, 0, 0.0, None, doing)


# ---- The plan -------------------------------------------------------------------------------------------------------


def _plan(options: FuzzOptions, ready: _Ready, range_size: int) -> Plan:
    campaign = options.campaign
    lanes = tuple(Lane(name, campaign.subject, campaign.dialect) for name in options.names)
    return Plan(
        lanes,
        canaries_for(campaign.entries, options.names),
        campaign.seed,
        campaign.cases,
        range_size,
        campaign.only,
        campaign.model,
        campaign.checked,
        campaign.max_steps,
        campaign.limits,
        code_version(),
        ready.sources,
    )


def canaries_for(entries: tuple[Entry, ...], names: tuple[str, ...]) -> tuple[Lane, ...]:
    """The canary of each system that has one; where none has, those of the table."""
    own = [(entry, name) for entry, name in zip(entries, names, strict=True) if entry.canary]
    some = own or [(entry, entry.name) for entry in TABLE if entry.canary]
    return tuple(Lane(name, f"mutant:{entry.canary}", canary=True) for entry, name in some)


def _trial(options: FuzzOptions, jobs: list[Job], progress: Callable[[Progress], None]) -> float:
    """How many cases a second one core runs of the slowest subject, by a short trial of each."""
    slowest = inf
    campaign = options.campaign
    for job in jobs:
        progress(_only(f"trying how fast {job.system.name} is"))
        began = time.monotonic()
        done = supervise_many(
            job, TRIAL_CASES, range_size=50, limits=campaign.limits, time_budget_seconds=TRIAL_SECONDS
        )
        cases = max(1, done.tally.cases)
        slowest = min(slowest, cases / (time.monotonic() - began))
    return slowest


def range_size(campaign: Options, cases_per_second: float, slots: int) -> int:
    """A range size with which tasks take some seconds, and every core gets some; whole stretches, unless the subject is
    so slow that one of them would take too long."""
    budget = campaign.time_budget_seconds
    seconds = TASK_SECONDS if budget is None else min(TASK_SECONDS, budget / TASKS_IN_BUDGET)
    fair = campaign.cases / (TASKS_EACH * max(slots, campaign.jobs))
    wanted = min(cases_per_second * seconds, fair)
    if cases_per_second * LONGEST_SECONDS < RANGE_SIZE:
        return max(1, int(wanted))
    return max(1, ceil(wanted / RANGE_SIZE)) * RANGE_SIZE


def _settled(folder: Folder, plan: Plan, options: FuzzOptions) -> Plan:
    """The plan to go by: that of the campaign that is there, where it is the same one.  Raises Usage where not."""
    there, begun = folder.plan(), bool(folder.waves())
    if there is None and begun:
        raise Usage(f"{options.out}: there are ranges, but no plan of the campaign that they belong to")
    if there is None or not (begun or options.resume):  # one that never came to anything stands in nobody's way
        if options.resume:
            raise Usage(f"{options.out} holds no campaign to go on with; without --resume one begins there")
        folder.write_plan(plan)
        return plan
    if not options.resume:
        raise Usage(f"{options.out} holds a campaign already: --resume goes on with it; else name another folder")
    if options.range_size is None:
        plan = evolve(plan, range_size=there.range_size)
    differences = there.differences(plan)
    if differences:
        raise Usage(f"{options.out} holds another campaign, which this can not go on with: {'; '.join(differences)}")
    return there


# ---- The run --------------------------------------------------------------------------------------------------------


def _run(
    options: FuzzOptions,
    running: Session,
    folder: Folder,
    plan: Plan,
    resumed: int,
    progress: Callable[[Progress], None],
    interrupted: Callable[[], bool],
) -> tuple[float, int]:
    """Runs what is missing; how many seconds that took, and how many ranges were begun for nothing."""
    budget, started = options.campaign.time_budget_seconds, time.monotonic()
    asked = plan.cases * len(plan.lanes)
    before = int(resumed / max(1, plan.ranges) * asked)

    def left() -> float | None:
        return None if budget is None else budget - (time.monotonic() - started)

    def tell(counts: Counts) -> None:
        seconds, cases = time.monotonic() - started, before + counts.cases
        rate = counts.cases / seconds if seconds else 0.0
        to_go = (asked - cases) / rate if rate else None
        limit = left()
        if limit is not None:
            to_go = max(0.0, limit if to_go is None else min(to_go, limit))
        progress(
            Progress(resumed + counts.ranges, plan.ranges, cases, asked, counts.steps, counts.findings, seconds, to_go)
        )

    waves = Waves(running, folder, plan, tell, interrupted, left)
    waves.run()
    return time.monotonic() - started, waves.given_up


def _systems(options: FuzzOptions, plan: Plan) -> tuple[System, ...]:
    """The system of each lane, the canaries' included."""
    entries = (*options.campaign.entries, *(find_entry(lane.system) for lane in plan.canaries))
    return tuple(entry.system for entry in entries)


def _report(
    options: FuzzOptions,
    plan: Plan,
    ready: _Ready,
    lanes: list[LaneTotals],
    slots: int,
    interrupted: bool,
) -> Report:
    """What it came to.  The seconds of a system are what all cores together needed for it, now and before a resume."""
    campaign = options.campaign
    budget = campaign.time_budget_seconds is not None
    parts = []
    for number, job in enumerate(ready.jobs):
        lane, result = lanes[number], lanes[number].result
        if result.tally.cases + sum(result.ended_count.values()) < plan.cases and not result.stopped:
            result.stopped = INTERRUPTED if interrupted else BUDGET_ENDED if budget else LOST
        tested, before = ready.identities[number], ready.replayed[number]
        part = system_report(campaign, tested, job, result, before, lane.effort, lane.seconds / slots)
        parts.append(evolve(part, saved=ready.saved[number]))
    canaries = [_canary(names, lane) for names, lane in zip(plan.canaries, lanes[len(parts) :], strict=True)]
    heard = [canary for canary in canaries if canary.ranges]  # a short campaign may have room for one alone
    return Report(tuple(parts), ready.skipped, tuple(heard or canaries))


def _canary(names: Lane, lane: LaneTotals) -> Canary:
    shown = next(iter(lane.result.findings), None)
    system, mutant = find_entry(names.system).name, names.subject.removeprefix("mutant:")
    return Canary(system, mutant, lane.ranges, lane.caught, lane.result.tally.cases, shown)
