"""The page on plugging in your own: every command in it runs, on copies of the examples, and shows what it says.

`$ cd FOLDER` goes to that example, `$ COMMAND` runs there.  A block of `text` is part of what the last command printed.
A block of `diff` mends the example: before it commands that check the example fail, after it they do not.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import Factory, define

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGE = Path(__file__).resolve().parent.parent / "docs" / "plug-in.md"
EXAMPLES = PAGE.parent / "examples"
WITH_BUG = {"own_ranks": "readers.py", "own_cache": "recent.py"}
JUDGES = ("brokerlaw check", "brokerlaw replay", "python -m pytest")


def run(command: str, where: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command as the page writes it, with this Python and this brokerlaw."""
    program = [sys.executable, "-m", "brokerlaw"] if command.startswith("brokerlaw ") else [sys.executable]
    words = [*program, *shlex.split(command)[1:]]
    path = {"PYTHONPATH": str(PAGE.parent.parent), "HYPOTHESIS_PROFILE": "dev"}
    return subprocess.run(words, cwd=where, env=os.environ | path, capture_output=True, text=True, timeout=120)


@define
class Reader:
    """Someone who follows the page, section by section."""

    folder: Path
    example: str = "own_ranks"
    mended: set[str] = Factory(set)
    printed: str = ""
    ran: list[str] = Factory(list)

    @property
    def where(self) -> Path:
        return self.folder / self.example

    def console(self, text: str) -> None:
        for line in text.splitlines():
            command = line.removeprefix("$ ")
            assert command != line, f"a console block holds commands alone: {line}"
            if command.startswith("cd "):
                self.example = command.removeprefix("cd ")
                assert self.where.is_dir()
            else:
                self.command(command)

    def command(self, command: str) -> None:
        done = run(self.as_saved(command), self.where)
        buggy = self.example in WITH_BUG and self.example not in self.mended
        tolerated = "--tolerate" in command
        expected = 1 if buggy and command.startswith(JUDGES) and not tolerated else 0
        assert done.returncode == expected, f"{command}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        self.printed = done.stdout
        self.ran.append(command)

    def as_saved(self, command: str) -> str:
        """The command with the saved case that is there: the end of a file's name depends on every draw."""
        named = re.search(r"brokerlaw-out/\S+-", command)
        if named is None:
            return command
        saved = sorted(self.where.glob(f"{named[0]}*.json"))
        return re.sub(r"brokerlaw-out/\S+", str(saved[0].relative_to(self.where)), command)

    def text(self, shown: str) -> None:
        assert [line for line in shown.splitlines() if line not in self.printed.splitlines()] == []

    def diff(self, change: str) -> None:
        lines = change.splitlines()
        old = "\n".join(line[1:] for line in lines if line[0] != "+")
        new = "\n".join(line[1:] for line in lines if line[0] != "-")
        file = self.where / WITH_BUG[self.example]
        source = file.read_text()
        assert source.count(old) == 1
        file.write_text(source.replace(old, new))
        self.mended.add(self.example)

    def python(self, source: str) -> None:
        compile(source if not source.startswith(" ") else f"class Mine:\n{source}", "plug-in.md", "exec")


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    copied = shutil.copytree(EXAMPLES, tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__", ".*"))
    return Reader(copied)


SECTIONS = ["What a subject is", "A class of your own", "A class that does part", "A system of your own", "From Python"]


@pytest.mark.parametrize("section", SECTIONS)
def test_every_command_of_the_page_does_what_it_says(section: str, reader: Reader) -> None:
    (text,) = (part for part in PAGE.read_text().split("\n## ") if part.startswith(section))
    follow = {"console": reader.console, "text": reader.text, "diff": reader.diff, "python": reader.python}
    for kind, block in BLOCK.findall(text):
        follow[kind](block)
    commands = [line for line in text.splitlines() if line.startswith("$ ") and not line.startswith("$ cd ")]
    assert len(reader.ran) == len(commands)


def test_every_section_with_a_command_is_followed() -> None:
    sections = [part for part in PAGE.read_text().split("\n## ")[1:] if "\n```" in part]
    assert all(any(part.startswith(known) for known in SECTIONS) for part in sections)


def test_the_three_lines_of_the_page_are_those_of_the_example() -> None:
    lines = [line for line in (EXAMPLES / "own_ranks/test_readers.py").read_text().splitlines() if line]
    assert len(lines) == 3
    assert all(line in PAGE.read_text() for line in lines)


@pytest.mark.parametrize(("example", "test"), [("own_ranks", "test_readers.py"), ("own_cache", "test_recent.py")])
def test_the_examples_own_tests_catch_the_bug(example: str, test: str, reader: Reader) -> None:
    done = run(f"python -m pytest {test}", reader.folder / example)
    assert done.returncode == 1
    assert "LawBroken" in done.stdout


def test_the_python_of_the_page_runs(tmp_path: Path) -> None:
    (source,) = (block for kind, block in BLOCK.findall(PAGE.read_text()) if "brokerlaw.check(" in block)
    program = tmp_path / "program.py"
    program.write_text(source)
    done = run(f"python {program}", tmp_path)
    assert re.fullmatch(r"[01] [0-9a-f]{16}\n", done.stdout), done.stderr
