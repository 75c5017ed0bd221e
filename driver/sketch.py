"""Sketches: how many different things a campaign met, in a bounded amount of memory.

Of the hashes of all things met, the smallest few are kept.  Those of two ranges, put together and cut again, are those
of both: the sketch does not depend on how a campaign was split.  Hashes are spread evenly, so that how far the largest
kept one lies from zero tells how many there are: with 256 of them to about 6 %.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from hashlib import blake2b
from zlib import crc32

KEPT = 256
BITS = 63  # a hash fits a signed 64-bit column


def state_hash(form: Hashable) -> int:
    """The hash of a state in its canonical form: the same in every process."""
    return int.from_bytes(blake2b(repr(form).encode(), digest_size=8).digest(), "big") >> 1


def pair_hash(before: str, after: str) -> int:
    """A small hash of two things that came one after the other."""
    return crc32(f"{before} | {after}".encode())


def smallest(hashes: Iterable[int]) -> list[int]:
    """The sketch of these hashes."""
    return sorted(set(hashes))[:KEPT]


def distinct(sketch: list[int]) -> int:
    """How many different hashes there were: exact while all of them are kept."""
    if len(sketch) < KEPT:
        return len(sketch)
    return round((KEPT - 1) * (1 << BITS) / sketch[-1])
