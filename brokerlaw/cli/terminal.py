"""How text gets to a terminal: colour where it is wanted, tables, wrapped sentences, a line of progress."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from textwrap import wrap
from typing import TextIO

from attrs import define, field, frozen

from ..told import plain

PLAIN_WIDTH = 110  # where there is no terminal to ask
PLAIN_SECONDS = 10.0  # between two lines of progress where there is no terminal


@frozen
class Style:
    """Colours, or none."""

    colour: bool = False
    width: int = PLAIN_WIDTH

    def bold(self, text: str) -> str:
        return self._in("1", text)

    def dim(self, text: str) -> str:
        return self._in("2", text)

    def good(self, text: str) -> str:
        return self._in("32", text)

    def bad(self, text: str) -> str:
        return self._in("1;31", text)

    def doubtful(self, text: str) -> str:
        return self._in("33", text)

    def _in(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text


def style_for(stream: TextIO) -> Style:
    """Colour on a terminal that has some, unless NO_COLOR is set; the width of the terminal, within reason."""
    if not stream.isatty():
        return Style()
    colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Style(colour, max(60, min(shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns, 140)))


def wrapped(text: object, width: int, indent: str = "", first: str | None = None) -> list[str]:
    """A sentence on as many lines as it takes; `first` begins the first of them, `indent` the others."""
    lead = indent if first is None else first
    return wrap(plain(text), width, initial_indent=lead, subsequent_indent=indent, break_on_hyphens=False) or [lead]


def table(rows: Iterable[Sequence[str]], right: Sequence[int] = (), indent: str = "  ") -> list[str]:
    """Columns as wide as they need to be; those named by `right` are numbers, and stand to the right."""
    kept = [[plain(cell) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*kept, strict=True)]
    lines = []
    for row in kept:
        cells = [
            cell.rjust(width) if index in right else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append((indent + "  ".join(cells)).rstrip())
    return lines


@define
class Meter:
    """Progress on stderr: a line that is written over on a terminal, a line now and then elsewhere, or silence."""

    stream: TextIO = field(factory=lambda: sys.stderr)
    quiet: bool = False
    clock: Callable[[], float] = time.monotonic
    shown: bool = False
    told_at: float = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.told_at = self.clock()

    def show(self, text: str) -> None:
        """Says how far it is."""
        if self.quiet:
            return
        if self.stream.isatty():
            width = shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns
            self.stream.write(f"\r{plain(text)[: width - 1]}\x1b[K")
            self.stream.flush()
            self.shown = True
        elif self.clock() - self.told_at >= PLAIN_SECONDS:
            self.told_at = self.clock()
            print(plain(text), file=self.stream, flush=True)

    def clear(self) -> None:
        """Takes the line off the terminal again."""
        if self.shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
            self.shown = False
