"""entry_cache, part 1, continued: what can be set."""

from __future__ import annotations

from attrs import frozen

from ..core import flag, integer, maybe

TRIGGER = 0.98  # "evictionTriggerThresholdPercent": not a setting, a constant of the shipped code


@frozen
class Config:
    """The settings of the proposal, under clear names, with its defaults.  Those with a `Set…` command can change at
    run time and hold from the next pass on; they never rewrite entries that are already there."""

    max_size_bytes: int = integer(
        0, 2**50, usual=(20, 1200), edges=(0, 1, 50, 51), small=(4,), default=64 * 2**20, doc="managedLedgerCacheSizeMB"
    )
    watermark_percent: int = integer(
        1,
        100,
        usual=(30, 100),
        edges=(1, 29, 98, 99, 100),
        small=(50,),
        default=90,
        doc="managedLedgerCacheEvictionWatermark",
    )
    ttl_ms: int = integer(
        0,
        2**40,
        usual=(1, 150),
        edges=(0, 1),
        small=(1,),
        default=1000,
        doc="managedLedgerCacheEvictionTimeThresholdMillis",
    )
    check_interval_ms: int = integer(
        1, 2**20, usual=(1, 25), edges=(1,), small=(1,), default=10, doc="managedLedgerCacheEvictionIntervalMs"
    )
    by_expected_reads: bool = flag(default=True, rate=0.85, small=(True,), doc="cacheEvictionByExpectedReadCount")
    max_extensions: int = integer(
        0,
        1000,
        usual=(0, 5),
        edges=(0, 1),
        small=(1,),
        default=5,
        doc="managedLedgerCacheEvictionExtendTTLOfEntriesWithRemainingExpectedReadsMaxTimes",
    )
    extend_accessed: bool = flag(
        default=True, rate=0.6, small=(True,), doc="managedLedgerCacheEvictionExtendTTLOfRecentlyAccessed"
    )
    continue_caching_ms: int | None = maybe(
        integer(
            0,
            2**40,
            usual=(0, 120),
            edges=(0, 1),
            doc="managedLedgerContinueCachingAddedEntriesAfterLastActiveCursorLeavesMillis; none: 2 x ttl_ms",
        ),
        default=None,
    )
    by_mark_delete: bool = flag(default=False, rate=0.4, small=(False,), doc="cacheEvictionByMarkDeletedPosition")
    copy_entries: bool = flag(default=False, small=(False,), doc="managedLedgerCacheCopyEntries")
    receive_buffer_bytes: int = integer(
        1,
        2**30,
        usual=(20, 120),
        edges=(1,),
        small=(4,),
        default=2**20,
        doc="brokerAdaptiveRecvByteBufAllocatorMaximumSize: publishes are slices of buffers of this size",
    )
    backlogged_threshold: int = integer(
        0,
        10**9,
        usual=(0, 6),
        edges=(0, 1),
        small=(0,),
        default=1000,
        doc="managedLedgerCursorBackloggedThreshold; 0: off",
    )
    min_backlog_cursors: int = integer(
        0,
        1000,
        usual=(0, 2),
        edges=(0, 1),
        small=(0,),
        default=0,
        doc="managedLedgerMinimumBacklogCursorsForCaching; 0: off",
    )
    min_backlog_entries: int = integer(
        0, 10**9, usual=(0, 4), small=(0,), default=1000, doc="managedLedgerMinimumBacklogEntriesForCaching"
    )
    max_backlog_between_cursors: int = integer(
        0, 10**9, usual=(0, 4), small=(0,), default=1000, doc="managedLedgerMaxBacklogBetweenCursorsForCaching"
    )
