"""The corpus: a folder of saved cases, one JSON file each, that every campaign replays first."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

from attrs import evolve, frozen

from ..spec.core import BadCase, Case, System, read_case, write_case
from ..spec.core.case import MAX_BYTES
from .errors import Usage
from .finding import Finding


@frozen
class SavedCase:
    """A case of the corpus, and the file it came from."""

    path: Path
    case: Case


@frozen
class Corpus:
    """The cases of a folder that are for the systems at hand, and how many are for others."""

    cases: tuple[SavedCase, ...] = ()
    skipped: int = 0


class _OtherSystem(Exception):
    """A case is for a system that is not at hand."""


def read_corpus(folder: Path, find_system: Callable[[str], System | None]) -> Corpus:
    """The cases of a folder and its subfolders, in order of name; Usage says what can not be read."""
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise Usage(f"corpus {folder} {what}; expected a folder with cases, *.json")

    def find(name: str) -> System:
        system = find_system(name)
        if system is None:
            raise _OtherSystem(name)
        return system

    cases, skipped = [], 0
    for path in sorted(folder.rglob("*.json")):
        try:
            cases.append(SavedCase(path, _read(path, find)))
        except _OtherSystem:
            skipped += 1
    return Corpus(tuple(cases), skipped)


def _read(path: Path, find_system: Callable[[str], System | None]) -> Case:
    try:
        with path.open("rb") as file:
            text = file.read(MAX_BYTES + 1)  # the reader refuses what is longer
        return read_case(text, find_system, str(path))
    except OSError as error:
        raise Usage(f"{path}: can not be read: {error.strerror}") from None
    except BadCase as bad:
        raise Usage(str(bad)) from None


def add_to_corpus(folder: Path, finding: Finding) -> Path:
    """Saves the case of a finding under a name that depends on the case alone; returns its path.

    The file appears whole or not at all.  One that is there already with the same text is left alone; a different one
    is never overwritten.
    """
    case = finding.case if finding.case.note else evolve(finding.case, note=finding.breach.evidence[:200])
    text = write_case(case)
    path = folder / corpus_name(finding)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if path.exists() and _same_run(path, text):
            return path
        _write_new(path, text)
    except FileExistsError:
        raise Usage(f"{path} is there already with another case; it was not overwritten") from None
    except OSError as error:
        raise Usage(f"{path}: can not be written: {error.strerror}") from None
    return path


def corpus_name(finding: Finding) -> str:
    """`<system>-<law>-<hash>.json`; the hash is over what is run, not over the note."""
    kind, law = finding.breach.key
    what = re.sub(r"[^A-Za-z0-9_]+", "_", law if kind == "law" else f"{kind}_{law}").strip("_")[:80]
    text = write_case(evolve(finding.case, note=""))
    return f"{finding.system}-{what}-{blake2b(text.encode(), digest_size=4).hexdigest()}.json"


def _same_run(path: Path, text: str) -> bool:
    """Whether a file holds the same case, whatever its note says."""
    return _unnoted(path.read_text("utf-8", "replace")) == _unnoted(text)


def _unnoted(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith(' "note": ')]


def _write_new(path: Path, text: str) -> None:
    """Writes a file next to its place and links it there: whole, and only if nothing stands there."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)  # mkstemp makes it private; a corpus is shared like the code beside it
        os.link(name, path)
    finally:
        os.unlink(name)
