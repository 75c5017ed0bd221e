"""`brokerlaw explore`: every state of a small scope, with the laws on."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..driver.corpus import add_to_corpus
from ..driver.errors import Usage
from ..driver.finding import Finding
from ..driver.subjects import find_entry
from ..properties.explorer import Explored, Limits, Lockstep, explore_model
from ..reference.table import TABLE, Entry
from ..spec.core import Scope
from ..told import counted
from .answer import Answer
from .campaigns import DEFAULT_OUT
from .findings import Filed, draw, filed_data, grouped, replay_command
from .names import check_dialect, check_laws, made_subject, named_entries, near, subject_name
from .options import Parser, add_dialect, add_subject, add_systems, seconds, whole
from .terminal import Meter, Style, table

SUMMARY = "visit every state of a small scope: what breaks there, and the shortest case"
DESCRIPTION = """
    Visits every state of a scope, breadth first, and tries every command of the scope in each, with all laws on and the
    model in lockstep.  What breaks is shown with a shortest case there is.  A subject that can be copied is exhausted
    itself; one that can not is tried in every state of the model.  Without --scope: the first one of each system.

      brokerlaw explore                                         the references, each in its first scope
      brokerlaw explore cursor_ranks --scope four
      brokerlaw explore entry_cache --mutant time-pass-forgets-access --first
      brokerlaw explore entry_cache --scope three --model-only  count the states, ask nothing
      brokerlaw explore --list                                  the scopes that there are

    Exit code 1: something broke.  A scope that was not finished (--max-states, --seconds) is said to be so.
"""


def add_arguments(parser: Parser) -> None:
    add_systems(parser, "the system to explore; all where none is named")
    add_subject(parser)
    parser.add_argument("--mutant", metavar="NAME", help="the same as --subject mutant:NAME")
    add_dialect(parser)
    parser.add_argument("--scope", metavar="NAME", help="which scope; `small` is one that every system has")
    parser.add_argument("--list", action="store_true", dest="listed", help="list the scopes and end")
    parser.add_argument(
        "--law", action="append", default=[], metavar="LAW", help="ask this law alone; can be given again"
    )
    parser.add_argument("--first", action="store_true", help="end at the first thing that breaks")
    parser.add_argument("--model-only", action="store_true", help="no subject and no laws: how many states there are")
    parser.add_argument("--symmetry", action="store_true", help="states that differ by names alone count as one")
    parser.add_argument("--max-states", type=whole(1), metavar="N", help="give up when there are more")
    parser.add_argument("--seconds", type=seconds, metavar="S", help="give up after so long")
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT, metavar="DIR", help="where cases go (%(default)s)")


def run(args: Namespace, style: Style, meter: Meter) -> Answer:
    entries = named_entries(args) or TABLE
    if args.listed:
        return _list(entries, style)
    check_dialect(args.dialect, entries)
    check_laws("--law", args.law, entries)
    if args.model_only and (args.subject is not None or args.mutant is not None):
        raise Usage("--model-only explores no subject: leave out --subject and --mutant")
    scopes = [_scope(entry, args.scope) for entry in entries]
    data, lines, broken = [], [], False
    for entry, scope in zip(entries, scopes, strict=True):
        explored = _explored(args, entry, scope, meter)
        filed = [] if args.model_only else _filed(args, entry, explored)
        data.append({**_data(explored), "findings": [filed_data(each) for each in filed]})
        lines += [*_lines(entry, scope, explored, style), ""]
        for group in grouped(filed):
            lines += [*draw(group, entry.system, style), ""]
        broken = broken or bool(explored.broken)
    return Answer({"scopes": data, "exit_code": int(broken)}, lines[:-1], int(broken))


def _scope(entry: Entry, name: str | None) -> Scope:
    known = entry.system.scope_names
    try:
        return entry.system.scope(name or known[0])
    except KeyError as unknown:
        raise Usage(f"--scope: {unknown.args[0]}{near(name or '', known)}") from None


def _list(entries: tuple[Entry, ...], style: Style) -> Answer:
    rows, data = [["system", "scope", "commands", "what can happen in it"]], []
    for entry in entries:
        for name in entry.system.scope_names:
            scope = entry.system.scope(name)
            rows.append([entry.name, name, f"{len(scope.commands):,}", scope.about])
            data.append({"system": entry.name, "scope": name, "commands": len(scope.commands), "about": scope.about})
    head, *body = table(rows, right=(2,), indent="")
    return Answer({"scopes": data}, [style.dim(head), *body])


def _explored(args: Namespace, entry: Entry, scope: Scope, meter: Meter) -> Explored:
    system, limits = entry.system, Limits(args.max_states, args.seconds, args.first)
    dialect, tell = system.dialect(args.dialect), _teller(meter)
    if args.model_only:
        return explore_model(system, scope, dialect, symmetry=args.symmetry, limits=limits, progress=tell)
    named = made_subject(entry, subject_name(args))
    only = tuple(args.law)
    return Lockstep(system, scope, dialect, named.make, named.name, only, args.symmetry, limits, tell).run()


def _teller(meter: Meter) -> Callable[[Explored], None]:
    def tell(so_far: Explored) -> None:
        rate = so_far.states / so_far.seconds if so_far.seconds else 0.0
        where = f"{so_far.system}, scope {so_far.scope}"
        meter.show(f"{where}: {so_far.states:,} states, {so_far.depth:,} steps deep, {rate:,.0f} states/s")

    return tell


def _filed(args: Namespace, entry: Entry, explored: Explored) -> list[Filed]:
    """Saves a case for each thing that broke."""
    own = next((name for name in (*args.systems, *args.own_systems) if ":" in name and find_entry(name) is entry), None)
    filed = []
    for reached in explored.broken.values():
        finding = Finding(entry.name, explored.subject, reached.breach, reached.case)
        path = add_to_corpus(args.out, finding)
        filed.append(Filed(finding, path, replay_command(path, finding.subject, own, tuple(args.law))))
    return filed


def _data(explored: Explored) -> dict[str, Any]:
    tally = explored.tally
    return {
        "system": explored.system,
        "scope": explored.scope,
        "dialect": explored.dialect,
        "subject": explored.subject,
        "how": explored.how,
        "states": explored.states,
        "steps": explored.steps,
        "layers": explored.layers,
        "left_out": explored.left_out,
        "stopped": explored.stopped,
        "exhausted": explored.exhausted,
        "laws": {name: list(counts) for name, counts in sorted(tally.laws.items())},
        "reached": dict(sorted(tally.reached.items())),
        "seconds": explored.seconds,
    }


def _lines(entry: Entry, scope: Scope, explored: Explored, style: Style) -> list[str]:
    rate = explored.states / explored.seconds if explored.seconds else 0.0
    title = f"{entry.name}, scope {scope.name}: {explored.subject}, dialect {explored.dialect}"
    lines = [
        style.bold(title),
        f"  {scope.about}",
        f"  {explored.states:,} states, {counted(explored.steps, 'step')} tried, {explored.depth:,} deep; "
        f"{explored.how}; {explored.seconds:.1f} s ({rate:,.0f} states/s)",
    ]
    laws = explored.tally.laws.values()
    if laws:
        asked = sum(held > 0 for held, _, _ in laws)
        lines.append(f"  {asked} of {counted(len(laws), 'law')} put to the test")
    if explored.stopped:
        lines.append(style.doubtful(f"  Not the whole scope: {explored.stopped}."))
    if explored.broken:
        lines.append(style.bad(f"  Broken: {counted(len(explored.broken), 'thing')}, each with a shortest case."))
    elif explored.exhausted:
        lines.append(style.good("  Every state of the scope was visited, and nothing broke."))
    return lines
