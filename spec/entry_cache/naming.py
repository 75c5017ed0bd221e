"""entry_cache, part 3: the names of the deviations, and how one is declared.

The model asks for them by these names; readings.py and readings_of_counts.py say what each one means.
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
REPLAY_MISS_CACHED = "replay-miss-cached"
CURSOR_EVICTION_THROUGH_QUEUE = "cursor-eviction-through-queue"

# Laws that more than one reading gives up.
FOLLOW = "expected_reads_follow_releases_and_replays"
STILL_HAPPEN = "expected_reads_are_those_that_can_still_happen"
UNREAD = ("unread_entry_is_gone_by_its_budget", "unread_entry_is_gone_on_schedule")
SIZE_ORDER = (
    "size_pass_takes_the_oldest_first",
    "size_pass_frees_no_more_than_it_must",
    "size_pass_requeues_what_it_passes_over",
)

Origin = Literal["shipped", "silent", "contradiction", "amendment"]


def deviation(
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


def with_strategy(config: w.Config) -> bool:
    return config.by_expected_reads


def without_strategy(config: w.Config) -> bool:
    return not config.by_expected_reads


def by_mark_delete_alone(config: w.Config) -> bool:
    return not config.by_expected_reads and config.by_mark_delete
