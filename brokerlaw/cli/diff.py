"""`brokerlaw diff`: the shortest case on which two dialects, or two subjects, differ."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..driver.errors import Usage
from ..files import write_whole
from ..properties.diff import ByDialect, BySubject, Compared, Side, explore_both, search_both
from ..properties.explorer import Limits
from ..reference.table import Entry
from ..spec.core import Cloneable, Scope, write_case
from ..told import counted, plain
from .answer import Answer, plain_data
from .findings import drawn_commands
from .names import made_subject, near, one_entry
from .options import Parser, add_seed, add_systems, seconds, whole
from .terminal import Meter, Style, wrapped

SUMMARY = "the shortest case on which two dialects, or two subjects, differ"
DESCRIPTION = """
    Takes both through the same commands, breadth first, until an outcome or a part of the snapshot differs: the case is
    then a shortest one in its scope.  Where the scope shows none, random cases are tried, and the first that tells them
    apart is cut down.  A side is a dialect (text, another one, text+DEVIATION) or a subject that can be copied.

      brokerlaw diff entry_cache --left text --right text+leaver-pays-back
      brokerlaw diff cursor_ranks --left text --right pulsar-4
      brokerlaw diff cursor_ranks --left reference --right mutant:rank-counts-before

    Exit code 1: they differ.  0: no difference was found, in what is said.
"""
STATES, SEARCH = 20_000, 2_000


def add_arguments(parser: Parser) -> None:
    add_systems(parser, "the system")
    parser.add_argument("--left", required=True, metavar="D|SUBJECT", help="a dialect, or a subject")
    parser.add_argument("--right", required=True, metavar="D|SUBJECT", help="what to compare it with")
    parser.add_argument("--scope", metavar="NAME", help="where to look first; the first scope where it is not given")
    parser.add_argument(
        "--max-states", type=whole(1), default=STATES, metavar="N", help="go on to random cases then (%(default)s)"
    )
    parser.add_argument("--seconds", type=seconds, metavar="S", help="go on to random cases after so long")
    parser.add_argument(
        "--cases", type=whole(0), default=SEARCH, metavar="N", help="random cases to try after that (%(default)s)"
    )
    add_seed(parser)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the case to this file")


def run(args: Namespace, style: Style, meter: Meter) -> Answer:
    entry = one_entry(args, "reference")
    left, right = _side(entry, args.left, "--left"), _side(entry, args.right, "--right")
    scope = _scope(entry, args.scope)
    tell = _teller(meter)
    compared = explore_both(entry.system, scope, left, right, Limits(args.max_states, args.seconds), tell)
    if compared.difference is None:
        compared = search_both(entry.system, left, right, args.seed, args.cases, compared, tell)
    found = compared.difference
    if found is not None and args.out is not None:
        write_whole(args.out, write_case(found.case))
    return Answer(
        _data(args, entry, scope, compared), _lines(args, entry, scope, compared, style), int(found is not None)
    )


def _side(entry: Entry, name: str, option: str) -> Side:
    """A dialect where there is one of that name, else a subject."""
    try:
        return ByDialect(entry.system, entry.system.dialect(name))
    except KeyError as unknown:
        if "+" in name:
            raise Usage(f"{option}: {unknown.args[0]}") from None
    try:
        named = made_subject(entry, name)
    except Usage as usage:
        known = [*entry.system.dialects, "reference"]
        raise Usage(
            f"{option}: {usage}, or a dialect ({', '.join(entry.system.dialects)}){near(name, known)}"
        ) from None
    if not isinstance(named.make(), Cloneable):
        raise Usage(f"{option}: {name} can not be copied: it needs clone() and fingerprint()")
    return BySubject(named.name, named.make, entry.system.dialect("text"))


def _scope(entry: Entry, name: str | None) -> Scope:
    known = entry.system.scope_names
    try:
        return entry.system.scope(name or known[0])
    except KeyError as unknown:
        raise Usage(f"--scope: {unknown.args[0]}{near(name or '', known)}") from None


def _teller(meter: Meter) -> Callable[[Compared], None]:
    def tell(so_far: Compared) -> None:
        drawn = f", {counted(so_far.cases, 'case')} drawn" if so_far.cases else ""
        meter.show(f"{so_far.states:,} pairs of states, {so_far.depth:,} deep{drawn}, no difference yet")

    return tell


def _data(args: Namespace, entry: Entry, scope: Scope, compared: Compared) -> dict[str, Any]:
    found = compared.difference
    return {
        "system": entry.name,
        "left": args.left,
        "right": args.right,
        "scope": scope.name,
        "states": compared.states,
        "depth": compared.depth,
        "stopped": compared.stopped,
        "cases": compared.cases,
        "difference": None
        if found is None
        else {
            "part": found.part,
            "left": plain_data(found.left),
            "right": plain_data(found.right),
            "commands": [repr(command) for command in found.case.commands],
        },
    }


def _lines(args: Namespace, entry: Entry, scope: Scope, compared: Compared, style: Style) -> list[str]:
    found = compared.difference
    where = f"scope {scope.name}, {compared.states:,} pairs of states, {compared.depth:,} deep"
    if found is None:
        unfinished = f" (not the whole of it: {compared.stopped})" if compared.stopped else ""
        drawn = f", nor in {counted(compared.cases, 'random case')}" if compared.cases else ""
        return [style.good(f"No difference between {args.left} and {args.right} in {where}{unfinished}{drawn}.")]
    shortest = "" if compared.cases else ": there is no shorter one in it"
    how = f"a random case, cut down (none in {where})" if compared.cases else f"{where}{shortest}"
    steps = len(found.case.commands)
    return [
        style.bold(f"{entry.name}: {args.left} and {args.right} differ after {counted(steps, 'command')}"),
        f"  {how}",
        *[f"    {line}" for line in drawn_commands(found.case, steps, style)],
        *wrapped(f"{found.part}, {args.left}: {plain(found.left)}", style.width, "      ", "  "),
        *wrapped(f"{found.part}, {args.right}: {plain(found.right)}", style.width, "      ", "  "),
    ]
