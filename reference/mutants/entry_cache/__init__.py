"""entry_cache with one bug put back in: each mutant overrides one method, and its docstring says what goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import cleandoc

from ....spec.core import TEXT, Subject
from ...entry_cache import CacheManager, EntryCache, Parts
from ...entry_cache.range_cache import RangeCache
from ...entry_cache.removal_queue import RemovalQueue
from ...entry_cache.wrapper import Pool
from ...mutant import Inexpressible, Mutant
from . import comparisons, counts, instead, lone, passes, refusing, scope, shipped, starting, told


def _maker(kind: type) -> Callable[[], Subject]:
    """How to make the subject with this one class in it."""
    if issubclass(kind, EntryCache):
        return kind
    if issubclass(kind, CacheManager):
        return partial(EntryCache, Parts(manager=kind))
    if issubclass(kind, RemovalQueue):
        return partial(EntryCache, Parts(queue=kind))
    if issubclass(kind, RangeCache):
        return partial(EntryCache, Parts(cache=kind))
    assert issubclass(kind, Pool), f"{kind.__name__} is no part of the reference"
    return partial(EntryCache, Parts(pool=kind))


def _put_back(name: str, origin: str, kind: type, breaks: str, dialect: str = TEXT) -> Mutant:
    return Mutant(name, origin, cleandoc(kind.__doc__ or ""), _maker(kind), breaks, dialect)


_SLIP = "first-order"
_PULSAR = "apache/pulsar#"

MUTANTS: tuple[Mutant, ...] = (
    _put_back(
        "proportional-eviction", _PULSAR + "24363", shipped.ProportionalEviction, "size_pass_takes_the_oldest_first"
    ),
    _put_back("keys-by-identity", _PULSAR + "23900", shipped.KeysByIdentity, "cursor_reads_on_without_gap_or_repeat"),
    _put_back("removal-retains", _PULSAR + "23955", shipped.RemovalRetains, "payload_lives_while_held"),
    _put_back("lost-put-retains", _PULSAR + "16996", shipped.LostPutRetains, "payload_lives_while_held"),
    _put_back("double-release", _PULSAR + "22789", shipped.DoubleRelease, "payload_lives_while_held"),
    _put_back("size-of-lost-put", _PULSAR + "21302", shipped.SizeOfLostPut, "sizes_add_up"),
    _put_back(
        "removes-another",
        _PULSAR + "18076",
        shipped.RemovesAnotherThanInspected,
        "time_pass_acts_on_the_expired_prefix",
    ),
    _put_back("reports-size-from-before", _PULSAR + "10225", shipped.ReportsSizeFromBefore, "sizes_add_up"),
    _put_back(
        "read-moves-shared-view", _PULSAR + "24836", shipped.ReadMovesSharedView, "readers_get_the_whole_payload"
    ),
    _put_back(
        "recycled-keeps-accessed",
        _PULSAR + "25987",
        shipped.RecycledKeepsAccessed,
        "new_entry_starts_fresh_at_the_tail",
    ),
    _put_back(
        "extension-settings-ignored",
        _PULSAR + "26627",
        shipped.ExtensionSettingsIgnored,
        "expired_entry_is_requeued_iff_entitled",
    ),
    _put_back(
        "slowest-by-mark-delete", _PULSAR + "17273", shipped.SlowestByMarkDelete, "eviction_follows_the_slowest_cursor"
    ),
    _put_back("expired-at-ttl", _SLIP, comparisons.ExpiredAtTtl, "time_pass_acts_on_the_expired_prefix"),
    _put_back(
        "last-read-does-not-count", _SLIP, comparisons.LastReadDoesNotCount, "expired_entry_is_requeued_iff_entitled"
    ),
    _put_back("no-read-counts", _SLIP, comparisons.NoReadCounts, "expired_entry_is_requeued_iff_entitled"),
    _put_back("one-extension-more", _SLIP, comparisons.OneExtensionMore, "expired_entry_is_requeued_iff_entitled"),
    _put_back("frees-one-more", _SLIP, comparisons.FreesOneMore, "size_pass_frees_no_more_than_it_must"),
    _put_back(
        "triggered-at-trigger", _SLIP, comparisons.TriggeredAtTrigger, "insert_over_the_trigger_makes_a_size_pass_due"
    ),
    _put_back("window-inclusive", _SLIP, comparisons.WindowInclusive, "append_is_cached_while_somebody_may_want_it"),
    _put_back(
        "rank-counts-before", _SLIP, comparisons.RankCountsBefore, "loaded_entry_expects_the_cursors_at_or_before_it"
    ),
    _put_back("active-at-threshold", _SLIP, comparisons.ActiveAtThreshold, "backlogs_decide_only_without_the_strategy"),
    _put_back(
        "threshold-zero-is-on", _SLIP, comparisons.ThresholdZeroIsOn, "backlogs_decide_only_without_the_strategy"
    ),
    _put_back(
        "backlog-gap-exclusive", _SLIP, comparisons.BacklogGapExclusive, "backlogs_decide_only_without_the_strategy"
    ),
    _put_back(
        "backlog-needs-one-entry-more",
        _SLIP,
        comparisons.BacklogNeedsOneEntryMore,
        "backlogs_decide_only_without_the_strategy",
    ),
    _put_back(
        "backlog-needs-one-cursor-more",
        _SLIP,
        comparisons.BacklogNeedsOneCursorMore,
        "backlogs_decide_only_without_the_strategy",
    ),
    _put_back("upto-inclusive", _SLIP, comparisons.UptoInclusive, "forced_removal_notes_what_is_in_its_scope"),
    _put_back(
        "evicts-at-read-position", _SLIP, comparisons.EvictsAtReadPosition, "eviction_follows_the_slowest_cursor"
    ),
    _put_back("keeps-mark-deleted", _SLIP, comparisons.KeepsMarkDeleted, "eviction_follows_the_slowest_cursor"),
    _put_back(
        "exact-fit-takes-new-buffer",
        _SLIP,
        comparisons.ExactFitTakesNewBuffer,
        "new_entries_lie_in_the_buffers_begun_for_them",
    ),
    _put_back("accessed-not-cleared", _SLIP, passes.AccessedNotCleared, "requeue_renews_and_spends"),
    _put_back("requeue-at-head", _SLIP, passes.RequeueAtHead, "requeue_renews_and_spends"),
    _put_back("extension-not-counted", _SLIP, passes.ExtensionNotCounted, "requeue_renews_and_spends"),
    _put_back("access-extends-for-free", _SLIP, passes.AccessExtendsForFree, "requeue_renews_and_spends"),
    _put_back("timestamp-not-renewed", _SLIP, passes.TimestampNotRenewed, "requeue_renews_and_spends"),
    _put_back(
        "size-pass-ignores-entitlement", _SLIP, passes.SizePassIgnoresEntitlement, "size_pass_takes_the_oldest_first"
    ),
    _put_back("size-pass-ignores-access", _SLIP, passes.SizePassIgnoresAccess, "size_pass_takes_the_oldest_first"),
    _put_back("size-pass-one-lap", _SLIP, passes.SizePassOneLap, "size_pass_reaches_the_watermark"),
    _put_back("size-pass-newest-first", _SLIP, passes.SizePassNewestFirst, "size_pass_takes_the_oldest_first"),
    _put_back(
        "size-pass-stops-at-tombstone", _SLIP, passes.SizePassStopsAtTombstone, "size_pass_reaches_the_watermark"
    ),
    _put_back(
        "time-pass-stops-at-tombstone", _SLIP, passes.TimePassStopsAtTombstone, "time_pass_acts_on_the_expired_prefix"
    ),
    _put_back(
        "time-pass-ignores-entitlement",
        _SLIP,
        passes.TimePassIgnoresEntitlement,
        "expired_entry_is_requeued_iff_entitled",
    ),
    _put_back("time-pass-handles-one", _SLIP, passes.TimePassHandlesOne, "time_pass_acts_on_the_expired_prefix"),
    _put_back(
        "tombstone-counts-as-evicted", _SLIP, passes.TombstoneCountsAsEvicted, "removals_are_reported_as_they_are"
    ),
    _put_back("removes-lowest-position", _SLIP, passes.RemovesLowestPosition, "queue_and_caches_agree"),
    _put_back("recycled-keeps-extensions", _SLIP, passes.RecycledKeepsExtensions, "new_entry_starts_fresh_at_the_tail"),
    _put_back("trigger-is-max-size", _SLIP, passes.TriggerIsMaxSize, "insert_over_the_trigger_makes_a_size_pass_due"),
    _put_back("watermark-against-trigger", _SLIP, passes.WatermarkAgainstTrigger, "size_pass_reaches_the_watermark"),
    _put_back("size-pass-never-due", _SLIP, passes.SizePassNeverDue, "insert_over_the_trigger_makes_a_size_pass_due"),
    _put_back("size-pass-stays-due", _SLIP, passes.SizePassStaysDue, "pass_settles_what_was_due"),
    _put_back(
        "size-from-before-time-pass", _SLIP, passes.SizeFromBeforeTimePass, "size_pass_counts_what_the_time_pass_freed"
    ),
    _put_back("size-pass-first", _SLIP, passes.SizePassFirst, "size_pass_counts_what_the_time_pass_freed"),
    _put_back("off-keeps-residents", _SLIP, passes.OffKeepsResidents, "size_pass_reaches_the_watermark"),
    _put_back("forced-removal-keeps-total", _SLIP, passes.ForcedRemovalKeepsTotal, "sizes_add_up"),
    _put_back("cache-size-not-reduced", _SLIP, passes.CacheSizeNotReduced, "sizes_add_up"),
    _put_back("clear-reports-buffers", _SLIP, passes.ClearReportsBuffers, "sizes_add_up"),
    _put_back("freed-while-held", _SLIP, passes.FreedWhileHeld, "payload_lives_while_held"),
    _put_back("hit-moves-to-tail", _SLIP, passes.HitMovesToTail, "passes_and_forced_removal_alone_evict"),
    _put_back("put-is-access", _SLIP, passes.PutIsAccess, "new_entry_starts_fresh_at_the_tail"),
    _put_back("read-taken-twice", _SLIP, counts.ReadTakenTwice, "expected_reads_follow_releases_and_replays"),
    _put_back("reads-below-zero", _SLIP, counts.ReadsBelowZero, "expected_reads_follow_releases_and_replays"),
    _put_back("replay-not-counted", _SLIP, counts.ReplayNotCounted, "expected_reads_follow_releases_and_replays"),
    _put_back(
        "release-takes-from-later-entry",
        _SLIP,
        counts.ReleaseTakesFromLaterEntry,
        "expected_reads_follow_releases_and_replays",
    ),
    _put_back("get-takes-read", _SLIP, counts.GetTakesRead, "expected_reads_follow_releases_and_replays"),
    _put_back(
        "load-counts-all-active", _SLIP, counts.LoadCountsAllActive, "loaded_entry_expects_the_cursors_at_or_before_it"
    ),
    _put_back(
        "load-counts-inactive", _SLIP, counts.LoadCountsInactive, "loaded_entry_expects_the_cursors_at_or_before_it"
    ),
    _put_back(
        "load-forgets-its-reader",
        _SLIP,
        counts.LoadForgetsItsReader,
        "loaded_entry_expects_the_cursors_at_or_before_it",
    ),
    _put_back("append-counts-all", _SLIP, counts.AppendCountsAll, "appended_entry_expects_every_active_cursor"),
    _put_back(
        "append-counts-without-strategy",
        _SLIP,
        counts.AppendCountsWithoutStrategy,
        "appended_entry_expects_every_active_cursor",
    ),
    _put_back("leaver-pays-back", _SLIP, counts.LeaverPaysBack, "expected_reads_follow_releases_and_replays"),
    _put_back("newcomer-adds-reads", _SLIP, counts.NewcomerAddsReads, "expected_reads_follow_releases_and_replays"),
    _put_back("second-put-renews-timestamp", _SLIP, counts.SecondPutRenewsTimestamp, "first_put_wins"),
    _put_back("second-put-replaces-reads", _SLIP, counts.SecondPutReplacesReads, "first_put_wins"),
    _put_back("second-put-adds-size", _SLIP, counts.SecondPutAddsSize, "sizes_add_up"),
    _put_back("second-put-marks-accessed", _SLIP, counts.SecondPutMarksAccessed, "first_put_wins"),
    _put_back("second-put-wins", _SLIP, counts.SecondPutWins, "first_put_wins"),
    _put_back("get-is-no-access", _SLIP, counts.GetIsNoAccess, "hit_marks_accessed_and_nothing_else"),
    _put_back("read-is-no-access", _SLIP, counts.ReadIsNoAccess, "hit_marks_accessed_and_nothing_else"),
    _put_back("hit-renews-timestamp", _SLIP, counts.HitRenewsTimestamp, "hit_marks_accessed_and_nothing_else"),
    _put_back("get-leaks-its-copy", _SLIP, counts.GetLeaksItsCopy, "payload_lives_while_held"),
    _put_back("delivery-leaks-payload", _SLIP, counts.DeliveryLeaksPayload, "payload_lives_while_held"),
    _put_back("failed-delivery-releases-twice", _SLIP, counts.FailedDeliveryReleasesTwice, "payload_lives_while_held"),
    _put_back("ttl-rewrites-timestamps", _SLIP, counts.TtlRewritesTimestamps, "settings_and_time_rewrite_nothing"),
    _put_back(
        "max-extensions-rewrites-entries",
        _SLIP,
        counts.MaxExtensionsRewritesEntries,
        "settings_and_time_rewrite_nothing",
    ),
    _put_back("append-not-copied", _SLIP, counts.AppendNotCopied, "new_entries_lie_in_the_buffers_begun_for_them"),
    _put_back("window-of-one-ttl", _SLIP, scope.WindowOfOneTtl, "append_is_cached_while_somebody_may_want_it"),
    _put_back("window-never-closes", _SLIP, scope.WindowNeverCloses, "append_is_cached_while_somebody_may_want_it"),
    _put_back(
        "window-without-strategy", _SLIP, scope.WindowWithoutStrategy, "append_is_cached_while_somebody_may_want_it"
    ),
    _put_back("departure-not-noted", _SLIP, scope.DepartureNotNoted, "departure_of_the_last_active_cursor_is_noted"),
    _put_back("off-still-caches", _SLIP, scope.OffStillCaches, "append_is_cached_while_somebody_may_want_it"),
    _put_back(
        "cursor-eviction-under-strategy",
        _SLIP,
        scope.CursorEvictionUnderStrategy,
        "passes_and_forced_removal_alone_evict",
    ),
    _put_back("cursor-eviction-never", _SLIP, scope.CursorEvictionNever, "eviction_follows_the_slowest_cursor"),
    _put_back(
        "cursor-eviction-needs-cursor", _SLIP, scope.CursorEvictionNeedsCursor, "eviction_follows_the_slowest_cursor"
    ),
    _put_back("fastest-for-slowest", _SLIP, scope.FastestForSlowest, "eviction_follows_the_slowest_cursor"),
    _put_back("inactive-hold-back", _SLIP, scope.InactiveHoldBack, "eviction_follows_the_slowest_cursor"),
    _put_back(
        "mark-delete-setting-ignored", _SLIP, scope.MarkDeleteSettingIgnored, "eviction_follows_the_slowest_cursor"
    ),
    _put_back(
        "forced-removal-asks-entitlement", _SLIP, scope.ForcedRemovalAsksEntitlement, "forced_removal_is_unconditional"
    ),
    _put_back(
        "forced-removal-by-position", _SLIP, scope.ForcedRemovalByPosition, "forced_removal_takes_only_what_it_noted"
    ),
    _put_back("forced-removal-by-node", _SLIP, scope.ForcedRemovalByNode, "forced_removal_takes_only_what_it_noted"),
    _put_back(
        "forced-removal-misses-last", _SLIP, scope.ForcedRemovalMissesLast, "forced_removal_notes_what_is_in_its_scope"
    ),
    _put_back("listed-by-entry", _SLIP, lone.ListedByEntry, "queue_and_caches_agree"),
    _put_back("size-with-overhead", _SLIP, lone.SizeWithOverhead, "sizes_add_up"),
    _put_back("removed-bytes-not-counted", _SLIP, lone.RemovedBytesNotCounted, "counters_add_up"),
    _put_back("node-goes-at-once", _SLIP, lone.NodeGoesAtOnce, "tombstones_stand_for_what_left_otherwise"),
    _put_back("requeue-copies", _SLIP, lone.RequeueCopies, "entries_keep_their_identity"),
    _put_back(
        "forced-removal-takes-one-more",
        _SLIP,
        lone.ForcedRemovalTakesOneMore,
        "forced_removal_takes_only_what_it_noted",
    ),
    _put_back("refused-open-evicts", _SLIP, lone.RefusedOpenEvicts, "refused_changes_nothing"),
    _put_back("time-pass-requeues-next", _SLIP, lone.TimePassRequeuesNext, "time_pass_acts_on_the_expired_prefix"),
    _put_back("time-pass-forgets-access", _SLIP, lone.TimePassForgetsAccess, "expired_entry_is_requeued_iff_entitled"),
    _put_back("time-pass-walks-on", _SLIP, lone.TimePassWalksOn, "passes_visit_no_more_than_they_need"),
    _put_back("requeue-raises-reads", _SLIP, lone.RequeueRaisesReads, "requeue_renews_and_spends"),
    _put_back(
        "size-pass-spares-one-of-twins", _SLIP, lone.SizePassSparesOneOfTwins, "size_pass_takes_the_oldest_first"
    ),
    _put_back(
        "size-pass-spares-for-nothing", _SLIP, lone.SizePassSparesForNothing, "size_pass_requeues_what_it_passes_over"
    ),
    _put_back("check-nibbles", _SLIP, lone.CheckNibbles, "no_size_pass_at_or_below_the_trigger"),
    _put_back("idle-size-pass-requeues", _SLIP, lone.IdleSizePassRequeues, "no_size_pass_at_or_below_the_trigger"),
    _put_back("due-pass-waits", _SLIP, lone.DuePassWaits, "size_pass_reaches_the_watermark"),
    _put_back("every-second-check", _SLIP, lone.EverySecondCheck, "checks_come_at_their_interval"),
    _put_back("every-load-is-cached", _SLIP, lone.EveryLoadIsCached, "load_is_cached_where_the_strategy_says_so"),
    _put_back("reads-always-load", _SLIP, lone.ReadsAlwaysLoad, "cursor_reads_on_without_gap_or_repeat"),
    _put_back("release-ends-newest", _SLIP, lone.ReleaseEndsNewest, "deliveries_open_and_end_one_by_one"),
    _put_back("latest-is-one-back", _SLIP, lone.LatestIsOneBack, "cursors_change_only_as_told"),
    _put_back("seek-keeps-replays", _SLIP, lone.SeekKeepsReplays, "cursors_change_only_as_told"),
    _put_back("roll-drops-cache", _SLIP, lone.RollDropsCache, "cursor_eviction_waits_for_cursors"),
    _put_back("roll-does-nothing", _SLIP, told.RollDoesNothing, "log_changes_only_as_told"),
    _put_back("failed-delivery-is-forgotten", _SLIP, told.FailedDeliveryIsForgotten, "cursors_change_only_as_told"),
    _put_back("failed-load-goes-on", _SLIP, told.FailedLoadGoesOn, "cursors_change_only_as_told"),
    _put_back("clock-stands-still", _SLIP, told.ClockStandsStill, "checks_come_at_their_interval"),
    _put_back("seek-keeps-mark-delete", _SLIP, told.SeekKeepsMarkDelete, "cursors_change_only_as_told"),
    _put_back("buffer-numbers-skip", _SLIP, told.BufferNumbersSkip, "new_entries_lie_in_the_buffers_begun_for_them"),
    _put_back("load-claims-hit", _SLIP, told.LoadClaimsHit, "delivery_is_of_what_was_asked_for"),
    _put_back("replay-claims-hit", _SLIP, told.ReplayClaimsHit, "delivery_is_of_what_was_asked_for"),
    _put_back("read-stops-short", _SLIP, told.ReadStopsShort, "cursor_reads_on_without_gap_or_repeat"),
    _put_back("tombstone-is-counted-on", _SLIP, told.TombstoneIsCountedOn, "passes_visit_no_more_than_they_need"),
    _put_back("due-size-pass-is-refused", _SLIP, told.DueSizePassIsRefused, "only_an_untimely_pass_or_tick_is_refused"),
    *[_put_back(name, _SLIP, kind, law) for law, slips in refusing.SLIPS.items() for name, kind in slips],
    _put_back("first-check-at-once", _SLIP, starting.FirstCheckAtOnce, "clock_and_settings_start_as_configured"),
    _put_back("clock-starts-late", _SLIP, starting.ClockStartsLate, "clock_and_settings_start_as_configured"),
    _put_back(
        "starts-with-size-pass-due", _SLIP, starting.StartsWithSizePassDue, "clock_and_settings_start_as_configured"
    ),
    _put_back("topics-loaded-long-ago", _SLIP, starting.TopicsLoadedLongAgo, "topics_start_empty"),
    _put_back("starts-with-a-tombstone", _SLIP, starting.StartsWithATombstone, "cache_starts_empty"),
    *[
        _put_back(name, _SLIP, kind, breaks, f"{TEXT}+{deviation}")
        for deviation, slips in instead.SLIPS.items()
        for name, kind, breaks in slips
    ],
)

INEXPRESSIBLE: tuple[Inexpressible, ...] = (
    Inexpressible(
        "eviction-marker-cleared",
        _PULSAR + "25988",
        "a thread that lost the race to start an eviction cleared the mark that one was running; a pass here is one "
        "command, and nothing happens while it runs",
    ),
    Inexpressible(
        "removal-loops-for-ever",
        _PULSAR + "22814",
        "a range removal could meet the same changed entry again and again; a subject that hangs is for the driver's "
        "time limit, not for a law",
    ),
    Inexpressible(
        "metadata-outlives-its-buffer",
        _PULSAR + "26493",
        "parsed metadata was kept with the cached copy of an entry whose own buffer was gone; payloads here carry no "
        "parsed metadata",
    ),
)
