"""The spec of cursor_ranks: its model by example, each law on a run that keeps it and on one that breaks it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import pytest

from brokerlaw.spec.core import (
    NOT_OBSERVED,
    TEXT_DIALECT,
    VACUOUS,
    Broken,
    Deviation,
    Dialect,
    Law,
    check_case,
)
from brokerlaw.spec.cursor_ranks import (
    CURSOR_RANKS,
    Absent,
    Add,
    Added,
    At,
    Config,
    Count,
    CursorRow,
    Done,
    Find,
    Found,
    Move,
    Rank,
    RankAt,
    Remove,
    Size,
    Slowest,
    Snapshot,
)
from brokerlaw.spec.cursor_ranks.model import MODEL, State

CONFIG = Config()


def answers(commands: Iterable[Any], dialect: Dialect = TEXT_DIALECT) -> list[Any]:
    """What the model answers to each command."""
    state, found = MODEL.start(CONFIG), []
    for command in commands:
        state, outcome = MODEL.step(CONFIG, state, command, dialect)
        found.append(outcome)
    return found


def last_answer(*commands: Any) -> Any:
    return answers(commands)[-1]


# ---- The model ------------------------------------------------------------------------------------------------------


def test_a_rank_counts_those_at_the_position_and_before_it_the_cursor_included() -> None:
    there = (Add("c0", 0, 1), Add("c1", 0, 3), Add("c2", 0, 3), Add("c3", 1, 0))
    assert [last_answer(*there, Rank(f"c{n}")) for n in range(4)] == [Count(1), Count(3), Count(3), Count(4)]


def test_positions_are_ordered_by_ledger_and_then_by_entry() -> None:
    assert last_answer(Add("c0", 0, 9), Add("c1", 1, 0), RankAt(0, 9)) == Count(1)
    assert last_answer(Add("c0", 0, 9), Add("c1", 1, 0), RankAt(1, 0)) == Count(2)
    assert last_answer(Add("c0", 0, 9), RankAt(0, 8)) == Count(0)


def test_an_absent_or_untracked_cursor_has_rank_zero() -> None:
    assert last_answer(Add("c0", 0, 0), Rank("c1")) == Count(0)
    assert last_answer(Add("c0", 0, 0), Add("c1", None, 0), Rank("c1")) == Count(0)
    assert last_answer(Add("c0", 0, 0), Move("c0", None, 0), Rank("c0")) == Count(0)


def test_an_untracked_cursor_counts_for_size_alone() -> None:
    there = (Add("c0", None, 0), Add("c1", 0, 4))
    assert last_answer(*there, Size()) == Count(2)
    assert last_answer(*there, Rank("c1")) == Count(1)
    assert last_answer(*there, Slowest()) == At((0, 4))
    assert last_answer(Add("c0", None, 0), Slowest()) == At(None)


def test_a_move_back_changes_the_ranks_and_the_slowest() -> None:
    there = (Add("c0", 0, 1), Add("c1", 0, 5), Move("c1", 0, 0))
    assert last_answer(*there, Rank("c0")) == Count(2)
    assert last_answer(*there, Slowest()) == At((0, 0))


def test_what_is_absent_is_said_to_be() -> None:
    assert answers([Move("c0", 0, 0), Remove("c0"), Find("c0")]) == [Absent()] * 3
    assert answers([Add("c0", 0, 0), Remove("c0"), Remove("c0")]) == [Added(1), Done(), Absent()]


def test_a_name_added_again_refers_to_the_new_cursor_at_its_position() -> None:
    there = (Add("c0", 0, 5), Add("c0", 0, 1))
    assert answers(there) == [Added(1), Added(2)]
    assert last_answer(*there, Find("c0")) == Found(2)
    assert last_answer(*there, RankAt(0, 1)) == Count(1)
    assert last_answer(*there, Size()) == Count(1)


def test_the_view_is_in_order_of_name_and_leaves_out_what_is_the_containers_own_affair() -> None:
    state = State()
    for command in (Add("c1", 0, 0), Add("c0", None, 0)):
        state, _ = MODEL.step(CONFIG, state, command, TEXT_DIALECT)
    rows = (CursorRow("c0", 2, None), CursorRow("c1", 1, (0, 0)))
    assert MODEL.view(state) == Snapshot(rows, *[NOT_OBSERVED] * 4)


def test_states_that_differ_in_add_numbers_alone_are_the_same_canonically() -> None:
    once, again = State((CursorRow("c0", 1, (0, 0)),), 1), State((CursorRow("c0", 7, (0, 0)),), 9)
    elsewhere = State((CursorRow("c0", 1, (0, 1)),), 1)
    assert MODEL.canonical(once) == MODEL.canonical(again) != MODEL.canonical(elsewhere)
    assert hash(once) != hash(elsewhere)
    assert MODEL.drain(CONFIG, once) is None


def test_a_careful_caller_names_cursors_that_are_there() -> None:
    state = State((CursorRow("c3", 1, None),), 1)
    for command in (Move, Remove, Rank, Find):
        targets = MODEL.by_command[command].targets
        assert targets is not None
        assert list(targets(CONFIG, state)) == [("c3",)]
    assert MODEL.enabled(CONFIG, state, Move("c3", 0, 0))
    assert not MODEL.enabled(CONFIG, state, Remove("c0"))
    assert MODEL.enabled(CONFIG, state, Add("c0", 0, 0))


# ---- Each law, kept and broken --------------------------------------------------------------------------------------


def seen(
    *rows: tuple[str, int, tuple[int, int] | None], pending: int = 0, held: int = -1, work: int = 0, rebuilds: int = 0
) -> Snapshot:
    return Snapshot(tuple(CursorRow(*row) for row in rows), pending, len(rows) if held < 0 else held, work, rebuilds)


def verdict(law: str, command: Any, outcome: Any, before: Snapshot, after: Snapshot, past: Iterable[Any] = ()) -> Any:
    """What a law says of one step; `past` holds earlier (command, outcome) pairs."""
    history = CURSOR_RANKS.history(CONFIG)
    for earlier, answer in (*past, (command, outcome)):
        history.record(None, earlier, answer, None)
    told = CURSOR_RANKS.law_named[law]
    return told.check(*seen_by(told, history, before, command, outcome, after))


def seen_by(law: Law, past: Any, before: Snapshot, command: Any, outcome: Any, after: Snapshot) -> tuple[Any, ...]:
    """What a law's check is given, by its kind."""
    if law.kind == "always":
        return (CONFIG, after)
    step = (CONFIG, before, command, outcome, after)
    return step if law.kind == "step" else (past, *step)


TWO = seen(("c0", 1, (0, 1)), ("c1", 2, (0, 3)))
ONE = seen(("c0", 1, (0, 1)))
FOUR = seen(*((f"c{n}", n + 1, (0, n)) for n in range(4)), ("c9", 5, None))  # tracked, and one that is not
REBUILT = partial(seen, rebuilds=1)
LOOSE = seen(("c0", 1, None))
NONE = seen()
ADDED = (Add("c0", 0, 1), Added(1))
REMOVED = (Remove("c0"), Done())
CHURN = [step for n in range(1, 6) for step in ((Add("c0", 0, 1), Added(n)), REMOVED)]

# law, command, outcome that keeps it, outcome that breaks it, before, after, past
BY_ANSWER: list[tuple[str, Any, Any, Any, Snapshot, Snapshot, list[Any]]] = [
    ("rank_counts_at_or_before", Rank("c1"), Count(2), Count(1), TWO, TWO, []),
    ("rank_counts_at_or_before", Rank("c0"), Count(0), Count(1), LOOSE, LOOSE, []),
    ("rank_counts_at_or_before", Rank("c5"), Count(0), Absent(), TWO, TWO, []),
    ("rank_counts_the_others", Rank("c1"), Count(1), Count(2), TWO, TWO, []),
    ("rank_at_counts_at_or_before", RankAt(0, 3), Count(2), Count(1), TWO, TWO, []),
    ("slowest_is_the_least", Slowest(), At((0, 1)), At((0, 3)), TWO, TWO, []),
    ("slowest_is_the_least", Slowest(), At(None), At((0, 1)), LOOSE, LOOSE, []),
    ("size_counts_every_cursor", Size(), Count(1), Count(0), LOOSE, LOOSE, []),
    ("absent_is_said", Move("c0", 0, 1), Done(), Absent(), ONE, ONE, []),
    ("absent_is_said", Find("c1"), Absent(), Found(1), ONE, ONE, []),
    ("find_gives_the_newest", Find("c0"), Found(2), Found(1), ONE, ONE, [ADDED, (Add("c0", 0, 1), Added(2))]),
    ("find_gives_the_newest", Add("c0", 0, 1), Added(2), Added(1), ONE, ONE, [ADDED]),
    ("find_gives_the_oldest", Find("c0"), Found(1), Found(2), ONE, ONE, [ADDED, ADDED]),
    ("find_gives_the_oldest", Add("c0", 0, 1), Added(1), Added(2), ONE, ONE, [ADDED]),
    (
        "answers_do_not_depend_on_earlier_queries",
        *(Rank("c0"), Count(1), Count(2), ONE, ONE),
        [ADDED, (Rank("c0"), Count(1)), (Slowest(), At((0, 1))), (Remove("c1"), Absent())],
    ),
]

_MANY = "many_updates_are_applied_by_a_rebuild"
_WALKING = "walking_costs_the_others_for_each_pending"
_REBUILDING = "rebuilding_costs_the_tracked_once"

# law, command, outcome, before, after that keeps it, after that breaks it, past
BY_SIGHT: list[tuple[str, Any, Any, Snapshot, Snapshot, Snapshot, list[Any]]] = [
    ("nothing_else_moves", Rank("c0"), Count(1), ONE, ONE, LOOSE, []),
    ("nothing_else_moves", Move("c1", 0, 3), Done(), TWO, TWO, seen(("c0", 1, (0, 2)), ("c1", 2, (0, 3))), []),
    ("nothing_else_moves", Move("c0", 0, 1), Done(), LOOSE, ONE, LOOSE, []),
    ("nothing_else_moves", Move("c0", 0, 1), Absent(), NONE, NONE, ONE, []),
    ("nothing_else_moves", Move("c0", None, 0), Done(), TWO, seen(("c0", 1, None), TWO.cursors[1]), LOOSE, []),
    ("nothing_else_moves", Add("c0", 0, 1), Added(1), NONE, ONE, NONE, []),
    ("nothing_else_moves", Add("c0", 0, 1), Added(2), ONE, seen(("c0", 2, (0, 1))), ONE, []),
    ("nothing_else_moves", Remove("c1"), Done(), TWO, ONE, TWO, []),
    ("untracking_forgets_the_position", Move("c0", None, 0), Done(), ONE, LOOSE, ONE, []),
    ("removed_cursors_are_not_held", *REMOVED, NONE, seen(held=3), seen(held=4), CHURN[:-1]),
    ("removed_cursors_are_not_held", Rank("c0"), Count(1), ONE, seen(held=4), seen(held=5), [ADDED]),
    ("pending_is_bounded", Size(), Count(1), ONE, seen(pending=3, held=3), seen(pending=4, held=3), []),
    ("settled_after_query", Rank("c0"), Count(1), ONE, ONE, seen(pending=1), []),
    ("settled_query_is_constant", Slowest(), At(None), NONE, seen(work=4), seen(work=5), []),
    ("update_is_logarithmic", *ADDED, NONE, seen(work=8), seen(work=9), []),
    ("update_is_logarithmic", *ADDED, seen(pending=6), seen(work=16), seen(work=17), []),
    ("nothing_is_for_free", *ADDED, NONE, seen(work=1), NONE, []),
    ("nothing_is_for_free", Move("c0", 0, 1), Done(), ONE, seen(work=1), ONE, []),
    ("nothing_is_for_free", RankAt(0, 1), Count(1), ONE, seen(work=1), ONE, []),
    ("nothing_is_for_free", Slowest(), At((0, 1)), ONE, seen(work=1), ONE, []),
    (_MANY, Slowest(), At((0, 1)), FOUR._replace(pending=2), seen(rebuilds=1), seen(), []),
    (_MANY, RankAt(0, 1), Count(1), FOUR._replace(pending=1), seen(), seen(rebuilds=1), []),
    (_MANY, Rank("c0"), Count(1), FOUR._replace(pending=2), seen(rebuilds=1), seen(rebuilds=2), []),
    ("nothing_but_settling_rebuilds", Rank("c0"), Count(1), ONE, ONE, seen(rebuilds=1), []),
    ("nothing_but_settling_rebuilds", Size(), Count(1), seen(pending=1), ONE, seen(rebuilds=1), []),
    ("nothing_but_settling_rebuilds", *ADDED, seen(pending=1), ONE, seen(rebuilds=1), []),
    (_WALKING, Slowest(), At(None), seen(pending=1, held=6), seen(work=25), seen(work=26), []),
    (_WALKING, Slowest(), At(None), seen(pending=5, held=6), seen(work=129), seen(work=130), []),
    (_REBUILDING, Slowest(), At(None), FOUR._replace(pending=1), REBUILT(work=29), REBUILT(work=30), []),
    (_REBUILDING, Slowest(), At(None), FOUR._replace(pending=4), REBUILT(work=48), REBUILT(work=49), []),
    ("settling_looks_at_all_that_was_pending", Slowest(), At(None), seen(pending=3), seen(work=3), seen(work=2), []),
]


@pytest.mark.parametrize(("law", "command", "kept", "broken", "before", "after", "past"), BY_ANSWER)
def test_a_law_over_answers_holds_for_the_right_one_and_breaks_for_another(
    law: str, command: Any, kept: Any, broken: Any, before: Snapshot, after: Snapshot, past: list[Any]
) -> None:
    assert verdict(law, command, kept, before, after, past) is True
    wrong = verdict(law, command, broken, before, after, past)
    assert isinstance(wrong, Broken)
    assert str(broken) in wrong.evidence


@pytest.mark.parametrize(("law", "command", "outcome", "before", "kept", "broken", "past"), BY_SIGHT)
def test_a_law_over_states_holds_for_the_right_one_and_breaks_for_another(
    law: str, command: Any, outcome: Any, before: Snapshot, kept: Snapshot, broken: Snapshot, past: list[Any]
) -> None:
    assert verdict(law, command, outcome, before, kept, past) is True
    wrong = verdict(law, command, outcome, before, broken, past)
    assert isinstance(wrong, Broken)
    assert wrong.evidence


def test_every_law_that_can_break_is_broken_above() -> None:
    shown = {row[0] for row in BY_ANSWER} | {row[0] for row in BY_SIGHT}
    assert shown == {law.name for law in CURSOR_RANKS.laws if law.kind != "sometimes"}


def test_a_step_that_says_nothing_is_vacuous() -> None:
    assert verdict("find_gives_the_newest", Find("c0"), Absent(), NONE, NONE) is VACUOUS
    assert verdict("find_gives_the_oldest", Find("c0"), Absent(), NONE, NONE, [ADDED, REMOVED]) is VACUOUS
    assert verdict("untracking_forgets_the_position", Move("c0", 0, 1), Done(), ONE, ONE) is VACUOUS
    assert verdict("settled_after_query", Rank("c7"), Count(0), ONE, seen(pending=1)) is VACUOUS
    assert verdict("settled_query_is_constant", Size(), Count(1), seen(pending=1), seen(work=99)) is VACUOUS
    assert verdict("nothing_is_for_free", Move("c0", None, 0), Done(), ONE, ONE) is VACUOUS
    assert verdict("nothing_is_for_free", Add("c0", None, 0), Added(1), NONE, LOOSE) is VACUOUS
    assert verdict("nothing_is_for_free", Rank("c7"), Count(0), ONE, ONE) is VACUOUS
    assert verdict("nothing_but_settling_rebuilds", Slowest(), At(None), seen(pending=1), seen(rebuilds=1)) is VACUOUS
    for law in (_MANY, _WALKING, _REBUILDING, "settling_looks_at_all_that_was_pending"):
        assert verdict(law, Rank("c7"), Count(0), seen(pending=1), seen(pending=1, rebuilds=1)) is VACUOUS
    assert verdict(_WALKING, Slowest(), At(None), seen(pending=1), seen(work=99, rebuilds=1)) is VACUOUS
    assert verdict(_REBUILDING, Slowest(), At(None), seen(pending=1), seen(work=99)) is VACUOUS
    asked = [(Size(), Count(0)), ADDED]
    assert verdict("answers_do_not_depend_on_earlier_queries", Size(), Count(1), ONE, ONE, asked) is VACUOUS


def test_a_thousand_adds_and_removes_without_a_question_must_not_be_held() -> None:
    churn = [step for n in range(1, 1001) for step in ((Add("c0", 0, 1), Added(n)), REMOVED)]
    leaking = seen(pending=1000, held=1000)
    assert isinstance(verdict("removed_cursors_are_not_held", *REMOVED, NONE, leaking, churn[:-1]), Broken)
    assert verdict("pending_is_bounded", *REMOVED, NONE, leaking) is True  # which is why the other law is needed


def test_a_lazy_container_may_hold_what_it_linked_until_it_counts_again() -> None:
    eight = [(Add(f"c{n}", 0, n), Added(n + 1)) for n in range(8)]
    gone = [(Remove(f"c{n}"), Done()) for n in range(7)]
    lingering = seen(held=8, pending=7)
    law = "removed_cursors_are_not_held"
    assert verdict(law, *gone[-1], NONE, lingering, [*eight, (Rank("c7"), Count(8)), *gone[:-1]]) is True
    assert isinstance(verdict(law, Rank("c7"), Count(1), NONE, lingering, [*eight, *gone]), Broken)


# ---- Places to reach ------------------------------------------------------------------------------------------------


def at(*entries: int | None) -> Snapshot:
    """Cursors c0, c1, … at these entries of ledger 0."""
    return seen(*((f"c{n}", n + 1, None if entry is None else (0, entry)) for n, entry in enumerate(entries)))


# place, command, before and after that are there, before and after that are just not
REACHED: list[tuple[str, Any, tuple[Snapshot, Snapshot], tuple[Snapshot, Snapshot]]] = [
    ("four_or_more_are_tracked", Add("c3", 0, 3), (NONE, at(1, 1, 2, 3)), (NONE, at(1, 1, 2, None))),
    ("three_share_a_position", Add("c3", 0, 3), (NONE, at(3, 1, 3, 3)), (NONE, at(None, None, None, 3, 3))),
    ("the_first_moves", Move("c0", 0, 9), (at(1, 2, 3), NONE), (at(2, 2, 3), NONE)),
    ("the_last_moves", Move("c0", 0, 0), (at(4, 2, 3), NONE), (at(3, 2, 3), NONE)),
    ("a_middle_one_moves", Move("c0", 0, 0), (at(2, 1, 3), NONE), (at(2, 2, 3), NONE)),
    ("a_move_crosses_a_shared_position", Move("c0", 0, 9), (at(1, 2, 2), NONE), (at(1, 2, 3), NONE)),
    ("a_move_goes_back_past_several", Move("c0", 0, 0), (at(5, 2, 3), NONE), (at(5, 2, 2), NONE)),
    ("a_name_is_added_again", Add("c0", 0, 0), (at(1), NONE), (NONE, at(1))),
    ("a_cursor_is_untracked", Move("c0", None, 0), (at(1), NONE), (at(None), NONE)),
]


@pytest.mark.parametrize(("place", "command", "there", "not_there"), REACHED)
def test_a_place_is_reached_there_and_nowhere_near(
    place: str, command: Any, there: tuple[Snapshot, Snapshot], not_there: tuple[Snapshot, Snapshot]
) -> None:
    assert verdict(place, command, Done(), *there) is True
    assert verdict(place, command, Done(), *not_there) is False


def test_a_removal_counts_only_of_a_cursor_that_was_there() -> None:
    assert verdict("a_cursor_is_removed", Remove("c0"), Done(), ONE, NONE) is True
    assert verdict("a_cursor_is_removed", Remove("c0"), Absent(), NONE, NONE) is False


# ---- Readings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("deviation", CURSOR_RANKS.deviations, ids=lambda deviation: deviation.name)
def test_a_deviation_shows_in_its_case_and_in_no_shorter_part_of_it(deviation: Deviation) -> None:
    commands = deviation.case.commands
    check_case(deviation.case, CURSOR_RANKS)
    other = CURSOR_RANKS.dialect(f"text+{deviation.name}")
    assert answers(commands) != answers(commands, other)
    assert answers(commands[:-1]) == answers(commands[:-1], other)


def test_a_re_add_under_pulsar_4_moves_the_old_cursor_and_uses_a_number_up() -> None:
    commands = [Add("c0", 0, 5), Add("c0", 0, 1), Slowest(), Find("c0"), Add("c1", 0, 0)]
    shipped = CURSOR_RANKS.dialect("pulsar-4")
    assert answers(commands, shipped) == [Added(1), Added(1), At((0, 1)), Found(1), Added(3)]


def test_a_reading_swaps_the_law_that_it_replaces() -> None:
    def claimed(dialect: str) -> set[str]:
        return {law.name for law in CURSOR_RANKS.laws_in(CURSOR_RANKS.dialect(dialect))}

    assert claimed("text") - claimed("pulsar-4") == {"find_gives_the_newest"}
    assert claimed("pulsar-4") - claimed("text") == {"find_gives_the_oldest"}
    assert claimed("text") - claimed("text+rank-leaves-itself-out") == {"rank_counts_at_or_before"}
    assert claimed("text") - claimed("text+untracked-keeps-position") == {"untracking_forgets_the_position"}


def test_lanes_tell_cursors_from_readers() -> None:
    assert CURSOR_RANKS.lanes(Move("c3", 0, 0)) == "cursor c3"
    assert CURSOR_RANKS.lanes(Rank("c3")) == "reader"
