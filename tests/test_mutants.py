"""The kill table: every mutant is killed by the law that it names, and every law is needed for a mutant.

A law is needed where a mutant breaks it and no other law, the model set aside.  Laws that follow from others do not
count as others; no mutant can break them alone, but each has one that it kills.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from brokerlaw.driver.kills import kill, matrix
from brokerlaw.reference.mutant import Mutant
from brokerlaw.reference.table import TABLE, Entry
from brokerlaw.spec.core import Law

from .kill_table import KILL, kill_row

SOLE: dict[str, dict[str, str]] = {
    "entry_cache": {
        "size_pass_counts_what_the_time_pass_freed": "size-pass-first",
        "log_changes_only_as_told": "roll-does-nothing",
        "queue_and_caches_agree": "listed-by-entry",
        "sizes_add_up": "size-with-overhead",
        "counters_add_up": "removed-bytes-not-counted",
        "payload_lives_while_held": "removal-retains",
        "new_entries_lie_in_the_buffers_begun_for_them": "exact-fit-takes-new-buffer",
        "removals_are_reported_as_they_are": "tombstone-counts-as-evicted",
        "tombstones_stand_for_what_left_otherwise": "node-goes-at-once",
        "entries_keep_their_identity": "requeue-copies",
        "forced_removal_is_unconditional": "forced-removal-asks-entitlement",
        "forced_removal_takes_only_what_it_noted": "forced-removal-takes-one-more",
        "forced_removal_notes_what_is_in_its_scope": "upto-inclusive",
        "passes_and_forced_removal_alone_evict": "hit-moves-to-tail",
        "refused_changes_nothing": "refused-open-evicts",
        "time_pass_acts_on_the_expired_prefix": "time-pass-requeues-next",
        "expired_entry_is_requeued_iff_entitled": "time-pass-forgets-access",
        "requeue_renews_and_spends": "requeue-raises-reads",
        "size_pass_takes_the_oldest_first": "size-pass-spares-one-of-twins",
        "size_pass_frees_no_more_than_it_must": "frees-one-more",
        "size_pass_requeues_what_it_passes_over": "size-pass-spares-for-nothing",
        "size_pass_reaches_the_watermark": "due-pass-waits",
        "no_size_pass_at_or_below_the_trigger": "check-nibbles",
        "passes_visit_no_more_than_they_need": "time-pass-walks-on",
        "insert_over_the_trigger_makes_a_size_pass_due": "size-pass-never-due",
        "pass_settles_what_was_due": "size-pass-stays-due",
        "appended_entry_expects_every_active_cursor": "append-counts-without-strategy",
        "loaded_entry_expects_the_cursors_at_or_before_it": "rank-counts-before",
        "expected_reads_follow_releases_and_replays": "newcomer-adds-reads",
        "new_entry_starts_fresh_at_the_tail": "put-is-access",
        "first_put_wins": "second-put-renews-timestamp",
        "hit_marks_accessed_and_nothing_else": "get-is-no-access",
        "readers_get_the_whole_payload": "read-moves-shared-view",
        "append_is_cached_while_somebody_may_want_it": "window-never-closes",
        "load_is_cached_where_the_strategy_says_so": "every-load-is-cached",
        "deliveries_open_and_end_one_by_one": "release-ends-newest",
        "eviction_follows_the_slowest_cursor": "cursor-eviction-never",
        "cursor_eviction_waits_for_cursors": "roll-drops-cache",
        "cursor_reads_on_without_gap_or_repeat": "reads-always-load",
        "cursors_change_only_as_told": "latest-is-one-back",
        "departure_of_the_last_active_cursor_is_noted": "departure-not-noted",
        "backlogs_decide_only_without_the_strategy": "active-at-threshold",
        "settings_and_time_rewrite_nothing": "ttl-rewrites-timestamps",
        "checks_come_at_their_interval": "every-second-check",
        "size_pass_makes_one_lap": "size-pass-laps-on",
        "size_pass_sets_aside_what_is_entitled": "stash-is-met-again",
        "size_pass_gives_an_access_a_round_of_its_own": "access-gives-no-round",
        "expected_reads_save_no_expired_entry_from_a_size_pass": "reads-save-the-expired",
        "size_pass_follows_a_scan_of_the_whole_queue": "frees-more-after-scan",
        "expected_reads_give_rounds_without_the_strategy_too": "frees-all-without-strategy",
        "time_pass_acts_on_all_that_is_expired": "scan-requeues-next",
        "expired_entry_is_requeued_for_reads_without_the_strategy_too": "no-requeue-without-strategy",
        "passes_visit_for_reads_without_the_strategy_too": "walks-on-without-strategy",
        "requeue_for_access_spends_nothing": "separate-requeue-raises-reads",
        "requeue_adds_the_ttl": "requeue-renews-to-now",
        "new_entry_comes_accessed": "put-comes-unaccessed",
        "cursor_eviction_leaves_no_tombstone": "cursor-eviction-leaves-tombstones",
        "releases_and_replays_move_counts_as_ever": "redelivery-counts-twice",
        "failed_delivery_moves_counts_as_ever": "failure-counts-twice",
        "no_other_command_moves_a_count": "newcomer-adds-to-counts",
        "failed_delivery_takes_no_read": "failed-release-takes-read",
        "entry_that_came_without_reads_expects_none": "counts-from-zero",
        "release_takes_one_below_zero_too": "count-stops-at-zero",
        "count_that_began_at_zero_goes_below_it": "count-from-zero-stays-there",
        "lookup_takes_a_read": "lookup-takes-nothing",
        "reads_are_counted_without_the_strategy_too": "first-replay-is-free-without-strategy",
        "leaver_takes_back_what_it_had_yet_to_read": "leaver-owes-nothing",
        "loaded_entry_expects_the_rank_of_its_reader": "load-counts-each-position",
        "load_is_cached_with_expected_reads_alone": "lone-reader-is-not-cached",
        "load_of_an_inactive_cursor_is_cached_for_the_others": "inactive-reader-is-not-cached",
        "losing_load_is_tied_to_nothing": "losing-load-is-tied",
        "second_put_replaces_the_count_alone": "second-put-changes-nothing",
        "missed_replay_is_cached_and_handed_out_from_there": "missed-replay-is-not-cached",
        "replayed_entry_expects_what_a_loaded_one_would": "missed-replay-is-an-access",
        "eviction_spares_the_entry_at_the_mark_delete": "eviction-takes-the-mark-delete",
        "cache_starts_empty": "starts-with-a-tombstone",
        "topics_start_empty": "topics-loaded-long-ago",
        "clock_and_settings_start_as_configured": "first-check-at-once",
        "delivery_is_of_what_was_asked_for": "load-claims-hit",
        "cursor_command_is_refused_for_the_first_reason": "last-read-is-not-acknowledged",
        "cursor_command_is_refused_where_there_is_a_reason": "opened-twice",
        "only_an_absent_delivery_is_refused": "absent-cursor-is-no-delivery",
        "absent_delivery_is_refused": "released-twice",
        "removal_is_refused_for_the_first_reason": "absent-removal-has-no-entry",
        "removal_is_refused_where_there_is_a_reason": "removal-begins-again",
        "only_an_untimely_pass_or_tick_is_refused": "check-at-its-time-is-early",
        "untimely_pass_or_tick_is_refused": "unasked-size-pass",
        "what_is_always_in_place_is_never_refused": "missed-lookup-is-refused",
    },
    "cursor_ranks": {
        "rank_counts_at_or_before": "rank-counts-before",
        "rank_counts_the_others": "rank-counts-before",
        "rank_at_counts_at_or_before": "rank-at-counts-before",
        "slowest_is_the_least": "slowest-is-fastest",
        "size_counts_every_cursor": "size-counts-tracked",
        "absent_is_said": "remove-absent-done",
        "find_gives_the_newest": "find-gives-the-latest",
        "find_gives_the_oldest": "find-gives-the-latest",
        "nothing_else_moves": "re-add-keeps-position",
        "untracking_forgets_the_position": "untracking-is-ignored",
        "removed_cursors_are_not_held": "removed-stay-pending",
        "pending_is_bounded": "pending-counts-twice",
        "settled_after_query": "pending-not-cleared",
        "settled_query_is_constant": "settled-query-renumbers",
        "update_is_logarithmic": "update-scans-the-list",
        "nothing_is_for_free": "own-node-not-counted",
        "many_updates_are_applied_by_a_rebuild": "rebuilds-above-the-share",
        "nothing_but_settling_rebuilds": "empty-list-is-rebuilt",
        "walking_costs_the_others_for_each_pending": "each-rank-is-recounted",
        "rebuilding_costs_the_tracked_once": "rebuild-numbers-each-time",
        "settling_looks_at_all_that_was_pending": "rebuild-not-counted",
    },
}
"""For each law a mutant that no other law kills."""

FOLLOWING: dict[str, dict[str, str]] = {
    "entry_cache": {
        "retained_memory_covers_what_is_accounted": "append-not-copied",
        "extensions_by_expected_reads_are_bounded": "one-extension-more",
        "nothing_expires_young": "expired-at-ttl",
        "nothing_expired_survives_a_check": "time-pass-handles-one",
        "unentitled_entries_go_first": "proportional-eviction",
        "queue_is_in_order_of_time": "hit-moves-to-tail",
        "idle_entry_stays_ttl_and_at_most_one_interval_more": "time-pass-handles-one",
        "unread_entry_is_gone_by_its_budget": "extension-settings-ignored",
        "unread_entry_is_gone_on_schedule": "extension-settings-ignored",
        "expected_entry_stays_for_its_whole_budget": "time-pass-ignores-entitlement",
        "entry_is_gone_soon_after_its_last_access": "time-pass-handles-one",
        "entry_that_is_read_again_and_again_stays": "time-pass-ignores-entitlement",
        "expected_reads_are_those_that_can_still_happen": "read-taken-twice",
        "entry_stays_twice_the_ttl": "put-comes-unaccessed",
    },
    "cursor_ranks": {"answers_do_not_depend_on_earlier_queries": "one-at-once-per-query"},
}
"""For each law that follows from others a mutant that it kills, beside them."""

CHUNK_STEPS = 1_000
MAX_CHUNKS = 80
SOLE_CASES = 2  # in how many cases a law has to break before we stop looking for a second one beside it

EVERY_MUTANT = [pytest.param(e, mutant, id=f"{e.name}-{mutant.name}") for e in TABLE for mutant in e.mutants]
EVERY_LAW = [(e, law) for e in TABLE for law in e.system.laws if law.kind != "sometimes"]


def _laws(follow: bool) -> list[Any]:
    return [pytest.param(e, law, id=f"{e.name}-{law.name}") for e, law in EVERY_LAW if bool(law.follows_from) == follow]


# ---- Every mutant is killed ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("entry", "mutant"), EVERY_MUTANT)
def test_every_mutant_is_killed_by_the_law_that_it_names(
    entry: Entry, mutant: Mutant, record_property: Callable[[str, object], None]
) -> None:
    found = kill(entry.system, mutant)
    record_property(KILL, kill_row(entry.name, found))
    assert found.by == "law", f"{mutant.name} is killed by {found.by}: {found.law} {found.evidence}"
    assert found.as_expected, f"{mutant.name} breaks {found.law}; the law that it names, {mutant.breaks}, never broke"


@pytest.mark.parametrize(("entry", "mutant"), EVERY_MUTANT)
def test_every_mutant_names_a_law_of_its_system_that_follows_from_no_other(entry: Entry, mutant: Mutant) -> None:
    law = entry.system.law_named.get(mutant.breaks)
    assert law is not None, f"{mutant.name} names {mutant.breaks!r}, which is no law of {entry.name}"
    assert law.kind != "sometimes"
    assert not law.follows_from, f"{mutant.name} should name what {law.name} follows from"


# ---- Every law is needed ---------------------------------------------------------------------------------------------


def _broken(entry: Entry, law: Law, name: str, cases: int) -> Counter[str]:
    """The laws that a mutant breaks until this one has broken in so many cases, in a dialect that claims it."""
    mutant = next((mutant for mutant in entry.mutants if mutant.name == name), None)
    assert mutant is not None, f"the table names {name!r}, which is no mutant of {entry.name}"
    dialect = "+".join(("text", *law.only[:1]))
    broken: Counter[str] = Counter()
    for seed in range(MAX_CHUNKS):
        (row,) = matrix(entry.system, [mutant], seed, dialect, CHUNK_STEPS)
        assert row.errors == 0, f"{name} raises an exception"
        broken.update(row.laws)
        if broken[law.name] >= cases:
            break
    return broken


@pytest.mark.parametrize(("entry", "law"), _laws(follow=False))
def test_every_law_has_a_mutant_that_no_other_law_kills(entry: Entry, law: Law) -> None:
    name = SOLE.get(entry.name, {}).get(law.name)
    assert name is not None, (
        f"{law.name} has no mutant of its own: find one that breaks it and no other law, and enter it in SOLE; "
        "where there can be none, the law follows from others and should say so"
    )
    broken = _broken(entry, law, name, SOLE_CASES)
    others = {other: count for other, count in broken.items() if not entry.system.law_named[other].follows_from}
    assert set(others) == {law.name}, f"{name} breaks {others}"


@pytest.mark.parametrize(("entry", "law"), _laws(follow=True))
def test_every_law_that_follows_from_others_kills_a_mutant_too(entry: Entry, law: Law) -> None:
    name = FOLLOWING.get(entry.name, {}).get(law.name)
    assert name is not None, f"{law.name} kills no mutant: find one that breaks it, and enter it in FOLLOWING"
    assert _broken(entry, law, name, 1)[law.name], f"{name} does not break it"


@pytest.mark.parametrize(("table", "follow"), [(SOLE, False), (FOLLOWING, True)], ids=["SOLE", "FOLLOWING"])
def test_the_tables_name_laws_of_their_kind(table: dict[str, dict[str, str]], follow: bool) -> None:
    known = {(entry.name, law.name) for entry, law in EVERY_LAW if bool(law.follows_from) == follow}
    named = {(system, law) for system, laws in table.items() for law in laws}
    assert not named - known, f"no such laws, or in the wrong table: {sorted(named - known)}"
