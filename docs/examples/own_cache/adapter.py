"""The adapter: the commands of entry_cache that a cache without cursors can take, in terms of RecentMessages.

What a broker keeps around its cache (the clock, the log's positions, when a sweep is due) is kept here.
"""

from __future__ import annotations

from typing import Any

from attrs import evolve
from recent import Gone, RecentMessages

from brokerlaw import NOT_OBSERVED, Dialect
from brokerlaw.spec.entry_cache import ENTRY_CACHE
from brokerlaw.spec.entry_cache.rules import append_is_cached, continue_caching_ms, trigger_bytes, watermark_bytes
from brokerlaw.spec.entry_cache.words import (
    CHECK_DUE,
    LEDGER_EMPTY,
    NOT_DUE,
    Append,
    Appended,
    Clock,
    Config,
    Done,
    Evicted,
    EvictionCheck,
    Get,
    Hit,
    Miss,
    Refused,
    RollLedger,
    SetExtendAccessed,
    SetMaxSize,
    SetTtl,
    SetWatermark,
    SizePass,
    Snapshot,
    Tick,
)

SETTINGS = (SetMaxSize, SetWatermark, SetTtl, SetExtendAccessed)
SUPPORTED = (Append, RollLedger, Get, EvictionCheck, SizePass, Tick, *SETTINGS)
OBSERVED = ("now_ms", "next_check_ms", "settings", "total_bytes", "size_pass_due")


class Cache:
    """RecentMessages as a subject of entry_cache: published, looked up, swept.  It has no cursors."""

    unsupported = frozenset(ENTRY_CACHE.command_named) - {command.__name__ for command in SUPPORTED}
    unobserved = frozenset(ENTRY_CACHE.parts) - set(OBSERVED)

    def reset(self, config: Config, dialect: Dialect) -> None:
        self.config = self.settings = config
        self.now_ms, self.next_check_ms, self.due = 0, config.check_interval_ms, False
        self.ends: dict[str, tuple[int, int]] = {}  # of each topic's log
        self.cache = RecentMessages(0, 0, 0, False)
        self._set()

    def _set(self) -> None:
        cache, now = self.cache, self.settings
        cache.capacity_bytes = trigger_bytes(now.max_size_bytes)
        cache.shrink_to_bytes = watermark_bytes(now.max_size_bytes, now.watermark_percent)
        cache.ttl_ms, cache.second_round = now.ttl_ms, now.extend_accessed

    def apply(self, command: Any) -> Any:
        match command:
            case Append(topic, size_bytes):
                return self._append(topic, size_bytes)
            case RollLedger(topic):
                ledger, entry = self.ends.get(topic, (0, 0))
                self.ends[topic] = (ledger + 1, 0) if entry else (ledger, 0)
                return Done() if entry else Refused(LEDGER_EMPTY)
            case Get(topic, ledger, entry):
                data = self.cache.get((topic, ledger, entry))
                return Miss() if data is None else Hit((ledger, entry, len(data)))
            case EvictionCheck():
                return self._check()
            case SizePass():
                return self._swept(Gone()) if self.due else Refused(NOT_DUE)
            case Tick(ms):
                if self.now_ms >= self.next_check_ms:
                    return Refused(CHECK_DUE)
                self.now_ms = min(self.now_ms + ms, self.next_check_ms)
                return Clock(self.now_ms)
            case _:  # a setting: the command's one field is its name
                (name,) = (field.name for field in command.__attrs_attrs__)
                self.settings = evolve(self.settings, **{name: getattr(command, name)})
                self._set()
                return Done()

    def _append(self, topic: str, size_bytes: int) -> Appended:
        ledger, entry = self.ends.get(topic, (0, 0))
        self.ends[topic] = (ledger, entry + 1)
        window_ms = continue_caching_ms(self.config.continue_caching_ms, self.settings.ttl_ms)
        cached = append_is_cached(
            self.settings.max_size_bytes, 0, self.config.by_expected_reads, self.now_ms, window_ms
        )
        if cached:
            self.cache.put((topic, ledger, entry), bytes(size_bytes), self.now_ms)
            self.due = self.due or self.cache.size_bytes > self.cache.capacity_bytes
        return Appended(ledger, entry, cached)

    def _check(self) -> Evicted | Refused:
        if self.now_ms < self.next_check_ms:
            return Refused(NOT_DUE)
        self.next_check_ms = max(self.next_check_ms, self.now_ms) + self.config.check_interval_ms
        return self._swept(self.cache.expire(self.now_ms))

    def _swept(self, old: Gone) -> Evicted:
        more = self.cache.shrink(self.now_ms)
        self.due = False
        return Evicted(old.messages, old.size_bytes, more.messages, more.size_bytes)

    def snapshot(self) -> Snapshot:
        values = (self.now_ms, self.next_check_ms, self.settings, self.cache.size_bytes, self.due)
        seen: dict[str, Any] = dict(zip(OBSERVED, values, strict=True))
        return Snapshot(**{part: seen.get(part, NOT_OBSERVED) for part in ENTRY_CACHE.parts})
