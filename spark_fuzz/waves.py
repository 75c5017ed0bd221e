"""Waves: the ranges of a campaign, a few at a time.

A wave is one Spark job that writes one folder, and that folder appears whole or not at all: Hadoop's committer lets one
attempt of each task in, however often it was tried, and marks the folder when all are there.  A campaign that is killed
goes on behind what is whole.  Two waves are under way at once, so that no core waits for the last task of one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any

from attrs import Factory, define, frozen
from pyspark import TaskContext

from ..driver.errors import Usage
from .errors import SPARKS_OWN, sentence_of
from .plan import Plan
from .rows import SCHEMA
from .session import Session
from .storage import Folder, Wave, missing
from .worker import run_ranges

WAVE_SECONDS = 20.0  # what a wave should take: about what a killed driver loses
FIRST_TASKS, MOST_TASKS = 1, 64  # of a wave, for each core: of the first ones, and of any
SIDE_BY_SIDE = 2
LOOK_SECONDS = 0.25
GRACE_SECONDS = 10.0  # what runs when the time is over may take that much longer, before it is given up
GROUP = "brokerlaw"


@frozen
class Counts:
    """How far a campaign is, by what finished tasks told; one that had to run again told twice."""

    ranges: int
    cases: int
    steps: int
    findings: int


@define
class Waves:
    """Runs what is missing of a campaign.  `seconds_left` is none where there is no budget."""

    session: Session
    folder: Folder
    plan: Plan
    progress: Callable[[Counts], None]
    interrupted: Callable[[], bool]
    seconds_left: Callable[[], float | None]
    gaps: list[Wave] = Factory(list)
    told: list[Any] = Factory(list)
    task_seconds: float | None = None  # what a range takes, by the last wave that ended
    given_up: int = 0  # ranges of waves that were under way at the end

    def run(self) -> None:
        """Runs waves until all is done, or the time is over, or the user ends it.  Raises Usage where a range can not
        be run at all."""
        self.gaps = missing(self.folder.waves(), self.plan.ranges)
        self.told = [self.session.context.accumulator(0) for _ in range(5)]
        running: dict[Future[None], tuple[Wave, float]] = {}
        with ThreadPoolExecutor(SIDE_BY_SIDE) as threads:
            try:
                while self._start(threads, running):
                    done, _ = wait(running, LOOK_SECONDS, FIRST_COMPLETED)
                    for each in done:
                        self._ended(each, *running.pop(each))
                    self.progress(Counts(*[accumulator.value for accumulator in self.told[:4]]))
                    if self._is_over(-GRACE_SECONDS):
                        return
            finally:
                self._cancel(running)
                self.given_up += sum(wave.stop - wave.first for each, (wave, _) in running.items() if each.exception())

    def _cancel(self, running: Iterable[Future[None]]) -> None:
        """Ends what runs; more than once, since a wave may be just about to become a job when it is told to end."""
        while True:
            with suppress(*SPARKS_OWN):  # a JVM that is gone runs nothing
                self.session.context.cancelJobGroup(GROUP)
            if not wait(running, LOOK_SECONDS).not_done:
                return

    def _start(self, threads: ThreadPoolExecutor, running: dict[Future[None], tuple[Wave, float]]) -> bool:
        """Starts what there is room for; whether anything runs."""
        while len(running) < SIDE_BY_SIDE and self.gaps and not self._is_over() and not self._has_stopped():
            wave = self._next()
            running[threads.submit(self._write, wave)] = wave, time.monotonic()
        return bool(running)

    def _has_stopped(self) -> bool:
        """Whether a range gave up because its cases took too long; `brokerlaw check` ends there too."""
        stopped: int = self.told[-1].value
        return stopped > 0

    def _is_over(self, at_seconds: float = 0.0) -> bool:
        left = self.seconds_left()
        return self.interrupted() or (left is not None and left <= at_seconds)

    def _next(self) -> Wave:
        """The next few ranges: as many as should take the time of a wave, and no longer than the time that is left."""
        slots = self.session.slots
        tasks = FIRST_TASKS * slots
        if self.task_seconds:
            left = self.seconds_left()
            seconds = WAVE_SECONDS if left is None else min(WAVE_SECONDS, left / SIDE_BY_SIDE)
            tasks = max(slots, min(MOST_TASKS * slots, int(slots * seconds / self.task_seconds)))
        gap = self.gaps.pop(0)
        stop = min(gap.first + tasks, gap.stop)
        if stop < gap.stop:
            self.gaps.insert(0, Wave(stop, gap.stop))
        return Wave(gap.first, stop)

    def _ended(self, done: Future[None], wave: Wave, began: float) -> None:
        error = done.exception()
        if error is None:
            seconds = time.monotonic() - began  # two waves share the cores, so that this is up to twice too long
            self.task_seconds = seconds * self.session.slots / (wave.stop - wave.first)
        elif self.interrupted():  # Ctrl-C reaches Spark's processes too
            self.given_up += wave.stop - wave.first
        else:
            raise _as_usage(error) from None

    def _write(self, wave: Wave) -> None:
        """One wave: a DataFrame of indices in, a folder of Parquet out.  In a thread of its own."""
        spark, plan = self.session.spark, self.plan
        self.session.context.setJobGroup(GROUP, f"ranges {wave.first} to {wave.stop - 1}", interruptOnCancel=True)
        ranges, *told = self.told

        def work(indices: Any) -> Any:
            def tell(*more: int) -> None:
                for accumulator, number in zip(told, more, strict=True):
                    accumulator.add(number)

            context = TaskContext.get()
            assert context is not None
            for row in run_ranges(plan, (each.id for each in indices), context.attemptNumber(), tell):
                ranges.add(1)
                yield row

        indices = spark.range(wave.first, wave.stop, 1, wave.stop - wave.first)  # one range, one task
        rows = spark.createDataFrame(indices.rdd.mapPartitions(work), SCHEMA, verifySchema=False)
        rows.write.mode("overwrite").parquet(self.folder.uri_of(wave.name))


def _as_usage(error: BaseException) -> BaseException:
    """What went wrong on an executor, as a sentence; anything but Spark's own errors is a bug of ours."""
    if not isinstance(error, SPARKS_OWN):
        return error
    return Usage(f"a range could not be run on Spark: {sentence_of(error)}")
