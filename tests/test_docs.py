"""The docs say what is so: every command in them runs, every link leads somewhere, what is generated is up to date.

A fenced block marked `sh` is a script that a reader may paste: its lines are run one after the other in a folder that
looks like the repo, with a `.venv` whose programs are those of this test run.  `# exit code 1` at the end of a line
says that it ends so; `<!-- not run: why -->` above a block says why nobody runs it here.  Of a `make` target only the
recipe is checked: the tests are run by one of them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pyspark
import pytest
from attrs import frozen

from brokerlaw.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
TESTED_ELSEWHERE = {"docs/plug-in.md": "test_docs_plug_in.py"}  # its blocks are sessions, marked `console`

FENCE = re.compile(r"(?:<!-- not run: (?P<why>.+?) -->\n)?```(?P<language>\w+)\n(?P<text>.*?)^```$", re.DOTALL | re.M)
EXIT_CODE = re.compile(r"# exit code (\d)\s*$")
NEEDS_SPARK = re.compile("brokerlaw fuzz|spark-submit|rows_of_a_campaign")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.M)


@frozen
class Block:
    """A fenced block of a page."""

    page: str
    line: int
    language: str
    text: str
    why_not: str | None

    @property
    def commands(self) -> list[str]:
        joined = self.text.replace("\\\n", " ")
        return [line for line in joined.splitlines() if line.strip() and not line.startswith("#")]


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    name = page.relative_to(ROOT).as_posix()
    return [
        Block(name, text.count("\n", 0, found.start()) + 1, found["language"], found["text"], found["why"])
        for found in FENCE.finditer(text)
    ]


BLOCKS = [block for page in PAGES for block in blocks(page)]
TO_RUN = [
    pytest.param(
        command,
        id=f"{block.page}:{block.line} {command.partition('#')[0].strip()}",
        marks=[pytest.mark.spark] if NEEDS_SPARK.search(command) else [],
    )
    for block in BLOCKS
    if block.language == "sh" and block.why_not is None
    for command in block.commands
]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with everything that the repo has, in which a command may leave files, and the programs of this run."""
    folder = tmp_path_factory.mktemp("checkout")
    for entry in ROOT.iterdir():
        if entry.name not in {".git", ".venv", "brokerlaw-out"}:
            (folder / entry.name).symlink_to(entry)
    programs = folder / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name, command in {
        "brokerlaw": f'"{sys.executable}" -m brokerlaw "$@"',
        "python": f'"{sys.executable}" "$@"',
        "spark-submit": f'"{Path(pyspark.__file__).parent / "bin" / "spark-submit"}" "$@"',
        "make": f'"{shutil.which("make")}" --dry-run "$@"',
    }.items():
        program = programs / name
        program.write_text(f"#!/bin/sh\nexec {command}\n")
        program.chmod(0o755)
    return folder


def _run(command: str, checkout: Path) -> subprocess.CompletedProcess[str]:
    path = f"{checkout / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["bash", "-c", command], cwd=checkout, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.parametrize("command", TO_RUN)
def test_a_documented_command_runs(command: str, checkout: Path) -> None:
    told = EXIT_CODE.search(command)
    ran = _run(command, checkout)
    assert ran.returncode == (int(told[1]) if told else 0), ran.stdout[-3000:] + ran.stderr[-3000:]
    assert "Traceback" not in ran.stderr


def test_every_block_is_of_a_known_kind_and_says_why_it_is_not_run() -> None:
    for block in BLOCKS:
        where = f"{block.page}, line {block.line}"
        assert block.language in {"sh", "python", "text", "console", "diff", "json", "svg"}, where
        if block.language == "console":
            assert block.page in TESTED_ELSEWHERE, f"{where}: mark it sh, or name the test that runs it"
            assert (ROOT / "tests" / TESTED_ELSEWHERE[block.page]).exists()
        if block.why_not is not None:
            assert len(block.why_not.split()) >= 3, f"{where}: say why it is not run"


def test_the_readme_shows_commands_that_are_there() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\.venv/bin/brokerlaw (\w+)", text))
    assert {"systems", "check", "replay"} <= named <= set(COMMANDS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    wrong = []
    for target in LINK.findall(text):
        if target.startswith("https://"):
            continue
        path, _, anchor = unquote(target).partition("#")
        place = (page.parent / path).resolve() if path else page
        if not place.exists() or (anchor and anchor not in _anchors(place)):
            wrong.append(target)
    assert wrong == []


def _anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = HEADING.findall(page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_what_is_generated_is_up_to_date() -> None:
    ran = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "docs.py")],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def _picture(*arguments: str) -> tuple[Counter[str], list[str]]:
    """How many shapes of each class a timeline has, and what is written in it."""
    ran = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "timeline.py"), *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    shapes = list(ElementTree.fromstring(ran.stdout).iter())
    return Counter(shape.get("class", "") for shape in shapes), [shape.text or "" for shape in shapes]


def test_a_timeline_has_a_lane_for_each_who_acts_and_marks_the_step_that_broke() -> None:
    shapes, texts = _picture("cases/pip-430/bugs/double-release.json", "--subject", "mutant:double-release")
    assert (shapes["mark"], shapes["dot"], shapes["dot bad"]) == (1, 4, 1)
    assert [lane for lane in ("producer", "broker", "clock", "storage") if lane in texts] == [
        "producer",
        "broker",
        "clock",
    ]
    assert "✗ payload_lives_while_held" in texts


def test_a_timeline_can_be_drawn_of_any_system() -> None:
    shapes, texts = _picture("cases/pip-430/wrong-laws/cursor_ranks/shared-position.json")
    assert (shapes["mark"], shapes["dot"]) == (0, 3)
    assert {"cursor c0", "cursor c1", "reader"} <= set(texts)


def test_the_docs_name_no_place_on_anybodys_machine() -> None:
    for page in PAGES:
        found = re.findall(r"(?<![\w.])/(?:home|work|tmp|root|Users)/\S*", page.read_text(encoding="utf-8"))
        assert found == [], page.name
