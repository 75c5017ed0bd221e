"""Which mutations are not run: those of source that is not behaviour, and those that ask nothing new."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from attrs import frozen

SAME_QUESTION = (
    # One wrong sign asks whether anybody notices; ten more ask the same of slips that nobody makes.
    (re.compile(r"core/ReplaceBinaryOperator_\w+_(Div|Mod|Pow|LShift|RShift|BitOr|BitAnd|BitXor)"), "rare arithmetic"),
    # Small numbers and names are one object each in CPython, so that this changes nothing.
    (re.compile(r"core/ReplaceComparisonOperator_(Eq_Is|NotEq_IsNot)"), "identity for equality"),
)
SELF_CHECKS = ("_check", "_check_line", "_check_cursors", "_check_pending")  # called by tests, never by a command

Place = tuple[int, int]  # line from 1, column from 0


@frozen
class Region:
    """A stretch of source that is left alone, and why."""

    start: Place
    end: Place
    why: str

    def holds(self, place: Place) -> bool:
        return self.start <= place < self.end


def left_out(operator: str, place: Place, left_alone: list[Region]) -> str:
    """Why a mutation is not run; empty where it is."""
    in_region = next((region.why for region in left_alone if region.holds(place)), "")
    return in_region or next((why for pattern, why in SAME_QUESTION if pattern.fullmatch(operator)), "")


def regions(source: str) -> list[Region]:
    """The stretches of a module that are not its behaviour."""
    tree = ast.parse(source)
    return [
        Region((node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0), why)
        for node, why in _not_behaviour(tree)
    ]


def _not_behaviour(tree: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            if node.name in SELF_CHECKS:
                yield node, "a self-check"
            if node.returns is not None:
                yield node.returns, "a type"
        elif isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            yield node.annotation, "a type"
        elif isinstance(node, ast.Assert):
            yield node, "an assertion"
        elif isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            yield node, "for the type checker"
