"""The explorer: how many states there are, that no two of them are one, and that what it finds is shortest."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from brokerlaw.driver.kills import kill
from brokerlaw.driver.loop import Job, run_cases
from brokerlaw.properties.explorer import Explored, Limits, Lockstep, explore_model, key_maker
from brokerlaw.reference.mutant import Mutant
from brokerlaw.reference.table import TABLE, Entry
from brokerlaw.spec.core import Scope, every
from brokerlaw.spec.cursor_ranks.words import Add, Move

from .cli_harness import Cli, cli_in

ENTRY = {entry.name: entry for entry in TABLE}

# The states of the model in each scope that is small enough to count here; the steps to the farthest.
STATES = {
    ("cursor_ranks", "pair"): (25, 2),
    ("cursor_ranks", "trio"): (125, 3),
    ("cursor_ranks", "four"): (1_296, 4),
    ("entry_cache", "core"): (6_060, 17),
}

# The same with the reference in lockstep, each state of the pair counted; for the larger ones a few steps deep.
IN_LOCKSTEP = {
    ("cursor_ranks", "pair", None): 457,
    ("entry_cache", "core", 6): 571,
    ("entry_cache", "races", 3): 432,
}


def scope_of(system: str, name: str, depth: int | None = None) -> Scope:
    scope = ENTRY[system].system.scope(name)
    return scope if depth is None else evolve(scope, depth=depth)


def explored(entry: Entry, scope: Scope, subject: Any = None, **more: Any) -> Explored:
    text = entry.system.dialect("text")
    return Lockstep(entry.system, scope, text, subject or entry.reference, "subject", **more).run()


@pytest.mark.parametrize(("system", "name"), STATES)
def test_the_model_has_so_many_states(system: str, name: str) -> None:
    found = explore_model(ENTRY[system].system, scope_of(system, name), ENTRY[system].system.dialect("text"))
    assert (found.states, found.depth) == STATES[system, name]
    assert found.exhausted
    assert sum(found.layers) == found.states


@pytest.mark.parametrize(("system", "name", "depth"), IN_LOCKSTEP)
def test_the_reference_breaks_nothing_in_any_state(system: str, name: str, depth: int | None) -> None:
    found = explored(ENTRY[system], scope_of(system, name, depth))
    assert found.broken == {}
    assert found.states == IN_LOCKSTEP[system, name, depth]
    assert found.how == "the subject itself"


def test_a_subject_that_can_not_be_copied_is_tried_in_every_state_of_the_model() -> None:
    entry = ENTRY["cursor_ranks"]

    class Opaque:
        """A reference that nobody can look into."""

        def __init__(self) -> None:
            inner = entry.reference()
            self.reset, self.apply, self.snapshot = inner.reset, inner.apply, inner.snapshot

    found = explored(entry, scope_of("cursor_ranks", "pair"), Opaque)
    assert (found.states, found.how, found.broken) == (25, "over the model's states", {})


@pytest.mark.parametrize(("name", "shapes"), [("pair", 15), ("trio", 35), ("four", 126)])
def test_states_that_differ_by_names_alone_can_count_as_one(name: str, shapes: int) -> None:
    entry = ENTRY["cursor_ranks"]
    found = explore_model(entry.system, scope_of("cursor_ranks", name), entry.system.dialect("text"), symmetry=True)
    assert found.states == shapes  # ways to choose places for cursors that nobody tells apart


@pytest.mark.parametrize(("system", "name", "depth"), [("entry_cache", "two", 7), ("cursor_ranks", "trio", None)])
def test_no_state_is_lost_by_taking_renamed_ones_for_one(system: str, name: str, depth: int | None) -> None:
    spec, scope = ENTRY[system].system, scope_of(system, name, depth)
    plain, shape = key_maker(spec, scope, symmetry=False), key_maker(spec, scope, symmetry=True)
    text, start = spec.dialect("text"), spec.model.start(scope.config)
    seen, frontier = {plain(start): start}, [start]
    for _ in range(depth or 10):
        ahead = []
        for state in frontier:
            for command in scope.commands:
                after, _ = spec.model.step(scope.config, state, command, text)
                if scope.within is not None and not scope.within(scope.config, after):
                    continue
                if plain(after) not in seen:
                    seen[plain(after)] = after
                    ahead.append(after)
        frontier = ahead
    found = explore_model(spec, scope, text, symmetry=True)
    assert found.states == len({shape(state) for state in seen.values()}) < len(seen)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["core", "races", "patient", "two"])
def test_states_that_a_scope_takes_for_one_answer_alike(name: str, seed: int) -> None:
    spec, scope = ENTRY["entry_cache"].system, scope_of("entry_cache", name)
    assert scope.alike is not None
    chance, text, state = random.Random(seed), spec.dialect("text"), spec.model.start(scope.config)
    key = key_maker(spec, scope, symmetry=False)
    differed = 0
    for _ in range(400):
        twin = scope.alike(scope.config, state)
        differed += twin != state
        for command in scope.commands:
            (one, seen), (other, seen_too) = (spec.model.step(scope.config, s, command, text) for s in (state, twin))
            assert seen == seen_too
            assert key(one) == key(other)
        state, _ = spec.model.step(scope.config, state, chance.choice(scope.commands), text)
    assert differed > 100


def _dies_in(entry: Entry, mutant: Mutant, scope: Scope) -> Explored:
    return explored(entry, scope, mutant.make, limits=Limits(first=True))


SHORTEST = ["rank-counts-before", "slowest-is-fastest", "size-needs-settling", "find-gives-the-old"]


@pytest.mark.parametrize("name", SHORTEST)
def test_a_mutant_dies_by_a_case_that_is_no_longer_than_the_shrunk_one(name: str) -> None:
    entry = ENTRY["cursor_ranks"]
    (mutant,) = [mutant for mutant in entry.mutants if mutant.name == name]
    (reached,) = _dies_in(entry, mutant, scope_of("cursor_ranks", "pair")).broken.values()
    assert kill(entry.system, mutant).by == "law"
    shrunk = run_cases(Job(entry.system, mutant.make, name, seed=1), range(40)).findings
    assert len(reached.case.commands) <= min(len(finding.case.commands) for finding in shrunk)


def test_limits_are_said() -> None:
    entry = ENTRY["entry_cache"]
    text = entry.system.dialect("text")
    found = explore_model(entry.system, scope_of("entry_cache", "three"), text, limits=Limits(states=500))
    assert found.stopped == "there are more than 500 states"
    assert not found.exhausted


def test_a_scope_lists_every_value_that_is_given_and_else_the_small_ones() -> None:
    assert every(Add, cursor=("a",), ledger=(None,)) == (Add("a", None, 0), Add("a", None, 1))
    with pytest.raises(TypeError, match="Move has no field colour"):
        every(Move, colour=("red",))


# ---- The command ----------------------------------------------------------------------------------------------------


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    return cli_in(tmp_path, capsys, monkeypatch)


def test_the_command_shows_a_shortest_case_and_how_to_see_it_again(cli: Cli, tmp_path: Path) -> None:
    done = cli("explore", "cursor_ranks", "--mutant", "rank-counts-before", "--first", "--out", "found")
    assert done.code == 1
    assert "Broken: 1 thing, each with a shortest case." in done.out
    (case,) = (tmp_path / "found").glob("*.json")
    assert cli("replay", f"found/{case.name}", "--subject", "mutant:rank-counts-before").code == 1


def test_the_command_counts_and_lists(cli: Cli) -> None:
    counted = cli("explore", "cursor_ranks", "--scope", "trio", "--model-only", "--json")
    assert (counted.code, counted.data["scopes"][0]["states"]) == (0, 125)
    listed = cli("explore", "--list")
    assert "races" in listed.out
    assert "6 cursors that are absent, untracked or at one of 8 positions" in listed.out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("--scope", "fuor"),
            "--scope: cursor_ranks has no scope 'fuor'; it has pair, trio, four, million, small (did",
        ),
        (("--model-only", "--mutant", "rank-counts-before"), "--model-only explores no subject: leave out --subject"),
        (("--law", "nope"), "--law: 'nope' is no law of cursor_ranks"),
    ],
)
def test_what_can_not_be_explored_is_one_sentence(cli: Cli, words: tuple[str, ...], sentence: str) -> None:
    done = cli("explore", "cursor_ranks", *words)
    assert done.code == 2
    assert done.err.startswith(f"brokerlaw: {sentence}")
