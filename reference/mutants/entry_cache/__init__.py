"""entry_cache with one bug put back in: each mutant overrides one method, and its docstring says what goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import cleandoc

from ....spec.core import Subject
from ...entry_cache import CacheManager, EntryCache, Parts
from ...entry_cache.range_cache import RangeCache
from ...entry_cache.removal_queue import RemovalQueue
from ...entry_cache.wrapper import Pool
from ...mutant import Inexpressible, Mutant
from . import comparisons, counts, passes, scope, shipped


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


def _put_back(name: str, origin: str, kind: type, breaks: str) -> Mutant:
    return Mutant(name, origin, cleandoc(kind.__doc__ or ""), _maker(kind), breaks)


_SLIP = "first-order"
_PULSAR = "apache/pulsar#"

MUTANTS: tuple[Mutant, ...] = (
    _put_back("proportional-eviction", _PULSAR + "24363", shipped.ProportionalEviction, "size_pass_order"),
    _put_back("keys-by-identity", _PULSAR + "23900", shipped.KeysByIdentity, "reads_follow_the_rules"),
    _put_back("removal-retains", _PULSAR + "23955", shipped.RemovalRetains, "payload_lives_while_held"),
    _put_back("lost-put-retains", _PULSAR + "16996", shipped.LostPutRetains, "payload_lives_while_held"),
    _put_back("double-release", _PULSAR + "22789", shipped.DoubleRelease, "payload_lives_while_held"),
    _put_back("size-of-lost-put", _PULSAR + "21302", shipped.SizeOfLostPut, "sizes_add_up"),
    _put_back("removes-another", _PULSAR + "18076", shipped.RemovesAnotherThanInspected, "time_pass_expired_prefix"),
    _put_back("reports-size-from-before", _PULSAR + "10225", shipped.ReportsSizeFromBefore, "sizes_add_up"),
    _put_back("read-moves-shared-view", _PULSAR + "24836", shipped.ReadMovesSharedView, "read_hands_out_whole_payload"),
    _put_back(
        "recycled-keeps-accessed",
        _PULSAR + "25987",
        shipped.RecycledKeepsAccessed,
        "hit_marks_accessed_and_nothing_else",
    ),
    _put_back(
        "extension-settings-ignored", _PULSAR + "26627", shipped.ExtensionSettingsIgnored, "requeue_iff_entitled"
    ),
    _put_back("slowest-by-mark-delete", _PULSAR + "17273", shipped.SlowestByMarkDelete, "cursor_eviction"),
    _put_back("expired-at-ttl", _SLIP, comparisons.ExpiredAtTtl, "time_pass_expired_prefix"),
    _put_back("last-read-does-not-count", _SLIP, comparisons.LastReadDoesNotCount, "requeue_iff_entitled"),
    _put_back("no-read-counts", _SLIP, comparisons.NoReadCounts, "requeue_iff_entitled"),
    _put_back("one-extension-more", _SLIP, comparisons.OneExtensionMore, "extensions_bounded"),
    _put_back("frees-one-more", _SLIP, comparisons.FreesOneMore, "size_pass_minimal"),
    _put_back("triggered-at-trigger", _SLIP, comparisons.TriggeredAtTrigger, "no_size_pass_at_or_below_trigger"),
    _put_back("window-inclusive", _SLIP, comparisons.WindowInclusive, "caching_window"),
    _put_back("rank-counts-before", _SLIP, comparisons.RankCountsBefore, "load_starts_with_cursors_at_or_before"),
    _put_back("active-at-threshold", _SLIP, comparisons.ActiveAtThreshold, "cursor_eviction"),
    _put_back("upto-inclusive", _SLIP, comparisons.UptoInclusive, "only_noted_entries_are_removed"),
    _put_back("evicts-at-read-position", _SLIP, comparisons.EvictsAtReadPosition, "cursor_eviction"),
    _put_back("keeps-mark-deleted", _SLIP, comparisons.KeepsMarkDeleted, "cursor_eviction"),
    _put_back("exact-fit-takes-new-buffer", _SLIP, comparisons.ExactFitTakesNewBuffer, "copies_retain_only_themselves"),
    _put_back("accessed-not-cleared", _SLIP, passes.AccessedNotCleared, "requeue_effects"),
    _put_back("requeue-at-head", _SLIP, passes.RequeueAtHead, "requeue_effects"),
    _put_back("extension-not-counted", _SLIP, passes.ExtensionNotCounted, "requeue_effects"),
    _put_back("access-extends-for-free", _SLIP, passes.AccessExtendsForFree, "requeue_effects"),
    _put_back("timestamp-not-renewed", _SLIP, passes.TimestampNotRenewed, "requeue_effects"),
    _put_back("size-pass-ignores-entitlement", _SLIP, passes.SizePassIgnoresEntitlement, "size_pass_order"),
    _put_back("size-pass-ignores-access", _SLIP, passes.SizePassIgnoresAccess, "size_pass_order"),
    _put_back("size-pass-one-lap", _SLIP, passes.SizePassOneLap, "size_pass_reaches_watermark"),
    _put_back("size-pass-newest-first", _SLIP, passes.SizePassNewestFirst, "size_pass_order"),
    _put_back("size-pass-stops-at-tombstone", _SLIP, passes.SizePassStopsAtTombstone, "size_pass_reaches_watermark"),
    _put_back("time-pass-stops-at-tombstone", _SLIP, passes.TimePassStopsAtTombstone, "time_pass_expired_prefix"),
    _put_back("time-pass-ignores-entitlement", _SLIP, passes.TimePassIgnoresEntitlement, "requeue_iff_entitled"),
    _put_back("time-pass-handles-one", _SLIP, passes.TimePassHandlesOne, "time_pass_expired_prefix"),
    _put_back("tombstone-counts-as-evicted", _SLIP, passes.TombstoneCountsAsEvicted, "counters_add_up"),
    _put_back("removes-lowest-position", _SLIP, passes.RemovesLowestPosition, "queue_and_caches_agree"),
    _put_back("recycled-keeps-extensions", _SLIP, passes.RecycledKeepsExtensions, "requeue_iff_entitled"),
    _put_back("trigger-is-max-size", _SLIP, passes.TriggerIsMaxSize, "size_pass_is_due_when_over_trigger"),
    _put_back("watermark-against-trigger", _SLIP, passes.WatermarkAgainstTrigger, "size_pass_reaches_watermark"),
    _put_back("size-pass-never-due", _SLIP, passes.SizePassNeverDue, "size_pass_is_due_when_over_trigger"),
    _put_back("size-pass-stays-due", _SLIP, passes.SizePassStaysDue, "size_pass_is_due_when_over_trigger"),
    _put_back("size-from-before-time-pass", _SLIP, passes.SizeFromBeforeTimePass, "size_pass_minimal"),
    _put_back("size-pass-first", _SLIP, passes.SizePassFirst, "time_pass_expired_prefix"),
    _put_back("off-keeps-residents", _SLIP, passes.OffKeepsResidents, "size_pass_reaches_watermark"),
    _put_back("forced-removal-keeps-total", _SLIP, passes.ForcedRemovalKeepsTotal, "sizes_add_up"),
    _put_back("cache-size-not-reduced", _SLIP, passes.CacheSizeNotReduced, "sizes_add_up"),
    _put_back("clear-reports-buffers", _SLIP, passes.ClearReportsBuffers, "sizes_add_up"),
    _put_back("freed-while-held", _SLIP, passes.FreedWhileHeld, "payload_lives_while_held"),
    _put_back("hit-moves-to-tail", _SLIP, passes.HitMovesToTail, "hit_marks_accessed_and_nothing_else"),
    _put_back("put-is-access", _SLIP, passes.PutIsAccess, "hit_marks_accessed_and_nothing_else"),
    _put_back("read-taken-twice", _SLIP, counts.ReadTakenTwice, "reads_follow_the_rules"),
    _put_back("reads-below-zero", _SLIP, counts.ReadsBelowZero, "reads_follow_the_rules"),
    _put_back("replay-not-counted", _SLIP, counts.ReplayNotCounted, "reads_match_what_can_still_happen"),
    _put_back("release-takes-from-later-entry", _SLIP, counts.ReleaseTakesFromLaterEntry, "reads_follow_the_rules"),
    _put_back("get-takes-read", _SLIP, counts.GetTakesRead, "hit_marks_accessed_and_nothing_else"),
    _put_back("load-counts-all-active", _SLIP, counts.LoadCountsAllActive, "load_starts_with_cursors_at_or_before"),
    _put_back("load-counts-inactive", _SLIP, counts.LoadCountsInactive, "load_starts_with_cursors_at_or_before"),
    _put_back("load-forgets-its-reader", _SLIP, counts.LoadForgetsItsReader, "load_starts_with_cursors_at_or_before"),
    _put_back("append-counts-all", _SLIP, counts.AppendCountsAll, "append_starts_with_active_cursors"),
    _put_back(
        "append-counts-without-strategy", _SLIP, counts.AppendCountsWithoutStrategy, "append_starts_with_active_cursors"
    ),
    _put_back("leaver-pays-back", _SLIP, counts.LeaverPaysBack, "reads_follow_the_rules"),
    _put_back("newcomer-adds-reads", _SLIP, counts.NewcomerAddsReads, "reads_follow_the_rules"),
    _put_back("second-put-renews-timestamp", _SLIP, counts.SecondPutRenewsTimestamp, "first_put_wins"),
    _put_back("second-put-replaces-reads", _SLIP, counts.SecondPutReplacesReads, "first_put_wins"),
    _put_back("second-put-adds-size", _SLIP, counts.SecondPutAddsSize, "sizes_add_up"),
    _put_back("second-put-marks-accessed", _SLIP, counts.SecondPutMarksAccessed, "first_put_wins"),
    _put_back("second-put-wins", _SLIP, counts.SecondPutWins, "first_put_wins"),
    _put_back("get-is-no-access", _SLIP, counts.GetIsNoAccess, "hit_marks_accessed_and_nothing_else"),
    _put_back("read-is-no-access", _SLIP, counts.ReadIsNoAccess, "hit_marks_accessed_and_nothing_else"),
    _put_back("hit-renews-timestamp", _SLIP, counts.HitRenewsTimestamp, "hit_marks_accessed_and_nothing_else"),
    _put_back("get-leaks-its-copy", _SLIP, counts.GetLeaksItsCopy, "copies_retain_only_themselves"),
    _put_back("delivery-leaks-payload", _SLIP, counts.DeliveryLeaksPayload, "payload_lives_while_held"),
    _put_back("failed-delivery-releases-twice", _SLIP, counts.FailedDeliveryReleasesTwice, "payload_lives_while_held"),
    _put_back("ttl-rewrites-timestamps", _SLIP, counts.TtlRewritesTimestamps, "settings_rewrite_nothing"),
    _put_back(
        "max-extensions-rewrites-entries", _SLIP, counts.MaxExtensionsRewritesEntries, "settings_rewrite_nothing"
    ),
    _put_back("append-not-copied", _SLIP, counts.AppendNotCopied, "copies_retain_only_themselves"),
    _put_back("window-of-one-ttl", _SLIP, scope.WindowOfOneTtl, "caching_window"),
    _put_back("window-never-closes", _SLIP, scope.WindowNeverCloses, "caching_window"),
    _put_back("window-without-strategy", _SLIP, scope.WindowWithoutStrategy, "caching_window"),
    _put_back("departure-not-noted", _SLIP, scope.DepartureNotNoted, "caching_window"),
    _put_back("off-still-caches", _SLIP, scope.OffStillCaches, "caching_window"),
    _put_back("cursor-eviction-under-strategy", _SLIP, scope.CursorEvictionUnderStrategy, "cursor_eviction"),
    _put_back("cursor-eviction-never", _SLIP, scope.CursorEvictionNever, "cursor_eviction"),
    _put_back("cursor-eviction-needs-cursor", _SLIP, scope.CursorEvictionNeedsCursor, "cursor_eviction"),
    _put_back("fastest-for-slowest", _SLIP, scope.FastestForSlowest, "cursor_eviction"),
    _put_back("inactive-hold-back", _SLIP, scope.InactiveHoldBack, "cursor_eviction"),
    _put_back("mark-delete-setting-ignored", _SLIP, scope.MarkDeleteSettingIgnored, "cursor_eviction"),
    _put_back(
        "forced-removal-asks-entitlement", _SLIP, scope.ForcedRemovalAsksEntitlement, "forced_removal_unconditional"
    ),
    _put_back("forced-removal-by-position", _SLIP, scope.ForcedRemovalByPosition, "only_noted_entries_are_removed"),
    _put_back("forced-removal-by-node", _SLIP, scope.ForcedRemovalByNode, "only_noted_entries_are_removed"),
    _put_back("forced-removal-misses-last", _SLIP, scope.ForcedRemovalMissesLast, "forced_removal_unconditional"),
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
