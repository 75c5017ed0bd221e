"""Identity: exactly what was tested, and with what.

A report is about one version of one thing.  So it names the subject's source by hash, and by version and commit where
there are any; and it names our own code, since a campaign goes on only with the code that it began with.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

from attrs import asdict, frozen

from ..reference.table import Entry
from .subjects import find_subject

DECIDING = ("spec", "reference", "driver", "spark_fuzz")  # our folders that decide what a campaign gives
GIT_SECONDS = 10.0


class _Node(Protocol):
    """A file or folder, on disk or in a zip."""

    @property
    def name(self) -> str: ...

    def is_dir(self) -> bool: ...

    def iterdir(self) -> Iterable[_Node]: ...

    def read_bytes(self) -> bytes: ...


@frozen
class Identity:
    """What a subject is: the name it was given by, and where that leads."""

    name: str
    module: str
    file: str
    version: str  # of the installed package that it is part of; empty where there is none
    commit: str  # of the repository that it is part of; empty where there is none
    dirty: bool | None  # whether that has changes that are not committed; none where it is not known
    sha256: str  # over the sources of its package, or of its module alone

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def identity_of(entry: Entry, subject: str) -> Identity:
    """What a subject is.  What can not be found out is left empty, never guessed."""
    module = _module_of(entry, subject)
    top = module.partition(".")[0]
    if _is_ours(module):
        commit, dirty = _commit(Path(__file__).resolve())
        return Identity(subject, module, _relative(module), own_version(), commit, dirty, code_version())
    source = getattr(sys.modules.get(module), "__file__", None)
    if source is None:
        return Identity(subject, module, "", "", "", None, "")
    commit, dirty = _commit(Path(source).resolve())
    return Identity(subject, module, _relative(module), _version_of(top), commit, dirty, _hash_of(module))


def source_hash(entry: Entry, system: str, subject: str) -> str:
    """A hash over everything that decides what a subject answers and what is asked of it: the modules that the user
    named for the system and for the subject, and the one that the subject is made in."""
    named = [name.partition(":")[0] for name in (system, subject) if _is_named(name)]
    digest = sha256()
    for module in sorted({*named, _module_of(entry, subject)}):
        digest.update(f"{module} {code_version() if _is_ours(module) else _hash_of(module)}\n".encode())
    return digest.hexdigest()


def _is_named(name: str) -> bool:
    """Whether this is MODULE:NAME."""
    return ":" in name and not name.startswith(("mutant:", "exec:"))


def _module_of(entry: Entry, subject: str) -> str:
    """The module that a subject is made in."""
    make: Any = find_subject(entry, subject).make
    made = getattr(make, "func", make)  # a mutant is made from a part
    return getattr(made, "__module__", "") or ""


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == __name__.partition(".")[0]


def environment() -> dict[str, Any]:
    """What a campaign ran on."""
    commit, dirty = _commit(Path(__file__).resolve())
    return {
        "brokerlaw": own_version(),
        "commit": commit,
        "dirty": dirty,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "spark": "",
        "java": "",
        "master": "",
    }


@lru_cache(maxsize=1)
def code_version() -> str:
    """A hash over our own sources that decide what a campaign gives; the same wherever they are unpacked."""
    package = files(__name__.partition(".")[0])
    digest = sha256()
    for folder in DECIDING:
        node = package / folder
        if node.is_dir():
            _feed(digest, node, folder)
    return digest.hexdigest()


def own_version() -> str:
    return _version_of(__name__.partition(".")[0])


def _feed(digest: Any, folder: _Node, name: str) -> None:
    for node in sorted(folder.iterdir(), key=lambda node: node.name):
        path = f"{name}/{node.name}"
        if node.is_dir():
            _feed(digest, node, path)
        elif node.name.endswith(".py"):
            digest.update(f"{path}\n".encode())
            digest.update(node.read_bytes())


def _hash_of(module: str) -> str:
    """Over the whole package that a module is part of, or the module alone where it is part of none; the same on disk
    and in a zip."""
    top = module.partition(".")[0]
    loaded: Any = sys.modules.get(top)
    digest = sha256()
    if hasattr(loaded, "__path__"):
        _feed(digest, files(top), top)
    elif getattr(loaded, "__file__", None):
        digest.update(loaded.__loader__.get_data(loaded.__file__))
    else:
        return ""
    return digest.hexdigest()


def _relative(module: str) -> str:
    """The file of a module as seen from where its top package stands: no path of this machine in a report."""
    source = getattr(sys.modules.get(module), "__file__", None) or ""
    ending = "/__init__.py" if source.endswith("__init__.py") else ".py"
    return module.replace(".", "/") + ending if source else ""


def _version_of(top: str) -> str:
    try:
        return version(top)
    except PackageNotFoundError:
        pass
    for name in packages_distributions().get(top, []):
        return version(name)
    return ""


@lru_cache(maxsize=64)
def _commit(file: Path) -> tuple[str, bool | None]:
    """The commit that a file stands at, and whether its repository was changed since; none where git does not know the
    file, as that of a virtual environment within a repository."""
    folder = file.parent
    if _git(folder, "ls-files", "--error-unmatch", file.name) is None:
        return "", None
    commit = _git(folder, "rev-parse", "HEAD")
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no") if commit else None
    return (commit or "").strip(), None if changed is None else bool(changed.strip())


def _git(folder: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, text=True, timeout=GIT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
