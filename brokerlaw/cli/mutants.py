"""`brokerlaw mutants`: do the laws catch the bugs that they should?"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from typing import Any

from attrs import asdict, frozen

from ..driver.errors import Usage
from ..driver.kills import MAX_STEPS, Broke, Kill, kill, matrix, sole_killers
from ..reference.mutant import Mutant
from ..reference.table import TABLE, Entry
from ..told import counted
from .answer import Answer
from .names import check_dialect, named_entries
from .options import Parser, add_seed, add_systems, whole
from .terminal import Meter, Style, table, wrapped

SUMMARY = "the kill table: which law catches which bug, and how soon"
DESCRIPTION = """
    Runs each mutant, the reference with one bug put back in, until something catches it.  Each mutant names the law
    that it breaks; that law has to catch it, be it not as the first.  A kill by the model alone or by an exception is
    shown apart: it points at a missing law.  Exit code 1: a mutant survives, or its law does not catch it.

      brokerlaw mutants
      brokerlaw mutants cursor_ranks --seed 3
      brokerlaw mutants cursor_ranks --matrix
      brokerlaw mutants --system mypackage.spec:ENTRY
"""
MATRIX_STEPS = 20_000


@frozen
class Row:
    """How one mutant fared."""

    mutant: Mutant
    kill: Kill

    @property
    def verdict(self) -> str:
        if not self.kill.killed:
            return "SURVIVES"
        if not self.kill.as_expected:
            return "NOT BY ITS LAW"
        return "killed"


def add_arguments(parser: Parser) -> None:
    add_systems(parser, "the mutants of this system; of all where none is named")
    parser.add_argument(
        "--dialect",
        metavar="NAME",
        help="run every mutant in this dialect (text, another one, or text+DEVIATION+DEVIATION); where none is named "
        "each runs in its own: text, unless its bug is in what a deviation does",
    )
    add_seed(parser)
    parser.add_argument(
        "--max-steps", type=whole(1), default=MAX_STEPS, metavar="N", help="give up on a mutant then (%(default)s)"
    )
    parser.add_argument(
        "--matrix",
        action="store_true",
        help=f"which laws fire for each mutant in {MATRIX_STEPS:,} steps, the model set aside, and for each law a "
        "mutant that it alone kills",
    )


def run(args: Namespace, style: Style, meter: Meter) -> Answer:
    entries = named_entries(args) or TABLE
    for entry in entries:
        if not entry.mutants:
            raise Usage(f"{entry.name} has no mutants; name an Entry that lists some, as MODULE:NAME")
    if args.dialect is not None:
        check_dialect(args.dialect, entries)
    data: list[dict[str, Any]] = []
    lines: list[str] = []
    failed = False
    for entry in entries:
        rows = _kills(args, entry, meter)
        one = {"system": entry.name, "seed": args.seed, "mutants": [_row_data(row) for row in rows]}
        lines += [*_kill_lines(entry, rows, style), ""]
        if args.matrix:
            fired = _matrix(args, entry, meter)
            one |= _matrix_data(entry, fired)
            lines += [*_matrix_lines(entry, fired, style), ""]
        failed = failed or any(row.verdict != "killed" for row in rows)
        data.append(one)
    return Answer({"systems": data, "exit_code": int(failed)}, lines[:-1], int(failed))


# ---- The kill table -------------------------------------------------------------------------------------------------


def _kills(args: Namespace, entry: Entry, meter: Meter) -> list[Row]:
    rows = []
    for number, mutant in enumerate(entry.mutants, 1):
        meter.show(f"{entry.name}: mutant {number} of {len(entry.mutants)}, {mutant.name}")
        rows.append(Row(mutant, kill(entry.system, mutant, args.seed, args.dialect, args.max_steps)))
    return rows


def _row_data(row: Row) -> dict[str, Any]:
    return {
        **asdict(row.kill),
        "origin": row.mutant.origin,
        "sentence": row.mutant.sentence,
        "verdict": row.verdict,
    }


def _kill_lines(entry: Entry, rows: list[Row], style: Style) -> list[str]:
    lines = [style.bold(f"{entry.name}: {counted(len(rows), 'mutant')}")]
    cells = [["mutant", "origin", "verdict", "steps", "killed first by", "its law, where another was first"]]
    for row in rows:
        late = "" if row.kill.law == row.mutant.breaks else row.mutant.breaks
        if late and row.kill.expected_steps is not None:
            late += f" ({counted(row.kill.expected_steps, 'step')})"
        cells.append(
            [row.mutant.name, row.mutant.origin, row.verdict, f"{row.kill.steps:,}", _by(row.kill), late],
        )
    head, *body = table(cells, right=(3,))
    lines.append(style.dim(head))
    lines += [line if row.verdict == "killed" else style.bad(line) for line, row in zip(body, rows, strict=True)]
    return [*lines, *_kill_summary(rows, style)]


def _by(found: Kill) -> str:
    match found.by:
        case "law":
            return found.law
        case "nothing":
            return "nothing"
        case "model":
            return f"the model alone ({found.law})"
        case _:
            return f"an exception ({found.law})"


def _kill_summary(rows: list[Row], style: Style) -> list[str]:
    def names(chosen: Iterable[Row]) -> str:
        return ", ".join(row.mutant.name for row in chosen)

    killed = [row for row in rows if row.kill.killed]
    groups = [
        ("survive", [row for row in rows if not row.kill.killed]),
        ("not killed by the law that they name", [row for row in killed if not row.kill.as_expected]),
        ("seen first by the model alone", [row for row in killed if row.kill.by == "model"]),
        ("seen first by an exception", [row for row in killed if row.kill.by == "exception"]),
    ]
    lines = [f"  {len(killed)} of {len(rows)} killed"]
    for what, chosen in groups:
        lines += wrapped(f"{what}: {names(chosen)}", style.width, "    ", "  ") if chosen else []
    return lines


# ---- The matrix -----------------------------------------------------------------------------------------------------


def _matrix(args: Namespace, entry: Entry, meter: Meter) -> tuple[Broke, ...]:
    rows: list[Broke] = []
    for number, mutant in enumerate(entry.mutants, 1):
        meter.show(f"{entry.name}: matrix, mutant {number} of {len(entry.mutants)}, {mutant.name}")
        rows += matrix(entry.system, (mutant,), args.seed, args.dialect, MATRIX_STEPS)
    return tuple(rows)


def _standing(entry: Entry, fired: tuple[Broke, ...]) -> dict[str, str]:
    """For each law why it is needed: a mutant that it alone kills, or the laws that it follows from."""
    laws = [law for law in entry.system.laws if law.kind != "sometimes"]
    alone = sole_killers(fired, [law.name for law in laws])
    standing = {}
    for law in laws:
        if alone[law.name]:
            standing[law.name] = f"alone kills {', '.join(alone[law.name])}"
        elif law.follows_from:
            standing[law.name] = f"follows from {', '.join(law.follows_from)}"
        else:
            standing[law.name] = "MISSING"
    return standing


def _matrix_data(entry: Entry, fired: tuple[Broke, ...]) -> dict[str, Any]:
    standing = _standing(entry, fired)
    missing = [law for law, why in standing.items() if why == "MISSING"]
    return {"matrix": [asdict(row) for row in fired], "laws": standing, "missing": missing}


def _matrix_lines(entry: Entry, fired: tuple[Broke, ...], style: Style) -> list[str]:
    lines = [style.bold(f"{entry.name}: which laws fire for each mutant (in how many cases)")]
    for row in fired:
        laws = ", ".join(f"{law} {count:,}" for law, count in sorted(row.laws.items(), key=lambda each: -each[1]))
        ended = f"; an exception ended {row.errors:,}" if row.errors else ""
        told = f"{laws or 'none'}{ended} (of {counted(row.cases, 'case')})"
        lines += wrapped(f"{row.mutant}: {told}", style.width, "      ", "  ")
    lines += ["", style.bold(f"{entry.name}: what each law is needed for")]
    for law, why in _standing(entry, fired).items():
        drawn = wrapped(f"{law}: {why}", style.width, "      ", "  ")
        lines += [style.bad(line) for line in drawn] if why == "MISSING" else drawn
    return lines
