"""Options that several commands share, and the numbers that they take."""

from __future__ import annotations

import math
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Callable
from textwrap import dedent
from typing import NoReturn

from ..driver.errors import Usage


class Parser(ArgumentParser):
    """A parser whose complaints are one sentence."""

    def error(self, message: str) -> NoReturn:
        raise Usage(f"{message} (see {self.prog} --help)")


class Help(RawDescriptionHelpFormatter):
    """Help with room for the options' names."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=110)


def described(text: str) -> str:
    """The text of a help page, as it stands in the code."""
    return dedent(text).strip()


MAX_SEED = 2**63 - 1


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """A whole number that is not less than this, nor more than that."""

    def read(text: str) -> int:
        try:
            number = int(text.replace("_", ""))
        except ValueError:
            number = least - 1
        if number < least:
            raise ArgumentTypeError(f"expected a whole number, {least} or more, got {text!r}")
        if most is not None and number > most:
            raise ArgumentTypeError(f"expected a whole number, {most} at most, got {text!r}")
        return number

    return read


def seconds(text: str) -> float:
    """A number of seconds above zero."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise ArgumentTypeError(f"expected a number of seconds above 0, got {text!r}")
    return number


def add_systems(parser: ArgumentParser, what: str) -> None:
    """Which systems a command is about."""
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help=what)
    parser.add_argument(
        "--system",
        dest="own_systems",
        action="append",
        default=[],
        metavar="MODULE:NAME",
        help="a system of your own: a System, or an Entry with its reference and mutants; can be given again",
    )


def add_subject(parser: ArgumentParser, required: bool = False) -> None:
    """What a command tests."""
    parser.add_argument(
        "--subject",
        required=required,
        metavar="SUBJECT",
        help="what to test: reference%s, legacy (the design it replaces), mutant:NAME, or MODULE:FACTORY, a class or "
        "function of yours that takes no arguments and gives a subject" % ("" if required else " (the default)"),
    )


def add_dialect(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--dialect",
        default="text",
        metavar="NAME",
        help="how to read the proposal: text (the default), another dialect, or text+DEVIATION+DEVIATION",
    )


def add_seed(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--seed",
        type=whole(0, MAX_SEED),
        default=0,
        metavar="S",
        help="the seed that names the run; the same seed, the same run",
    )


def add_output(parser: ArgumentParser) -> None:
    """What every command takes; one that writes files has a --json of its own, which may name a file."""
    if "--json" not in parser._option_string_actions:
        parser.add_argument("--json", action="store_true", help="one JSON object on stdout instead of text")
    parser.add_argument("--quiet", action="store_true", help="no progress on stderr")
