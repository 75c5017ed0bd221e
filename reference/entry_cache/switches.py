"""The deviations of a dialect as plain booleans, read once when a run begins."""

from __future__ import annotations

from functools import lru_cache

from attrs import fields, frozen

from ...spec.core import Dialect


@frozen
class Switches:
    """One boolean for each deviation; all off is the text."""

    one_lap: bool = False
    stash: bool = False
    separate_budgets: bool = False
    ttl_added: bool = False
    size_pass_honours_expiry: bool = False
    put_counts_as_access: bool = False
    undelivered_release_free: bool = False
    leaver_pays_back: bool = False
    no_count_from_zero: bool = False
    count_below_zero: bool = False
    losing_load_keeps_own_count: bool = False
    second_put_replaces_count: bool = False
    rank_of_reader: bool = False
    zero_reads_not_cached: bool = False
    every_copy_counts: bool = False
    mark_delete_exclusive: bool = False
    reads_without_strategy: bool = False
    scan_past_unexpired: bool = False
    replay_miss_cached: bool = False
    cursor_eviction_through_queue: bool = False


@lru_cache(maxsize=64)
def switches_of(dialect: Dialect) -> Switches:
    """The switches that a dialect turns on."""
    return Switches(**{field.name: dialect.has(field.name.replace("_", "-")) for field in fields(Switches)})
