"""entry_cache, part 12: where the text is silent, at odds with itself, or differs from what shipped.

Each place is a deviation: what the text says, how `text` reads it here, what the other reading does, and the shortest
run on which the two part.  `pulsar-4` is what Apache Pulsar 4.2.4 does, as far as we know it from its published source.
Those about the passes stand here, those about expected reads and cursors in readings_of_counts.py.
"""

from __future__ import annotations

from . import words as w
from .naming import (
    COUNT_BELOW_ZERO,
    CURSOR_EVICTION_THROUGH_QUEUE,
    EVERY_COPY_COUNTS,
    LOSING_LOAD_KEEPS_OWN_COUNT,
    MARK_DELETE_EXCLUSIVE,
    NO_COUNT_FROM_ZERO,
    ONE_LAP,
    PUT_COUNTS_AS_ACCESS,
    RANK_OF_READER,
    READS_WITHOUT_STRATEGY,
    SCAN_PAST_UNEXPIRED,
    SEPARATE_BUDGETS,
    SIZE_ORDER,
    SIZE_PASS_HONOURS_EXPIRY,
    STASH,
    TTL_ADDED,
    UNREAD,
    ZERO_READS_NOT_CACHED,
    deviation,
    with_strategy,
    without_strategy,
)
from .readings_of_counts import COUNTING

PASSES = (
    deviation(
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
    deviation(
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
        replaces=(
            "size_pass_reaches_the_watermark",
            "size_pass_counts_what_the_time_pass_freed",
            "size_pass_requeues_what_it_passes_over",
        ),
        source="PIP-430, High Level Design 1, Requeuing Mechanism; Alternatives 2",
    ),
    deviation(
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
            "unentitled_entries_go_first",
            "entry_is_gone_soon_after_its_last_access",
            "requeue_renews_and_spends",
            "passes_visit_no_more_than_they_need",
        ),
        source="PIP-430, Configuration; shipped: RangeCacheEntryWrapper.markRequeued, 4.2.4",
    ),
    deviation(
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
    deviation(
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
        where=with_strategy,
        source="PIP-430, Detailed Design 1 and 5; Configuration, cacheEvictionByExpectedReadCount",
    ),
    deviation(
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
    deviation(
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
    deviation(
        CURSOR_EVICTION_THROUGH_QUEUE,
        "silent",
        'The eviction up to the slowest reader "now also uses the central queue".',
        "text: entries that all cursors are past go at once and leave tombstones in the queue, for a later pass to "
        "drop. cursor-eviction-through-queue: they are taken out of the queue itself, and leave no tombstone.",
        w.Config(by_expected_reads=False),
        w.OpenCursor("t0", "c0", "latest"),
        w.Append("t0", 1),
        w.Read("t0", "c0", 1),
        replaces=("tombstones_stand_for_what_left_otherwise",),
        where=without_strategy,
        source="PIP-430, Modified Behavior, cacheEvictionByMarkDeletedPosition",
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
