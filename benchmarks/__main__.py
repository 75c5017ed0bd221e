"""The command line of the benchmarks."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from . import driver, growth, kill, pip430

BENCHMARKS = {
    "driver": (driver.run, "steps/s of the seeded driver against Hypothesis's stateful runner"),
    "kill": (kill.run, "steps and CPU time to kill each mutant, driver against Hypothesis"),
    "growth": (growth.run, "cost of a step against the number of resident entries"),
    "pip430": (pip430.run, "PIP-430's own claims: work for each eviction, quality, memory held"),
}
