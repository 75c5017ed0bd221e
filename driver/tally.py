"""Tallies: what a campaign counted.  They add up in any order, and travel as plain JSON."""

from __future__ import annotations

from heapq import nsmallest
from typing import Any

from attrs import Factory, define

from .sketch import smallest

MAX_COVERAGE = 2_000  # pairs of command and outcome that are told apart: a subject may give any reason for a refusal
MAX_PAIRS = 50_000
HOLDS, VACUOUS_COUNT, BROKEN = 0, 1, 2
OTHER = "other"


def few_pairs(pairs: set[int]) -> set[int]:
    """The least of them, where there are too many."""
    return pairs if len(pairs) <= MAX_PAIRS else set(nsmallest(MAX_PAIRS, pairs))


@define
class Tally:
    """Counts over any number of cases.  `laws[name]` is [held, vacuous, broken]; coverage is by "Do > Outcome"."""

    cases: int = 0
    steps: int = 0
    checked_cases: int = 0  # cases in which every law was asked at every step
    checked_steps: int = 0
    observed_steps: int = 0  # steps after which the snapshot was compared with the model's
    laws: dict[str, list[int]] = Factory(dict)
    reached: dict[str, int] = Factory(dict)  # `sometimes` laws: how often
    coverage: dict[str, int] = Factory(dict)
    states: list[int] = Factory(list)  # a sketch of the states of checked cases, looked at every few steps
    pairs: set[int] = Factory(set)  # of checked cases: hashes of ("Do > Outcome", the next one)
    digest: int = 0  # sum of one 64-bit hash per case, modulo 2**64: the order of cases does not matter

    def law(self, name: str) -> list[int]:
        """The [held, vacuous, broken] counts of a law, made where they are missing."""
        return self.laws.setdefault(name, [0, 0, 0])

    def cover(self, command: str, outcome: str, count: int) -> None:
        """Counts that a command met an outcome."""
        key = f"{command} > {outcome}"
        if key not in self.coverage and len(self.coverage) >= MAX_COVERAGE:
            key = f"{command} > {OTHER}"
        self.coverage[key] = self.coverage.get(key, 0) + count

    def add(self, other: Tally) -> None:
        """Adds another tally to this one."""
        self.cases += other.cases
        self.steps += other.steps
        self.checked_cases += other.checked_cases
        self.checked_steps += other.checked_steps
        self.observed_steps += other.observed_steps
        for name, counts in other.laws.items():
            mine = self.law(name)
            for index, count in enumerate(counts):
                mine[index] += count
        for key, count in other.reached.items():
            self.reached[key] = self.reached.get(key, 0) + count
        for key, count in other.coverage.items():
            command, _, outcome = key.partition(" > ")
            self.cover(command, outcome, count)
        if other.states:
            self.states = smallest([*self.states, *other.states])
        self.pairs = few_pairs(self.pairs | other.pairs)
        self.digest = (self.digest + other.digest) % 2**64

    def digest_hex(self) -> str:
        return f"{self.digest:016x}"

    def to_json(self) -> dict[str, Any]:
        return {
            "cases": self.cases,
            "steps": self.steps,
            "checked_cases": self.checked_cases,
            "checked_steps": self.checked_steps,
            "observed_steps": self.observed_steps,
            "laws": {name: list(counts) for name, counts in sorted(self.laws.items())},
            "reached": dict(sorted(self.reached.items())),
            "coverage": dict(sorted(self.coverage.items())),
            "states": self.states,
            "pairs": sorted(self.pairs),
            "digest": self.digest_hex(),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Tally:
        return cls(**{**data, "pairs": set(data["pairs"]), "digest": int(data["digest"], 16)})
