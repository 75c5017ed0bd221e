"""How things are measured here: process CPU time, in short alternating rounds, as ratios of the same run.

Machines are shared and noisy.  CPU time leaves out what other processes took; alternating rounds let both sides meet
the same noise; the median of the rounds' ratios leaves out the odd round, and the spread says how odd it was.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from attrs import frozen

Answer = TypeVar("Answer")


def cpu(work: Callable[[], Answer]) -> tuple[float, Answer]:
    """The CPU seconds that a piece of work took, and what it gave.  Garbage of earlier work is not on its bill."""
    gc.collect()
    began = time.process_time()
    answer = work()
    return time.process_time() - began, answer


@frozen
class Spread:
    """A figure with one value for each round."""

    values: tuple[float, ...]

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        return cls(tuple(values))

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def times(self) -> str:
        """As a ratio: `17.3x (15.9 to 18.8)`."""
        return f"{self.median:.1f}x ({min(self.values):.1f} to {max(self.values):.1f})"


def ratios(above: Spread, below: Spread) -> Spread:
    """Round by round."""
    return Spread.of(one / other for one, other in zip(above.values, below.values, strict=True))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns that line up: the first to the left, the others to the right."""
    lines = [tuple(head), *(tuple(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    sides = [str.ljust, *[str.rjust] * (len(head) - 1)]
    return "\n".join(
        "  ".join(put(cell, width) for put, cell, width in zip(sides, line, widths, strict=True)) for line in lines
    )


def number(value: float) -> str:
    """A number for a table, with the digits that mean something."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
