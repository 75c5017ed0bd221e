"""Slips in what a deviation does instead of the text: each shows only in the dialect that it is listed with."""

from __future__ import annotations

from typing import Any

from ....spec.entry_cache.words import Config, EvictionCheck
from ...entry_cache import CacheManager, EntryCache
from ...entry_cache.removal_queue import Freed, RemovalQueue
from ...entry_cache.wrapper import CachedEntry, Wrapper
from . import instead_counts as counted
from .lone import RequeueRaisesReads, TimePassRequeuesNext

# ---- Passes ----------------------------------------------------------------------------------------------------------


class SizePassLapsOn(RemovalQueue):
    """A size pass comes round as often as it must although it should make one lap."""

    def _spared(self, node: Wrapper) -> bool:
        return self._entitled(node)


class StashIsMetAgain(RemovalQueue):
    """A size pass comes round to what it should have set aside."""

    def size_pass(self, now_ms: int, need_bytes: int) -> Freed:
        self._begin(now_ms, need_bytes)
        return self._run(self._decide_by_size, len(self.nodes) * (self.max_extensions + 2))


class AccessGivesNoRound(RemovalQueue):
    """In a size pass an access is good for no round of its own."""

    def _spared(self, node: Wrapper) -> bool:
        return self._by_expected_reads(node)


class ReadsSaveTheExpired(RemovalQueue):
    """In a size pass expected reads save an expired entry too."""

    def _spared(self, node: Wrapper) -> bool:
        return self._entitled(node)


class FreesMoreAfterScan(RemovalQueue):
    """A size pass goes on until it has freed more than it must."""

    def _enough(self) -> bool:
        return self.freed_bytes > self.need_bytes + 1


class ScanStopsEarly(RemovalQueue):
    """A time pass stops at the first entry that is not expired although it should go through the whole queue."""

    def _scan_whole_queue(self) -> Freed:
        return self._run(self._decide_by_time, len(self.nodes))


class ScanRequeuesNext(TimePassRequeuesNext):
    """A time pass over the whole queue that removed something requeues the first entry that is not expired."""


class SeparateRequeueRaisesReads(RequeueRaisesReads):
    """With separate budgets a requeue adds an expected read to an entry that has some left."""


class _KnowsTheStrategy(RemovalQueue):
    """A queue whose passes can ask whether expected reads are the strategy."""

    def configure(self, settings: Config) -> None:
        super().configure(settings)
        self.by_strategy = settings.by_expected_reads


class FreesAllWithoutStrategy(_KnowsTheStrategy):
    """Without the strategy a size pass goes on until the cache is empty."""

    def _enough(self) -> bool:
        return self.by_strategy and super()._enough()


class WalksOnWithoutStrategy(_KnowsTheStrategy):
    """Without the strategy a time pass goes on, once round the queue, and finds nothing to do there."""

    def time_pass(self, now_ms: int) -> Freed:
        freed = super().time_pass(now_ms)
        self.visits += 0 if self.by_strategy else len(self.nodes) + 1
        return freed


class TimePassForgetsWithoutStrategy(EntryCache):
    """Without the strategy, and while the cache has room, a time pass takes no account of accesses and reads."""

    def eviction_check(self, command: EvictionCheck) -> Any:
        if not self.by_expected_reads and self.manager.total_bytes <= self.manager.trigger_bytes:
            self.manager.queue.extend_expected = self.manager.queue.extend_accessed = False
        outcome = super().eviction_check(command)
        self.manager.queue.configure(self.settings)
        return outcome


class AccessSpends(RemovalQueue):
    """A requeue for an access spends an extension although budgets are separate."""

    def _extension_cost(self, node: Wrapper) -> int:
        return 1


class RequeueRenewsToNow(RemovalQueue):
    """A requeue renews the timestamp to the present time although it should add the ttl."""

    def _renewed_ts(self, node: Wrapper) -> int:
        return self.now_ms


class PutComesUnaccessed(CacheManager):
    """A new entry comes unaccessed although a put counts as an access."""

    def insert(self, *what: Any) -> CachedEntry | None:
        entry = super().insert(*what)
        if entry is not None and entry.wrapper is not None:
            entry.wrapper.accessed = False
        return entry


class CursorEvictionLeavesTombstones(CacheManager):
    """What goes behind the cursors leaves tombstones although it should be taken out of the queue."""

    def remove_with_nodes(self, wrappers: list[Wrapper]) -> None:
        self.remove_each(wrappers)


SLIPS: dict[str, tuple[tuple[str, type, str], ...]] = {
    "one-lap": (("size-pass-laps-on", SizePassLapsOn, "size_pass_makes_one_lap"),),
    "stash": (("stash-is-met-again", StashIsMetAgain, "size_pass_sets_aside_what_is_entitled"),),
    "separate-budgets": (
        ("access-gives-no-round", AccessGivesNoRound, "size_pass_gives_an_access_a_round_of_its_own"),
        ("separate-requeue-raises-reads", SeparateRequeueRaisesReads, "requeue_for_access_spends_nothing"),
        ("access-spends", AccessSpends, "requeue_for_access_spends_nothing"),
    ),
    "ttl-added": (("requeue-renews-to-now", RequeueRenewsToNow, "requeue_adds_the_ttl"),),
    "size-pass-honours-expiry": (
        ("reads-save-the-expired", ReadsSaveTheExpired, "expected_reads_save_no_expired_entry_from_a_size_pass"),
    ),
    "put-counts-as-access": (("put-comes-unaccessed", PutComesUnaccessed, "new_entry_comes_accessed"),),
    "scan-past-unexpired": (
        ("frees-more-after-scan", FreesMoreAfterScan, "size_pass_follows_a_scan_of_the_whole_queue"),
        ("scan-stops-early", ScanStopsEarly, "time_pass_acts_on_all_that_is_expired"),
        ("scan-requeues-next", ScanRequeuesNext, "time_pass_acts_on_all_that_is_expired"),
    ),
    "cursor-eviction-through-queue": (
        ("cursor-eviction-leaves-tombstones", CursorEvictionLeavesTombstones, "cursor_eviction_leaves_no_tombstone"),
    ),
    "undelivered-release-free": (
        ("failed-release-takes-read", counted.FailedReleaseTakesRead, "failed_delivery_takes_no_read"),
    ),
    "leaver-pays-back": (
        ("leaver-owes-nothing", counted.LeaverOwesNothing, "leaver_takes_back_what_it_had_yet_to_read"),
        ("leaver-forgets-its-replays", counted.LeaverForgetsItsReplays, "leaver_takes_back_what_it_had_yet_to_read"),
        ("redelivery-counts-twice", counted.RedeliveryCountsTwice, "releases_and_replays_move_counts_as_ever"),
        ("failure-counts-twice", counted.FailureCountsTwice, "failed_delivery_moves_counts_as_ever"),
    ),
    "no-count-from-zero": (("counts-from-zero", counted.CountsFromZero, "entry_that_came_without_reads_expects_none"),),
    "count-below-zero": (
        ("count-stops-at-zero", counted.CountStopsAtZero, "release_takes_one_below_zero_too"),
        ("count-from-zero-stays-there", counted.CountFromZeroStaysThere, "count_that_began_at_zero_goes_below_it"),
        ("newcomer-adds-to-counts", counted.NewcomerAddsToCounts, "no_other_command_moves_a_count"),
    ),
    "losing-load-keeps-own-count": (
        ("losing-load-is-tied", counted.LosingLoadIsTied, "losing_load_is_tied_to_nothing"),
    ),
    "second-put-replaces-count": (
        ("second-put-changes-nothing", counted.SecondPutChangesNothing, "second_put_replaces_the_count_alone"),
    ),
    "rank-of-reader": (
        ("load-counts-each-position", counted.LoadCountsEachPosition, "loaded_entry_expects_the_rank_of_its_reader"),
    ),
    "zero-reads-not-cached": (
        ("lone-reader-is-not-cached", counted.LoneReaderIsNotCached, "load_is_cached_with_expected_reads_alone"),
        (
            "load-without-readers-is-cached",
            counted.LoadWithoutReadersIsCached,
            "load_is_cached_with_expected_reads_alone",
        ),
        (
            "inactive-reader-is-not-cached",
            counted.InactiveReaderIsNotCached,
            "load_of_an_inactive_cursor_is_cached_for_the_others",
        ),
    ),
    "every-copy-counts": (("lookup-takes-nothing", counted.LookupTakesNothing, "lookup_takes_a_read"),),
    "mark-delete-exclusive": (
        (
            "eviction-takes-the-mark-delete",
            counted.EvictionTakesTheMarkDelete,
            "eviction_spares_the_entry_at_the_mark_delete",
        ),
    ),
    "reads-without-strategy": (
        (
            "frees-all-without-strategy",
            FreesAllWithoutStrategy,
            "expected_reads_give_rounds_without_the_strategy_too",
        ),
        (
            "no-requeue-without-strategy",
            TimePassForgetsWithoutStrategy,
            "expired_entry_is_requeued_for_reads_without_the_strategy_too",
        ),
        (
            "walks-on-without-strategy",
            WalksOnWithoutStrategy,
            "passes_visit_for_reads_without_the_strategy_too",
        ),
        (
            "first-replay-is-free-without-strategy",
            counted.FirstReplayIsFreeWithoutStrategy,
            "reads_are_counted_without_the_strategy_too",
        ),
    ),
    "replay-miss-cached": (
        (
            "missed-replay-is-not-cached",
            counted.MissedReplayIsNotCached,
            "missed_replay_is_cached_and_handed_out_from_there",
        ),
        (
            "missed-replay-is-an-access",
            counted.MissedReplayIsAnAccess,
            "replayed_entry_expects_what_a_loaded_one_would",
        ),
    ),
}
"""For each deviation its mutants: name, class, and the law that it breaks there."""
