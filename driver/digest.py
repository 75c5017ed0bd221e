"""The digest: one hash per case over what it showed, the same in every process and on every machine."""

from __future__ import annotations

import marshal
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import attrs


def case_hash(number: int, outcomes: list[Any], judged: Any) -> int:
    """A 64-bit hash of what a case showed: the same in every process, on every machine."""
    plain = [_plain(outcome) for outcome in outcomes]
    try:
        data = marshal.dumps([number, plain, judged], 2)
    except ValueError:  # a subject answered with something that is not plain data
        data = repr([number, plain, judged]).encode()
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")


_PLAIN: dict[type, Callable[[Any], Any]] = {}


def _plain(outcome: Any) -> Any:
    """An outcome as a tuple of plain data."""
    make = _PLAIN.get(type(outcome))
    if make is None:
        make = _PLAIN[type(outcome)] = _plainer(type(outcome))
    return make(outcome)


def _plainer(kind: type) -> Callable[[Any], Any]:
    name = kind.__name__
    if not attrs.has(kind):  # no outcome of ours; its repr may hold an address
        return lambda outcome: name
    fields = [a.name for a in attrs.fields(kind)]
    if not fields:
        return lambda outcome: name
    if len(fields) == 1:
        (only,) = fields
        return lambda outcome: (name, getattr(outcome, only))
    return lambda outcome: (name, *[getattr(outcome, each) for each in fields])
