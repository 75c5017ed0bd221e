"""Around the commands: what an import brings, help, pipes, progress, colour, and how changes are told."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from attrs import evolve

import brokerlaw
from brokerlaw.changes import changes
from brokerlaw.cli import check
from brokerlaw.cli.campaigns import options_from
from brokerlaw.cli.check_text import report_lines
from brokerlaw.cli.findings import Filed
from brokerlaw.cli.main import build_parser, entry
from brokerlaw.cli.terminal import Meter, Style, style_for, table
from brokerlaw.told import plain

from .toy import TOY, MaximumPlusOne, Turnstile


def test_the_vocabulary_and_check_are_there_after_a_light_import() -> None:
    assert brokerlaw.check("cursor_ranks", "legacy", cases=20).systems[0].subject == "legacy"
    heavy = ["hypothesis", "z3", "pyspark", "pytest", "argparse", "brokerlaw.driver", "brokerlaw.reference"]
    program = f"import sys, brokerlaw; print(*sorted(set({heavy!r}) & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (0, "\n")


def test_check_takes_the_things_themselves() -> None:
    assert brokerlaw.check(TOY, Turnstile, cases=20).exit_code == 0
    report = brokerlaw.check(TOY, MaximumPlusOne, cases=50)
    assert report.exit_code == 1
    assert report.systems[0].subject == "MaximumPlusOne"


@pytest.mark.parametrize("command", ["systems", "check", "mutants", "replay", "doctor"])
def test_every_command_has_help_with_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        entry([command, "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert f"  brokerlaw {command}" in shown
    assert "--json" in shown


EXAMPLES = re.findall(r"^ +brokerlaw (check\b.*?)(?:  .*)?$", check.DESCRIPTION, re.MULTILINE)


@pytest.mark.parametrize("words", [example for example in EXAMPLES if "mypackage" not in example])
def test_the_examples_in_the_help_name_things_that_are_there(words: str) -> None:
    assert options_from(build_parser().parse_args(words.split()), jobs=1).entries


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    here = Path(__file__).resolve().parent.parent
    command = f"{sys.executable} -m brokerlaw systems entry_cache | head -1"
    ran = subprocess.run(["bash", "-c", command], cwd=here, capture_output=True, text=True, timeout=60)
    assert ran.stderr == ""
    assert ran.stdout.count("\n") == 1


class Terminal:
    """A stream that says it is a terminal."""

    def __init__(self, tty: bool) -> None:
        self.tty, self.written = tty, ""

    def isatty(self) -> bool:
        return self.tty

    def write(self, text: str) -> int:
        self.written += text
        return len(text)

    def flush(self) -> None: ...


def test_progress_is_one_line_on_a_terminal_and_a_line_now_and_then_elsewhere() -> None:
    now = 0.0
    live, file, quiet = Terminal(True), Terminal(False), Terminal(True)
    streams: list[Any] = [live, file, quiet]
    meters = [Meter(stream, quiet=stream is quiet, clock=lambda: now) for stream in streams]
    for now in (1.0, 2.0, 30.0, 31.0):
        for meter in meters:
            meter.show(f"at {now:g}")
    for meter in meters:
        meter.clear()
    assert live.written == "\rat 1\x1b[K\rat 2\x1b[K\rat 30\x1b[K\rat 31\x1b[K\r\x1b[K"
    assert file.written == "at 30\n"
    assert quiet.written == ""


def test_colour_is_for_terminals_that_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def colour(tty: bool) -> bool:
        return style_for(Terminal(tty)).colour  # type: ignore[arg-type]

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert (colour(True), colour(False)) == (True, False)
    monkeypatch.setenv("NO_COLOR", "1")
    assert not colour(True)
    assert Style(True).bad("x") == "\x1b[1;31mx\x1b[0m"


def test_colour_changes_no_word_of_a_report() -> None:
    report = brokerlaw.check(TOY, MaximumPlusOne, cases=50)
    (part,) = report.systems
    report = evolve(report, systems=(evolve(part, stopped="it was late"),))
    filed = [Filed(finding, Path("case.json"), "brokerlaw replay case.json") for finding in part.findings]
    bare, coloured = (report_lines(report, {"toy": TOY}, filed, Style(colour)) for colour in (False, True))
    assert "\x1b[1;31m" in "".join(coloured)
    assert [re.sub(r"\x1b\[[\d;]*m", "", line) for line in coloured] == bare


def test_tables_align_and_strange_letters_are_spelled_out() -> None:
    assert table([["a", "1"], ["bcd", "22"]], right=(1,), indent="") == ["a     1", "bcd  22"]
    assert plain("a\nb\x1b\x00é") == "a\\nb\\x1b\\x00é"


class Place(NamedTuple):
    name: str
    at: int
    seen: tuple[tuple[int, int], ...] = ()


def test_changes_tell_rows_that_came_went_and_changed() -> None:
    before = ((Place("a", 1), Place("b", 2)), 5, ())
    after = ((Place("b", 3), Place("c", 4, ((1, 2),))), 5, (1,))
    assert changes(before, after, ("places", "same", "list")) == [
        "places  - name=a at=1 seen=[]",
        "places  ~ name=b: at 2 -> 3",
        "places  + name=c at=4 seen=[(1, 2)]",
        "list  + 1",
    ]


def test_an_interrupt_while_everything_is_imported_is_one_line() -> None:
    program = """
import sys

class Slow:
    def find_spec(self, name, *_):
        if name == "brokerlaw.cli.main":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Slow())
from brokerlaw.cli import entry
sys.exit(entry())
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "brokerlaw: interrupted\n")
