"""growth: what a step costs with 10, 100, 1,000 and 10,000 resident entries, or tracked cursors.

Each size has a state that stays as large as it is: what comes in at one end leaves at the other.  The same commands
are then run through each part of the driver alone.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from random import Random
from statistics import median
from typing import Any

from attrs import define, frozen

from brokerlaw.driver.checker import plan_for
from brokerlaw.reference.cursor_ranks import CursorRanks
from brokerlaw.reference.entry_cache import EntryCache
from brokerlaw.spec.core import TEXT_DIALECT, Subject, System
from brokerlaw.spec.cursor_ranks import CURSOR_RANKS, Add, Find, Move, Rank, RankAt, Remove, Size, Slowest
from brokerlaw.spec.cursor_ranks import Config as RanksConfig
from brokerlaw.spec.entry_cache import ENTRY_CACHE
from brokerlaw.spec.entry_cache.words import (
    TOPICS,
    Append,
    Config,
    EvictionCheck,
    Get,
    OpenCursor,
    Read,
    Release,
    RollLedger,
    Tick,
)

from .measure import cpu, number, table

SEED = 430
LOOK_EVERY = 16  # steps between two comparisons of snapshots, one of the driver's own choices
LEDGER_ENTRIES = 50  # entries of a topic's ledger before it is rolled


@frozen
class Effort:
    """How much is measured."""

    sizes: tuple[int, ...] = (10, 100, 1_000, 10_000)
    cycles: int = 40  # of a few commands each; more where little is resident, and a step is short
    rounds: int = 5

    def cycles_at(self, size: int) -> int:
        return max(self.cycles, min(10 * self.cycles, 1_000 * self.cycles // size))


QUICK = Effort(sizes=(10, 100), cycles=5, rounds=1)


@frozen
class Workload:
    """A run that fills a system to a size, and one that keeps it there."""

    system: System
    make_subject: Callable[[], Subject]
    config: Any
    filling: list[Any]
    steady: list[Any]
    resident: Callable[[Any], int]


def entry_cache_at(size: int, cycles: int) -> Workload:
    """Entries over all topics, one published and read each millisecond, each expiring `size` milliseconds later."""
    config = Config(max_size_bytes=2**40, ttl_ms=size, check_interval_ms=1, max_extensions=0, extend_accessed=False)
    random = Random(SEED)

    def published(number: int) -> list[Any]:
        topic, (ledger, entry) = TOPICS[number % len(TOPICS)], divmod(number // len(TOPICS), LEDGER_ENTRIES)
        roll = [RollLedger(topic)] if ledger and not entry else []
        read = [Read(topic, "c0", 1), Release(topic, "c0", ledger, entry)]
        return [*roll, Append(topic, 10), *read, Tick(1), EvictionCheck()]

    def looked_up(number: int) -> Any:
        found = number - int(random.random() * size * 0.9)
        return Get(TOPICS[found % len(TOPICS)], *divmod(found // len(TOPICS), LEDGER_ENTRIES))

    filling: list[Any] = [OpenCursor(topic, "c0", "latest") for topic in TOPICS]
    for each in range(size):
        filling += published(each)
    steady: list[Any] = []
    for each in range(size, size + cycles):
        steady += [*published(each), looked_up(each)]
    return Workload(ENTRY_CACHE, EntryCache, config, filling, steady, lambda state: len(state.queue))


def cursor_ranks_at(size: int, cycles: int) -> Workload:
    """Cursors that stand close together and move on in small steps; now and then one leaves and comes back."""
    random = Random(SEED)
    position = [int(random.random() * size) for _ in range(size)]
    filling: list[Any] = [Add(f"c{each}", 0, at) for each, at in enumerate(position)] + [Slowest()]
    steady: list[Any] = []
    for _ in range(cycles):
        for _ in range(4):
            mover = int(random.random() * size)
            position[mover] += 1 + int(random.random() * 3)
            steady += [Move(f"c{mover}", 0, position[mover]), Rank(f"c{mover}")]
        back = int(random.random() * size)
        name = f"c{back}"
        steady += [Slowest(), Size(), Find(name), RankAt(0, max(position)), Remove(name), Add(name, 0, position[back])]
    return Workload(CURSOR_RANKS, CursorRanks, RanksConfig(), filling, steady, lambda state: len(state.cursors))


@define
class Bench:
    """A system filled to a size, and its parts run alone on the commands that keep it there."""

    work: Workload
    state: Any = None  # of the model, filled; states never change, so that one will do
    compared: tuple[int, ...] = ()

    def __attrs_post_init__(self) -> None:
        self.state = self.work.system.model.start(self.work.config)
        for command in self.work.filling:
            self.state, _ = self._model_step(self.state, command)
        self.compared = plan_for(self.work.system, TEXT_DIALECT, self.work.make_subject()).compared

    def _model_step(self, state: Any, command: Any) -> tuple[Any, Any]:
        model = self.work.system.model
        return model.by_command[type(command)].step(self.work.config, state, command, TEXT_DIALECT)

    def filled(self) -> Subject:
        subject = self.work.make_subject()
        subject.reset(self.work.config, TEXT_DIALECT)
        for command in self.work.filling:
            subject.apply(command)
        return subject

    def light(self, subject: Subject, look_every: int = 0) -> None:
        """As the driver's fast path runs a case."""
        state, view = self.state, self.work.system.model.view
        for at, command in enumerate(self.work.steady):
            outcome = subject.apply(command)
            state, expected = self._model_step(state, command)
            assert outcome == expected, f"{command!r}: {outcome!r}, the model says {expected!r}"
            if look_every and at % look_every == 0:
                seen, viewed = subject.snapshot(), view(state)
                assert all(seen[index] == viewed[index] for index in self.compared)

    def subject_alone(self, subject: Subject) -> None:
        for command in self.work.steady:
            subject.apply(command)

    def model_alone(self, draws: bool = False) -> Any:
        state, by_command = self.state, self.work.system.model.by_command
        for command in self.work.steady:
            targets = by_command[type(command)].targets
            if draws and targets is not None:
                targets(self.work.config, state)
            state, _ = self._model_step(state, command)
        return state

    def seconds(self) -> dict[str, float]:
        """One round: the CPU seconds of each part."""
        subjects = [self.filled() for _ in range(3)]
        return {
            "light": cpu(lambda: self.light(subjects[0]))[0],
            "subject": cpu(lambda: self.subject_alone(subjects[1]))[0],
            "model": cpu(self.model_alone)[0],
            "drawing": cpu(lambda: self.model_alone(draws=True))[0],
            "look": cpu(lambda: self.light(subjects[2], LOOK_EVERY))[0],
        }


def costs(work: Workload, rounds: int) -> dict[str, float]:
    """Microseconds for each step (for each look), the median of the rounds."""
    bench = Bench(work)
    before, after = work.resident(bench.state), work.resident(bench.model_alone())
    assert abs(after - before) <= 1, f"it is not steady: {before} resident, then {after}"
    measured = [bench.seconds() for _ in range(rounds)]
    for each in measured:  # differences within one round: both sides met the same noise
        each["drawing"] = max(0.0, each["drawing"] - each["model"])
        each["look"] = max(0.0, each["look"] - each["light"]) * LOOK_EVERY
    return {part: median([each[part] for each in measured]) / len(work.steady) * 1e6 for part in measured[0]}


COLUMNS = {
    "light": "light path (model + reference + compare)",
    "subject": "reference alone",
    "model": "model alone",
    "drawing": "listing what a command can name",
    "look": "a look: snapshot + view + compare",
}


def report(name: str, counted: str, make: Callable[[int, int], Workload], effort: Effort) -> str:
    """Prints the table of one system; returns its part of the figure."""
    measured = [costs(make(size, effort.cycles_at(size)), effort.rounds) for size in effort.sizes]
    print(f"{name}: microseconds of CPU for each step (for each look in the last row), by {counted}")
    rows = []
    for column, title in COLUMNS.items():
        values = [each[column] for each in measured]
        rows.append((title, *map(number, values), _growth(values)))
    print(table(("part", *(f"{size:,}" for size in effort.sizes), "growth by decade"), rows), end="\n\n")
    whole = [each["light"] for each in measured]
    return f"{name} light path {number(whole[0])} to {number(whole[-1])} us/step ({_growth(whole)} by decade)"


def _growth(values: list[float]) -> str:
    return " ".join([f"x{later / earlier:.1f}" if earlier else "-" for earlier, later in pairwise(values)])


def run(quick: bool) -> str:
    """Measures both systems; the figure."""
    effort = QUICK if quick else Effort()
    return "growth: " + "; ".join(
        [
            report("entry_cache", "resident entries", entry_cache_at, effort),
            report("cursor_ranks", "tracked cursors", cursor_ranks_at, effort),
        ]
    )
