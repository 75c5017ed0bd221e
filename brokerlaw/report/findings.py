"""Counterexamples: what broke, why that is wrong, the picture, and how to see it again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import get_args

from attrs import frozen

from ..driver.checker import Breach, BreachKind, run
from ..driver.errors import Usage
from ..driver.finding import Finding
from ..reference.table import TABLE, Entry
from ..spec.core import BadCase, Case, Subject, read_case
from ..told import counted, headline, looks, settings, size_of
from .content import FindingPart, Picture
from .python_case import python_of
from .reader import Node
from .timeline import picture_of_case, picture_of_run

DEADLY = ("hang", "crash", "memory")  # running such a case again would end this program too


@frozen
class Known:
    """The systems that are at hand: ours, and those of the user's that were named, with the names that were given."""

    entries: Mapping[str, Entry]
    given: Mapping[str, str]

    def entry(self, name: str) -> Entry | None:
        return self.entries.get(name)


def known_systems(own: Mapping[str, Entry] | None = None) -> Known:
    """Our systems, and the user's own by MODULE:NAME."""
    own = own or {}
    entries = {entry.name: entry for entry in (*TABLE, *own.values())}
    return Known(entries, {entry.name: given for given, entry in own.items()})


def finding_part(node: Node, known: Known, anchor: str) -> FindingPart:
    """One finding of the file."""
    breach = _breach(node.get("breach"))
    name, subject = node.get("system").text(), node.get("subject").text()
    entry = known.entry(name)
    case = _case(node.get("case"), entry)
    law = entry.system.law_named.get(breach.law) if entry is not None and breach.kind == "law" else None
    seed = None if node.get("seed").missing else node.get("seed").count()
    number = None if node.get("number").missing else node.get("number").count()
    before, shrunk = node.get("commands_before").count(), node.get("shrunk").flag()
    tolerated = node.get("tolerated").flag()
    replay, file = node.get("replay").text_or_none(), node.get("file").text_or_none()
    commands = _command_names(node.get("case"))
    headed, picture, python, about = breach.law, None, "", counted(len(commands), "command")
    if entry is not None and case is not None:
        found = Finding(name, subject, breach, case, seed, number, before, shrunk, tolerated)
        headed, about = headline(found), _about(found)
        picture = _picture(entry, found)
        if breach.kind not in DEADLY:  # nobody should be given a program that hangs
            python = python_of(entry.system, case, subject, breach, known.given.get(name))
    return FindingPart(
        anchor,
        headed,
        breach.kind,
        breach.law,
        breach.step,
        breach.evidence,
        law.sentence if law else "",
        law.source if law else "",
        tolerated,
        about,
        commands,
        picture,
        python,
        replay,
        file,
    )


def _breach(node: Node) -> Breach:
    kind: BreachKind = node.get("kind").one_of(*get_args(BreachKind))  # type: ignore[assignment]
    return Breach(kind, node.get("law").text(), node.get("step").count(), node.get("evidence").text())


def _case(node: Node, entry: Entry | None) -> Case | None:
    """The case, read as strictly as a file of its own; none where its system is not at hand."""
    if entry is None:
        return None
    try:
        return read_case(json.dumps(node.value), lambda name: entry.system if name == entry.name else None, node.where)
    except BadCase as bad:
        raise Usage(str(bad)) from None


def _command_names(node: Node) -> tuple[str, ...]:
    return tuple(command.get("do").text() for command in node.get("commands").items())


def _about(finding: Finding) -> str:
    """The size of a case, its settings and where it came from."""
    case = finding.case
    drawn = f"case {finding.number:,} of seed {finding.seed}" if finding.number is not None else "a saved case"
    return f"{size_of(finding)}; {settings(case)}; dialect {case.dialect}; looking {looks(case)}; {drawn}"


def _picture(entry: Entry, finding: Finding) -> Picture:
    """The run itself where the subject is one of the table's and breaks the same again; else the case, by the model."""
    subject = _subject(entry, finding.subject)
    breach = finding.breach
    if subject is not None and breach.kind not in DEADLY:
        done = run(entry.system, subject, finding.case, keep_rows=True)
        if any(seen.key == breach.key and seen.step == breach.step for seen in done.breaches):
            return picture_of_run(entry.system, done)
    return picture_of_case(entry.system, finding.case, breach)


def _subject(entry: Entry, name: str) -> Subject | None:
    """A subject that comes with its system; nothing that a file names is imported."""
    makers = {"reference": entry.reference, **entry.legacy}
    makers |= {f"mutant:{mutant.name}": mutant.make for mutant in entry.mutants}
    try:
        return makers[name]() if name in makers else None
    except Usage:  # a system of the user's that has no reference
        return None
