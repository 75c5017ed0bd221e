"""Rows: what one range gave, as a row of a Parquet file; and the small part of it that is JSON.

Counts are columns, so that Spark adds them up.  A finding is a line of JSON beside what it is told apart by.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from ..driver.finding import Finding, finding_to_json
from ..driver.loop import Result
from .plan import Range

_FINDING = "array<struct<kind: string, law: string, shape: string, number: bigint, finding: string>>"
_COUNTS = "map<string, bigint>"

# One row for each range; `range` is its key.
SCHEMA = ", ".join(
    [
        "range bigint, lane int, first bigint, count bigint",
        "cases bigint, steps bigint, checked_cases bigint, checked_steps bigint, observed_steps bigint",
        "digest decimal(20, 0)",
        "laws map<string, array<bigint>>",
        f"reached {_COUNTS}, coverage {_COUNTS}, broken {_COUNTS}, ended_count {_COUNTS}",
        f"findings {_FINDING}, ended {_FINDING}",
        "unobserved array<string>, stopped string",
        "states array<bigint>, pairs array<bigint>",
        "seconds double, attempt int, worker string, peak_kib bigint",
    ]
)


def row_of(
    index: int, piece: Range, result: Result, seconds: float, attempt: int, worker: str, peak_kib: int
) -> tuple[Any, ...]:
    """The row of a range, in the order of the schema."""
    tally = result.tally
    return (
        *(index, piece.lane, piece.first, piece.count),
        *(tally.cases, tally.steps, tally.checked_cases, tally.checked_steps, tally.observed_steps),
        Decimal(tally.digest),
        tally.laws,
        *(tally.reached, tally.coverage, result.broken, result.ended_count),
        [_told(finding) for finding in result.findings],
        [_told(finding) for finding in result.ended],
        *(list(result.unobserved), result.stopped),
        *(tally.states, sorted(tally.pairs)),
        *(seconds, attempt, worker, peak_kib),
    )


def _told(finding: Finding) -> tuple[str, str, str, int, str]:
    kind, law = finding.breach.key
    number = -1 if finding.number is None else finding.number
    return kind, law, json.dumps(finding.shape), number, json.dumps(finding_to_json(finding))
