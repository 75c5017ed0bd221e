"""The command `brokerlaw`: finds the subcommand, runs it, prints what it answers.

Exit codes: 0, nothing is wrong; 1, something is (a broken law, a mutant that survives, an unsound adapter); 2, the
command could not be carried out as it was given: one sentence on stderr, nothing on stdout (with --json an object that
holds the sentence), nothing written; 130, Ctrl-C.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib.metadata import PackageNotFoundError, version
from typing import Protocol

from ..driver.errors import Usage
from . import check, diff, doctor, explore, fuzz, mutants, replay, report, systems
from .answer import Answer
from .names import near
from .options import Help, Parser, add_output, described
from .terminal import Meter, Style, style_for

DESCRIPTION = """
    Executable laws for the memory and acknowledgement state of message brokers.

      brokerlaw systems                                what there is to check
      brokerlaw check cursor_ranks                     does the reference obey the laws?
      brokerlaw check cursor_ranks --subject my:Ranks  does your own class?
      brokerlaw fuzz --out tonight                     the same on Spark, as long as you like, with a report
      brokerlaw explore cursor_ranks                   every state of a small scope
      brokerlaw diff cursor_ranks --left text --right pulsar-4
      brokerlaw replay brokerlaw-out/CASE.json         what happened, step by step
      brokerlaw report tonight --against last-night    what changed between two campaigns
      brokerlaw mutants                                do the laws catch the bugs that they should?
      brokerlaw doctor entry_cache --subject my:Cache  is your adapter sound?

    Exit codes: 0 nothing is wrong, 1 something is, 2 the command could not be carried out as it was given,
    130 it was interrupted.
"""


class Command(Protocol):
    """What a module of a command has."""

    SUMMARY: str
    DESCRIPTION: str

    def add_arguments(self, parser: Parser) -> None: ...

    def run(self, args: Namespace, style: Style, meter: Meter) -> Answer: ...


COMMANDS: dict[str, Command] = {
    "systems": systems,
    "check": check,
    "fuzz": fuzz,
    "explore": explore,
    "diff": diff,
    "mutants": mutants,
    "replay": replay,
    "report": report,
    "doctor": doctor,
}


def build_parser() -> Parser:
    """The parser of everything."""
    parser = Parser("brokerlaw", description=described(DESCRIPTION), formatter_class=Help, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"brokerlaw {_version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", title="commands")
    for name, command in COMMANDS.items():
        one = commands.add_parser(
            name,
            help=command.SUMMARY,
            description=described(command.DESCRIPTION),
            formatter_class=Help,
            allow_abbrev=False,
        )
        _add_arguments(one, command)
    return parser


def _add_arguments(parser: Parser, command: Command) -> None:
    command.add_arguments(parser)
    add_output(parser)


def _options_of(command: Command) -> list[str]:
    """The options that a command takes, by name."""
    parser = Parser(allow_abbrev=False)
    _add_arguments(parser, command)
    return [name for action in parser._actions for name in action.option_strings]


def _version() -> str:
    try:
        return version("brokerlaw")
    except PackageNotFoundError:
        return "(not installed)"


def entry(argv: Sequence[str] | None = None) -> int:
    """Runs the command line; gives the exit code."""
    given = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal that has no such letter still gets the sentence
    return _quietly(given)


def _run(given: list[str]) -> int:
    if given and not given[0].startswith("-") and given[0] not in COMMANDS:
        known = ", ".join(COMMANDS)
        raise Usage(f"there is no command {given[0]!r}{near(given[0], COMMANDS)}; expected one of {known}")
    args, unknown = build_parser().parse_known_args(given)
    if unknown:
        hint = near(unknown[0].partition("=")[0], _options_of(COMMANDS[args.command]))
        raise Usage(f"unrecognized arguments: {' '.join(unknown)}{hint} (see brokerlaw {args.command} --help)")
    meter, style = Meter(quiet=args.quiet), style_for(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):  # what a subject prints is not part of the answer
            answer = COMMANDS[args.command].run(args, style, meter)
    except SystemExit as ended:
        raise Usage(f"a subject or a system that was named ended the program ({ended.code})") from None
    finally:
        meter.clear()
    _print(answer.as_json(args.command) if args.json in (True, "-") else "\n".join(answer.lines))
    return _say(answer.failure, 2) if answer.failure else answer.code


def _print(text: str) -> None:
    """Prints, and does not mind a reader who has seen enough."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _quietly(given: list[str]) -> int:
    """Runs a command; whatever the user can mend or did himself is one line, without a traceback."""
    try:
        return _run(given)
    except Usage as usage:
        sentence = " ".join(str(usage).split())
        if "--json" in given:
            _print(Answer({}, [], failure=sentence).as_json(given[0] if given[0] in COMMANDS else ""))
        return _say(sentence, 2)
    except KeyboardInterrupt:
        return _say("interrupted", 130)


def _say(sentence: str, code: int) -> int:
    print(f"brokerlaw: {sentence}", file=sys.stderr)
    return code
