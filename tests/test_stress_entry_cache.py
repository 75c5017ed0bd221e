"""The reference implementation of entry_cache under random runs, and its mutants told apart from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from attrs import evolve, fields

from brokerlaw.reference.entry_cache import EntryCache
from brokerlaw.reference.entry_cache.switches import Switches
from brokerlaw.reference.legacy.entry_cache import LegacyEntryCache
from brokerlaw.reference.mutant import Mutant
from brokerlaw.reference.mutants.entry_cache import MUTANTS
from brokerlaw.spec.core import TEXT_DIALECT, Dialect, Shape, fields_of
from brokerlaw.spec.entry_cache import ENTRY_CACHE
from brokerlaw.spec.entry_cache.words import (
    COMMANDS,
    Append,
    BeginRemoval,
    CloseCursor,
    Config,
    EvictionCheck,
    FailDelivery,
    FailLoad,
    FinishLoad,
    FinishRemoval,
    Get,
    MarkDelete,
    OpenCursor,
    Read,
    Redeliver,
    Release,
    Replay,
    Seek,
    SetActive,
    SizePass,
    Snapshot,
    Tick,
)

DEVIATIONS = tuple(field.name.replace("_", "-") for field in fields(Switches))


# ---- Random runs ----------------------------------------------------------------------------------------------------

WEIGHTS = {
    Append: 14, Read: 14, FinishLoad: 10, Release: 10, Tick: 10, EvictionCheck: 10, SizePass: 6, OpenCursor: 5, Get: 5,
    FailDelivery: 4, Redeliver: 4, Replay: 4, MarkDelete: 3, BeginRemoval: 4, FinishRemoval: 4,
}  # fmt: skip
"""How often a command is drawn; 1 for the others."""


def samplers(kind: type, random: Random, shape: Shape) -> Callable[[], Any]:
    draws = [(field.name, field.domain.sampler(random.random, shape)) for field in fields_of(kind)]
    return lambda: kind(**{name: draw() for name, draw in draws})


class RandomRun:
    """A config and commands drawn from their domains, most of them aimed at something that is there."""

    def __init__(self, seed: int) -> None:
        self.random = random = Random(seed)
        shape = Shape(width=random.choice((0.2, 0.2, 0.4, 0.6, 1.0)), edge_rate=0.1, full_rate=0.0)
        self.config: Config = samplers(Config, random, evolve(shape, width=random.choice((0.2, 0.5, 1.0))))()
        self.draws = {kind: samplers(kind, random, shape) for kind in COMMANDS}
        self.weights = [WEIGHTS.get(kind, 1) * random.choice((0, 1, 1, 2)) + 0.1 for kind in COMMANDS]

    def next(self, seen: Snapshot) -> Any:
        """The next command, given what can be seen now."""
        (kind,) = self.random.choices(COMMANDS, self.weights)
        targets = self._targets(kind, seen) if self.random.random() < 0.85 else []
        command = self.draws[kind]()
        return evolve(command, **self.random.choice(targets)) if targets else command

    def _targets(self, kind: type, seen: Snapshot) -> list[dict[str, Any]]:
        if kind in (Release, FailDelivery):
            return [_named(row, "topic cursor ledger entry") for row in seen.deliveries]
        if kind is FinishRemoval:
            return [_named(row, "what topic ledger entry") for row in seen.removals]
        if kind in (Get, BeginRemoval):
            return [_named(item, "topic ledger entry") for item in seen.queue]
        if kind is Redeliver:
            return [_named(row, "topic cursor ledger entry") for row in seen.deliveries]
        if kind is Replay:
            return [
                {"topic": row.topic, "cursor": row.cursor, "ledger": ledger, "entry": entry}
                for row in seen.cursors
                for ledger, entry in row.replays
            ]
        if kind in (FinishLoad, FailLoad):
            return [_named(row, "topic cursor") for row in seen.cursors if row.loading]
        if kind in (Read, Seek, MarkDelete, SetActive, CloseCursor):
            return [_named(row, "topic cursor") for row in seen.cursors]
        return []


def _named(row: Any, names: str) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names.split()}


def drive(subject: EntryCache, seed: int, steps: int, dialect: Dialect = TEXT_DIALECT) -> Iterator[Any]:
    """Runs a subject on a random run of its own; yields each command that it has just carried out."""
    random_run = RandomRun(seed)
    subject.reset(random_run.config, dialect)
    for _ in range(steps):
        command = random_run.next(subject.snapshot())
        subject.apply(command)
        yield command


def carry_out(subject: EntryCache, commands: list[Any]) -> None:
    for command in commands:
        subject.apply(command)


@pytest.mark.parametrize("seed", range(60))
def test_a_random_run_keeps_every_structural_invariant(seed: int) -> None:
    subject = EntryCache()
    for _ in drive(subject, seed, 200):
        subject._check()


@pytest.mark.parametrize("deviation", DEVIATIONS)
def test_a_random_run_under_each_deviation_keeps_every_structural_invariant(deviation: str) -> None:
    subject = EntryCache()
    for seed in range(6):
        for _ in drive(subject, seed, 150, Dialect("other", frozenset({deviation}))):
            subject._check()


def test_observing_changes_no_outcome() -> None:
    for seed in range(20):
        watched, unwatched = EntryCache(), EntryCache()
        commands = list(drive(watched, seed, 150))
        unwatched.reset(RandomRun(seed).config, TEXT_DIALECT)
        for command in commands:
            unwatched.apply(command)
        assert watched.snapshot() == unwatched.snapshot()


def test_a_clone_goes_its_own_way_from_the_same_state() -> None:
    for seed in range(20):
        commands = list(drive(EntryCache(), seed, 160))
        subject = EntryCache()
        subject.reset(RandomRun(seed).config, TEXT_DIALECT)
        carry_out(subject, commands[:80])
        seen, mark, clone = subject.snapshot(), subject.fingerprint(), subject.clone()
        assert (clone.snapshot(), clone.fingerprint()) == (seen, mark)
        for command in commands[80:]:
            clone.apply(command)
            clone._check()
        assert (subject.snapshot(), subject.fingerprint()) == (seen, mark)
        subject._check()
        carry_out(subject, commands[80:])
        assert (subject.snapshot(), subject.fingerprint()) == (clone.snapshot(), clone.fingerprint())


def test_the_legacy_design_keeps_every_structural_invariant_and_works_for_it() -> None:
    subject, work = LegacyEntryCache(), 0
    for seed in range(10):
        for _ in drive(subject, seed, 150):
            subject._check()
        work += subject.work
    assert work > 0


# ---- Mutants --------------------------------------------------------------------------------------------------------


def first_difference(
    ours: Callable[[], Any],
    theirs: Callable[[], Any],
    seed: int,
    *,
    dialect: Dialect = TEXT_DIALECT,
    other_dialect: Dialect = TEXT_DIALECT,
) -> str | None:
    """Where two subjects part on a random run: the command and what each showed."""
    random_run = RandomRun(seed)
    one, other = ours(), theirs()
    one.reset(random_run.config, dialect)
    other.reset(random_run.config, other_dialect)
    for _ in range(120):
        seen = one.snapshot()
        if seen != other.snapshot():
            return f"{seen} and {other.snapshot()}"
        command = random_run.next(seen)
        expected, got = one.apply(command), other.apply(command)
        if expected != got:
            return f"{command}: {expected} and {got}"
    return None


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_differs_from_the_reference(mutant: Mutant) -> None:
    named = ENTRY_CACHE.dialect(mutant.dialect)
    seeds = range(3000)
    assert any(first_difference(EntryCache, mutant.make, seed, dialect=named, other_dialect=named) for seed in seeds)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_misbehaves_and_does_not_crash(mutant: Mutant) -> None:
    subject: Any = mutant.make()
    for seed in range(4):
        for _ in drive(subject, seed, 60, Dialect("other", frozenset(DEVIATIONS[seed::4]))):
            assert subject.clone().snapshot() == subject.snapshot()
            assert subject.clone().fingerprint() == subject.fingerprint()


def test_mutants_are_told_apart_by_name_and_sentence() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 40
    assert len({mutant.sentence for mutant in MUTANTS}) == len(MUTANTS)
    shipped = {mutant.origin.removeprefix("apache/pulsar#") for mutant in MUTANTS if "#" in mutant.origin}
    numbers = (24363, 23900, 23955, 16996, 22789, 21302, 18076, 10225, 24836, 25987, 26627, 17273)
    assert shipped >= {str(number) for number in numbers}
