"""The judge of mutations sees a broken reference, and `make mutation` fails on a survivor that nobody looked at."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

JUDGED = """
[[line]]
file = "reference/some.py"
within = "f"
before = "a + b"
after = ["a | b"]
judgement = "equivalent"
reason = "a and b share no bit"
"""


@pytest.fixture
def tool(root: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a module of the tools folder, as a script there would."""
    monkeypatch.syspath_prepend(str(root / "tools"))
    return importlib.import_module


@pytest.fixture
def tree(root: Path, tmp_path: Path, tool: Any) -> Path:
    """A copy of the tree, as mutations are made in one."""
    tool("mutation_run").copy(root, tmp_path / "tree")
    return tmp_path / "tree"


def _judge(tree: Path, system: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(tree / "tools" / "mutation_judge.py"), system]
    env = {**os.environ, "PYTHONPATH": str(tree), **environment}
    return subprocess.run(command, cwd=tree, env=env, capture_output=True, text=True, timeout=300, check=False)


def _break(file: Path, line: str, broken: str) -> None:
    source = file.read_text()
    assert source.count(line) == 1
    file.write_text(source.replace(line, broken))


@pytest.mark.parametrize("system", ["cursor_ranks", pytest.param("entry_cache", marks=pytest.mark.slow)])
def test_nothing_is_noticed_in_the_reference_as_it_is(tree: Path, system: str) -> None:
    done = _judge(tree, system)
    assert (done.returncode, json.loads(done.stdout)["by"]) == (0, "nothing"), done.stderr


@pytest.mark.parametrize(
    ("system", "file", "line", "broken", "by"),
    [
        ("cursor_ranks", "ranked_line.py", "cursor.counter.rank += 1\n", "cursor.counter.rank += 2\n", "law"),
        ("cursor_ranks", "ranked_line.py", "return Counter(rank_of(", "return Counter(rank_off(", "exception"),
        ("entry_cache", "entry_cache/removal_queue.py", "node.ts_ms < self", "node.ts_ms <= self", "law"),
        pytest.param(
            *("cursor_ranks", "ranked_line.py", "            slot = above\n", "", "hang"), marks=pytest.mark.slow
        ),
        pytest.param(
            *("entry_cache", "entry_cache/copying.py", "node.ts_ms - now_ms,", "node.ts_ms,", "examination"),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_broken_reference_is_noticed(tree: Path, system: str, file: str, line: str, broken: str, by: str) -> None:
    _break(tree / "reference" / file, line, broken)
    done = _judge(tree, system)
    assert (done.returncode, json.loads(done.stdout)["by"]) == (1, by), done.stderr


def test_the_judge_refuses_to_judge_another_tree(root: Path, tree: Path) -> None:
    done = _judge(tree, "cursor_ranks", PYTHONPATH=str(root))
    assert done.returncode == 2
    assert "set PYTHONPATH" in done.stderr
    assert done.stdout == ""


def test_types_assertions_and_self_checks_are_left_out(tool: Any) -> None:
    source = (
        "def f(a: int | None) -> int | None:\n    assert a != 1\n    return a | 1\ndef _check() -> None:\n    1 + 1\n"
    )
    places = {"a type": (1, 13), "an assertion": (2, 11), "": (3, 13), "a self-check": (5, 6)}
    found = tool("mutation_filter").regions(source)
    assert {next((r.why for r in found if r.holds(place)), "") for place in places.values()} == set(places)
    assert not any(region.holds(places[""]) for region in found)


def test_a_survivor_that_nobody_judged_is_found_wherever_its_line_moved(tool: Any, tmp_path: Path) -> None:
    judged, session = tool("mutation_judged"), tool("mutation_session")
    (tmp_path / "list.toml").write_text(JUDGED)
    known = judged.read_judged(tmp_path / "list.toml")
    moved = session.Mutant("reference/some.py", 99, "f", "Add_BitOr", "a + b", "a | b", "nothing")
    fresh = session.Mutant("reference/some.py", 99, "f", "Add_Sub", "a + b", "a - b", "nothing")
    assert judged.unjudged([moved, fresh], known) == [fresh]
    assert judged.outdated([fresh], known, {"reference/some.py"}) == [moved.key]


def test_each_line_of_the_committed_list_is_in_its_file_and_in_the_docs(root: Path, tool: Any) -> None:
    judged = tool("mutation_judged")
    known = judged.read_judged(root / "tools" / "mutation_survivors.toml")
    assert known
    for file, _, before, _ in known:
        source = [line.strip() for line in (root / file).read_text().splitlines()]
        assert set(before.splitlines()) <= set(source), file
    assert judged.table(known) in (root / "docs" / "mutation.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("equivalent", "fine"), "entry 1: 'fine' is no judgement; expected one of equivalent"),
        (('reason = "a and b share no bit"', ""), "entry 1: expected reason = a str"),
        (('["a | b"]', "["), "list.toml: "),
    ],
)
def test_a_bad_list_is_refused_with_a_sentence(tool: Any, tmp_path: Path, change: tuple[str, str], says: str) -> None:
    judged = tool("mutation_judged")
    (tmp_path / "list.toml").write_text(JUDGED.replace(*change))
    with pytest.raises(judged.BadList) as refused:
        judged.read_judged(tmp_path / "list.toml")
    assert says in str(refused.value)


def test_a_copy_has_no_leftovers_of_earlier_runs(tree: Path) -> None:
    assert not list(tree.rglob("__pycache__"))
    assert (tree / "brokerlaw" / "spec").is_symlink()
