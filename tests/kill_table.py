"""The table of kills at the end of a test run: rows come as properties of tests, from whichever process ran them."""

from __future__ import annotations

import json
from collections.abc import Iterable

from attrs import asdict

from brokerlaw.driver.kills import Kill

KILL = "kill"


def kill_row(system: str, row: Kill) -> str:
    """A kill as the text of a property."""
    return json.dumps({"system": system, **asdict(row, filter=lambda field, _: field.name != "evidence")})


def kill_table(rows: Iterable[str]) -> list[str]:
    """The lines of the table; the last one counts."""
    found = [json.loads(row) for row in rows]
    lines = [f"{'system':14}{'mutant':34}{'steps':>7}  {'killed first by':54}its law, where another was first (steps)"]
    for row in found:
        late = "" if row["law"] == row["expected"] else f"{row['expected']} ({row['expected_steps']})"
        lines.append(f"{row['system']:14}{row['mutant']:34}{row['steps']:>7}  {row['law']:54}{late}".rstrip())
    named = [row["expected_steps"] for row in found if row["expected_steps"] is not None]
    most = max(named, default=0)
    return [
        *lines,
        f"{len(named)} of {len(found)} mutants killed by the law that they name, after {most:,} steps at most",
    ]
