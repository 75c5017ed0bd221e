"""The worker: what an executor runs.  It takes the indices of ranges and gives one row for each.

It knows its campaign by names and looks them up once in a process.  Each stretch of cases runs in a supervised child,
exactly as in `brokerlaw check`, so that a subject that hangs, dies or eats memory costs its own case.  Neither
hypothesis nor z3 is imported here.
"""

from __future__ import annotations

import os
import resource
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from ..driver.errors import Usage
from ..driver.finding import fewest
from ..driver.identity import code_version, source_hash
from ..driver.loop import Job, Result
from ..driver.subjects import find_entry, find_subject
from ..driver.supervisor import RANGE_SIZE, hangs, supervise, why_stopped
from .plan import Plan, Range
from .rows import row_of

Tell = Callable[[int, int, int, int], None]
"""Told how many cases and steps were done, how many findings there were, and 1 where the range gives up, each time
there is something to tell."""


def run_ranges(plan: Plan, indices: Iterable[int], attempt: int, tell: Tell) -> Iterator[tuple[Any, ...]]:
    """Runs ranges, one after the other."""
    if code_version() != plan.code:
        raise Usage(
            "this executor has other code of brokerlaw than the campaign that sent it work; give the same to all, "
            "with --py-files"
        )
    for index in indices:
        piece = plan.range_at(index)
        began = time.monotonic()
        result = _run(plan, piece, tell)
        peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        peak_kib = max(peak_kib, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
        worker = f"{socket.gethostname()}:{os.getpid()}"
        yield row_of(index, piece, result, time.monotonic() - began, attempt, worker, peak_kib)


def _run(plan: Plan, piece: Range, tell: Tell) -> Result:
    """A range, in stretches as long as those of `brokerlaw check`.  Of what a stretch finds broken it shrinks and keeps
    the first case, so that ranges of whole stretches keep the same findings whatever their size."""
    job = job_of(plan, piece.lane)
    total = Result()
    stop = piece.first + piece.count
    for first in range(piece.first, stop, RANGE_SIZE):
        done = supervise(job, first, min(RANGE_SIZE, stop - first), plan.limits)
        total.add(done)
        total.findings = fewest(total.findings, job.max_findings)
        total.ended = fewest(total.ended, job.max_findings)
        gives_up = hangs(total) >= plan.limits.max_hangs
        if not plan.everyone[piece.lane].canary:
            ended = sum(done.ended_count.values())
            broken = sum(done.broken.values()) + ended
            tell(done.tally.cases + ended, done.tally.steps, broken, int(gives_up))
        if gives_up:
            total.stopped = why_stopped(total, plan.limits)
            break
    return total


@lru_cache(maxsize=64)
def job_of(plan: Plan, lane: int) -> Job:
    """What is done to a lane's subject; looked up once in a process."""
    names = plan.everyone[lane]
    entry = find_entry(names.system)
    named = find_subject(entry, names.subject)
    if names.canary:  # whatever was asked of the others, it goes by the ordinary rules
        return Job(entry.system, named.make, named.name, plan.seed, names.dialect)
    if source_hash(entry, names.system, names.subject) != plan.subjects[lane]:
        raise Usage(
            f"this executor has other sources of {names.subject} than the campaign that sent it work; give the same "
            "to all, with --py-files"
        )
    return Job(
        entry.system,
        named.make,
        named.name,
        plan.seed,
        names.dialect,
        plan.only,
        plan.model,
        plan.checked,
        max_steps=plan.max_steps,
    )
