"""Lists the tests that a run skipped, and fails on one that no line of the list of allowed skips accounts for.

    python tools/skips.py JUNIT_XML ALLOWED

A line of ALLOWED is a pattern (`*` stands for anything), a tab and the reason; `#` begins a comment.  A test that is
expected to fail counts as skipped: it shows nothing either.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree


class Skip(NamedTuple):
    """A skipped test, `tests.test_layout::test_name[parameter]`, and what it said."""

    test: str
    message: str


class Allowed(NamedTuple):
    """A skip that somebody accounted for."""

    pattern: str
    reason: str

    def covers(self, test: str) -> bool:
        return re.fullmatch(re.escape(self.pattern).replace(r"\*", ".*"), test) is not None


class BadList(ValueError):
    """A list of allowed skips that can not be read; the message names the line."""


def read_allowed(text: str, where: str) -> list[Allowed]:
    """The allowed skips; raises BadList at a line that gives no reason."""
    allowed = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        pattern, _, reason = (part.strip() for part in line.partition("\t"))
        if not pattern or not reason:
            raise BadList(f"{where}, line {number}: expected a pattern, a tab and the reason")
        allowed.append(Allowed(pattern, reason))
    return allowed


def read_skips(junit: str) -> list[Skip]:
    """The skipped tests of a JUnit report."""
    skips = []
    for case in ElementTree.fromstring(junit).iter("testcase"):  # noqa: S314 (pytest wrote it a moment ago)
        skipped = case.find("skipped")
        if skipped is not None:
            # A file skipped as a whole has a name alone.
            test = "::".join(filter(None, (case.get("classname"), case.get("name"))))
            skips.append(Skip(test, skipped.get("message", "")))
    return skips


def judge(skips: list[Skip], allowed: list[Allowed]) -> tuple[list[str], int]:
    """One line for each skip, and how many of them nobody accounted for."""
    lines, unaccounted = [], 0
    for skip in skips:
        reason = next((entry.reason for entry in allowed if entry.covers(skip.test)), None)
        unaccounted += reason is None
        verdict = f"allowed: {reason}" if reason else f"NOT ALLOWED; it says: {skip.message}"
        lines.append(f"skipped {skip.test} ({verdict})")
    return lines, unaccounted


def main(arguments: list[str]) -> int:
    """Prints the skips; 1 where one is not allowed, 2 where a file can not be read."""
    if len(arguments) != 2:
        print("usage: skips.py JUNIT_XML ALLOWED", file=sys.stderr)
        return 2
    report, listed = map(Path, arguments)
    try:
        skips = read_skips(report.read_text(encoding="utf-8"))
        allowed = read_allowed(listed.read_text(encoding="utf-8"), str(listed))
    except (OSError, BadList, ElementTree.ParseError) as problem:
        print(f"skips: {problem}", file=sys.stderr)
        return 2
    lines, unaccounted = judge(skips, allowed)
    print("\n".join(lines) if lines else "No test was skipped.")
    if unaccounted:
        print(f"{unaccounted} of {len(skips)} skipped tests are not on the list {listed}", file=sys.stderr)
    return 1 if unaccounted else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
