"""Which mutations of a file are not mutations of what it does, so that no case could tell."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from attrs import frozen

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
