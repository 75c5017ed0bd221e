"""entry_cache, part 9: where the text is silent, at odds with itself, or differs from what shipped.

Each place is a deviation: what the text says, how `text` reads it here, what the other reading does, and the shortest
run on which the two part.  `pulsar-4` is what Apache Pulsar 4.2.4 does, as far as we know it from its published source.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from ..core import Case, Deviation
from . import words as w

ONE_LAP = "one-lap"
STASH = "stash"
SEPARATE_BUDGETS = "separate-budgets"
TTL_ADDED = "ttl-added"
SIZE_PASS_HONOURS_EXPIRY = "size-pass-honours-expiry"
PUT_COUNTS_AS_ACCESS = "put-counts-as-access"
SCAN_PAST_UNEXPIRED = "scan-past-unexpired"
UNDELIVERED_RELEASE_FREE = "undelivered-release-free"
LEAVER_PAYS_BACK = "leaver-pays-back"
NO_COUNT_FROM_ZERO = "no-count-from-zero"
COUNT_BELOW_ZERO = "count-below-zero"
LOSING_LOAD_KEEPS_OWN_COUNT = "losing-load-keeps-own-count"
SECOND_PUT_REPLACES_COUNT = "second-put-replaces-count"
RANK_OF_READER = "rank-of-reader"
ZERO_READS_NOT_CACHED = "zero-reads-not-cached"
EVERY_COPY_COUNTS = "every-copy-counts"
MARK_DELETE_EXCLUSIVE = "mark-delete-exclusive"
READS_WITHOUT_STRATEGY = "reads-without-strategy"

# Laws that more than one reading gives up.
FOLLOW = "expected_reads_follow_releases_and_replays"
STILL_HAPPEN = "expected_reads_are_those_that_can_still_happen"
UNREAD = ("unread_entry_is_gone_by_its_budget", "unread_entry_is_gone_on_schedule")
SIZE_ORDER = ("size_pass_takes_the_oldest_first", "size_pass_frees_no_more_than_it_must")

Origin = Literal["shipped", "silent", "contradiction", "amendment"]


def _deviation(
    name: str,
    origin: Origin,
    says: str,
    here: str,
    config: w.Config,
    *commands: Any,
    replaces: tuple[str, ...] = (),
    where: Callable[[w.Config], bool] | None = None,
    source: str,
) -> Deviation:
    return Deviation(name, says, here, origin, Case("entry_cache", config, commands), replaces, where, source)


def _with_strategy(config: w.Config) -> bool:
    return config.by_expected_reads


def _without_strategy(config: w.Config) -> bool:
    return not config.by_expected_reads


def _by_mark_delete(config: w.Config) -> bool:
    return not config.by_expected_reads and config.by_mark_delete


PASSES = (
    _deviation(
        ONE_LAP,
        "silent",
        "The text speaks of a TTL extended by ttl each time. A size pass comes round to a requeued entry at once, and "
        "spends all its extensions within the same instant.",
        "text: a size pass comes round as often as it must. one-lap: it requeues an entry once, and removes it when it "
        "meets it again in the same pass.",
        w.Config(max_size_bytes=20),
        w.OpenCursor("t1", "c0", "latest"),
        w.Append("t1", 11),
        w.Append("t1", 9),
        w.SizePass(),
        replaces=SIZE_ORDER,
        source="PIP-430, Configuration, …WithRemainingExpectedReadsMaxTimes, against Detailed Design 1",
    ),
    _deviation(
        STASH,
        "contradiction",
        '"Requeued entries are reconsidered in subsequent eviction passes", and the Alternatives name a stash for '
        "them; no stash is in the design.",
        "text: a size pass reconsiders them itself, until it has freed enough. stash: they are set aside for this "
        "pass, which may end far above the watermark.",
        w.Config(max_size_bytes=20),
        w.Append("t2", 20),
        w.Get("t2", 0, 0),
        w.SizePass(),
        replaces=("size_pass_reaches_the_watermark", "size_pass_counts_what_the_time_pass_freed"),
        source="PIP-430, High Level Design 1, Requeuing Mechanism; Alternatives 2",
    ),
    _deviation(
        SEPARATE_BUDGETS,
        "silent",
        'The maximum is on extensions of entries "with remaining expected reads"; whether an extension for access '
        "spends from it is not said. The shipped code keeps one counter for both.",
        "text: every requeue spends one. separate-budgets: only a requeue for expected reads does.",
        w.Config(max_size_bytes=20),
        w.Append("t3", 1),
        w.Get("t3", 0, 0),
        w.Append("t0", 19),
        w.SizePass(),
        replaces=(
            *SIZE_ORDER,
            "entry_is_gone_soon_after_its_last_access",
            "requeue_renews_and_spends",
            "passes_visit_no_more_than_they_need",
        ),
        source="PIP-430, Configuration; shipped: RangeCacheEntryWrapper.markRequeued, 4.2.4",
    ),
    _deviation(
        TTL_ADDED,
        "contradiction",
        '"Its expiration time will be extended by managedLedgerCacheEvictionTimeThresholdMillis", that is from the old '
        "expiry; moving to the tail of a queue in order of time needs the present time.",
        "text: the timestamp becomes now. ttl-added: it becomes the old one plus ttl, and the queue is no longer in "
        "order.",
        w.Config(ttl_ms=1),
        w.OpenCursor("t2", "c0", "latest"),
        w.Append("t2", 1),
        w.Tick(10),
        w.EvictionCheck(),
        replaces=(
            "idle_entry_stays_ttl_and_at_most_one_interval_more",
            *UNREAD,
            "entry_is_gone_soon_after_its_last_access",
            "requeue_renews_and_spends",
            "queue_is_in_order_of_time",
            "nothing_expired_survives_a_check",
        ),
        source="PIP-430, Configuration, managedLedgerCacheEvictionExtendTTLOfRecentlyAccessed",
    ),
    _deviation(
        SIZE_PASS_HONOURS_EXPIRY,
        "contradiction",
        'evictLeastAccessedEntries takes an expiration timestamp, and entries with expected reads are kept "unless '
        'they also meet timestamp expiration". The shipped size pass knows no expiry.',
        "text: a size pass looks at entitlement alone. size-pass-honours-expiry: expected reads do not save an entry "
        "that is expired.",
        w.Config(max_size_bytes=20, ttl_ms=1),
        w.OpenCursor("t1", "c0", "latest"),
        w.Append("t1", 19),
        w.Append("t0", 1),
        w.Tick(2),
        w.SizePass(),
        replaces=(*SIZE_ORDER, "unentitled_entries_go_first"),
        where=_with_strategy,
        source="PIP-430, Detailed Design 1 and 5; Configuration, cacheEvictionByExpectedReadCount",
    ),
    _deviation(
        PUT_COUNTS_AS_ACCESS,
        "contradiction",
        'With recent access extending: "Minimum eviction time is 2x" ttl. An entry that is never accessed goes after '
        "one.",
        "text: an entry comes unaccessed. put-counts-as-access: it comes accessed, and the minimum is true.",
        w.Config(),
        w.Append("t0", 1),
        replaces=(
            "idle_entry_stays_ttl_and_at_most_one_interval_more",
            *UNREAD,
            "new_entry_starts_fresh_at_the_tail",
        ),
        source="PIP-430, Configuration, managedLedgerCacheEvictionExtendTTLOfRecentlyAccessed",
    ),
    _deviation(
        SCAN_PAST_UNEXPIRED,
        "silent",
        '"This process can often stop early": what when timestamps in the queue are not in order (the clock stepped '
        "back, or an insert carries an older one)?",
        "text: a time pass stops at the first entry that is not expired; an expired one behind it waits. "
        "scan-past-unexpired: it goes through the whole queue.",
        w.Config(ttl_ms=6),
        w.Tick(4),
        w.Append("t0", 1),
        w.ClockBack(1),
        w.Append("t0", 1),
        w.Tick(7),
        w.EvictionCheck(),
        replaces=(
            *SIZE_ORDER,
            "unentitled_entries_go_first",
            "time_pass_acts_on_the_expired_prefix",
            "no_size_pass_at_or_below_the_trigger",
            "size_pass_counts_what_the_time_pass_freed",
        ),
        source="PIP-430, High Level Design 1, Timestamp-Based Eviction",
    ),
)

COUNTING = (
    _deviation(
        UNDELIVERED_RELEASE_FREE,
        "silent",
        'A count is taken when an entry is "actually delivered to a consumer … and subsequently released". A read that '
        "finds no consumer is released undelivered and goes to the replay queue, which adds one.",
        "text: every release of a handed-out copy takes one, so that the replay's one balances. "
        "undelivered-release-free: a failed delivery takes nothing, and the read is counted twice for ever.",
        w.Config(),
        w.OpenCursor("t0", "c0", "latest"),
        w.Append("t0", 1),
        w.Read("t0", "c0", 1),
        w.FailDelivery("t0", "c0", 0, 0),
        replaces=(FOLLOW, STILL_HAPPEN),
        where=_with_strategy,
        source="PIP-430, High Level Design 2, Dynamic Updates",
    ),
    _deviation(
        LEAVER_PAYS_BACK,
        "amendment",
        "What a cursor was expected to read stays expected when it leaves, jumps or turns inactive.",
        "text: nothing is paid back; a stale count buys at most the maximum of extensions. leaver-pays-back: it takes "
        "one off each entry that it had yet to read, and one for each replay that it forgets.",
        w.Config(),
        w.OpenCursor("t0", "c1", "latest"),
        w.Append("t0", 1),
        w.CloseCursor("t0", "c1"),
        replaces=(FOLLOW,),
        where=_with_strategy,
        source="PIP-430, High Level Design 2 (silent)",
    ),
    _deviation(
        NO_COUNT_FROM_ZERO,
        "shipped",
        "An entry that starts with no expected reads (no active cursor) can still be read by a late cursor, and be "
        "replayed.",
        "text: the count moves from zero like any other. no-count-from-zero: such an entry has no counter at all, and "
        "replays add nothing.",
        w.Config(),
        w.Append("t0", 1),
        w.OpenCursor("t0", "c0", "earliest"),
        w.Read("t0", "c0", 1),
        w.Redeliver("t0", "c0", 0, 0),
        replaces=(FOLLOW,),
        where=_with_strategy,
        source="shipped: EntryReadCountHandlerImpl.maybeCreate, 4.2.4",
    ),
    _deviation(
        COUNT_BELOW_ZERO,
        "shipped",
        'markRead "decrements the count"; whether it stops at zero is not said. A late cursor\'s read is one too many.',
        "text: never below zero. count-below-zero: it goes negative, and a later replay's one is lost.",
        w.Config(),
        w.Append("t3", 1),
        w.OpenCursor("t3", "c3", "earliest"),
        w.Read("t3", "c3", 1),
        w.Release("t3", "c3", 0, 0),
        replaces=(FOLLOW,),
        where=_with_strategy,
        source="shipped: EntryReadCountHandlerImpl.markRead, 4.2.4",
    ),
    _deviation(
        LOSING_LOAD_KEEPS_OWN_COUNT,
        "shipped",
        "Two cursors load the same entry; the first to arrive is cached with both counted. Whose count does the second "
        "one's delivery take from?",
        "text: the resident entry's. losing-load-keeps-own-count: its own, which nobody looks at, and the resident "
        "entry's count never falls to zero.",
        w.Config(continue_caching_ms=0),
        w.Append("t2", 1),
        w.OpenCursor("t2", "c2", "earliest"),
        w.Read("t2", "c2", 1),
        w.OpenCursor("t2", "c1", "earliest"),
        w.Read("t2", "c1", 1),
        w.FinishLoad("t2", "c2"),
        w.FinishLoad("t2", "c1"),
        replaces=(STILL_HAPPEN, "deliveries_open_and_end_one_by_one"),
        where=_with_strategy,
        source="shipped: RangeEntryCacheImpl.readFromStorage, 4.2.4 (PendingReadsManager joins most such reads)",
    ),
    _deviation(
        SECOND_PUT_REPLACES_COUNT,
        "silent",
        "A second put of a position changes nothing; whether its read count handler does is not said.",
        "text: it does not. second-put-replaces-count: the resident entry's count becomes the load's.",
        w.Config(max_size_bytes=20),
        w.OpenCursor("t3", "c0", "latest"),
        w.OpenCursor("t3", "c1", "latest"),
        w.Append("t3", 20),
        w.SizePass(),
        w.Read("t3", "c0", 1),
        w.Read("t3", "c1", 1),
        w.FinishLoad("t3", "c1"),
        w.FinishLoad("t3", "c0"),
        replaces=(FOLLOW, STILL_HAPPEN, "first_put_wins"),
        where=_with_strategy,
        source="PIP-430, Detailed Design 2 (silent)",
    ),
    _deviation(
        RANK_OF_READER,
        "shipped",
        'The count is of "active cursors currently positioned before or at the entry being added", and is sourced from '
        "getNumberOfCursorsAtSamePositionOrBefore(cursor), which knows the reading cursor's position alone.",
        "text: counted for each entry's own position. rank-of-reader: one count for the whole load, at the reader's "
        "position, and zero if the reader is not active.",
        w.Config(max_size_bytes=20),
        w.Append("t1", 1),
        w.OpenCursor("t1", "c0", "latest"),
        w.Append("t1", 19),
        w.OpenCursor("t1", "c4", "earliest"),
        w.SizePass(),
        w.Read("t1", "c4", 2),
        w.FinishLoad("t1", "c4"),
        replaces=("loaded_entry_expects_the_cursors_at_or_before_it", STILL_HAPPEN),
        where=_with_strategy,
        source="shipped: RangeEntryCacheImpl.readFromStorage, 4.2.4",
    ),
    _deviation(
        ZERO_READS_NOT_CACHED,
        "shipped",
        'Entries read from storage are "inserted into the cache"; what if no active cursor is at or before them?',
        "text: inserted with no expected reads. zero-reads-not-cached: not inserted.",
        w.Config(max_size_bytes=18),
        w.OpenCursor("t1", "c0", "latest"),
        w.Append("t1", 18),
        w.SizePass(),
        w.SetActive("t1", "c0", False),
        w.Read("t1", "c0", 1),
        w.FinishLoad("t1", "c0"),
        replaces=("load_is_cached_where_the_strategy_says_so",),
        where=_with_strategy,
        source="shipped: RangeEntryCacheImpl.readFromStorage, 4.2.4",
    ),
    _deviation(
        EVERY_COPY_COUNTS,
        "shipped",
        "A count is taken when an entry is delivered to a consumer and released. A lookup for another purpose makes a "
        "copy too.",
        "text: a lookup takes nothing. every-copy-counts: releasing its copy takes one.",
        w.Config(),
        w.OpenCursor("t3", "c0", "latest"),
        w.Append("t3", 1),
        w.Get("t3", 0, 0),
        replaces=(FOLLOW, STILL_HAPPEN),
        where=_with_strategy,
        source="shipped: EntryImpl.create(Entry), decreaseReadCountOnRelease defaults to true, 4.2.4",
    ),
    _deviation(
        MARK_DELETE_EXCLUSIVE,
        "shipped",
        'Cursor-based eviction goes "up to the slowest consumer\'s read position or mark-delete position". The next '
        "entry to read must stay; the last one acknowledged need not.",
        "text: up to and including the mark-delete position. mark-delete-exclusive: the entry at it stays.",
        w.Config(by_expected_reads=False, by_mark_delete=True),
        w.OpenCursor("t1", "c1", "latest"),
        w.Append("t1", 1),
        w.Seek("t1", "c1", 0, 1),
        replaces=("eviction_follows_the_slowest_cursor",),
        where=_by_mark_delete,
        source="shipped: ManagedLedgerImpl.invalidateEntriesUpToSlowestReaderPosition, 4.2.4",
    ),
    _deviation(
        READS_WITHOUT_STRATEGY,
        "shipped",
        'The maximum of extensions "only takes effect when cacheEvictionByExpectedReadCount is enabled".',
        "text: without the strategy no reads are counted. reads-without-strategy: a load that is cached starts with "
        "one expected read, and passes requeue entries for it.",
        w.Config(by_expected_reads=False, by_mark_delete=True),
        w.OpenCursor("t3", "c1", "latest"),
        w.Append("t3", 1),
        w.Read("t3", "c1", 1),
        w.Redeliver("t3", "c1", 0, 0),
        replaces=(
            *SIZE_ORDER,
            "unentitled_entries_go_first",
            FOLLOW,
            "loaded_entry_expects_the_cursors_at_or_before_it",
            "expired_entry_is_requeued_iff_entitled",
            "size_pass_counts_what_the_time_pass_freed",
            "passes_visit_no_more_than_they_need",
        ),
        where=_without_strategy,
        source="shipped: ManagedCursorImpl.getNumberOfCursorsAtSamePositionOrBefore, RangeCacheRemovalQueue, 4.2.4",
    ),
)

DEVIATIONS = (*PASSES, *COUNTING)

PULSAR_4 = (
    NO_COUNT_FROM_ZERO,
    COUNT_BELOW_ZERO,
    LOSING_LOAD_KEEPS_OWN_COUNT,
    RANK_OF_READER,
    ZERO_READS_NOT_CACHED,
    EVERY_COPY_COUNTS,
    MARK_DELETE_EXCLUSIVE,
    READS_WITHOUT_STRATEGY,
)
