"""`brokerlaw doctor`: is an adapter sound?"""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from ..driver.doctor import CASES, Diagnosis, Doctor
from ..driver.isolated import examine_isolated
from ..spec.core.case import case_to_json
from ..told import settings
from .answer import Answer
from .findings import drawn_commands
from .names import check_dialect, made_subject, one_entry, subject_name
from .options import Parser, add_dialect, add_seed, add_subject, add_systems, whole
from .terminal import Meter, Style, wrapped

SUMMARY = "is an adapter sound, and what can it not observe?"
DESCRIPTION = """
    Asks what laws and model take for granted: a reset resets, the same case gives the same outcomes, looking changes
    nothing, outcomes and snapshots are plain data of the declared shape, rows in their order, a clone is faithful; and
    lists the commands that the subject does not take, and the parts of a snapshot that it does not show.  It asks in a
    process of its own, so that a subject that hangs or dies is told of as well.  Exit code 1: something is unsound;
    mend that first, or findings mislead.

      brokerlaw doctor cursor_ranks --subject mypackage.ranks:Ranks
      brokerlaw doctor --system mypackage.spec:MY_SYSTEM --subject mypackage.mine:Mine
"""


def add_arguments(parser: Parser) -> None:
    add_systems(parser, "the system that it is a subject of")
    add_subject(parser, required=True)
    add_dialect(parser)
    add_seed(parser)
    parser.add_argument(
        "--cases", type=whole(1), default=CASES, metavar="N", help="cases that it is examined on (%(default)s)"
    )


def run(args: Namespace, style: Style, meter: Meter) -> Answer:
    args.mutant = None
    name = subject_name(args)
    entry = one_entry(args, name)
    check_dialect(args.dialect, (entry,))
    subject = made_subject(entry, name)
    meter.show(f"{entry.name}: examining {name}")
    found = examine_isolated(Doctor(entry.system, subject.make, args.seed, args.cases, args.dialect))
    sound = all(diagnosis.ok is not False for diagnosis in found)
    data = {
        "system": entry.name,
        "subject": name,
        "diagnoses": [_data(diagnosis) for diagnosis in found],
        "exit_code": int(not sound),
    }
    lines = [style.bold(f"{entry.name}: {name}, dialect {args.dialect}")]
    for diagnosis in found:
        lines += _lines(diagnosis, style)
    lines += ["", style.good("The adapter is sound.") if sound else style.bad("The adapter is not sound.")]
    return Answer(data, lines, int(not sound))


def _data(diagnosis: Diagnosis) -> dict[str, Any]:
    case = None if diagnosis.case is None else case_to_json(diagnosis.case)
    return {"question": diagnosis.name, "ok": diagnosis.ok, "sentence": diagnosis.sentence, "case": case}


def _lines(diagnosis: Diagnosis, style: Style) -> list[str]:
    word = {True: "ok", False: "WRONG", None: "--"}[diagnosis.ok]
    first = f"  {word.ljust(6)}{diagnosis.name.ljust(17)}"
    lines = wrapped(diagnosis.sentence[:800], style.width, " " * len(first), first)
    if diagnosis.ok is not False:
        return lines
    lines = [style.bad(lines[0]), *lines[1:]]
    if diagnosis.case is not None:
        after = "after:" if diagnosis.case.commands else "before any command"
        lines.append(f"        with {settings(diagnosis.case)}, {after}")
        lines += [f"        {line}" for line in drawn_commands(diagnosis.case, len(diagnosis.case.commands), style)]
    return lines
