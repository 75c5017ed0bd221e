"""Writes a report in every format, each file whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..files import write_whole
from ..reference.table import Entry
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


def write_all(report_data: Mapping[str, Any], folder: Path, own: Mapping[str, Entry] | None = None) -> tuple[Path, ...]:
    """Writes every format of a report that a campaign has just made into a folder; the first one is the one to open.
    `own` has the user's own systems, by MODULE:NAME."""
    return write_formats(content_from(report_data, own), {name: folder / file for name, file in FILES.items()})


def write_formats(content: Content, places: Mapping[str, Path]) -> tuple[Path, ...]:
    """Writes formats to files; all are made before the first is written, so that a failure leaves nothing behind."""
    texts = {path: FORMATS[name](content) for name, path in places.items()}
    for path, text in texts.items():
        write_whole(path, text)
    return tuple(texts)
