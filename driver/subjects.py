"""Subjects and systems by name, as a user gives them on the command line.

    reference           the reference of the system
    legacy              the design that it replaces
    mutant:NAME         the reference with one bug put back in
    MODULE:FACTORY      a class or function of yours that takes no arguments and gives a subject
    exec:COMMAND        a program in another language

Only what the user named is ever imported.  Whatever is wrong with a name is said in one sentence.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from attrs import frozen

from ..reference.table import TABLE, Entry
from ..spec.core import Subject, System, shape_problems
from .errors import Usage
from .loop import MakeSubject

FEW = 12  # names that can be listed in a sentence
SUBJECT_FORMS = "reference, legacy, mutant:NAME, or MODULE:FACTORY"


@frozen
class Named:
    """A subject that can be made, and the name it goes by in reports."""

    name: str
    make: MakeSubject


def find_entry(name: str, table: Iterable[Entry] = TABLE) -> Entry:
    """A system by its name in the table, or by MODULE:NAME for one of the user's own."""
    known = {entry.name: entry for entry in table}
    if name in known:
        return known[name]
    if ":" not in name:
        raise Usage(f"there is no system {name!r}{_near(name, known)}; expected {', '.join(known)} or MODULE:NAME")
    found = _load(name, "system")
    if isinstance(found, Entry):
        return found
    if isinstance(found, System):
        return Entry(found, reference=_no_reference(found))
    if _is_subject_like(found):
        raise Usage(f"system {name}: this is a subject; expected a System (to check it, name it with --subject)")
    raise Usage(f"system {name}: expected a System or an Entry, got {_kind(found)}")


def find_subject(entry: Entry, name: str) -> Named:
    """A subject for a system by name.  It is made once here, so that one that can not be made is refused at once."""
    if name == "reference":
        entry.reference()  # a system of the user's may have none, and says so
        return Named(name, entry.reference)
    if name in entry.legacy:
        return Named(name, entry.legacy[name])
    if name.startswith("mutant:"):
        return _mutant(entry, name)
    if name.startswith("exec:"):
        raise Usage(f"subject {name!r}: programs in other languages come with the conformance kit")
    if ":" not in name:
        known = ["reference", *entry.legacy]
        raise Usage(f"{entry.name} has no subject {name!r}{_near(name, known)}; expected {SUBJECT_FORMS}")
    factory = _load(name, "subject")
    _check_factory(name, factory)
    _check_made(name, factory)
    return Named(name, factory)


def _mutant(entry: Entry, name: str) -> Named:
    wanted = name.removeprefix("mutant:")
    known = {mutant.name: mutant for mutant in entry.mutants}
    if wanted in known:
        return Named(name, known[wanted].make)
    raise Usage(f"{entry.name} has no mutant {wanted!r}{_near(wanted, known)}; {_has(entry, wanted)}")


def _has(entry: Entry, wanted: str) -> str:
    """What to do about a mutant that a system does not have."""
    for other in TABLE:
        if any(mutant.name == wanted for mutant in other.mutants):
            return f"{other.name} has one of that name"
    names = [mutant.name for mutant in entry.mutants]
    if len(names) > FEW:
        return f"`brokerlaw systems {entry.name}` lists the {len(names)} that it has"
    return f"it has {', '.join(names) or 'none'}"


def _load(name: str, what: str) -> Any:
    """The attribute that MODULE:NAME names."""
    module_name, _, path = name.partition(":")
    module = _import(module_name, f"{what} {name}")
    found = module
    for part in path.split("."):
        if not part or not hasattr(found, part):
            owner = getattr(found, "__name__", module_name)
            raise Usage(f"{what} {name}: {owner} has no {part!r}{_near(part, vars(found))}")
        found = getattr(found, part)
    return found


def _import(module_name: str, given: str) -> Any:
    if not all(part.isidentifier() for part in module_name.split(".")):
        raise Usage(
            f"{given}: {module_name!r} is not the name of a module; expected something like package.module:Name"
        )
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as missing:
        if missing.name is not None and (module_name == missing.name or module_name.startswith(f"{missing.name}.")):
            raise Usage(
                f"{given}: there is no module {missing.name!r} here (looked in {here} and the Python path)"
            ) from None
        raise Usage(f"{given}: importing {module_name} failed: {missing}") from None
    except Exception as error:
        raise Usage(f"{given}: importing {module_name} failed: {_shown(error)}") from None
    except SystemExit as ended:
        raise Usage(f"{given}: importing {module_name} ended the program ({ended.code})") from None


def _check_factory(name: str, factory: Any) -> None:
    if isinstance(factory, System | Entry):
        raise Usage(
            f"subject {name}: this is a system; expected a subject (to check against it, name it with --system)"
        )
    if not callable(factory):
        hint = "; it has the methods of a subject: name its class instead" if not shape_problems(factory) else ""
        raise Usage(f"subject {name}: expected a class or function that gives a subject, got {_kind(factory)}{hint}")
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):  # built in: calling it will tell
        return
    free = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [p.name for p in parameters if p.default is p.empty and p.kind not in free]
    if needed:
        raise Usage(
            f"subject {name}: it needs arguments ({', '.join(needed)}); expected one that is called without any"
        )


def _check_made(name: str, factory: Any) -> None:
    try:
        subject = factory()
    except Exception as error:
        raise Usage(f"subject {name}: calling it raised {_shown(error)}") from None
    problems = shape_problems(subject)
    if problems:
        raise Usage(f"subject {name} gives {_kind(subject)}, which is not a subject: {'; '.join(problems)}")


def _no_reference(system: System) -> MakeSubject:
    def make() -> Subject:
        raise Usage(f"{system.name} has no reference of its own; name a subject, or load an Entry with one")

    return make


def _is_subject_like(found: Any) -> bool:
    return all(callable(getattr(found, method, None)) for method in ("reset", "apply", "snapshot"))


def _near(name: str, known: Iterable[str]) -> str:
    found = get_close_matches(name, [each for each in known if not each.startswith("__")], n=3)
    return f" (did you mean {' or '.join(found)}?)" if found else ""


def _kind(value: object) -> str:
    return "nothing" if value is None else f"an object of class {type(value).__name__}"


def _shown(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:500]
