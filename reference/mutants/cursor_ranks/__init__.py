"""cursor_ranks with one bug put back in: each mutant overrides one method, and its docstring says what goes wrong."""

from __future__ import annotations

from ...cursor_ranks import CursorRanks
from ...mutant import Inexpressible, Mutant
from . import ranks, settling, updates


def _put_back(name: str, origin: str, mutant: type[CursorRanks], breaks: str) -> Mutant:
    """A mutant whose docstring is its sentence."""
    return Mutant(name, origin, (mutant.__doc__ or "").strip(), mutant, breaks)


_SLIP = "first-order"
_RANK = "rank_counts_at_or_before"
_SHARE = "many_updates_are_applied_by_a_rebuild"

MUTANTS: tuple[Mutant, ...] = (
    _put_back("removed-stay-pending", "apache/pulsar#26506", ranks.RemovedStayPending, "removed_cursors_are_not_held"),
    _put_back("untracking-keeps-position", "apache/pulsar#26629", ranks.UntrackingKeepsPosition, _RANK),
    _put_back("rank-counts-before", _SLIP, ranks.RankCountsBefore, _RANK),
    _put_back("rank-at-counts-before", _SLIP, ranks.RankAtCountsBefore, "rank_at_counts_at_or_before"),
    _put_back("rank-at-without-settling", _SLIP, ranks.RankAtWithoutSettling, "rank_at_counts_at_or_before"),
    _put_back("rank-settles-its-own-cursor", _SLIP, ranks.RankSettlesItsOwnCursor, _RANK),
    _put_back("split-forgotten", _SLIP, ranks.SplitForgotten, _RANK),
    _put_back("join-not-counted", _SLIP, ranks.JoinNotCounted, _RANK),
    _put_back("leaving-not-counted", _SLIP, ranks.LeavingNotCounted, _RANK),
    _put_back("tail-shares-counter", _SLIP, ranks.TailSharesCounter, _RANK),
    _put_back("head-lowers-none", _SLIP, ranks.HeadLowersNone, _RANK),
    _put_back("passed-back-not-raised", _SLIP, ranks.PassedBackNotRaised, _RANK),
    _put_back("stops-short-of-shared-position", _SLIP, ranks.StopsShortOfSharedPosition, _RANK),
    _put_back("leaving-lowers-none", _SLIP, ranks.LeavingLowersNone, _RANK),
    _put_back("rebuild-misses-nodes", _SLIP, updates.RebuildMissesNodes, _RANK),
    _put_back("pending-in-wrong-order", _SLIP, updates.PendingInWrongOrder, _RANK),
    _put_back("pending-not-reordered", _SLIP, updates.PendingNotReordered, _RANK),
    _put_back("first-write-wins", _SLIP, updates.FirstWriteWins, "nothing_else_moves"),
    _put_back("back-again-is-lost", _SLIP, updates.BackAgainIsLost, "nothing_else_moves"),
    _put_back("pending-not-cleared", _SLIP, updates.PendingNotCleared, "settled_after_query"),
    _put_back("one-at-once-per-query", _SLIP, updates.OneAtOncePerQuery, _RANK),
    _put_back("removed-still-counted", _SLIP, updates.RemovedStillCounted, _RANK),
    _put_back("debt-dies-with-its-bearer", _SLIP, updates.DebtDiesWithItsBearer, _RANK),
    _put_back("size-counts-tracked", _SLIP, updates.SizeCountsTracked, "size_counts_every_cursor"),
    _put_back("size-needs-settling", _SLIP, updates.SizeNeedsSettling, "size_counts_every_cursor"),
    _put_back("slowest-without-settling", _SLIP, ranks.SlowestWithoutSettling, "slowest_is_the_least"),
    _put_back("slowest-is-fastest", _SLIP, ranks.SlowestIsFastest, "slowest_is_the_least"),
    _put_back("slowest-by-entry", _SLIP, ranks.SlowestByEntry, "slowest_is_the_least"),
    _put_back("find-gives-the-old", _SLIP, updates.FindGivesTheOld, "find_gives_the_newest"),
    _put_back("find-gives-the-latest", _SLIP, updates.FindGivesTheLatest, "find_gives_the_newest"),
    _put_back("re-add-keeps-position", _SLIP, updates.ReAddKeepsPosition, "nothing_else_moves"),
    _put_back("remove-absent-done", _SLIP, updates.RemoveAbsentDone, "absent_is_said"),
    _put_back("move-adds", _SLIP, updates.MoveAdds, "absent_is_said"),
    _put_back("find-absent-gives-zero", _SLIP, updates.FindAbsentGivesZero, "absent_is_said"),
    _put_back("move-takes-neighbours", _SLIP, updates.MoveTakesNeighbours, "nothing_else_moves"),
    _put_back("untracking-is-ignored", _SLIP, updates.UntrackingIsIgnored, "untracking_forgets_the_position"),
    _put_back("pending-counts-twice", _SLIP, updates.PendingCountsTwice, "pending_is_bounded"),
    _put_back("query-always-rebuilds", _SLIP, updates.QueryAlwaysRebuilds, "settled_query_is_constant"),
    _put_back("update-scans-the-list", _SLIP, updates.UpdateScansTheList, "update_is_logarithmic"),
    _put_back("update-settles", _SLIP, updates.UpdateSettles, "update_is_logarithmic"),
    _put_back("standing-still-rebuilds", _SLIP, updates.StandingStillRebuilds, "update_is_logarithmic"),
    _put_back("rebuilds-above-the-share", _SLIP, settling.RebuildsAboveTheShare, _SHARE),
    _put_back("rebuild-share-ignored", _SLIP, settling.RebuildShareIgnored, _SHARE),
    _put_back("rebuild-share-of-all", _SLIP, settling.RebuildShareOfAll, _SHARE),
    _put_back("always-rebuilds", _SLIP, settling.AlwaysRebuilds, _SHARE),
    _put_back("never-rebuilds", _SLIP, settling.NeverRebuilds, _SHARE),
    _put_back("removed-stay-tracked", _SLIP, settling.RemovedStayTracked, _SHARE),
    _put_back("untracked-stay-tracked", _SLIP, settling.UntrackedStayTracked, _SHARE),
    _put_back("re-added-are-tracked-twice", _SLIP, settling.ReAddedAreTrackedTwice, _SHARE),
    _put_back("empty-list-is-rebuilt", _SLIP, settling.EmptyListIsRebuilt, "nothing_but_settling_rebuilds"),
    _put_back("settled-query-renumbers", _SLIP, settling.SettledQueryRenumbers, "settled_query_is_constant"),
    _put_back(
        *("each-rank-is-recounted", _SLIP, settling.EachRankIsRecounted),
        "walking_costs_the_others_for_each_pending",
    ),
    _put_back(
        *("rebuild-numbers-each-time", _SLIP, settling.RebuildNumbersEachTime),
        "rebuilding_costs_the_tracked_once",
    ),
    _put_back("own-node-not-counted", _SLIP, settling.OwnNodeNotCounted, "nothing_is_for_free"),
    _put_back("rebuild-not-counted", _SLIP, settling.RebuildNotCounted, "settling_looks_at_all_that_was_pending"),
)

INEXPRESSIBLE: tuple[Inexpressible, ...] = (
    Inexpressible(
        "slowest-by-mark-delete",
        "apache/pulsar#17273",
        "cursors were ordered by what they had acknowledged where the question was how far they had read; a cursor "
        "here has one position (slowest-by-entry is the nearest wrong order)",
    ),
    Inexpressible(
        "slowest-under-a-read-lock",
        "apache/pulsar#26511",
        "asking for the slowest cursor applied pending updates under a read lock, so that two readers could apply them "
        "at once; commands here come one after the other",
    ),
)
