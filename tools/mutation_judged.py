"""The committed list of survivors that somebody looked at, each with the judgement.

The list is TOML: a `[[line]]` for each source line, with the mutations of it that survive.

    [[line]]
    file = "reference/cursor_ranks.py"
    within = "_settle"
    before = "if not pending:"
    after = ["if not not pending:"]
    judgement = "equivalent"
    reason = "why no case could tell"

    python tools/mutation_judged.py LIST     prints it as the table of docs/mutation.md
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from attrs import frozen
from mutation_session import Mutant

JUDGEMENTS = {
    "equivalent": "no run of commands could tell",
    "cost": "every answer is the same; only the work done differs, within what the laws allow",
    "unreached": "only a state or a value that no command leads to could tell",
    "rare": "some run would tell, but these cases hardly ever come where it shows",
    "missing law": "a law should notice, and none does yet",
}
FIELDS = {"file": str, "within": str, "before": str, "after": list, "judgement": str, "reason": str}


class BadList(ValueError):
    """A list that can not be read; the message names the file and the entry."""


@frozen
class Judged:
    """What was judged of one mutation."""

    judgement: str
    reason: str


Key = tuple[str, str, str, str]


def read_judged(path: Path) -> dict[Key, Judged]:
    """The judgement of each mutation in the list."""
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("line", [])
    except tomllib.TOMLDecodeError as problem:
        raise BadList(f"{path}: {problem}") from None
    judged: dict[Key, Judged] = {}
    for number, entry in enumerate(entries, 1):
        _check_entry(entry, f"{path}, entry {number}")
        for after in entry["after"]:
            key = entry["file"], entry["within"], entry["before"], after
            judged[key] = Judged(entry["judgement"], entry["reason"])
    return judged


def table(judged: dict[Key, Judged]) -> str:
    """The list as a Markdown table, one row for each source line and judgement."""
    rows: dict[tuple[str, str, str, Judged], int] = {}
    for (file, within, before, _), verdict in judged.items():
        row = file, within, before, verdict
        rows[row] = rows.get(row, 0) + 1
    lines = ["| file | in | line | survivors | judgement | reason |", "|---|---|---|---|---|---|"]
    for (file, within, before, verdict), count in rows.items():
        cells = [file.removeprefix("reference/"), within or "the module", f"`{_cell(before)}`", str(count)]
        lines.append(f"| {' | '.join([*cells, verdict.judgement, _cell(verdict.reason)])} |")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _check_entry(entry: dict[str, Any], where: str) -> None:
    for name, kind in FIELDS.items():
        if not isinstance(entry.get(name), kind):
            raise BadList(f"{where}: expected {name} = a {kind.__name__}")
    if entry["judgement"] not in JUDGEMENTS:
        raise BadList(f"{where}: {entry['judgement']!r} is no judgement; expected one of {', '.join(JUDGEMENTS)}")


def unjudged(survivors: Iterable[Mutant], judged: dict[Key, Judged]) -> list[Mutant]:
    """The survivors that nobody looked at."""
    return [mutant for mutant in survivors if mutant.key not in judged]


def outdated(mutants: Iterable[Mutant], judged: dict[Key, Judged], files: Iterable[str]) -> list[Key]:
    """Judged mutations of these files that no longer survive, or whose line is gone."""
    survive = {mutant.key for mutant in mutants if mutant.by == "nothing"}
    here = set(files)
    return [key for key in judged if key[0] in here and key not in survive]


if __name__ == "__main__":
    print(table(read_judged(Path(sys.argv[1]))))
