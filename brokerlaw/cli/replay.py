"""`brokerlaw replay`: one case, step by step."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from attrs import frozen

from ..changes import changes
from ..driver.checker import Breach, Row
from ..driver.checker import run as run_case
from ..driver.loop import Job
from ..driver.subjects import Named
from ..driver.supervisor import supervise_many
from ..driver.work import Saved
from ..reference.table import Entry
from ..spec.core import Case, System
from ..spec.core.case import case_to_json, command_to_json
from ..told import counted, looks, plain, settings
from .answer import Answer, plain_data
from .findings import shortened
from .names import check_laws, made_subject, named_entries, read_case_file, subject_name
from .options import Parser, add_subject
from .terminal import Meter, Style, wrapped

SUMMARY = "run one saved case, and show it step by step"
DESCRIPTION = """
    Runs a case and shows each step: the command, what it answered (and what the model says, where that differs), what
    changed, and the law that broke, with the evidence.  Exit code 1: something broke.

      brokerlaw replay brokerlaw-out/cursor_ranks-rank_counts_at_or_before-1a2b3c4d.json
      brokerlaw replay CASE.json --subject mypackage.ranks:Ranks
      brokerlaw replay CASE.json --system mypackage.spec:MY_SYSTEM
"""


@frozen
class Replayed:
    """A run as far as it came."""

    start: Any
    rows: tuple[Row, ...]
    breaches: tuple[Breach, ...]


def add_arguments(parser: Parser) -> None:
    parser.add_argument("case", type=Path, metavar="CASE", help="the file of the case, JSON")
    add_subject(parser)
    parser.add_argument("--mutant", metavar="NAME", help="the same as --subject mutant:NAME")
    parser.add_argument(
        "--system",
        dest="own_systems",
        action="append",
        default=[],
        metavar="MODULE:NAME",
        help="a system of your own that the case may be for",
    )
    parser.add_argument("--law", action="extend", nargs="+", default=[], metavar="NAME", help="ask these laws alone")
    parser.add_argument("--no-model", action="store_true", help="set the model aside: the laws alone judge")


def run(args: Namespace, style: Style, meter: Meter) -> Answer:
    args.systems = []
    case, entry = read_case_file(args.case, named_entries(args))
    check_laws("--law", args.law, (entry,))
    subject = made_subject(entry, subject_name(args))
    done = _replay(entry, subject, case, tuple(args.law), model=not args.no_model)
    data = {
        "file": str(args.case),
        "subject": subject.name,
        "case": case_to_json(case),
        "rows": [_row_data(row) for row in done.rows],
        "broken": [_breach_data(breach) for breach in done.breaches],
        "exit_code": int(bool(done.breaches)),
    }
    lines = [*_head(args.case, case, subject.name, style), *_rows(entry.system, done, style), *_end(done, style)]
    return Answer(data, lines, int(bool(done.breaches)))


def _replay(entry: Entry, subject: Named, case: Case, laws: tuple[str, ...], model: bool) -> Replayed:
    """Runs a case in a child first: where that does not come to its end, the step that ended it is left out here."""
    job = Job(entry.system, subject.make, subject.name, 0, case.dialect, laws, model)
    ended = supervise_many(Saved(job, (case,)), 1).ended
    if not ended:
        done = run_case(entry.system, subject.make(), case, only=laws, model=model, keep_rows=True)
        return Replayed(done.start, done.rows, done.breaches)
    breach = ended[0].breach
    if breach.step == 0:
        return Replayed(None, (), (breach,))
    before = case.with_commands(case.commands[: breach.step - 1])
    done = run_case(entry.system, subject.make(), before, only=laws, model=model, keep_rows=True)
    last = Row(breach.step, case.commands[breach.step - 1], None, None, None, (breach,))
    return Replayed(done.start, (*done.rows, last), (*done.breaches, breach))


# ---- As data --------------------------------------------------------------------------------------------------------


def _row_data(row: Row) -> dict[str, Any]:
    return {
        "step": row.step,
        "command": command_to_json(row.command),
        "outcome": plain_data(row.outcome),
        "expected": plain_data(row.expected),
        "snapshot": plain_data(row.snapshot),
        "broken": [_breach_data(breach) for breach in row.breaches],
    }


def _breach_data(breach: Breach) -> dict[str, Any]:
    return {"kind": breach.kind, "law": breach.law, "step": breach.step, "evidence": breach.evidence}


# ---- As text --------------------------------------------------------------------------------------------------------


def _head(path: Path, case: Case, subject: str, style: Style) -> list[str]:
    lines = [style.bold(f"{plain(path)}: {case.system}, {subject}, dialect {case.dialect}")]
    lines += wrapped(
        f"{counted(len(case.commands), 'command')}, {settings(case)}, looking {looks(case)}", style.width, "  "
    )
    return lines + (wrapped(case.note, style.width, "    ", "  ") if case.note else []) + [""]


def _rows(system: System, done: Replayed, style: Style) -> list[str]:
    lines: list[str] = []
    lines += _breaches(system, [breach for breach in done.breaches if breach.step == 0], style)
    before = done.start
    for row in done.rows:
        broken = [breach for breach in row.breaches if breach.step > 0]
        text = f"{row.step:>4}  {plain(repr(row.command))}"
        lines.append(style.bad(f">{text[1:]}") if broken else style.bold(text))
        if row.expected is not None:
            lines += _outcome(row, style)
        if row.snapshot is not None and before is not None:
            for line in changes(before, row.snapshot, system.parts):
                lines += wrapped(line, style.width, " " * 12, " " * 8)
        before = row.snapshot if row.snapshot is not None else before
        lines += _breaches(system, broken, style)
    return lines


def _outcome(row: Row, style: Style) -> list[str]:
    lines = wrapped(repr(row.outcome), style.width, " " * 12, "      -> ")
    if any(breach.kind == "model" and breach.law == "outcome" for breach in row.breaches):
        lines += wrapped(f"{row.expected!r}, says the model", style.width, " " * 12, "      != ")
    return lines


def _breaches(system: System, breaches: list[Breach], style: Style) -> list[str]:
    lines: list[str] = []
    for breach in breaches:
        law = system.law_named.get(breach.law) if breach.kind == "law" else None
        lines.append(style.bad(f"      BROKEN  {_what(breach)}"))
        for text in (law.sentence, law.source) if law else ():
            lines += wrapped(text, style.width, " " * 14)
        lines += wrapped(shortened(breach.evidence), style.width, " " * 14)
    return lines


def _what(breach: Breach) -> str:
    name = plain(breach.law)
    if breach.kind == "law":
        return name
    return f"differs from the model: {name}" if breach.kind == "model" else f"{breach.kind}: {name}"


def _end(done: Replayed, style: Style) -> list[str]:
    if not done.breaches:
        return ["", style.good(f"Nothing broke in {counted(len(done.rows), 'step')}.")]
    named = list(dict.fromkeys(_what(breach) for breach in done.breaches))
    return ["", *(style.bad(line) for line in wrapped(f"Broken: {'; '.join(named)}.", style.width))]
