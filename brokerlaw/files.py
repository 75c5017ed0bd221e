"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from .driver.errors import Usage


def write_whole(path: Path, text: str) -> None:
    """Writes a file next to its place and moves it there; Usage says why that could not be done."""
    try:
        if path.exists() and not path.is_file():  # a pipe or a device: nothing to put in its place
            path.write_text(text, encoding="utf-8")
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, text)
    except OSError as error:
        raise Usage(f"{path}: can not be written: {error.strerror}") from None


def _replace(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(name, 0o644)  # mkstemp makes it private
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
