"""The references against their specs: a default check is clean and leaves no law unasked; the adapters are sound."""

from __future__ import annotations

import pytest

from brokerlaw.driver.campaign import Options, check
from brokerlaw.driver.doctor import examine
from brokerlaw.driver.loop import Job, run_cases
from brokerlaw.reference.table import TABLE, Entry

ENTRIES = pytest.mark.parametrize("entry", TABLE, ids=lambda entry: entry.name)
DIALECTS = pytest.mark.parametrize(
    ("entry", "dialect"),
    [(entry, dialect) for entry in TABLE for dialect in entry.system.dialects],
    ids=lambda value: value if isinstance(value, str) else value.name,
)


@ENTRIES
def test_a_default_check_breaks_nothing_asks_every_law_and_reaches_every_state(entry: Entry) -> None:
    (report,) = check(Options((entry,))).systems
    assert [finding.breach for finding in report.findings] == []
    assert report.ended == ()
    assert report.unknown == ()
    assert report.not_reached == ()


@DIALECTS
def test_the_reference_keeps_the_laws_of_every_dialect(entry: Entry, dialect: str) -> None:
    job = Job(entry.system, entry.reference, "reference", seed=3, dialect=dialect, checked=True)
    assert run_cases(job, range(150)).broken == {}


@ENTRIES
def test_the_reference_is_a_sound_subject(entry: Entry) -> None:
    diagnoses = examine(entry.system, entry.reference, cases=40)
    assert [diagnosis for diagnosis in diagnoses if diagnosis.ok is False] == []


WHAT_LEGACY_BREAKS = {
    "entry_cache": "size_pass_takes_the_oldest_first",  # it evicts from each large cache in proportion
    "cursor_ranks": "settled_query_is_constant",  # it counts a rank anew each time
}


@ENTRIES
def test_the_design_that_a_proposal_replaces_breaks_the_law_that_it_was_replaced_for(entry: Entry) -> None:
    for make in entry.legacy.values():
        result = run_cases(Job(entry.system, make, "legacy", seed=4, model=False), range(300))
        laws = {key.removeprefix("law ") for key in result.broken}
        assert WHAT_LEGACY_BREAKS[entry.name] in laws
