"""The machine of every system: it passes on the reference, and tells the bug of a mutant by its law.

How much is done follows the Hypothesis profile in force; under `nightly` every mutant of every system is tried.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest
from hypothesis import Phase, seed, settings

from brokerlaw.properties import profiles
from brokerlaw.reference.mutant import Mutant
from brokerlaw.reference.table import TABLE, Entry
from brokerlaw.spec.core import read_case
from brokerlaw.spec.entry_cache import words
from brokerlaw.testing import LawBroken, law_tests, machine_for, replay_case

# The same runs every time: whether a chosen mutant is found must not depend on luck.
FIXED = settings(max_examples=400, stateful_step_count=30, derandomize=True, database=None)

ENTRIES = [pytest.param(entry, id=entry.name) for entry in TABLE]
# After ten examples Hypothesis mostly varies those that it has seen.  Ten at a time, each from a seed of its own, are
# drawn afresh, use little memory, and are the same every night.
BATCH = 10
EASY = {"entry_cache": "no-read-counts", "cursor_ranks": "rank-counts-before"}  # found within a second


def mutants_of(entry: Entry, names: Collection[str]) -> list[Any]:
    chosen = [mutant for mutant in entry.mutants if mutant.name in names]
    return [pytest.param(entry, mutant, id=f"{entry.name}-{mutant.name}") for mutant in chosen]


CHOSEN = [param for entry in TABLE for param in mutants_of(entry, [EASY.get(entry.name, entry.mutants[0].name)])]
EVERY = [param for entry in TABLE for param in mutants_of(entry, {m.name for m in entry.mutants})]


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_reference_obeys_its_laws(entry: Entry) -> None:
    law_tests(entry.system, entry.reference)("test_laws").run_machine()


@pytest.mark.parametrize(("entry", "mutant"), CHOSEN)
def test_a_mutant_is_told_by_a_law_with_its_source_and_a_case_that_replays(entry: Entry, mutant: Mutant) -> None:
    with pytest.raises(LawBroken) as failure:
        law_tests(entry.name, mutant.make, settings=FIXED)("test_laws").run_machine()
    broken, message = failure.value, str(failure.value)
    law = entry.system.law_named[broken.breach.law]
    for told in (law.name, law.sentence, law.source, broken.breach.evidence):
        assert told in message
    text = message.partition("for `brokerlaw replay`:")[2]
    case = read_case(text, lambda name: entry.system)
    assert case == broken.case
    with pytest.raises(LawBroken) as again:
        replay_case(case, mutant.make)
    assert again.value.breach == broken.breach
    replay_case(case, entry.reference)


def test_another_does_likewise_where_that_makes_sense() -> None:
    machine = machine_for("entry_cache", next(entry.reference for entry in TABLE if entry.name == "entry_cache"))()
    machine.begin(words.Config(), observe=1)
    machine.send(words.Append("t0", 1))
    assert machine.watch is not None
    assert machine.watch.likewise() == []
    machine.send(words.OpenCursor("t0", "c0", "earliest"))
    opens = [words.OpenCursor("t0", f"c{number}", "earliest") for number in (1, 2, 3, 4)]
    assert machine.watch.likewise() == [*opens, words.OpenCursor("t0", "c0", "latest")]
    machine.send(words.OpenCursor("t0", "c3", "earliest"))
    machine.send(words.Read("t0", "c0", 2))
    assert machine.watch.likewise() == [words.Read("t0", "c3", 2)]


if profiles.profile() == "nightly":

    @pytest.mark.parametrize(("entry", "mutant"), EVERY)
    def test_every_mutant_breaks_the_law_that_it_names(entry: Entry, mutant: Mutant) -> None:
        nightly = profiles.machine_settings()
        quick = settings(nightly, max_examples=BATCH, phases=[Phase.generate], database=None)
        tests = law_tests(
            entry.system, mutant.make, dialect=mutant.dialect, only=[mutant.breaks], model=False, settings=quick
        )

        def run_batches() -> None:
            for batch in range(nightly.max_examples // BATCH):
                seed(batch)(tests)("test_laws").run_machine()

        with pytest.raises(LawBroken) as failure:
            run_batches()
        assert failure.value.breach.key == ("law", mutant.breaks)
