"""The reference of cursor_ranks: its list, its counters, what it puts off and what it costs."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from math import log2
from typing import Any

import pytest

from brokerlaw.reference.cursor_ranks import CursorRanks
from brokerlaw.reference.legacy.cursor_ranks import LegacyCursorRanks
from brokerlaw.reference.mutant import Mutant
from brokerlaw.reference.mutants.cursor_ranks import INEXPRESSIBLE, MUTANTS
from brokerlaw.spec.core import TEXT_DIALECT, Cloneable, Dialect, Shape, Subject, fields_of
from brokerlaw.spec.cursor_ranks import (
    COMMANDS,
    Absent,
    Add,
    Added,
    At,
    Config,
    Count,
    Done,
    Find,
    Found,
    Move,
    Rank,
    RankAt,
    Remove,
    Size,
    Slowest,
)

UPDATES = (Add, Move, Remove)
QUERIES = (Rank, RankAt, Slowest)
ONE_BY_ONE = Config(rebuild_percent=1000)
ALWAYS_REBUILD = Config(rebuild_percent=0)
CONFIGS = (ALWAYS_REBUILD, Config(30), Config(), Config(100), ONE_BY_ONE)
DIALECTS = (
    TEXT_DIALECT,
    Dialect("re-add", frozenset({"re-add-keeps-old-cursor"})),
    Dialect("untracked", frozenset({"untracked-keeps-position"})),
    Dialect("both", frozenset({"re-add-keeps-old-cursor", "untracked-keeps-position"})),
)
RUNS = 60
STEPS = 120


def drawn(seed: int, steps: int = STEPS, commands: Sequence[type] = COMMANDS) -> list[Any]:
    """Commands drawn from their domains; moves are frequent and removes rare, so that positions are shared."""
    rng = random.Random(seed)
    samplers = {c: [f.domain.sampler(rng.random, Shape()) for f in fields_of(c)] for c in commands}
    weights = [{Move: 6, Remove: 1}.get(c, 3) for c in commands]
    return [c(*[draw() for draw in samplers[c]]) for c in rng.choices(commands, weights, k=steps)]


def fresh(config: Config = ONE_BY_ONE, dialect: Dialect = TEXT_DIALECT) -> CursorRanks:
    ranks = CursorRanks()
    ranks.reset(config, dialect)
    return ranks


def answers(subject: Subject, commands: Sequence[Any]) -> list[Any]:
    return [subject.apply(command) for command in commands]


def standing(*entries: int, config: Config = ONE_BY_ONE) -> CursorRanks:
    """Settled cursors c0, c1, … at these entries of ledger 0."""
    ranks = fresh(config)
    answers(ranks, [Add(f"c{number}", 0, entry) for number, entry in enumerate(entries)])
    ranks.apply(Slowest())
    return ranks


def ranks_of(ranks: CursorRanks, count: int) -> list[int]:
    found = [ranks.apply(Rank(f"c{number}")).value for number in range(count)]
    ranks._check()
    return found


# ---- It is right ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"{config.rebuild_percent}%")
def test_it_agrees_with_the_counting_design_and_keeps_its_invariants(config: Config, dialect: Dialect) -> None:
    for seed in range(RUNS):
        ranks, legacy = fresh(config, dialect), LegacyCursorRanks()
        legacy.reset(config, dialect)
        for command in drawn(seed):
            assert ranks.apply(command) == legacy.apply(command), (seed, command)
            assert ranks.snapshot().cursors == legacy.snapshot().cursors
            ranks._check()


@pytest.mark.parametrize(
    ("name", "to", "expected"),
    [
        ("c0", 15, [2, 1, 4, 4, 5]),  # the first, past one
        ("c0", 20, [4, 1, 4, 4, 5]),  # the first, to a shared position
        ("c0", 25, [4, 1, 3, 3, 5]),  # the first, across a shared position
        ("c0", 99, [5, 1, 3, 3, 4]),  # the first, to the tail
        ("c2", 25, [1, 2, 4, 3, 5]),  # out of a shared position, forward
        ("c2", 15, [1, 2, 3, 4, 5]),  # out of a shared position, back
        ("c3", 0, [2, 3, 4, 2, 5]),  # out of a shared position, back past one and beside the first
        ("c4", 20, [1, 2, 5, 5, 5]),  # the last, back to a shared position
        ("c4", 15, [1, 2, 5, 5, 3]),  # the last, back across a shared position
        ("c1", 10, [1, 2, 4, 4, 5]),  # nowhere
        ("c1", None, [1, 0, 3, 3, 4]),  # no longer tracked
    ],
)
@pytest.mark.parametrize("config", [ONE_BY_ONE, ALWAYS_REBUILD], ids=["one by one", "rebuilt"])
def test_a_move_mends_the_ranks_that_it_passes(name: str, to: int | None, expected: list[int], config: Config) -> None:
    ranks = standing(0, 10, 20, 20, 30, config=config)
    assert ranks.apply(Move(name, None if to is None else 0, to or 0)) == Done()
    assert ranks_of(ranks, 5) == expected


@pytest.mark.parametrize("config", [ONE_BY_ONE, ALWAYS_REBUILD], ids=["one by one", "rebuilt"])
def test_removed_cursors_no_longer_count_beside_or_behind(config: Config) -> None:
    ranks = standing(0, 10, 10, 20, 30, config=config)
    assert answers(ranks, [Remove("c2"), Remove("c3"), Remove("c2")]) == [Done(), Done(), Absent()]
    assert ranks_of(ranks, 5) == [1, 2, 0, 0, 3]


def test_a_position_is_ordered_by_ledger_first() -> None:
    ranks = fresh()
    answers(ranks, [Add("c0", 1, 0), Add("c1", 0, 9)])
    assert ranks.apply(Slowest()) == At((0, 9))
    assert ranks.apply(RankAt(0, 9)) == Count(1)
    assert ranks.apply(RankAt(1, 0)) == Count(2)


def test_a_name_added_again_is_a_new_cursor_at_its_own_position() -> None:
    ranks = fresh()
    assert answers(ranks, [Add("c0", 0, 3), Slowest(), Add("c0", None, 0)]) == [Added(1), At((0, 3)), Added(2)]
    assert answers(ranks, [Find("c0"), Rank("c0"), Slowest(), Size()]) == [Found(2), Count(0), At(None), Count(1)]


def test_in_a_dialect_a_name_added_again_stays_the_old_cursor() -> None:
    ranks = fresh(dialect=DIALECTS[1])
    assert answers(ranks, [Add("c0", 0, 3), Add("c0", 0, 5), Add("c1", 0, 4)]) == [Added(1), Added(1), Added(3)]
    assert answers(ranks, [Find("c0"), Rank("c0"), Slowest()]) == [Found(1), Count(2), At((0, 4))]
    assert answers(ranks, [Add("c0", None, 0), Rank("c0")]) == [Added(1), Count(0)]


def test_in_a_dialect_a_cursor_moved_to_no_position_stays_where_it_is() -> None:
    ranks = fresh(dialect=DIALECTS[2])
    assert answers(ranks, [Add("c0", 0, 3), Move("c0", None, 0), Slowest()]) == [Added(1), Done(), At((0, 3))]


# ---- When it catches up does not show -------------------------------------------------------------------------------


def test_looking_changes_no_answer_and_costs_no_work() -> None:
    for seed in range(RUNS):
        looked_at, left_alone = fresh(Config()), fresh(Config())
        for command in drawn(seed):
            looked_at.snapshot()
            assert looked_at.apply(command) == left_alone.apply(command)
        assert looked_at.snapshot() == left_alone.snapshot()


def test_queries_in_between_change_no_answer() -> None:
    for seed in range(RUNS):
        config = CONFIGS[seed % len(CONFIGS)]
        plain, asked = fresh(config), fresh(config)
        for command in drawn(seed):
            answers(asked, drawn(seed, 2, QUERIES))
            assert plain.apply(command) == asked.apply(command)


def test_size_and_find_and_snapshots_leave_pending_what_is_pending() -> None:
    ranks = fresh()
    answers(ranks, [Add("c0", 0, 1), Add("c1", 0, 2), Add("c1", 0, 3), Add("c2", None, 0), Size(), Find("c0")])
    assert ranks.snapshot().pending == 2
    assert ranks.apply(Rank("c0")) == Count(1)
    assert ranks.snapshot().pending == 0


def test_a_cursor_that_moved_away_and_back_is_not_pending() -> None:
    ranks = standing(0, 10)
    answers(ranks, [Move("c0", 0, 20), Move("c0", 0, 0)])
    assert ranks.snapshot().pending == 0


def test_a_clone_goes_its_own_way() -> None:
    for seed in range(RUNS):
        ranks = fresh(CONFIGS[seed % len(CONFIGS)])
        answers(ranks, drawn(seed))
        twin = ranks.clone()
        assert (twin.snapshot(), twin.fingerprint()) == (ranks.snapshot(), ranks.fingerprint())
        before = ranks.snapshot(), ranks.fingerprint()
        answers(twin, drawn(seed + 1))
        twin._check()
        assert (ranks.snapshot(), ranks.fingerprint()) == before
        ranks._check()
        answers(ranks, drawn(seed + 1))
        assert (twin.snapshot(), twin.fingerprint()) == (ranks.snapshot(), ranks.fingerprint())


def test_the_reference_can_be_explored() -> None:
    assert isinstance(CursorRanks(), Cloneable)


def test_a_broken_invariant_is_shown_with_the_whole_state() -> None:
    ranks = standing(0, 10)
    assert ranks._head is not None
    assert ranks._head.counter is not None
    ranks._head.counter.rank = 7
    with pytest.raises(AssertionError, match=r"in the list:\n  Cursor\(name='c0'.*rank=7"):
        ranks._check()


# ---- What it costs --------------------------------------------------------------------------------------------------


def many(count: int) -> CursorRanks:
    """Settled cursors, ten entries apart, some of them at one position."""
    return standing(*[number // 3 * 10 for number in range(count)])


def spent(ranks: Subject, *commands: Any) -> int:
    before = ranks.snapshot().work
    answers(ranks, commands)
    work: int = ranks.snapshot().work - before
    return work


def test_a_settled_query_costs_the_same_however_many_cursors_there_are() -> None:
    for count in (10, 1000):
        assert [spent(many(count), query) for query in (Rank("c7"), Slowest(), Size(), Find("c7"))] == [1, 1, 0, 0]


def some_updates(count: int) -> Iterator[Any]:
    rng = random.Random(count)
    for _ in range(3 * count):
        name, entry = f"c{rng.randrange(count)}", rng.randrange(20 * count)
        yield rng.choice((Add(name, 0, entry), Move(name, 0, entry), Move(name, None, 0), Remove(name)))


def test_an_update_costs_the_logarithm_of_what_is_pending() -> None:
    ranks = many(2000)
    for command in some_updates(2000):
        pending = ranks.snapshot().pending if command.cursor.endswith("7") else None
        if pending is None:
            ranks.apply(command)
        else:
            assert spent(ranks, command) <= 4 + 4 * log2(pending + 1), (pending, command)
    ranks._check()


def test_pending_cursors_that_advance_together_do_not_pass_each_other() -> None:
    ranks = fresh()
    answers(ranks, [Add(f"c{number}", 0, 10 * number) for number in range(100)])
    ranks.apply(Slowest())
    answers(ranks, [Move(f"c{number}", 0, 10 * number + 25) for number in range(9)])
    assert ranks.snapshot().pending == 9
    assert spent(ranks, Slowest()) < 9 * (2 * log2(9) + 8)


def test_many_updates_are_cheaper_by_a_rebuild() -> None:
    one_by_one, rebuilt = standing(*range(200)), standing(*range(200), config=Config(50))
    moves = [Move(f"c{number}", 0, 1000 - number) for number in range(200)]
    answers(one_by_one, moves)
    answers(rebuilt, moves)
    assert spent(rebuilt, Slowest()) * 5 < spent(one_by_one, Slowest())
    assert ranks_of(rebuilt, 200) == ranks_of(one_by_one, 200) == list(range(200, 0, -1))


@pytest.mark.parametrize(
    ("percent", "moving", "rebuilds"), [(50, 3, 0), (50, 4, 1), (0, 1, 1), (100, 8, 1), (101, 8, 0)]
)
def test_it_rebuilds_from_the_share_that_is_set(percent: int, moving: int, rebuilds: int) -> None:
    ranks = standing(*range(8), config=Config(percent))
    ranks.apply(Add("c8", None, 0))
    before = ranks.snapshot().rebuilds
    answers(ranks, [*[Move(f"c{number}", 0, 90 + number) for number in range(moving)], Size(), Find("c0")])
    assert ranks.snapshot().rebuilds == before
    answers(ranks, [Rank("c0"), Slowest(), RankAt(0, 0)])
    assert ranks.snapshot().rebuilds == before + rebuilds


def test_settling_costs_what_is_stated_at_worst() -> None:
    count = 64
    log = count.bit_length() - 1
    ranks = standing(*range(2 * count))
    answers(ranks, [Move(f"c{number}", 0, 9000 + number) for number in range(1, count)])
    answers(ranks, [Remove("c0")])  # the first one pays for it, past all the others, and then moves past them
    walking = spent(ranks, Slowest())
    pending, held = count - 1, 2 * count - 1
    assert pending * held < walking <= pending * (4 * (held - 1) + 1) + 2 * pending * log + 1
    rebuilt = standing(*range(count), config=ALWAYS_REBUILD)
    answers(rebuilt, [Move(f"c{number}", 0, 9000 - number) for number in range(count)])
    assert 4 * count < spent(rebuilt, Slowest()) <= 5 * count + 2 * count * log + 1


def test_cursors_that_come_and_go_without_a_query_leave_nothing_behind() -> None:
    ranks = standing(0, 10, 20)
    for number in range(500):
        answers(ranks, [Add("c5", 0, number), Move("c5", 0, 7), Remove("c5"), Add("c1", 0, number)])
        snapshot = ranks.snapshot()
        assert snapshot.held == len(snapshot.cursors) == 3
        assert snapshot.pending <= 3


def test_whatever_happens_no_more_is_pending_or_held_than_there_is() -> None:
    for seed in range(RUNS):
        ranks = fresh(CONFIGS[seed % len(CONFIGS)])
        for command in drawn(seed, commands=(*UPDATES, Rank)):
            ranks.apply(command)
            snapshot = ranks.snapshot()
            assert snapshot.pending <= snapshot.held == len(snapshot.cursors)


def test_the_design_before_counts_for_every_rank() -> None:
    costs = []
    for count in (10, 1000):
        legacy = LegacyCursorRanks()
        answers(legacy, [Add(f"c{number}", 0, number) for number in range(count)])
        costs.append((spent(legacy, Slowest()), spent(legacy, Rank("c7"))))
    assert costs == [(1, 20), (1, 2000)]


# ---- Mutants --------------------------------------------------------------------------------------------------------


def first_difference(mutant: Subject, reference: Subject, config: Config, commands: Sequence[Any]) -> int | None:
    """The number of the first command after which the two can be told apart."""
    mutant.reset(config, TEXT_DIALECT)
    reference.reset(config, TEXT_DIALECT)
    found = None
    for number, command in enumerate(commands):
        same = mutant.apply(command) == reference.apply(command) and mutant.snapshot() == reference.snapshot()
        if not same and found is None:
            found = number
    return found


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_differs_from_the_reference_and_none_crashes(mutant: Mutant) -> None:
    subject, reference = mutant.make(), CursorRanks()
    found = [
        first_difference(subject, reference, CONFIGS[seed % len(CONFIGS)], drawn(seed)) is not None
        for seed in range(RUNS)
    ]
    assert any(found)


def test_mutants_have_names_and_sentences_of_their_own() -> None:
    for values in ([m.name for m in MUTANTS] + [i.name for i in INEXPRESSIBLE], [m.sentence for m in MUTANTS]):
        assert all(values)
        assert len(set(values)) == len(values)
