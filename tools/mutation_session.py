"""A session of cosmic-ray: which mutants there are, running them, and what became of each.

A mutation is judged by `mutation_judge.py`, asked through `mutation_ask.py`; the session keeps its line of JSON as the
test's output.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import frozen
from cosmic_ray.work_db import WorkDB, use_db  # type: ignore[import-untyped]
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkResult  # type: ignore[import-untyped]
from mutation_filter import left_out, regions

TIMEOUT_S = 90  # for a mutant that hangs where no alarm reaches it
PROGRESS_S = 30
SOCKET = "mutation.socket"
MODULES = {
    "entry_cache": ["reference/entry_cache"],
    "cursor_ranks": ["reference/cursor_ranks.py", "reference/ranked_line.py"],
}
EXCLUDED = ["reference/entry_cache/check.py"]  # self-checks, called by tests and never by a command

CONFIG = """
[cosmic-ray]
module-path = {modules}
excluded-modules = {excluded}
timeout = {timeout}
test-command = {command}

[cosmic-ray.distributor]
name = "local"
"""


class BadSession(Exception):
    """Something that keeps the figures from meaning anything; the message says what."""


@frozen
class Mutant:
    """A mutation, and what noticed it ("nothing": it survived)."""

    file: str
    line: int
    within: str  # the function or class
    operator: str
    before: str  # the source line, and what the mutation made of it
    after: str
    by: str
    what: str = ""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What names a mutation as long as its line stays as it is, wherever it moves."""
        return self.file, self.within, self.before, self.after


def start(system: str, tree: Path, session: Path) -> dict[str, int]:
    """Makes a session over a copy of the tree; how many mutations it leaves out, by reason."""
    config = session.with_suffix(".toml")
    command = f"{sys.executable} -I -S tools/mutation_ask.py {SOCKET}"  # as little to start as can be
    filled = {"modules": MODULES[system], "excluded": EXCLUDED, "timeout": float(TIMEOUT_S), "command": command}
    config.write_text(CONFIG.format(**{name: json.dumps(value) for name, value in filled.items()}))
    session.unlink(missing_ok=True)
    _cosmic_ray(tree, "init", config, session)
    return _leave_out(tree, session)


def _leave_out(tree: Path, session: Path) -> dict[str, int]:
    """Marks as skipped what is not behaviour."""
    reasons: dict[str, int] = {}
    left_alone = {path: regions((tree / path).read_text()) for path in _files(session)}
    with use_db(str(session)) as db:
        for item in list(db.pending_work_items):
            mutation = item.mutations[0]
            why = left_out(mutation.operator_name, mutation.start_pos, left_alone[str(mutation.module_path)])
            if why:
                reasons[why] = reasons.get(why, 0) + 1
                db.set_result(item.job_id, WorkResult(output=why, worker_outcome=WorkerOutcome.SKIPPED))
    return reasons


def _files(session: Path) -> list[str]:
    with use_db(str(session), WorkDB.Mode.open) as db:
        return sorted({str(item.mutations[0].module_path) for item in db.work_items})


def execute(system: str, tree: Path, session: Path, progress: Callable[[int, int], None]) -> None:
    """Runs what is pending, one mutation at a time, with one judge for all of them."""
    socket = tree / SOCKET
    command = [sys.executable, "-B", "-W", "ignore", "tools/mutation_judge.py", system, "--serve", SOCKET]
    with subprocess.Popen(command, cwd=tree, env=_env(tree)) as judge:
        try:
            while not socket.exists():
                if judge.poll() is not None:
                    raise BadSession(f"the judge ended with exit code {judge.returncode} before it was asked")
                time.sleep(0.1)
            _execute_asking(tree, session, progress)
        finally:
            judge.terminate()


def _execute_asking(tree: Path, session: Path, progress: Callable[[int, int], None]) -> None:
    with subprocess.Popen(_command("exec", session.with_suffix(".toml"), session), cwd=tree, env=_env(tree)) as running:
        while True:
            try:
                running.wait(PROGRESS_S)
                break
            except subprocess.TimeoutExpired:
                progress(*_counted(session))
    if running.returncode:
        raise BadSession(f"cosmic-ray exec ended with exit code {running.returncode}")


def _counted(session: Path) -> tuple[int, int]:
    """How many mutations are done, and how many there are."""
    with sqlite3.connect(f"file:{session}?mode=ro", uri=True) as db:
        skipped = f"worker_outcome = '{WorkerOutcome.SKIPPED.name}'"
        (done,) = db.execute(f"select count(*) from work_results where not {skipped}").fetchone()  # noqa: S608
        (left_out,) = db.execute(f"select count(*) from work_results where {skipped}").fetchone()  # noqa: S608
        (every,) = db.execute("select count(*) from work_items").fetchone()
    return done, every - left_out


def _cosmic_ray(tree: Path, *arguments: object) -> None:
    done = subprocess.run(_command(*arguments), cwd=tree, env=_env(tree), capture_output=True, text=True, check=False)
    if done.returncode:
        raise BadSession(f"cosmic-ray {arguments[0]} failed: {done.stderr.strip() or done.stdout.strip()}")


def _command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "cosmic_ray.cli", *map(str, arguments)]


def _env(tree: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(tree)}


def judged_clean(system: str, tree: Path) -> str:
    """What the judge says of a tree; empty where nothing noticed anything."""
    command = [sys.executable, "tools/mutation_judge.py", system]
    done = subprocess.run(command, cwd=tree, env=_env(tree), capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout.strip() or done.stderr.strip()


def read(session: Path) -> list[Mutant]:
    """What became of each mutation that was run, in order of file and line."""
    with use_db(str(session), WorkDB.Mode.open) as db:
        if db.num_results < db.num_work_items:
            raise BadSession(f"{session}: {db.num_work_items - db.num_results} mutations were never run")
        done = [
            _mutant(item.mutations[0], result)
            for item, result in db.completed_work_items
            if result.worker_outcome != WorkerOutcome.SKIPPED
        ]
    return sorted(done, key=lambda mutant: (mutant.file, mutant.line, mutant.operator, mutant.after))


def _mutant(mutation: Any, result: Any) -> Mutant:
    before, after = _changed(result.diff or "")
    verdict = _verdict(f"{mutation.module_path}, line {mutation.start_pos[0]}", result)
    return Mutant(
        file=str(mutation.module_path),
        line=mutation.start_pos[0],
        within=mutation.definition_name or "",
        operator=mutation.operator_name.removeprefix("core/"),
        before=before,
        after=after,
        by=verdict["by"],
        what=verdict["what"],
    )


def _verdict(where: str, result: Any) -> dict[str, str]:
    """The judge's line; raises BadSession where cosmic-ray and the judge did not come to one."""
    if result.output == "timeout":
        return {"by": "hang", "what": "timeout"}
    try:
        verdict: dict[str, str] = json.loads(result.output.splitlines()[-1])
    except (AttributeError, IndexError, ValueError):
        raise BadSession(f"{where}: the judge said nothing, but {result.output!r} ({result.worker_outcome})") from None
    if (verdict["by"] == "nothing") != (result.test_outcome == TestOutcome.SURVIVED):
        raise BadSession(f"{where}: the judge said {verdict}, and cosmic-ray {result.test_outcome}")
    return verdict


def _changed(diff: str) -> tuple[str, str]:
    """The source that a mutation took away and what it put there, without indentation."""
    lines = [line for line in diff.splitlines() if not line.startswith(("---", "+++"))]
    gone = [line[1:].strip() for line in lines if line.startswith("-") and line[1:].strip()]
    new = [line[1:].strip() for line in lines if line.startswith("+") and line[1:].strip()]
    return "\n".join(gone), "\n".join(new)
