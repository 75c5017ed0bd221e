"""Running the command line in tests, here or in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from brokerlaw.cli.main import entry

ON_TOY = ("--system", "tests.cli_subjects:TOY_ENTRY")
BROKEN = "--mutant", "maximum-plus-one"


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


class Cli:
    """Runs the command line here, in an empty folder."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *words: str) -> Ran:
        code = entry(list(words))
        return Ran(code, *self.capsys.readouterr())


def cli_in(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command line, with this as the folder that one stands in."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return Cli(capsys)


def in_a_process(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    here = Path(__file__).resolve().parent.parent
    command = [sys.executable, "-m", "brokerlaw", *words]
    path = {"PYTHONPATH": str(here), **environment}
    return subprocess.run(command, cwd=here, env=os.environ | path, capture_output=True, text=True, timeout=120)
