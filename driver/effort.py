"""Effort: how a campaign went on, and whether it still found something new.

The cases of a campaign are put into a few buckets by their numbers, each with its own sketch of what its checked cases
met.  Points are cumulative: a curve that has become flat says that more cases of this kind would show little more.
"""

from __future__ import annotations

from typing import Any

from attrs import Factory, define, frozen

from .loop import Result
from .sketch import distinct, smallest
from .tally import few_pairs

BUCKETS = 50


@frozen
class Point:
    """What had been met after so many cases."""

    cases: int
    steps: int
    states: int  # distinct model states, looked at now and then in checked cases: an estimate
    pairs: int  # distinct pairs of (command > outcome), one after the other in a checked case
    findings: int  # cases that broke something


@define
class Bucket:
    """What the cases of one stretch of numbers met."""

    cases: int = 0
    steps: int = 0
    findings: int = 0
    states: list[int] = Factory(list)
    pairs: set[int] = Factory(set)

    def add(self, result: Result) -> None:
        tally = result.tally
        self.cases += tally.cases
        self.steps += tally.steps
        self.findings += sum(result.broken.values())
        self.states = smallest([*self.states, *tally.states])
        self.pairs = few_pairs(self.pairs | tally.pairs)


@define
class Effort:
    """The buckets of a campaign of so many cases."""

    cases: int
    range_size: int
    ranges: int = 0
    buckets: dict[int, Bucket] = Factory(dict)

    def add(self, first: int, result: Result) -> None:
        """Takes in a range of cases that began at this number."""
        self.ranges += 1
        self.bucket(bucket_of(first, self.cases)).add(result)

    def bucket(self, index: int) -> Bucket:
        return self.buckets.setdefault(index, Bucket())

    def points(self) -> tuple[Point, ...]:
        """The curve, at most `BUCKETS` points of it."""
        so_far, points = Bucket(), []
        for _, bucket in sorted(self.buckets.items()):
            so_far.cases += bucket.cases
            so_far.steps += bucket.steps
            so_far.findings += bucket.findings
            so_far.states = smallest([*so_far.states, *bucket.states])
            so_far.pairs |= bucket.pairs
            states, pairs = distinct(so_far.states), len(so_far.pairs)
            points.append(Point(so_far.cases, so_far.steps, states, pairs, so_far.findings))
        return tuple(points)

    def to_json(self) -> dict[str, Any]:
        names = ("cases", "steps", "states", "pairs", "findings")
        points = [{name: getattr(point, name) for name in names} for point in self.points()]
        return {"ranges": self.ranges, "range_size": self.range_size, "points": points}


def bucket_of(first: int, cases: int) -> int:
    """The bucket of the case with this number."""
    return first * BUCKETS // max(1, cases)
