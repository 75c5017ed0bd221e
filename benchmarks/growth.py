"""growth: what a step costs with 10, 100, 1,000 and 10,000 resident entries, or tracked cursors.

Each size has a state that stays as large as it is: what comes in at one end leaves at the other.  The same commands
are then run through each part of the driver alone.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from attrs import frozen

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
SIZES = (10, 100, 1_000, 10_000)
QUICK_SIZES = (10, 100)
CYCLES, QUICK_CYCLES = 60, 5
LOOK_EVERY = 16  # steps between two comparisons of snapshots, one of the driver's own choices
LEDGER_ENTRIES = 50  # entries of a topic's ledger before it is rolled


@frozen
class Workload:
    """A run that fills a system to a size, and one that keeps it there."""

    system: System
    make_subject: Callable[[], Subject]
    config: Any
    filling: list[Any]
    steady: list[Any]


def entry_cache_at(size: int, cycles: int) -> Workload:
    """Entries over all topics, one published each millisecond, each expiring when it is `size` milliseconds old."""
    config = Config(max_size_bytes=2**40, ttl_ms=size, check_interval_ms=1, max_extensions=0, extend_accessed=False)
    filling: list[Any] = [OpenCursor(topic, "c0", "latest") for topic in TOPICS]
    published = 0

    def publish() -> list[Any]:
        nonlocal published
        topic, at = TOPICS[published % len(TOPICS)], published // len(TOPICS)
        published += 1
        roll = [RollLedger(topic)] if at % LEDGER_ENTRIES == 0 and at else []
        return [*roll, Append(topic, 10), Tick(1), EvictionCheck()]

    for _ in range(size):
        filling += publish()
    random, steady = Random(SEED), []
    for _ in range(cycles):
        steady += publish()
        topic = TOPICS[int(random.random() * len(TOPICS))]
        at = (published - 1 - int(random.random() * size * 0.9)) // len(TOPICS)
        steady += [Get(topic, *divmod(at, LEDGER_ENTRIES)), Read(topic, "c0", 1), Release(topic, "c0", 0, 0)]
    return Workload(ENTRY_CACHE, EntryCache, config, filling, steady)


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
        name = f"c{int(random.random() * size)}"
        steady += [Slowest(), Size(), Find(name), RankAt(0, max(position)), Remove(name), Add(name, 0, position[0])]
    return Workload(CURSOR_RANKS, CursorRanks, RanksConfig(), filling, steady)


@frozen
class Costs:
    """Microseconds for each step; a look at the snapshot is for each look."""

    light: float
    subject: float
    model: float
    drawing: float
    look: float


def costs(work: Workload) -> Costs:
    """What each part takes on the steady commands."""
    config, model = work.config, work.system.model
    steps = {command: action.step for command, action in model.by_command.items()}

    def filled() -> tuple[Subject, Any]:
        subject, state = work.make_subject(), model.start(config)
        subject.reset(config, TEXT_DIALECT)
        for command in work.filling:
            subject.apply(command)
            state, _ = steps[type(command)](config, state, command, TEXT_DIALECT)
        return subject, state

    def light(subject: Subject, state: Any) -> None:
        for command in work.steady:
            outcome = subject.apply(command)
            state, expected = steps[type(command)](config, state, command, TEXT_DIALECT)
            assert outcome == expected, f"{command!r}: {outcome!r}, the model says {expected!r}"

    def subject_alone(subject: Subject) -> None:
        for command in work.steady:
            subject.apply(command)

    def model_alone(state: Any, draws: bool = False) -> None:
        for command in work.steady:
            action = model.by_command[type(command)]
            if draws and action.targets is not None:
                action.targets(config, state)
            state, _ = action.step(config, state, command, TEXT_DIALECT)

    def looks(subject: Subject, state: Any, looking: bool) -> None:
        for at, command in enumerate(work.steady):
            subject.apply(command)
            state, _ = steps[type(command)](config, state, command, TEXT_DIALECT)
            if looking and at % LOOK_EVERY == 0:
                seen, view = subject.snapshot(), model.view(state)
                assert all(seen[index] == view[index] for index in compared)

    subject, state = filled()
    compared = plan_for(work.system, TEXT_DIALECT, subject).compared
    per_step = 1e6 / len(work.steady)
    seconds_light, _ = cpu(lambda: light(subject, state))
    fresh, _ = filled()
    seconds_subject, _ = cpu(lambda: subject_alone(fresh))
    seconds_model, _ = cpu(lambda: model_alone(state))
    seconds_drawing, _ = cpu(lambda: model_alone(state, draws=True))
    first, _ = filled()
    seconds_looking, _ = cpu(lambda: looks(first, state, True))
    second, _ = filled()
    seconds_without, _ = cpu(lambda: looks(second, state, False))
    return Costs(
        light=seconds_light * per_step,
        subject=seconds_subject * per_step,
        model=seconds_model * per_step,
        drawing=max(0.0, seconds_drawing - seconds_model) * per_step,
        look=max(0.0, seconds_looking - seconds_without) * per_step * LOOK_EVERY,
    )


COLUMNS = {
    "light": "light path (model + reference + compare)",
    "subject": "reference alone",
    "model": "model alone",
    "drawing": "listing what a command can name",
    "look": "a look: snapshot + view + compare",
}


def report(name: str, counted: str, make: Callable[[int, int], Workload], sizes: tuple[int, ...], cycles: int) -> str:
    """Prints the table of one system; returns its part of the figure."""
    measured = [costs(make(size, cycles)) for size in sizes]
    print(f"{name}: microseconds of CPU for each step (for each look in the last row), by {counted}")
    rows = []
    for column, title in COLUMNS.items():
        values = [getattr(each, column) for each in measured]
        rows.append((title, *map(number, values), _growth(values)))
    print(table(("part", *(f"{size:,}" for size in sizes), "growth by decade"), rows), end="\n\n")
    whole = [each.light for each in measured]
    return f"{name} light path {number(whole[0])} to {number(whole[-1])} us/step ({_growth(whole)} by decade)"


def _growth(values: list[float]) -> str:
    return " ".join(
        [f"x{later / earlier:.1f}" if earlier else "-" for earlier, later in zip(values, values[1:], strict=False)]
    )


def run(quick: bool) -> str:
    """Measures both systems; the figure."""
    sizes, cycles = (QUICK_SIZES, QUICK_CYCLES) if quick else (SIZES, CYCLES)
    return "growth: " + "; ".join(
        [
            report("entry_cache", "resident entries", entry_cache_at, sizes, cycles),
            report("cursor_ranks", "tracked cursors", cursor_ranks_at, sizes, cycles),
        ]
    )
