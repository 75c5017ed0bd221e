"""Findings: cases on which a subject breaks a law or differs from the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from attrs import evolve, frozen

from ..spec.core import Case, System, read_case, write_case
from .checker import Breach


@frozen
class Finding:
    """A case that breaks something, with where it came from."""

    system: str
    subject: str
    breach: Breach
    case: Case
    seed: int | None = None  # none for a case that was given, not drawn
    number: int | None = None
    commands_before: int = 0  # how long it was before shrinking
    shrunk: bool = False
    tolerated: bool = False

    @property
    def shape(self) -> tuple[str, str, tuple[str, ...]]:
        """What makes two findings one: what broke, and the commands that do it."""
        kind, law = self.breach.key
        return kind, law, tuple(type(command).__name__ for command in self.case.commands)

    def accepted(self) -> Finding:
        """The same finding, marked as known and tolerated."""
        return evolve(self, tolerated=True)


def fewest(findings: Iterable[Finding], max_each: int) -> list[Finding]:
    """One finding of each shape, and at most `max_each` for each thing that breaks: always those of the lowest case
    numbers, so that neither the order in which findings arrive nor how they were grouped makes a difference."""
    kept: list[Finding] = []
    shapes: set[object] = set()
    count: Counter[tuple[str, str]] = Counter()
    for finding in sorted(findings, key=lambda finding: -1 if finding.number is None else finding.number):
        if finding.shape not in shapes and count[finding.breach.key] < max_each:
            shapes.add(finding.shape)
            count[finding.breach.key] += 1
            kept.append(finding)
    return kept


def finding_to_json(finding: Finding) -> dict[str, Any]:
    """A finding as plain JSON data; its case is the text of a case file."""
    breach = finding.breach
    return {
        "system": finding.system,
        "subject": finding.subject,
        "breach": {"kind": breach.kind, "law": breach.law, "step": breach.step, "evidence": breach.evidence},
        "case": write_case(finding.case),
        "seed": finding.seed,
        "number": finding.number,
        "commands_before": finding.commands_before,
        "shrunk": finding.shrunk,
        "tolerated": finding.tolerated,
    }


def finding_from_json(data: dict[str, Any], system: System) -> Finding:
    """A finding from plain JSON data."""
    case = read_case(data["case"], lambda name: system if name == system.name else None)
    return Finding(**{**data, "breach": Breach(**data["breach"]), "case": case})
