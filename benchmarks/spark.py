"""spark: what Spark costs, what a second core gives, and whether memory grows with the number of cases.

Each run is a process of its own: the plain driver on one core, Spark on one core, Spark on two, in turns, on the same
cases.  Time is that of the waves: neither the start of the JVM nor the adding up counts.  The machine's other guests
disturb all three alike, so that a figure is the median of the ratios of each turn.

Memory: a campaign of cases that are cut after two steps, so that ten million of them fit into minutes; of the driver
what is left in the JVM's heap after a collection, of the workers the largest resident set of any.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

from attrs import frozen

from brokerlaw.driver.campaign import Options, job_of
from brokerlaw.driver.subjects import find_entry
from brokerlaw.driver.supervisor import supervise_many

from .measure import number, table

SYSTEM = "cursor_ranks"
MINUTES = 30  # before a run is given up
SHORT_STEPS = 2


@frozen
class Sizes:
    """How much is run."""

    turns: int = 5
    cases: int = 40_000
    few_cases: int = 100_000
    many_cases: int = 10_000_000


QUICK = Sizes(turns=1, cases=500, few_cases=500, many_cases=1_000)


def run(quick: bool) -> str:
    """Prints the tables; returns the figure."""
    sizes = QUICK if quick else Sizes()
    one, two = _speeds(sizes)
    heap, resident, tasks = _memory(sizes)
    return (
        f"spark: 1 core {one:.2f} of the plain driver, 2 cores {two:.2f} of one; {sizes.many_cases:,} cases against "
        f"{sizes.few_cases:,}: driver heap x{heap:.2f}, worker x{resident:.2f}; tasks {tasks}"
    )


def _speeds(sizes: Sizes) -> tuple[float, float]:
    rows, ones, twos = [], [], []
    for turn in range(sizes.turns):
        plain = _in_a_process("plain", "", sizes.cases, turn)
        single = _in_a_process("spark", "local[1,4]", sizes.cases, turn)
        double = _in_a_process("spark", "local[2,4]", sizes.cases, turn)
        speeds = [each["steps"] / each["seconds"] for each in (plain, single, double)]
        ones.append(speeds[1] / speeds[0])
        twos.append(speeds[2] / speeds[1])
        rows.append([str(turn), *[number(speed) for speed in speeds], f"{ones[-1]:.2f}", f"{twos[-1]:.2f}"])
    head = ["turn", "plain, steps/s", "Spark, 1 core", "Spark, 2 cores", "1 core / plain", "2 cores / 1"]
    print(table(head, rows), flush=True)
    return statistics.median(ones), statistics.median(twos)


def _memory(sizes: Sizes) -> tuple[float, float, str]:
    rows, runs = [], []
    for cases in (sizes.few_cases, sizes.many_cases):
        done = _in_a_process("spark", "local[*,4]", cases, 0, SHORT_STEPS)
        runs.append(done)
        tasks = f"{done['task_seconds'][0]:.1f} to {done['task_seconds'][1]:.1f} s"
        rows.append(
            [number(cases), str(done["range_size"]), tasks, f"{done['heap_mib']:.1f}", f"{done['worker_mib']:.1f}"]
        )
    head = ["cases", "range size", "tasks took", "driver heap, MiB", "worker, MiB"]
    print("\n" + table(head, rows), flush=True)
    few, many = runs
    return many["heap_mib"] / few["heap_mib"], many["worker_mib"] / few["worker_mib"], rows[-1][2]


def _in_a_process(kind: str, master: str, cases: int, seed: int, max_steps: int = 0) -> dict[str, Any]:
    """One run, in a process of its own."""
    words = [sys.executable, "-m", "benchmarks.spark", kind, master, str(cases), str(seed), str(max_steps)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60 * MINUTES, check=False)
    if done.returncode:
        raise RuntimeError(f"{kind} {master} failed:\n{done.stderr[-2000:]}")
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


# ---- What such a process does ---------------------------------------------------------------------------------------


def _plain(options: Options) -> dict[str, Any]:
    job = job_of(options, options.entries[0])
    began = time.monotonic()
    done = supervise_many(job, options.cases, jobs=1)
    return {"steps": done.tally.steps, "seconds": time.monotonic() - began}


def _spark(options: Options, master: str) -> dict[str, Any]:
    from brokerlaw.spark_fuzz.engine import FuzzOptions, fuzz
    from brokerlaw.spark_fuzz.rows import SCHEMA

    with tempfile.TemporaryDirectory() as out, fuzz(FuzzOptions(options, (SYSTEM,), out, master)) as done:
        (part,) = done.report.systems
        session: Any = done.session
        runtime = session.context._jvm.java.lang.Runtime.getRuntime()
        heaps = []
        for _ in range(5):
            session.context._jvm.System.gc()
            heaps.append((runtime.totalMemory() - runtime.freeMemory()) / 2**20)
        rows = session.spark.read.schema(SCHEMA).parquet(*[done.folder.uri_of(w.name) for w in done.folder.waves()])
        whole = rows.where(f"lane = 0 and count = {part.effort.range_size}")
        (spread,) = whole.selectExpr("min(seconds) as least", "max(seconds) as most").collect()
        return {
            "steps": part.steps,
            "seconds": done.waves_seconds,
            "heap_mib": min(heaps),
            "worker_mib": done.peak_kib / 1024,
            "range_size": part.effort.range_size,
            "task_seconds": [spread.least or 0.0, spread.most or 0.0],
        }


def main(kind: str, master: str, cases: str, seed: str, max_steps: str) -> None:
    options = Options((find_entry(SYSTEM),), cases=int(cases), seed=int(seed), max_steps=int(max_steps) or None)
    print(json.dumps(_plain(options) if kind == "plain" else _spark(options, master)))


if __name__ == "__main__":
    main(*sys.argv[1:])
