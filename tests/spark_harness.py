"""Running campaigns on Spark in tests, each in processes of their own and with a limit on every wait."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from .cli_harness import Ran

T = TypeVar("T")
ROOT = Path(__file__).resolve().parent.parent
WAIT_SECONDS = 600.0  # for anything: a loaded machine takes long to start a JVM
ON_TOY = ("--system", "tests.spark_subjects:TOY_WITH_CANARY")
SLOW = (*ON_TOY, "--subject", "tests.spark_subjects:Slow", "--max-steps", "20")


def words_of(*words: str) -> list[str]:
    return [sys.executable, "-m", "brokerlaw", *words]


def environment(**changes: str) -> dict[str, str]:
    """Ours, without what would choose another Spark or Python."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    return {**kept, "PYTHONPATH": str(ROOT), **changes}


def ran(*command: str, cwd: Path = ROOT, **changes: str) -> Ran:
    """Runs a program to its end."""
    done = subprocess.run(
        command, cwd=cwd, env=environment(**changes), capture_output=True, text=True, timeout=WAIT_SECONDS, check=False
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def fuzz(*words: str) -> Ran:
    return ran(*words_of("fuzz", *words, "--quiet"))


@contextmanager
def running(*words: str) -> Iterator[subprocess.Popen[str]]:
    """A campaign that runs meanwhile, in a process group of its own; whatever is left of it then is ended."""
    process = subprocess.Popen(
        words_of("fuzz", *words),
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def until(look: Callable[[], T | None], process: subprocess.Popen[str]) -> T:
    """What `look` sees as soon as it sees something; fails where the process ends before."""
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        if seen := look():
            return seen
        assert process.poll() is None, process.communicate(timeout=WAIT_SECONDS)
        time.sleep(0.05)
    raise AssertionError(f"nothing came in {WAIT_SECONDS:g} s")


def all_gone(session: int) -> bool:
    """Whether nothing is left of a session, whatever groups its processes made for themselves; a worker may need a
    moment to see that its JVM has ended."""
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        if not [stat for stat in Path("/proc").glob("[0-9]*/stat") if _session_of(stat) == session]:
            return True
        time.sleep(0.05)
    return False


def _session_of(stat: Path) -> int:
    try:
        return int(stat.read_text().rpartition(")")[2].split()[3])
    except (OSError, ValueError, IndexError):
        return 0


def whole_waves(out: Path) -> list[Path]:
    return sorted(path.parent for path in out.glob("ranges/*/_SUCCESS"))


def files_of(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file below a folder, with its size and the moment it was written."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in paths}


def descendants(pid: int) -> dict[int, str]:
    """The command line of each process that stems from this one."""
    parents, lines = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parents[int(folder.name)] = int(folder.joinpath("stat").read_text().rpartition(")")[2].split()[1])
            lines[int(folder.name)] = folder.joinpath("cmdline").read_text().replace("\0", " ")
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return {child: lines.get(child, "") for child in found - {pid}}


def what_was_found(data: Any) -> list[Any]:
    """The findings of a report, without where they were saved."""
    return [
        {name: value for name, value in finding.items() if name not in ("file", "replay")}
        for part in data["systems"]
        for finding in (*part["findings"], *part["ended"])
    ]


def report_in(out: Path) -> Any:
    return json.loads((out / "report.json").read_text(encoding="utf-8"))
