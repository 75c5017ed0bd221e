"""Names that a user gave: looked up, and where there is no such thing, the sentence that says what there is."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from pathlib import Path

from ..driver.campaign import ENDINGS
from ..driver.errors import Usage
from ..driver.subjects import Named, find_entry, find_subject
from ..reference.table import TABLE, Entry
from ..spec.core import BadCase, Case, System, read_case
from ..spec.core.case import MAX_BYTES


def near(name: str, known: Iterable[str]) -> str:
    """` (did you mean …?)`, or nothing."""
    found = get_close_matches(name, list(known), n=3)
    return f" (did you mean {' or '.join(found)}?)" if found else ""


def named_entries(args: Namespace) -> tuple[Entry, ...]:
    """The systems that were named, each once; empty where none was."""
    names = dict.fromkeys([*args.systems, *args.own_systems])
    entries = [find_entry(name) for name in names]
    for entry in entries:
        if [other.name for other in entries].count(entry.name) > 1:
            raise Usage(f"two of the systems are called {entry.name}; check them one after the other")
    return tuple(entries)


def entries_for(args: Namespace, subject: str) -> tuple[Entry, ...]:
    """The systems to check a subject against: those that were named, else all that there are."""
    entries = named_entries(args)
    if entries:
        return entries
    if subject.startswith("mutant:"):
        return _entries_with(subject.removeprefix("mutant:"))
    if ":" in subject:
        names = ", ".join(entry.name for entry in TABLE)
        raise Usage(f"say which system {subject} is a subject of: {names}, or one of your own with --system")
    return TABLE


def _entries_with(mutant: str) -> tuple[Entry, ...]:
    entries = tuple(entry for entry in TABLE if mutant in [known.name for known in entry.mutants])
    if not entries:
        known = [known.name for entry in TABLE for known in entry.mutants]
        raise Usage(f"no system has a mutant {mutant!r}{near(mutant, known)}; `brokerlaw systems SYSTEM` lists them")
    return entries


def one_entry(args: Namespace, subject: str) -> Entry:
    """The one system that a command is about."""
    entries = entries_for(args, subject)
    if len(entries) > 1:
        raise Usage(f"name one system; there are {', '.join(entry.name for entry in entries)}")
    return entries[0]


def subject_name(args: Namespace) -> str:
    """The subject that was named, in one of two ways; the reference where none was."""
    if args.subject is not None and args.mutant is not None:
        raise Usage("give --subject or --mutant, not both: a mutant is a subject")
    if args.mutant is not None:
        return f"mutant:{args.mutant.removeprefix('mutant:')}"
    return "reference" if args.subject is None else str(args.subject)


def made_subject(entry: Entry, name: str) -> Named:
    """A subject that is known to be there, made once."""
    named = find_subject(entry, name)
    named.make()
    return named


def check_laws(option: str, names: Collection[str], entries: Collection[Entry], endings: bool = False) -> None:
    """Says so where there is no such law."""
    laws = {law.name: law for entry in entries for law in entry.system.laws}
    known = [*laws, *(ENDINGS if endings else ())]
    for name in names:
        if name not in known:
            if name in [entry.name for entry in TABLE]:
                raise Usage(f"{option}: {name} is a system, not a law; name systems before {option}")
            systems = ", ".join(entry.name for entry in entries)
            beside = f", nor an ending ({', '.join(ENDINGS)})" if endings else ""
            raise Usage(f"{option}: {name!r} is no law of {systems}{beside}{near(name, known)}")


def check_dialect(name: str, entries: Collection[Entry]) -> None:
    """Says so where a system does not have a dialect."""
    for entry in entries:
        try:
            entry.system.dialect(name)
        except KeyError as unknown:
            known = [*entry.system.dialects, *(f"text+{deviation.name}" for deviation in entry.system.deviations)]
            raise Usage(f"--dialect: {unknown.args[0]}{near(name, known)}") from None


def read_case_file(path: Path, own: Collection[Entry]) -> tuple[Case, Entry]:
    """A case from a file, and its system: one of the user's own that was named, or one of ours."""
    known = {entry.name: entry for entry in (*TABLE, *own)}

    def find(name: str) -> System | None:
        return known[name].system if name in known else None

    try:
        with path.open("rb") as file:
            text = file.read(MAX_BYTES + 1)  # the reader refuses what is longer
        case = read_case(text, find, str(path))
    except OSError as error:
        raise Usage(f"{path}: can not be read: {error.strerror}") from None
    except BadCase as bad:
        hint = "; a system of your own is named with --system MODULE:NAME" if bad.where.endswith(", system") else ""
        raise Usage(f"{bad}{hint}") from None
    return case, known[case.system]
