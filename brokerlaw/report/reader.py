"""Reads report.json: data that may come from anywhere.  What is wrong is said in a sentence that names file and field.

Nothing that the file names is imported.  Text is made harmless here, once: what is not printable becomes an escape.
Fields that came with version 2 may be missing or null: they are then "not recorded".
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from ..driver.errors import Usage

FILE = "report.json"
NEWEST = 2
MAX_BYTES = 64 * 1024 * 1024
MAX_TEXT = 100_000  # characters of one text: a subject may answer with anything
MAX_NUMBER = 2**63 - 1

KINDS: dict[type, str] = {dict: "an object", list: "a list", str: "text", int: "a whole number", bool: "true or false"}


@frozen
class Node:
    """A value of the file, with its place in it; asks for fields, and says so where one is not as it should be."""

    value: Any
    where: str  # "DIR/report.json, systems[0].cases.run"

    def wrong(self, problem: str) -> Usage:
        return Usage(f"{self.where}: {problem}")

    def get(self, name: str) -> Node:
        """A field of an object; one that is missing is null."""
        if not isinstance(self.value, Mapping):
            raise self.wrong(f"expected an object, got {kind_of(self.value)}")
        join = ", " if self.where.endswith(FILE) else "."
        return Node(self.value.get(name), f"{self.where}{join}{name}")

    @property
    def missing(self) -> bool:
        return self.value is None

    def items(self) -> tuple[Node, ...]:
        """The items of a list."""
        if not isinstance(self.value, list):
            raise self.wrong(f"expected a list, got {kind_of(self.value)}")
        return tuple(Node(item, f"{self.where}[{index}]") for index, item in enumerate(self.value))

    def fields(self) -> dict[str, Node]:
        """The fields of an object that has names of its own."""
        if not isinstance(self.value, Mapping):
            raise self.wrong(f"expected an object, got {kind_of(self.value)}")
        return {printable(name): self.get(name) for name in self.value}

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.wrong(f"expected text, got {kind_of(self.value)}")
        if len(self.value) > MAX_TEXT:
            raise self.wrong(f"{len(self.value)} characters are more than the {MAX_TEXT} allowed")
        return printable(self.value)

    def count(self, least: int = 0) -> int:
        if type(self.value) is not int:
            raise self.wrong(f"expected a whole number, got {kind_of(self.value)}")
        if not least <= self.value <= MAX_NUMBER:
            raise self.wrong(f"expected a whole number from {least} to {MAX_NUMBER}, got {str(self.value)[:40]}")
        return self.value

    def number(self) -> float:
        if type(self.value) not in (int, float) or not 0 <= self.value <= MAX_NUMBER:
            raise self.wrong(f"expected a number that is not negative, got {kind_of(self.value)}")
        return float(self.value)

    def flag(self) -> bool:
        if type(self.value) is not bool:
            raise self.wrong(f"expected true or false, got {kind_of(self.value)}")
        return self.value

    def one_of(self, *known: str) -> str:
        text = self.text()
        if text not in known:
            raise self.wrong(f"expected one of {', '.join(known)}, got {text[:60]!r}")
        return text

    def text_or_none(self) -> str:
        """Text; empty where it was not recorded."""
        return "" if self.missing else self.text()

    def time_or_none(self) -> str:
        """A moment in UTC, to the second or finer; empty where it was not recorded."""
        text = self.text_or_none()
        if text and not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z", text, re.ASCII):
            raise self.wrong(f"expected a time like 2026-11-18T10:50:00Z, got {text[:60]!r}")
        return text

    def flag_or_none(self) -> bool | None:
        return None if self.missing else self.flag()


def printable(text: str) -> str:
    """Text without anything that a terminal, a browser or an XML reader would obey; line ends stay."""
    return "".join(char if char.isprintable() or char in "\n\t" else ascii(char)[1:-1] for char in text)


def kind_of(value: object) -> str:
    return "nothing" if value is None else KINDS.get(type(value), "a number with a fraction")


def read_report(folder: Path) -> Node:
    """The report of a campaign's folder, as far as its version; `build` asks for the rest."""
    path = folder / FILE
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        what = f"{path}: there is no such file" if folder.is_dir() else f"{folder}: there is no such folder"
        raise Usage(f"{what}; `brokerlaw fuzz --out DIR` and `brokerlaw check --out DIR` write DIR/{FILE}") from None
    except OSError as error:
        raise Usage(f"{path}: can not be read: {error.strerror}") from None
    if len(raw) > MAX_BYTES:
        raise Usage(f"{path}: it has more than the {MAX_BYTES} bytes allowed")
    return checked(_parsed(raw, str(path)), str(path))


def checked(data: object, where: str) -> Node:
    """The top of a report, when it is one of a version that can be read."""
    if not isinstance(data, Mapping):
        raise Usage(f"{where}: expected a JSON object, got {kind_of(data)}")
    node = Node(data, where)
    version = data.get("brokerlaw-report")
    if type(version) is not int:
        raise Usage(f'{where}: expected a field "brokerlaw-report" with the format\'s version, a whole number')
    if version > NEWEST:
        raise Usage(f"{where}: version {version} is newer than this brokerlaw reads ({NEWEST}); use a newer brokerlaw")
    if version < 1:
        raise Usage(f"{where}: there is no format version {version}")
    if not node.get("systems").items():
        raise Usage(f"{where}, systems: expected at least one system")
    return node


def _parsed(raw: bytes, where: str) -> object:
    try:
        return json.loads(raw.decode("utf-8"), object_pairs_hook=_unique(where), parse_constant=_refuse(where))
    except UnicodeDecodeError as bad:
        raise Usage(f"{where}: byte {bad.start + 1} is not UTF-8") from None
    except json.JSONDecodeError as bad:
        raise Usage(f"{where}, line {bad.lineno} column {bad.colno}: not JSON: {bad.msg}") from None
    except RecursionError:
        raise Usage(f"{where}: it nests too deep to be a report") from None
    except ValueError as bad:  # a number of more digits than Python converts
        raise Usage(f"{where}: not readable: {bad}") from None


def _unique(where: str) -> Callable[[list[tuple[str, object]]], dict[str, object]]:
    def made(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) != len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise Usage(f"{where}: the field {printable(twice)[:60]!r} is there twice")
        return found

    return made


def _refuse(where: str) -> Callable[[str], object]:
    def refused(text: str) -> object:
        raise Usage(f"{where}: {text} is not a number that a report can hold")

    return refused
