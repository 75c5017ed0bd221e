"""The command line of the benchmarks."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable, Sequence

from attrs import frozen

from . import driver, growth, kill, pip430, spark


@frozen
class Benchmark:
    """One benchmark: what it measures, and how it is run."""

    says: str
    run: Callable[[argparse.Namespace], str]  # prints as it goes; returns the figure


BENCHMARKS = {
    "driver": Benchmark(
        "steps/s of the seeded driver against Hypothesis's stateful runner, and where a step's time goes",
        lambda options: driver.run(options.quick),
    ),
    "kill": Benchmark(
        "steps and CPU time until a mutant is caught, driver against Hypothesis",
        lambda options: kill.run(options.quick, options.mutants),
    ),
    "growth": Benchmark(
        "cost of a step against the number of resident entries, or tracked cursors",
        lambda options: growth.run(options.quick),
    ),
    "pip430": Benchmark(
        "PIP-430's own claims: work for each eviction, what leaves first, memory held",
        lambda options: pip430.run(options.quick),
    ),
    "spark": Benchmark(
        "what Spark costs, what a second core gives, and memory against the number of cases",
        lambda options: spark.run(options.quick),
    ),
}


def _listed() -> str:
    return "\n".join(f"  {name:8} {each.says}" for name, each in BENCHMARKS.items())


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Runs a benchmark; the last line printed is the figure.  Without a name: lists them.",
        epilog=f"benchmarks:\n{_listed()}\n  all      every one of them, in this order",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("name", nargs="?", choices=[*BENCHMARKS, "all"], help="which one to run")
    made.add_argument("--quick", action="store_true", help="tiny sizes: shows that it runs; its figures mean nothing")
    made.add_argument(
        "--mutants",
        type=_count,
        metavar="N",
        help=f"kill: how many mutants of each system, drawn by a fixed seed (default {kill.MUTANTS}; 0: all)",
    )
    return made


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 on, got {text!r}")
    return int(text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs what the command line names."""
    options = parser().parse_args(arguments)
    if options.name is None:
        print(f"{_listed()}\nRun one with `python -m benchmarks NAME`, all with `python -m benchmarks all`.")
        return 0
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores; CPU time of this process")
    if options.quick:
        print("quick: tiny sizes, the figures mean nothing")
    names = list(BENCHMARKS) if options.name == "all" else [options.name]
    figures = []
    for name in names:
        print(f"\n== {name}: {BENCHMARKS[name].says}\n", flush=True)
        figures.append(BENCHMARKS[name].run(options))
    if len(figures) > 1:
        print("== figures\n")
    print("\n".join(figures), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
