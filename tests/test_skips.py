"""CI lists every skipped test and fails on one that nobody accounted for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest

@pytest.mark.skip(reason="no Java here")
def test_skipped(): ...

@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.xfail(reason="not yet")
def test_expected_to_fail(n): assert n > 2

def test_that_runs(): ...
"""


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """The JUnit report of a run with one skipped test, two that are expected to fail, and one that runs."""
    (tmp_path / "test_some.py").write_text(TESTS)
    report = tmp_path / "report.xml"
    pytest_run = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", ".", f"--junitxml={report}"]
    subprocess.run(pytest_run, cwd=tmp_path, capture_output=True, timeout=60, check=True)
    return report


def _skips(root: Path, report: Path, allowed: str) -> subprocess.CompletedProcess[str]:
    listed = report.with_name("allowed.txt")
    listed.write_text(allowed)
    command = [sys.executable, str(root / "tools" / "skips.py"), str(report), str(listed)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_skips_on_the_list_pass_and_are_shown_with_their_reason(root: Path, report: Path) -> None:
    allowed = "# why\n\ntest_some::test_skipped\tneeds Java\ntest_some::test_expected_to_fail[*]\tis being written\n"
    ran = _skips(root, report, allowed)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines() == [
        "skipped test_some::test_skipped (allowed: needs Java)",
        "skipped test_some::test_expected_to_fail[1] (allowed: is being written)",
        "skipped test_some::test_expected_to_fail[2] (allowed: is being written)",
    ]


def test_a_skip_that_is_not_on_the_list_fails_and_says_why_it_was_skipped(root: Path, report: Path) -> None:
    ran = _skips(root, report, "test_some::test_expected_to_fail*\tis being written\n")
    assert ran.returncode == 1
    assert "skipped test_some::test_skipped (NOT ALLOWED; it says: no Java here)" in ran.stdout
    assert "1 of 3 skipped tests" in ran.stderr


def test_a_line_without_a_reason_is_refused(root: Path, report: Path) -> None:
    ran = _skips(root, report, "test_some::test_skipped\tneeds Java\ntest_some::*\n")
    assert ran.returncode == 2
    assert "allowed.txt, line 2: expected a pattern, a tab and the reason" in ran.stderr


def test_a_report_that_is_not_there_is_named(root: Path, tmp_path: Path) -> None:
    ran = _skips(root, tmp_path / "missing.xml", "")
    assert ran.returncode == 2
    assert "missing.xml" in ran.stderr
