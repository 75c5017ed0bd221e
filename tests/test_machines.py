"""The machine of every system: it passes on the reference, and tells the bug of a mutant by its law.

How much is done follows the Hypothesis profile in force; under `nightly` every mutant of every system is tried.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest
from hypothesis import Phase, settings

from brokerlaw.properties import profiles
from brokerlaw.reference.mutant import Mutant
from brokerlaw.reference.table import TABLE, Entry
from brokerlaw.spec.core import read_case
from brokerlaw.testing import LawBroken, law_tests, replay_case

# The same runs every time: whether a chosen mutant is found must not depend on luck.
FIXED = settings(max_examples=400, stateful_step_count=30, derandomize=True, database=None)

ENTRIES = [pytest.param(entry, id=entry.name) for entry in TABLE]
# Two loads of one position at once, a load while another cursor is inactive, or an entry loaded again in the middle of
# a forced removal: the seeded driver meets such a run within some ten thousand steps, and kills these
# (tests/test_mutants.py); 3,000 examples often meet none.
TOO_DEEP = {
    "lost-put-retains",
    "size-of-lost-put",
    "second-put-renews-timestamp",
    "second-put-replaces-reads",
    "second-put-adds-size",
    "second-put-wins",
    "release-takes-from-later-entry",
    "load-counts-inactive",
}
EASY = {"entry_cache": "no-read-counts", "cursor_ranks": "rank-counts-before"}  # found within a second


def mutants_of(entry: Entry, names: Collection[str]) -> list[Any]:
    chosen = [mutant for mutant in entry.mutants if mutant.name in names]
    return [pytest.param(entry, mutant, id=f"{entry.name}-{mutant.name}") for mutant in chosen]


CHOSEN = [param for entry in TABLE for param in mutants_of(entry, [EASY.get(entry.name, entry.mutants[0].name)])]
EVERY = [param for entry in TABLE for param in mutants_of(entry, {m.name for m in entry.mutants} - TOO_DEEP)]


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


if profiles.profile() == "nightly":

    @pytest.mark.parametrize(("entry", "mutant"), EVERY)
    def test_every_mutant_breaks_the_law_that_it_names(entry: Entry, mutant: Mutant) -> None:
        quick = settings(profiles.machine_settings(), phases=[Phase.generate], database=None)
        tests = law_tests(
            entry.system, mutant.make, dialect=mutant.dialect, only=[mutant.breaks], model=False, settings=quick
        )
        with pytest.raises(LawBroken) as failure:
            tests("test_laws").run_machine()
        assert failure.value.breach.key == ("law", mutant.breaks)
