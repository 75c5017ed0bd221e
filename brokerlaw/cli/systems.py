"""`brokerlaw systems`: what there is to check, and everything that a system's spec declares."""

from __future__ import annotations

import inspect
from argparse import Namespace
from collections.abc import Iterable
from typing import Any

from ..reference.table import TABLE, Entry
from ..spec.core import TEXT, Deviation, Field, Law, System, fields_of
from ..spec.core.domain import REQUIRED
from .answer import Answer
from .names import named_entries
from .options import Parser, add_systems
from .shapes import fields_with_types, rows_of
from .terminal import Meter, Style, table, wrapped

SUMMARY = "the systems, their commands, laws and mutants"
DESCRIPTION = """
    Lists the systems; for those that are named everything: settings and commands with what their fields may hold,
    outcomes, the parts of a snapshot and their rows with the types of their fields and where to import them from, laws
    with their sentence, source and limits, the dialects and where they differ, mutants.

      brokerlaw systems
      brokerlaw systems cursor_ranks
      brokerlaw systems --json entry_cache
      brokerlaw systems --system mypackage.spec:MY_SYSTEM
"""


def add_arguments(parser: Parser) -> None:
    add_systems(parser, "show everything of this system")


def run(args: Namespace, style: Style, meter: Meter) -> Answer:
    named = named_entries(args)
    if not named:
        return Answer({"systems": [_summary(entry) for entry in TABLE]}, _short_list())
    lines: list[str] = []
    for entry in named:
        lines += [*([""] if lines else []), *_full(entry, style)]
    return Answer({"systems": [_data(entry) for entry in named]}, lines)


# ---- The short list -------------------------------------------------------------------------------------------------


def _summary(entry: Entry) -> dict[str, Any]:
    system = entry.system
    return {
        "system": system.name,
        "title": system.title,
        "proposal": system.proposal,
        "commands": len(system.commands),
        "laws": sum(law.kind != "sometimes" for law in system.laws),
        "laws_in_text": sum(law.kind != "sometimes" for law in system.laws_in(system.dialect(TEXT))),
        "sometimes": sum(law.kind == "sometimes" for law in system.laws),
        "dialects": list(system.dialects),
        "deviations": len(system.deviations),
        "mutants": len(entry.mutants),
        "subjects": ["reference", *entry.legacy],
    }


def _short_list() -> list[str]:
    rows = [["system", "proposal", "commands", "laws", "in text", "to reach", "mutants", "dialects", "what it is"]]
    for entry in TABLE:
        one = _summary(entry)
        rows.append(
            [
                *(one["system"], one["proposal"], str(one["commands"]), str(one["laws"]), str(one["laws_in_text"])),
                *(str(one["sometimes"]), str(one["mutants"]), ", ".join(one["dialects"]), one["title"]),
            ]
        )
    return [
        *table(rows, right=(2, 3, 4, 5, 6), indent=""),
        "",
        "In text: the laws that `check` asks where no --dialect is named; the others are for deviations from it.",
        "`brokerlaw systems SYSTEM` shows everything of one.",
    ]


# ---- Everything, as data --------------------------------------------------------------------------------------------


def _data(entry: Entry) -> dict[str, Any]:
    system = entry.system
    return {
        "system": system.name,
        "title": system.title,
        "proposal": system.proposal,
        "subjects": ["reference", *entry.legacy],
        "config": [_field_data(f) for f in fields_of(system.config)],
        "commands": [
            {"command": c.__name__, "doc": _doc(c), "fields": [_field_data(f) for f in fields_of(c)]}
            for c in system.commands
        ],
        "outcomes": [outcome.__name__ for outcome in system.outcomes],
        "outcome_fields": {outcome.__name__: fields_with_types(outcome) for outcome in system.outcomes},
        "parts": list(system.parts),
        "part_types": fields_with_types(system.snapshot),
        "rows": {row.__name__: fields_with_types(row) for row in rows_of(system)},
        "history_reads": list(system.history_reads),
        "laws": [_law_data(law) for law in system.laws],
        "dialects": {name: list(used) for name, used in system.dialects.items()},
        "deviations": [_deviation_data(deviation) for deviation in system.deviations],
        "mutants": [
            {"mutant": m.name, "origin": m.origin, "sentence": m.sentence, "breaks": m.breaks} for m in entry.mutants
        ],
        "inexpressible": [{"name": i.name, "origin": i.origin, "reason": i.reason} for i in entry.inexpressible],
        "clauses_without_a_law": [{"clause": clause, "reason": reason} for clause, reason in system.clauses],
    }


def _field_data(f: Field) -> dict[str, Any]:
    default = {} if f.default is REQUIRED else {"default": f.default}
    return {"field": f.name, "domain": f.domain.describe(), **default, "doc": f.doc}


def _law_data(law: Law) -> dict[str, Any]:
    return {
        "law": law.name,
        "kind": law.kind,
        "sentence": law.sentence,
        "source": law.source,
        "after": [command.__name__ for command in law.on],
        "reads": list(law.reads),
        "can_not_see": law.blind,
        "follows_from": list(law.follows_from),
        "unless": list(law.unless),
        "only": list(law.only),
    }


def _deviation_data(deviation: Deviation) -> dict[str, Any]:
    return {
        "deviation": deviation.name,
        "origin": deviation.origin,
        "says": deviation.says,
        "here": deviation.here,
        "replaces": list(deviation.replaces),
        "source": deviation.source,
    }


def _doc(declared: type) -> str:
    return " ".join((inspect.getdoc(declared) or "").split())


# ---- Everything, as text --------------------------------------------------------------------------------------------


def _full(entry: Entry, style: Style) -> list[str]:
    system = entry.system
    laws = [law for law in system.laws if law.kind != "sometimes"]
    reached = [law for law in system.laws if law.kind == "sometimes"]
    lines = [style.bold(f"{system.name}: {system.title} ({system.proposal})")]
    lines += [f"subjects: {', '.join(['reference', *entry.legacy])}, mutant:NAME, MODULE:FACTORY"]
    lines += _section("Settings", style, _fields(fields_of(system.config), style.width, "  "))
    lines += _section(f"Commands ({len(system.commands)})", style, _commands(system, style))
    lines += _section(f"Outcomes{_home(system.outcomes)}", style, _shapes(system.outcomes, style))
    lines += _section(
        f"Parts of a snapshot, {system.snapshot.__name__}{_home([system.snapshot])}", style, _parts(system)
    )
    lines += _section(f"Rows{_home(rows_of(system))}", style, _shapes(rows_of(system), style))
    lines += _section(f"Laws ({len(laws)})", style, [line for law in laws for line in _law(law, style)])
    lines += _section(f"States to reach ({len(reached)})", style, [x for law in reached for x in _law(law, style)])
    lines += _section("Dialects", style, _dialects(system, style))
    lines += _section(f"Mutants ({len(entry.mutants)})", style, _mutants(entry, style))
    lines += _section("Clauses of the proposal that no law covers", style, _clauses(system, style))
    return lines


def _section(title: str, style: Style, lines: list[str]) -> list[str]:
    return ["", style.bold(title), *lines] if lines else []


def _fields(fields: tuple[Field, ...], width: int, indent: str) -> list[str]:
    lines = []
    longest = max((len(f.name) for f in fields), default=0)
    for f in fields:
        default = "" if f.default is REQUIRED else f", default {_shown(f.default)}"
        doc = f": {f.doc}" if f.doc else ""
        first = f"{indent}{f.name.ljust(longest)}  "
        lines += wrapped(f"{f.domain.describe()}{default}{doc}", width, " " * len(first), first)
    return lines


def _shown(value: Any) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _commands(system: System, style: Style) -> list[str]:
    lines: list[str] = []
    for command in system.commands:
        lines += [f"  {style.bold(command.__name__)}", *wrapped(_doc(command), style.width, "      ")]
        lines += _fields(fields_of(command), style.width, "      . ")
    return lines


def _shapes(declared: Iterable[type], style: Style) -> list[str]:
    """Classes as one calls them, with the types of their fields."""
    lines = []
    for each in declared:
        inside = ", ".join(f"{name}: {written}" for name, written in fields_with_types(each).items())
        lines += wrapped(f"{each.__name__}({inside})", style.width, "      ", "  ")
    return lines


def _home(declared: Iterable[type]) -> str:
    """Where classes are imported from."""
    return f" (from {', '.join(dict.fromkeys(each.__module__ for each in declared))})"


def _parts(system: System) -> list[str]:
    return table([[name, written] for name, written in fields_with_types(system.snapshot).items()])


def _law(law: Law, style: Style) -> list[str]:
    after = f", after {', '.join(command.__name__ for command in law.on)}" if law.on else ""
    lines = [f"  {style.bold(law.name)}  ({law.kind}{after})", *wrapped(law.sentence, style.width, "      ")]
    more = [
        ("source", law.source),
        ("can not see", law.blind),
        ("follows from", ", ".join(law.follows_from)),
        ("not under", ", ".join(law.unless)),
        ("only under", ", ".join(law.only)),
    ]
    for what, text in more:
        lines += wrapped(f"{what}: {text}", style.width, "        ", "      ") if text else []
    return lines


def _dialects(system: System, style: Style) -> list[str]:
    lines = []
    for name, used in system.dialects.items():
        meaning = f"text, with {', '.join(used)}" if used else "the proposal as written"
        lines += wrapped(f"{name}: {meaning}", style.width, "      ", "  ")
    for deviation in system.deviations:
        lines += [f"  {style.bold(f'+{deviation.name}')}  ({deviation.origin})"]
        lines += wrapped(deviation.says, style.width, "      ") + wrapped(deviation.here, style.width, "      ")
        if deviation.replaces:
            lines += wrapped(f"replaces: {', '.join(deviation.replaces)}", style.width, "        ", "      ")
        if deviation.source:
            lines += wrapped(f"source: {deviation.source}", style.width, "        ", "      ")
    return lines


def _mutants(entry: Entry, style: Style) -> list[str]:
    lines = []
    for mutant in entry.mutants:
        lines += [f"  {style.bold(mutant.name)}  ({mutant.origin}; breaks {mutant.breaks})"]
        lines += wrapped(mutant.sentence, style.width, "      ")
    for one in entry.inexpressible:
        lines += wrapped(f"{one.name} ({one.origin}) can not be expressed: {one.reason}", style.width, "      ", "  ")
    return lines


def _clauses(system: System, style: Style) -> list[str]:
    return [
        line
        for clause, reason in system.clauses
        for line in wrapped(f"{clause}: {reason}", style.width, "      ", "  ")
    ]
