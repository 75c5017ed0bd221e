"""Writes a report in every format, each file whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..driver.errors import Usage
from .build import content_from
from .content import Content, content_data
from .html import html_of
from .junit import junit_of
from .markdown import markdown_of
from .sarif import sarif_of


def json_of(content: Content) -> str:
    """The content as one JSON object."""
    return json.dumps(content_data(content), indent=1) + "\n"


FORMATS: dict[str, Callable[[Content], str]] = {
    "html": html_of,
    "markdown": markdown_of,
    "json": json_of,
    "junit": junit_of,
    "sarif": sarif_of,
}
FILES = {"html": "report.html", "markdown": "report.md", "junit": "report.junit.xml", "sarif": "report.sarif"}


def write_all(report_data: Mapping[str, Any], folder: Path) -> tuple[Path, ...]:
    """Writes every format of a report that a campaign has just made into a folder; the first one is the one to open."""
    return write_formats(content_from(report_data), {name: folder / file for name, file in FILES.items()})


def write_formats(content: Content, places: Mapping[str, Path]) -> tuple[Path, ...]:
    """Writes formats to files; all are made before the first is written, so that a failure leaves nothing behind."""
    texts = {path: FORMATS[name](content) for name, path in places.items()}
    for path, text in texts.items():
        _write(path, text)
    return tuple(texts)


def _write(path: Path, text: str) -> None:
    try:
        if path.exists() and not path.is_file():  # a pipe or a device: nothing to put in its place
            path.write_text(text, encoding="utf-8")
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=path.parent, prefix=f".{path.name}.", encoding="utf-8", delete=False
        ) as file:
            file.write(text)
        os.chmod(file.name, 0o644)
        os.replace(file.name, path)
    except OSError as error:
        raise Usage(f"{path}: can not be written: {error.strerror}") from None
