"""The lifetime bounds of entry_cache at work: each formula, its value for one setting, and what the model does there.

For every moment within a check interval an entry is appended, and every check is run until it is gone; what is shown
is the least and the greatest age at which it went.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import frozen

from brokerlaw.spec.core import TEXT_DIALECT
from brokerlaw.spec.entry_cache import rules
from brokerlaw.spec.entry_cache.model import MODEL
from brokerlaw.spec.entry_cache.words import Append, Config, EvictionCheck, Get, OpenCursor, Tick

TTL, GAP, MOST = 10, 3, 2
CONFIG = Config(ttl_ms=TTL, check_interval_ms=GAP, max_extensions=MOST)


@frozen
class Row:
    """A bound in words, its value, and what was seen."""

    which: str
    formula: str
    value: str
    seen: str


def lifetime_rows() -> list[Row]:
    idle = [_age(offset, expected=False) for offset in range(GAP)]
    expected = [_age(offset, expected=True) for offset in range(GAP)]
    exact = rules.scheduled_bound_ms(TTL, GAP, MOST)
    moments = range(1, TTL)
    read_idle = [_age(offset, False, moment) - moment for offset in range(GAP) for moment in moments]
    read_expected = [_age(offset, True, moment) - moment for offset in range(GAP) for moment in moments]
    return [
        Row(
            "nobody expects to read or reads, no size pass",
            "(ttl, ttl + δ]",
            f"({TTL}, {rules.idle_bound_ms(TTL, GAP)}]",
            _span(idle, "at age"),
        ),
        Row(
            "nobody reads, reads still expected or not",
            "≤ (M + 1)(ttl + δ)",
            f"≤ {rules.unaccessed_bound_ms(TTL, GAP, MOST)}",
            _span(expected, "at age"),
        ),
        Row(
            "the same, checks at a fixed interval, no size pass",
            "≤ (ttl + δ) + M δ (⌊ttl/δ⌋ + 1)",
            f"≤ {exact}",
            _span(expected, "at age") + (": reached" if max(expected) == exact else ""),
        ),
        Row(
            "has expected reads left all its life, no size pass",
            "> (M + 1) ttl",
            f"> {rules.expected_least_ms(TTL, MOST)}",
            _span(expected, "at age"),
        ),
        Row(
            "was read, and no reads are expected from then on",
            "≤ 2 (ttl + δ) after the last read",
            f"≤ {rules.after_access_bound_ms(TTL, GAP, MOST, 0, False)}",
            _span(read_idle, "after"),
        ),
        Row(
            "was read with x extensions spent, and reads are still expected",
            "≤ (1 + max(1, M − x))(ttl + δ) after the last read",
            f"≤ {rules.after_access_bound_ms(TTL, GAP, MOST, 0, True)} (x = 0)",
            _span(read_expected, "after"),
        ),
    ]


def _span(ages: Iterable[int], what: str) -> str:
    seen = sorted(ages)
    return f"gone {what} {seen[0]} to {seen[-1]}"


def _age(offset_ms: int, expected: bool, read_at_ms: int | None = None) -> int:
    """How old an entry is when it goes: appended so long after a check, read (looked up) at an age, or not at all."""
    state: Any = MODEL.start(CONFIG)

    def do(command: Any) -> None:
        nonlocal state
        state, _ = MODEL.step(CONFIG, state, command, TEXT_DIALECT)

    if expected:
        do(OpenCursor("t0", "c0", "latest"))
    if offset_ms:
        do(Tick(offset_ms))
    do(Append("t0", 1))
    born = MODEL.view(state).now_ms
    while (now := MODEL.view(state)).queue:
        assert now.now_ms - born < 1_000, "it never goes"
        if read_at_ms == now.now_ms - born:
            do(Get("t0", 0, 0))
        if now.now_ms == now.next_check_ms:
            do(EvictionCheck())
        do(Tick(1))
    gone: int = MODEL.view(state).now_ms - 1 - born  # the clock went on once after the check
    return gone
