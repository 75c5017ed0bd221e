"""kill: how many steps, and how much CPU time, until a mutant is caught: the driver against Hypothesis.

Both stop at the first thing that catches the mutant; the driver's time includes the second run that names the law,
Hypothesis's leaves out shrinking and showing.  A mutant that outlives its cap counts as more than the cap.
"""

from __future__ import annotations

import math
import statistics
import time
from random import Random
from zlib import crc32

from attrs import frozen

from brokerlaw.driver.loop import Job, Runner
from brokerlaw.reference.mutant import Mutant
from brokerlaw.reference.table import TABLE, Entry
from brokerlaw.spec.core import System

from .hypothesis_runs import Record, recorded, run_hypothesis
from .measure import number, table

SEED = 430
MUTANTS = 24  # of each system, by default: some three minutes in all
STEPS = 50  # of each example of Hypothesis
BATCH = 100  # examples of one run of Hypothesis, which keeps memory for each
NEVER = math.inf


@frozen
class Caps:
    """When a mutant is given up."""

    driver_steps: int = 200_000
    examples: int = 300


QUICK = Caps(driver_steps=3_000, examples=20)


@frozen
class Caught:
    """What it took to catch a mutant; infinite where nothing did."""

    steps: float
    seconds: float


def seed_of(mutant: Mutant) -> int:
    """Each mutant meets runs of its own, or one lucky run would catch many of them at once."""
    return crc32(f"{SEED}/{mutant.name}".encode())


def by_driver(system: System, mutant: Mutant, caps: Caps) -> Caught:
    runner = Runner(Job(system, mutant.make, mutant.name, seed_of(mutant), mutant.dialect), lambda found: found)
    began, case = time.process_time(), 0
    while runner.result.tally.steps < caps.driver_steps:
        runner.run(case)
        case += 1
        if runner.result.findings:
            return Caught(runner.result.tally.steps, time.process_time() - began)
    return Caught(NEVER, NEVER)


def by_hypothesis(system: System, mutant: Mutant, caps: Caps) -> Caught:
    record = Record()
    machine = recorded(system, mutant.make, record, mutant.dialect)
    began = time.process_time()
    for batch in range(math.ceil(caps.examples / BATCH)):
        try:
            run_hypothesis(machine, min(BATCH, caps.examples), STEPS, seed_of(mutant) + batch)
        except Exception:
            if record.failed_at is None:
                raise
            return Caught(record.steps, record.failed_at - began)
    return Caught(NEVER, NEVER)


def sample(entry: Entry, count: int | None) -> list[Mutant]:
    """So many mutants of a system, drawn by a fixed seed; all of them where there are no more, or none was named."""
    mutants = list(entry.mutants)
    if count is None or count >= len(mutants):
        return mutants
    return Random(f"{SEED}/{entry.name}").sample(mutants, count)


def report(entry: Entry, count: int | None, caps: Caps) -> str:
    """Prints the table of one system; returns its part of the figure."""
    chosen = sample(entry, count)
    capped = f"Hypothesis at most {caps.examples} examples of {STEPS} steps, the driver {caps.driver_steps:,} steps"
    print(f"{entry.name}: {len(chosen)} of {len(entry.mutants)} mutants; {capped}")
    rows, driver, hypothesis = [], [], []
    for mutant in chosen:
        driver.append(by_driver(entry.system, mutant, caps))
        hypothesis.append(by_hypothesis(entry.system, mutant, caps))
        rows.append((mutant.name, *_cells(driver[-1]), *_cells(hypothesis[-1])))
    here, there = _median(driver), _median(hypothesis)
    rows.append(("median", *_cells(here), *_cells(there)))
    print(table(("mutant", "driver steps", "CPU s", "Hypothesis steps", "CPU s"), rows))
    alive = [sum([caught.steps == NEVER for caught in each]) for each in (driver, hypothesis)]
    print(f"not caught within the cap: driver {alive[0]}, Hypothesis {alive[1]}\n")
    return (
        f"{entry.name} {_shown(here.steps)} steps in {_shown(here.seconds)} s "
        f"against {_shown(there.steps)} in {_shown(there.seconds)} s"
    )


def _median(caught: list[Caught]) -> Caught:
    return Caught(statistics.median([c.steps for c in caught]), statistics.median([c.seconds for c in caught]))


def _cells(caught: Caught) -> tuple[str, str]:
    return _shown(caught.steps), _shown(caught.seconds)


def _shown(value: float) -> str:
    if value == NEVER:
        return "> cap"
    return f"{value:.3f}" if value < 1 else number(value)


def run(quick: bool, mutants: int | None = None) -> str:
    """Measures both systems; the figure.  `mutants` of each system; 0 for all."""
    count = mutants if mutants is not None else 2 if quick else MUTANTS
    caps = QUICK if quick else Caps()
    parts = [report(entry, count or None, caps) for entry in TABLE]
    return "median to kill, driver against Hypothesis: " + ", ".join(parts)
