"""What a command answers: the same content as text and as JSON, and an exit code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import attrs
from attrs import frozen

from ..spec.core import NOT_OBSERVED

VERSION = 1  # of the JSON that the commands print


@frozen
class Answer:
    """Everything that a command has to say."""

    data: Mapping[str, Any]
    lines: list[str]
    code: int = 0
    failure: str = ""  # what could not be done with it, a sentence: said behind the answer, which then ends with code 2

    def as_json(self, command: str) -> str:
        error = {"error": self.failure} if self.failure else {}
        return json.dumps({"brokerlaw": command, "version": VERSION, **self.data, **error}, indent=1)


def plain_data(value: Any) -> Any:
    """Outcomes and snapshots as JSON data: attrs classes by name and field, rows as objects, the strange as text."""
    if value is NOT_OBSERVED:
        return {"not_observed": True}
    if value is None or isinstance(value, bool | int | str):
        return value
    if attrs.has(type(value)):
        fields = {a.name: plain_data(getattr(value, a.name)) for a in attrs.fields(type(value))}
        return {"is": type(value).__name__, **fields}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain_data(item) for name, item in value._asdict().items()}
    if isinstance(value, tuple | list):
        return [plain_data(item) for item in value]
    return repr(value)
