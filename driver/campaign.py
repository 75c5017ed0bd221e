"""Campaigns: the saved cases, then many cases from one seed, for each system; and what that showed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from attrs import evolve, field, frozen, validators

from ..reference.table import Entry
from .child import DEFAULT_LIMITS, Limits
from .corpus import Corpus, SavedCase, read_corpus
from .effort import Effort
from .errors import Usage
from .finding import Finding, fewest
from .identity import Identity, identity_of
from .loop import Job, Result
from .report import CorpusRow, Report, SystemReport, claimed_laws, law_rows, reached_rows
from .subjects import find_subject
from .supervisor import RANGE_SIZE, Counts, supervise_many
from .work import Saved

CASES = 12_500  # of some 140 steps: less than a minute for each system on two idle cores
MAX_JOBS = 8
PROGRESS_SECONDS = 0.25
ENDINGS = ("model", "error", "hang", "crash", "memory")  # what can be tolerated beside laws


def default_jobs() -> int:
    """One child for each core that this process may use, up to a few."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MAX_JOBS)


@frozen
class Options:
    """What a campaign does."""

    entries: tuple[Entry, ...]
    subject: str = "reference"
    dialect: str = "text"
    seed: int = 0
    cases: int = field(default=CASES, validator=validators.ge(0))  # of each system
    only: tuple[str, ...] = ()  # laws to ask; empty: all
    tolerated: tuple[str, ...] = ()  # laws that may be broken, or kinds of ending
    corpus: Path | None = None
    time_budget_seconds: float | None = None  # for the whole campaign
    jobs: int = field(factory=default_jobs, validator=validators.ge(1))
    limits: Limits = DEFAULT_LIMITS
    checked: bool | None = None  # True: every law at every step of every case
    model: bool = True  # False: the model is set aside, laws alone
    max_steps: int | None = None  # of a case; none: as long as it was drawn


@frozen
class Progress:
    """How far a campaign is, a few times a second."""

    system: str
    subject: str
    cases: int
    cases_asked: int
    steps: int
    findings: int
    seconds: float


def _never() -> bool:
    return False


def check(
    options: Options,
    progress: Callable[[Progress], None] | None = None,
    interrupted: Callable[[], bool] = _never,
) -> Report:
    """Runs a campaign.  Raises Usage, before anything runs, where an option can not be used.

    Once `interrupted` says so it ends, with what there is by then; it is asked many times a second.
    """
    check_names(options)
    jobs = [job_of(options, entry) for entry in options.entries]
    identities = [known_identity(entry, options.subject) for entry in options.entries]
    corpus = corpus_of(options)
    began = time.monotonic()
    reports = []
    for number, (job, identity) in enumerate(zip(jobs, identities, strict=True)):
        left = None
        if options.time_budget_seconds is not None:  # each system gets its share of what the ones before it left
            left = max(0.0, options.time_budget_seconds - (time.monotonic() - began)) / (len(jobs) - number)
        reports.append(_check_system(options, job, identity, noted(corpus, job), left, progress, interrupted))
    return Report(tuple(reports), corpus.skipped if options.corpus is not None else None)


def corpus_of(options: Options) -> Corpus:
    """The saved cases that a campaign runs first."""
    systems = {entry.name: entry.system for entry in options.entries}
    return read_corpus(options.corpus, systems.get) if options.corpus is not None else Corpus()


def noted(corpus: Corpus, job: Job) -> tuple[SavedCase, ...]:
    """The saved cases of one system, each with a note that tells it from the others."""
    own = [each for each in corpus.cases if each.case.system == job.system.name]
    return tuple(evolve(each, case=evolve(each.case, note=each.case.note or each.path.name)) for each in own)


def job_of(options: Options, entry: Entry) -> Job:
    """What the campaign does to one system; Usage where its dialect or its subject is not there."""
    try:
        entry.system.dialect(options.dialect)
    except KeyError as unknown:
        raise Usage(str(unknown.args[0])) from None
    named = find_subject(entry, options.subject)
    return Job(
        entry.system,
        named.make,
        named.name,
        options.seed,
        options.dialect,
        options.only,
        options.model,
        options.checked,
        max_steps=options.max_steps,
    )


def known_identity(entry: Entry, subject: str) -> Identity:
    """What is tested, as it is before anything runs; Usage where its source can not be read."""
    try:
        return identity_of(entry, subject)
    except OSError as error:
        what = error.filename or "its source"
        raise Usage(f"subject {subject!r}: {what} can not be read: {error.strerror}") from None


def check_names(options: Options) -> None:
    """Says so where there is no such law to ask or to tolerate."""
    systems = [entry.system for entry in options.entries]
    laws = {law.name for system in systems for law in system.laws}
    names = ", ".join(system.name for system in systems)
    for name in options.only:
        if name not in laws:
            raise Usage(f"there is no law {name!r} in {names}")
    for name in options.tolerated:
        if name not in laws and name not in ENDINGS:
            raise Usage(f"there is no law {name!r} in {names} to tolerate; {', '.join(ENDINGS)} can be tolerated too")


def _check_system(
    options: Options,
    job: Job,
    identity: Identity,
    saved: tuple[SavedCase, ...],
    time_budget_seconds: float | None,
    progress: Callable[[Progress], None] | None,
    interrupted: Callable[[], bool],
) -> SystemReport:
    began = time.monotonic()
    replayed = replay(options, job, saved, interrupted, time_budget_seconds)
    effort = Effort(options.cases, RANGE_SIZE)
    if time_budget_seconds is not None:
        time_budget_seconds = max(0.0, time_budget_seconds - (time.monotonic() - began))
    result = supervise_many(
        job,
        options.cases,
        jobs=options.jobs,
        limits=options.limits,
        time_budget_seconds=time_budget_seconds,
        progress=_told(progress, job, options.cases, began),
        interrupted=interrupted,
        done_with=effort.add,
    )
    report = system_report(options, identity, job, result, replayed, effort, time.monotonic() - began)
    return evolve(report, saved=saved)


def replay(
    options: Options,
    job: Job,
    saved: tuple[SavedCase, ...],
    interrupted: Callable[[], bool],
    time_budget_seconds: float | None = None,
) -> Result:
    """Runs the saved cases with everything on, in the order of their names; one child, so that the order stays."""
    cases = tuple(each.case for each in saved)
    return supervise_many(
        Saved(job, cases),
        len(cases),
        limits=options.limits,
        time_budget_seconds=time_budget_seconds,
        interrupted=interrupted,
    )


def _told(
    progress: Callable[[Progress], None] | None, job: Job, asked: int, began: float
) -> Callable[[Counts], None] | None:
    if progress is None:
        return None
    told_at = began

    def tell(counts: Counts) -> None:
        nonlocal told_at
        now = time.monotonic()
        if now - told_at >= PROGRESS_SECONDS or counts.cases == asked:
            told_at = now
            progress(
                Progress(
                    job.system.name, job.subject_name, counts.cases, asked, counts.steps, counts.findings, now - began
                )
            )

    return tell


def system_report(
    options: Options,
    tested: Identity,
    job: Job,
    result: Result,
    replayed: Result,
    effort: Effort,
    seconds: float,
) -> SystemReport:
    """What the saved cases and the drawn ones showed of one system."""
    laws = claimed_laws(job.system, job.dialect, job.only)
    findings = fewest([*replayed.findings, *result.findings], job.max_findings)
    return SystemReport(
        system=job.system.name,
        subject=job.subject_name,
        dialect=job.dialect,
        seed=job.seed,
        cases_asked=options.cases,
        cases_run=result.tally.cases,
        cases_ended=sum(result.ended_count.values()),
        stopped=result.stopped or replayed.stopped,
        seconds=seconds,
        tally=result.tally,
        laws=law_rows(laws, result, replayed, options.tolerated),
        reached=reached_rows(laws, result),
        broken=dict(result.broken),
        findings=tuple(_marked(finding, options.tolerated) for finding in findings),
        ended=tuple(_marked(finding, options.tolerated) for finding in (*replayed.ended, *result.ended)),
        ended_count=dict(result.ended_count),
        corpus=CorpusRow(
            cases=replayed.tally.cases,
            steps=replayed.tally.steps,
            broken=sum(replayed.broken.values()),
            ended=sum(replayed.ended_count.values()),
        ),
        identity=tested,
        effort=effort,
    )


def _marked(finding: Finding, tolerated: tuple[str, ...]) -> Finding:
    breach = finding.breach
    known = breach.law if breach.kind == "law" else breach.kind
    return finding.accepted() if known in tolerated else finding
