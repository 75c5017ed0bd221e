"""The reference implementation of entry_cache: directed tests, and work counted."""

from __future__ import annotations

from typing import Any

import pytest

from brokerlaw.reference.entry_cache import CacheManager, EntryCache, Parts
from brokerlaw.reference.entry_cache.switches import Switches
from brokerlaw.reference.legacy.entry_cache import LegacyEntryCache, LegacyManager
from brokerlaw.spec.core import NOT_OBSERVED, TEXT_DIALECT, Dialect
from brokerlaw.spec.entry_cache.words import (
    CAUGHT_UP,
    CHECK_DUE,
    LEDGER_GONE,
    NO_ENTRY,
    NOT_DUE,
    UNDER_WAY,
    Append,
    Appended,
    Began,
    BeginRemoval,
    CheckBacklogs,
    Clock,
    CloseCursor,
    Config,
    Delivered,
    Done,
    Evicted,
    EvictionCheck,
    FailDelivery,
    FinishLoad,
    FinishRemoval,
    Get,
    Hit,
    Loading,
    MarkDelete,
    Miss,
    OpenCursor,
    Read,
    Redeliver,
    Refused,
    Release,
    Removed,
    Replay,
    RollLedger,
    Seek,
    SetActive,
    SetExtendAccessed,
    SetMaxExtensions,
    SetMaxSize,
    SetTtl,
    SetWatermark,
    SizePass,
    Tick,
)


def broker(*deviations: str, **settings: Any) -> EntryCache:
    """A fresh reference with these settings, in the text or with deviations from it."""
    subject = EntryCache()
    subject.reset(Config(**settings), Dialect("+".join(("text", *deviations)), frozenset(deviations)))
    return subject


def run(subject: EntryCache, *commands: Any) -> list[Any]:
    """Carries out commands; their outcomes."""
    return [subject.apply(command) for command in commands]


# ---- Directed: publishing and reading -------------------------------------------------------------------------------


def test_an_append_expects_the_active_cursors_and_a_load_those_at_or_before() -> None:
    subject = broker(continue_caching_ms=0)
    run(subject, Append("t0", 5), Append("t0", 5))  # nobody there: not cached
    run(subject, OpenCursor("t0", "c0", "earliest"), OpenCursor("t0", "c1", "latest"), Append("t0", 5))
    assert [item.reads for item in subject.snapshot().queue] == [2]
    assert run(subject, Read("t0", "c0", 4)) == [Loading(0, 0, 2)]
    assert run(subject, FinishLoad("t0", "c0")) == [Delivered(0, (0, 1), ((0, 0, 5), (0, 1, 5)), False)]
    assert [item.reads for item in subject.snapshot().queue] == [2, 1, 1]
    assert run(subject, Read("t0", "c0", 4)) == [Delivered(0, (2,), ((0, 2, 5),), True)]
    assert run(subject, Read("t0", "c0", 4)) == [Refused(CAUGHT_UP)]


def test_the_first_put_wins_and_the_second_load_reads_the_resident_entry() -> None:
    subject = broker(continue_caching_ms=0)
    run(subject, Append("t0", 5), OpenCursor("t0", "c0", "earliest"), OpenCursor("t0", "c1", "earliest"))
    run(subject, Read("t0", "c0", 1), Read("t0", "c1", 1), FinishLoad("t0", "c0"))
    before = subject.snapshot()
    run(subject, FinishLoad("t0", "c1"))
    after = subject.snapshot()
    assert after.queue == before.queue
    assert after.counters == before.counters
    assert [row.serial for row in after.deliveries] == [1, 1]
    assert after.payloads == ((1, 3),)
    run(subject, Release("t0", "c0", 0, 0), Release("t0", "c1", 0, 0))
    assert [item.reads for item in subject.snapshot().queue] == [0]
    assert subject.snapshot().payloads == ((1, 1),)


def test_without_active_cursors_appends_are_cached_until_the_window_ends() -> None:
    subject = broker(continue_caching_ms=3, check_interval_ms=100)
    assert run(subject, Append("t0", 1), Tick(2), Append("t0", 1), Tick(1), Append("t0", 1)) == [
        *(Appended(0, 0, True), Clock(2), Appended(0, 1, True), Clock(3), Appended(0, 2, False))
    ]
    run(subject, OpenCursor("t0", "c0", "latest"), Tick(5), SetActive("t0", "c0", False))
    assert run(subject, Append("t0", 1), CloseCursor("t0", "c0"), Tick(3), Append("t0", 1)) == [
        *(Appended(0, 3, True), Done(), Clock(11), Appended(0, 4, False))
    ]


def test_a_failed_delivery_is_replayed_and_its_count_stays() -> None:
    subject = broker()
    run(subject, OpenCursor("t0", "c0", "latest"), Append("t0", 5), Read("t0", "c0", 1))
    run(subject, FailDelivery("t0", "c0", 0, 0))
    assert subject.snapshot().queue[0].reads == 1
    assert subject.snapshot().cursors[0].replays == ((0, 0),)
    assert run(subject, Redeliver("t0", "c0", 0, 0)) == [Refused(NO_ENTRY)]
    assert run(subject, Replay("t0", "c0", 0, 0)) == [Delivered(0, (0,), ((0, 0, 5),), True)]
    run(subject, Release("t0", "c0", 0, 0), MarkDelete("t0", "c0", 0, 0))
    assert subject.snapshot().queue[0].reads == 0
    assert subject.snapshot().payloads == ((1, 1),)


def missed_replay(*deviations: str, **settings: Any) -> EntryCache:
    """An entry that left the cache is replayed by c0; c0 and c1 stand behind it, and c2 at it."""
    subject = broker(*deviations, continue_caching_ms=0, **settings)
    run(subject, Append("t0", 5), OpenCursor("t0", "c0", "earliest"), OpenCursor("t0", "c1", "latest"))
    run(subject, Seek("t0", "c0", 0, 0), Read("t0", "c0", 1), FinishLoad("t0", "c0"), Release("t0", "c0", 0, 0))
    run(subject, BeginRemoval("all", "t0", 0, 0), FinishRemoval("all", "t0", 0, 0), Append("t0", 7))
    run(subject, OpenCursor("t0", "c2", "earliest"), Redeliver("t0", "c0", 0, 0))
    assert run(subject, Replay("t0", "c0", 0, 0)) == [Delivered(0, (0,), ((0, 0, 5),), False)]
    subject._check()
    return subject


def test_a_replay_that_misses_is_handed_out_and_not_cached() -> None:
    now = missed_replay().snapshot()
    assert [item.entry for item in now.queue] == [1]
    assert now.deliveries[0].serial == 0


def test_in_a_dialect_a_replay_that_misses_is_cached_like_a_load_and_handed_out_from_there() -> None:
    subject = missed_replay("replay-miss-cached")
    item = subject.snapshot().queue[-1]
    assert (item.ledger, item.entry, item.reads, item.accessed, item.buffer_bytes) == (0, 0, 1, False, 5)
    assert subject.snapshot().deliveries[0].serial == item.serial
    run(subject, Release("t0", "c0", 0, 0))
    assert subject.snapshot().queue[-1].reads == 0
    assert subject.snapshot().payloads[-1] == (item.serial, 1)


def test_what_holds_for_loads_holds_for_replays_that_are_cached() -> None:
    deviation = "replay-miss-cached"
    assert [item.entry for item in missed_replay(deviation, by_expected_reads=False).snapshot().queue] == [1]
    assert [item.entry for item in missed_replay(deviation, max_size_bytes=0).snapshot().queue] == []
    assert missed_replay(deviation, "rank-of-reader").snapshot().queue[-1].reads == 3
    assert missed_replay(deviation, max_size_bytes=13, watermark_percent=50).snapshot().size_pass_due is False
    assert missed_replay(deviation, max_size_bytes=12, watermark_percent=50).snapshot().size_pass_due is True


def test_a_load_of_a_deleted_ledger_fails_and_is_over() -> None:
    subject = broker(continue_caching_ms=0)
    run(subject, Append("t0", 5), RollLedger("t0"), OpenCursor("t0", "c0", "earliest"), Read("t0", "c0", 1))
    assert run(subject, BeginRemoval("ledger", "t0", 0, 0), FinishLoad("t0", "c0")) == [Began(0), Refused(LEDGER_GONE)]
    assert run(subject, Read("t0", "c0", 1)) == [Refused(CAUGHT_UP)]


def test_slices_share_the_receive_buffer_until_one_does_not_fit() -> None:
    subject = broker(receive_buffer_bytes=10)
    run(subject, *(Append("t0", size) for size in (4, 6, 1, 40, 1)))
    assert [(item.buffer, item.buffer_bytes) for item in subject.snapshot().queue] == [
        *((1, 10), (1, 10), (2, 10), (3, 40), (4, 10))
    ]


# ---- Directed: eviction ---------------------------------------------------------------------------------------------


def test_a_time_pass_requeues_what_is_accessed_or_expected_and_removes_the_rest() -> None:
    subject = broker(ttl_ms=1, check_interval_ms=2, max_extensions=1)
    run(subject, Append("t0", 5), Append("t0", 5), OpenCursor("t0", "c0", "latest"), Append("t0", 5))
    run(subject, Get("t0", 0, 0), Tick(2))
    assert run(subject, EvictionCheck()) == [Evicted(1, 5, 0, 0)]
    kept = [(item.entry, item.ts_ms, item.accessed, item.extensions) for item in subject.snapshot().queue]
    assert kept == [(0, 2, False, 1), (2, 2, False, 1)]
    assert run(subject, Tick(2), EvictionCheck()) == [Clock(4), Evicted(2, 10, 0, 0)]


def test_an_entry_of_exactly_the_ttl_is_not_expired() -> None:
    subject = broker(ttl_ms=2, check_interval_ms=2)
    assert run(subject, Append("t0", 5), Tick(2), EvictionCheck())[-1] == Evicted(0, 0, 0, 0)


def test_a_size_pass_frees_the_oldest_over_all_topics_down_to_the_watermark() -> None:
    subject = broker(max_size_bytes=100, watermark_percent=50)
    run(subject, *(Append(topic, 33) for topic in ("t1", "t0", "t2")))
    assert run(subject, SizePass()) == [Evicted(0, 0, 2, 66)]
    assert [item.topic for item in subject.snapshot().queue] == ["t2"]
    assert run(subject, SizePass()) == [Refused(NOT_DUE)]


def test_a_size_pass_goes_round_until_every_extension_is_spent() -> None:
    subject = broker(max_size_bytes=100, watermark_percent=1, max_extensions=3)
    run(subject, OpenCursor("t0", "c0", "latest"), Append("t0", 50), Append("t0", 49), Read("t0", "c0", 1))
    assert run(subject, SizePass()) == [Evicted(0, 0, 2, 99)]
    assert subject.snapshot().visits == 2 * (3 + 1)


def test_turning_the_cache_off_empties_it_at_the_next_check() -> None:
    subject = broker(check_interval_ms=1)
    run(subject, OpenCursor("t0", "c0", "latest"), Append("t0", 5), SetMaxSize(0))
    assert run(subject, SizePass(), Append("t0", 5)) == [Refused(NOT_DUE), Appended(0, 1, False)]
    assert run(subject, Tick(5), Tick(5), EvictionCheck()) == [Clock(1), Refused(CHECK_DUE), Evicted(0, 0, 1, 5)]


def test_thresholds_are_computed_in_doubles() -> None:
    subject = broker(max_size_bytes=100, watermark_percent=29)
    assert (subject.manager.trigger_bytes, subject.manager.watermark_bytes) == (98, 28)
    run(subject, SetWatermark(58), SetTtl(7), SetMaxExtensions(2), SetExtendAccessed(False))
    assert (subject.manager.watermark_bytes, subject.snapshot().settings.ttl_ms) == (57, 7)


def test_without_the_strategy_what_no_cursor_needs_goes_at_once() -> None:
    subject = broker(by_expected_reads=False)
    run(subject, OpenCursor("t0", "c0", "latest"), OpenCursor("t0", "c1", "latest"), *[Append("t0", 5)] * 3)
    run(subject, Read("t0", "c0", 3), Read("t0", "c1", 2))
    assert [item.entry for item in subject.snapshot().queue] == [2]
    assert subject.snapshot().tombstones == 2
    run(subject, CloseCursor("t0", "c1"))
    assert subject.snapshot().queue == ()
    assert subject.snapshot().tombstones == 3
    assert subject.snapshot().counters[2:] == (3, 15)


def test_in_a_dialect_what_no_cursor_needs_leaves_the_queue_too_and_no_tombstone() -> None:
    subject = broker("cursor-eviction-through-queue", by_expected_reads=False)
    run(subject, OpenCursor("t0", "c0", "latest"), OpenCursor("t1", "c0", "latest"))
    run(subject, Append("t0", 5), Append("t1", 5), Append("t0", 5), Append("t0", 5))
    run(subject, BeginRemoval("entry", "t0", 0, 2), FinishRemoval("entry", "t0", 0, 2))
    for command, left in ((Read("t0", "c0", 1), [("t1", 0), ("t0", 1)]), (CloseCursor("t0", "c0"), [("t1", 0)])):
        subject.apply(command)
        now = subject.snapshot()
        assert [(item.topic, item.entry) for item in now.queue] == left
        assert (now.tombstones, now.visits) == (1, 0)  # the one of the forced removal waits for its pass
        subject._check()
    assert subject.snapshot().counters[2:] == (3, 15)


def test_backlogs_decide_who_is_active_and_who_caches_its_loads() -> None:
    subject = broker(
        by_expected_reads=False, backlogged_threshold=2, min_backlog_cursors=1, min_backlog_entries=1,
        max_backlog_between_cursors=0,
    )  # fmt: skip
    run(subject, Append("t0", 5), Append("t0", 5))
    run(subject, *(OpenCursor("t0", name, "earliest") for name in ("c0", "c1")), OpenCursor("t0", "c2", "latest"))
    assert run(subject, CheckBacklogs()) == [Done()]
    assert [(row.active, row.caches_reads) for row in subject.snapshot().cursors] == [
        *((False, True), (False, True), (True, False))
    ]


# ---- Directed: forced removal and payloads --------------------------------------------------------------------------


def test_a_forced_removal_takes_what_it_noted_and_not_a_later_entry_in_the_same_place() -> None:
    subject = broker(max_size_bytes=100, watermark_percent=1, max_extensions=0)
    run(subject, OpenCursor("t0", "c0", "earliest"), Append("t0", 99))
    assert run(subject, *[BeginRemoval("all", "t0", 0, 0)] * 2) == [Began(1), Refused(UNDER_WAY)]
    run(subject, SizePass(), Read("t0", "c0", 1), FinishLoad("t0", "c0"))  # gone, and loaded again in its old node
    assert run(subject, FinishRemoval("all", "t0", 0, 0)) == [Removed(0, 0)]
    assert [item.serial for item in subject.snapshot().queue] == [2]


def test_a_payload_lives_as_long_as_a_delivery_holds_it() -> None:
    subject = broker()
    run(subject, OpenCursor("t0", "c0", "latest"), Append("t0", 5), Read("t0", "c0", 1), Seek("t0", "c0", 0, 0))
    run(subject, Read("t0", "c0", 1), BeginRemoval("entry", "t0", 0, 0))
    assert run(subject, Get("t0", 0, 0), FinishRemoval("entry", "t0", 0, 0)) == [Hit((0, 0, 5)), Removed(1, 5)]
    assert run(subject, Get("t0", 0, 0)) == [Miss()]
    assert subject.snapshot().payloads == ((1, 2),)
    run(subject, Release("t0", "c0", 0, 0), Release("t0", "c0", 0, 0))
    assert subject.snapshot().payloads == ()


def test_letting_go_too_often_shows_and_does_not_raise() -> None:
    subject = broker()
    run(subject, OpenCursor("t0", "c0", "latest"), Append("t0", 5))
    payload = subject.manager.queue.nodes[0].value.payload  # type: ignore[union-attr]
    payload.release()
    assert subject.snapshot().payloads == ((1, 0),)
    run(subject, BeginRemoval("topic", "t0", 0, 0), FinishRemoval("topic", "t0", 0, 0))
    assert subject.snapshot().payloads == ((1, -1),)
    with pytest.raises(AssertionError) as broken:
        subject._check()
    assert "payloads: ((1, -1),)" in "".join(broken.value.__notes__)


# ---- Work, counted --------------------------------------------------------------------------------------------------


def manager_with(topics: int, entries_each: int, kind: type[CacheManager] = CacheManager) -> CacheManager:
    """Topics in turn get one entry each, a millisecond after the other round."""
    manager = kind(Parts(), Switches())
    manager.configure(Config(ttl_ms=entries_each, by_expected_reads=False))
    for now_ms in range(entries_each):
        for topic in range(topics):
            manager.insert(f"topic-{topic}", (0, now_ms), 10, 0, (1, 10), now_ms)
    return manager


def test_a_check_with_nothing_to_do_costs_nothing_however_many_topics_there_are() -> None:
    ours, theirs = manager_with(2000, 2), manager_with(2000, 2, LegacyManager)
    for manager in (ours, theirs):
        assert manager.time_pass(2) == (0, 0)
    assert (ours.work, theirs.work) == (0, 2 * 2000)


def test_a_time_pass_handles_what_it_removes_and_nothing_else() -> None:
    manager = manager_with(500, 4)
    assert manager.time_pass(6) == (1000, 10_000)
    assert manager.work == 1000


def test_a_size_pass_handles_each_entry_once_for_each_lap() -> None:
    for extensions in (0, 1, 7):
        manager = CacheManager(Parts(), Switches())
        manager.configure(Config(max_size_bytes=0, max_extensions=extensions))
        for number in range(300):
            manager.insert(f"topic-{number % 7}", (0, number), 10, 1, (1, 10), 0)
        assert manager.size_pass(0) == (300, 3000)
        assert manager.work == 300 * (extensions + 1)


def test_nodes_are_recycled_not_made_anew() -> None:
    subject = broker(max_size_bytes=100, watermark_percent=50, max_extensions=0)
    for _ in range(200):
        run(subject, Append("t0", 30), SizePass())
        subject._check()
    queue = subject.manager.queue
    assert len(queue.nodes) + len(queue.pool.resting) <= 4


# ---- Legacy ---------------------------------------------------------------------------------------------------------


def test_the_legacy_size_policy_takes_newer_entries_of_large_caches_first() -> None:
    def outcome(subject: EntryCache) -> list[tuple[str, int]]:
        subject.reset(Config(max_size_bytes=100, watermark_percent=70, max_extensions=0), TEXT_DIALECT)
        run(subject, OpenCursor("t0", "c0", "latest"), OpenCursor("t1", "c0", "latest"))
        run(subject, Append("t1", 20), Append("t0", 40), Append("t0", 39), SizePass())
        return [(row.topic, row.size_bytes) for row in subject.snapshot().caches[:2]]

    assert outcome(EntryCache()) == [("t0", 39), ("t1", 0)]
    assert outcome(LegacyEntryCache()) == [("t0", 39), ("t1", 20)]


def test_the_legacy_scan_misses_what_lies_behind_a_fresh_position() -> None:
    for kind, removed in ((CacheManager, 1), (LegacyManager, 0)):
        manager = kind(Parts(), Switches())
        manager.configure(Config(ttl_ms=1, by_expected_reads=False))
        manager.insert("t0", (0, 1), 10, 0, (1, 10), 0)
        manager.insert("t0", (0, 0), 10, 0, (2, 10), 5)  # loaded later, for a cursor that is catching up
        assert manager.time_pass(5) == (removed, removed * 10)


def test_the_legacy_subject_says_what_it_can_not_show() -> None:
    subject = LegacyEntryCache()
    subject.reset(Config(), TEXT_DIALECT)
    assert subject.snapshot().tombstones is NOT_OBSERVED
    assert subject.snapshot().visits is NOT_OBSERVED


# ---- Fingerprints ---------------------------------------------------------------------------------------------------


def test_fingerprints_forget_serials_buffers_and_the_time_of_day() -> None:
    early, late = broker(), broker()
    for subject in (early, late):
        run(subject, OpenCursor("t0", "c0", "latest"))
    run(late, Append("t1", 1), BeginRemoval("topic", "t1", 0, 0), FinishRemoval("topic", "t1", 0, 0))
    assert early.fingerprint() != late.fingerprint()  # the log of t1 differs
    early, late = broker(ttl_ms=1, check_interval_ms=1), broker(ttl_ms=1, check_interval_ms=1)
    run(late, Tick(1), EvictionCheck())
    run(early, OpenCursor("t0", "c0", "latest"), CloseCursor("t0", "c0"))
    run(late, OpenCursor("t0", "c0", "latest"), CloseCursor("t0", "c0"))
    for name in ("t1", "t2", "t3"):
        early.topics[name].left(-1)  # as long ago as in the other
    assert early.fingerprint() == late.fingerprint()
