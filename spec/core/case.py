"""Cases: config and commands as versioned JSON, the unit of replay, of regression and of exchange.

    {"brokerlaw-case": 1, "system": "cursor_ranks", "dialect": "text", "note": "…", "observe": 1,
     "config": {"rebuild_percent": 50},
     "commands": [{"do": "Add", "cursor": "c0", "ledger": 0, "entry": 3}, {"do": "Rank", "cursor": "c0"}]}

The reader is strict: a case is data that may come from anywhere.  It names the place and what was expected there, and
it never imports, evaluates or guesses.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import evolve, field, frozen

from .dialect import TEXT
from .domain import REQUIRED, fields_of
from .system import System

VERSION = 1
MAX_BYTES = 8 * 1024 * 1024
MAX_COMMANDS = 100_000
MAX_DEPTH = 8  # a case nests four deep; anything much deeper is not one
MAX_PROBLEM = 1_000  # characters of a message: what a file holds may be long


class BadCase(ValueError):
    """A case that can not be read; the message says where and what was expected."""

    def __init__(self, where: str, problem: str) -> None:
        self.where = where
        self.problem = problem if len(problem) <= MAX_PROBLEM else f"{problem[: MAX_PROBLEM - 3]}..."
        super().__init__(f"{where}: {self.problem}")


def _as_tuple(commands: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(commands)


@frozen
class Case:
    """A config, a list of commands and a dialect, for one system."""

    system: str
    config: Any
    commands: tuple[Any, ...] = field(converter=_as_tuple)
    dialect: str = TEXT
    note: str = ""
    observe: int = 1  # look at the snapshot after every n-th command; 0: after the last one only

    def with_commands(self, commands: Any) -> Case:
        return evolve(self, commands=tuple(commands))


def case_to_json(case: Case) -> dict[str, Any]:
    """A case as plain JSON data."""
    return {
        "brokerlaw-case": VERSION,
        "system": case.system,
        "dialect": case.dialect,
        "note": case.note,
        "observe": case.observe,
        "config": {f.name: getattr(case.config, f.name) for f in fields_of(type(case.config))},
        "commands": [command_to_json(command) for command in case.commands],
    }


def command_to_json(command: Any) -> dict[str, Any]:
    """A command as plain JSON data."""
    fields = {f.name: getattr(command, f.name) for f in fields_of(type(command))}
    return {"do": type(command).__name__, **fields}


def write_case(case: Case) -> str:
    """A case as JSON text, one command to a line, so that a diff of two cases can be read."""
    data = case_to_json(case)
    commands = data.pop("commands")
    head = json.dumps(data, indent=1, ensure_ascii=True)[:-2]
    lines = ",\n".join("  " + json.dumps(command, ensure_ascii=True) for command in commands)
    body = f"[\n{lines}\n ]" if commands else "[]"
    return f'{head},\n "commands": {body}\n}}\n'


def read_case(text: str | bytes, find_system: Callable[[str], System | None], where: str = "case") -> Case:
    """Reads a case; raises BadCase with a sentence that says where it is wrong."""
    data = _parse(text, where)
    if not isinstance(data, dict):
        raise BadCase(where, f"expected a JSON object, got {_kind(data)}")
    version = data.get("brokerlaw-case")
    if type(version) is not int:
        raise BadCase(where, 'expected a field "brokerlaw-case" with the format\'s version, a whole number')
    if version != VERSION:
        newer = f"version {version} is newer than this brokerlaw reads ({VERSION}); use a newer brokerlaw"
        raise BadCase(where, newer if version > VERSION else f"there is no format version {version}")
    _only(data, {"brokerlaw-case", "system", "dialect", "note", "observe", "config", "commands"}, where)
    name = data.get("system")
    system = find_system(name) if isinstance(name, str) else None
    if system is None:
        raise BadCase(f"{where}, system", f"there is no system {_short(name)} here")
    dialect = data.get("dialect", TEXT)
    if not isinstance(dialect, str):
        raise BadCase(f"{where}, dialect", f"expected a name, got {_kind(dialect)}")
    try:
        system.dialect(dialect)
    except KeyError as unknown:
        raise BadCase(f"{where}, dialect", str(unknown.args[0])) from None
    note = data.get("note", "")
    if not isinstance(note, str):
        raise BadCase(f"{where}, note", f"expected text, got {_kind(note)}")
    observe = data.get("observe", 1)
    if type(observe) is not int or not 0 <= observe <= MAX_COMMANDS:
        raise BadCase(f"{where}, observe", f"expected a whole number from 0 to {MAX_COMMANDS}, got {_short(observe)}")
    config = _declared(system.config, data.get("config", {}), f"{where}, config")
    commands = data.get("commands")
    if not isinstance(commands, list):
        raise BadCase(f"{where}, commands", f"expected a list of commands, got {_kind(commands)}")
    if len(commands) > MAX_COMMANDS:
        raise BadCase(f"{where}, commands", f"{len(commands)} commands are more than the {MAX_COMMANDS} allowed")
    read = tuple(
        command_from_json(system, item, f"{where}, command {number}") for number, item in enumerate(commands, 1)
    )
    return Case(system.name, config, read, dialect, note, observe)


def command_from_json(system: System, data: object, where: str) -> Any:
    """One command from plain JSON data."""
    if not isinstance(data, dict):
        raise BadCase(where, f"expected an object with a field do, got {_kind(data)}")
    name = data.get("do")
    command = system.command_named.get(name) if isinstance(name, str) else None
    if command is None:
        known = ", ".join(system.command_named)
        raise BadCase(where, f"{system.name} has no command {_short(name)}; it has {known}")
    return _declared(command, {key: value for key, value in data.items() if key != "do"}, f"{where} ({name})")


def check_case(case: Case, system: System) -> None:
    """Raises BadCase where a case built in Python holds a value outside its domain."""
    _check_values(case.config, system.config, "config")
    for number, command in enumerate(case.commands, 1):
        where = f"command {number}"
        if type(command) not in system.model.by_command:
            raise BadCase(where, f"{command!r} is not a command of {system.name}")
        _check_values(command, type(command), f"{where} ({type(command).__name__})")


def _check_values(value: Any, declared: type, where: str) -> None:
    if not isinstance(value, declared):
        raise BadCase(where, f"expected a {declared.__name__}, got {_kind(value)}")
    for f in fields_of(declared):
        problem = f.domain.problem(getattr(value, f.name))
        if problem:
            raise BadCase(f"{where}, field {f.name}", problem)


def _declared(declared: type, data: object, where: str) -> Any:
    """An instance of a declared class from an object whose fields are checked against their domains."""
    if not isinstance(data, dict):
        raise BadCase(where, f"expected an object, got {_kind(data)}")
    fields = fields_of(declared)
    _only(data, {f.name for f in fields}, where)
    values = {}
    for f in fields:
        if f.name not in data:
            if f.default is REQUIRED:
                raise BadCase(where, f"the field {f.name} is missing ({f.domain.describe()})")
            continue
        problem = f.domain.problem(data[f.name])
        if problem:
            raise BadCase(f"{where}, field {f.name}", problem)
        values[f.name] = data[f.name]
    return declared(**values)


def _parse(text: str | bytes, where: str) -> object:
    size = len(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        raise BadCase(where, f"{size} bytes are more than the {MAX_BYTES} allowed")
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as bad:
            raise BadCase(where, f"byte {bad.start + 1} is not UTF-8") from None
    depth = _deepest(text)
    if depth > MAX_DEPTH:
        raise BadCase(where, f"it nests {depth} deep; a case nests at most {MAX_DEPTH} deep")
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_no_float)
    except json.JSONDecodeError as bad:
        raise BadCase(f"{where}, line {bad.lineno} column {bad.colno}", f"not JSON: {bad.msg}") from None
    except _NotPlain as bad:
        raise BadCase(where, str(bad)) from None
    except ValueError as bad:  # a number of more digits than Python converts
        raise BadCase(where, f"not readable: {bad}") from None


class _NotPlain(Exception):
    """JSON that a case never holds."""


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise _NotPlain(f"the field {_short(key)} is there twice")
        found[key] = value
    return found


def _no_constant(text: str) -> object:
    raise _NotPlain(f"{text} is not a number that a case can hold")


def _no_float(text: str) -> object:
    raise _NotPlain(f"{text[:60]} is not a whole number; a case holds whole numbers only")


def _deepest(text: str) -> int:
    """How deep the brackets of a JSON text nest, strings left out; stops counting where it is plainly too deep."""
    depth = deepest = 0
    inside = escaped = False
    for char in text:
        if inside:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                inside = False
        elif char == '"':
            inside = True
        elif char in "[{":
            depth += 1
            deepest = max(deepest, depth)
            if deepest > MAX_DEPTH:
                return deepest
        elif char in "]}":
            depth -= 1
    return deepest


def _only(data: Mapping[str, object], known: set[str], where: str) -> None:
    unknown = sorted(set(data) - known)
    if unknown:
        expected = ", ".join(sorted(known)) or "no fields"
        raise BadCase(where, f"unknown field {_short(unknown[0])}; expected {expected}")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "text", int: "a number", bool: "true or false"}
    return "nothing" if value is None else names.get(type(value), f"a {type(value).__name__}")
