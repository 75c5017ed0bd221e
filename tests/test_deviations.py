"""Every place where a proposal can be read in two ways: the committed case tells the readings apart, shortly, and the
reference follows the model in both; under the other reading, the laws that are still claimed hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from brokerlaw.driver.checker import run
from brokerlaw.driver.loop import Job, run_cases
from brokerlaw.reference.table import TABLE, Entry, entry_named
from brokerlaw.spec.core import TEXT, Case, Deviation, System, read_case

CASES = Path("cases/pip-430")
SEEDED_CASES = {"entry_cache": 15, "cursor_ranks": 60}  # about half a second each, with every law at every step

# Commands that the models do not need to part, by place: here the shipped code does.  It forgets a position that is
# pending and keeps one that was applied (the first Rank applies it); the last Rank shows its caller the difference.
BESIDE = {"untracked-keeps-position": {1, 3}}

DEVIATIONS = [
    pytest.param(entry, deviation, id=f"{entry.name}-{deviation.name}")
    for entry in TABLE
    for deviation in entry.system.deviations
]
each_deviation = pytest.mark.parametrize(("entry", "deviation"), DEVIATIONS)

DIALECTS = [
    pytest.param(entry, dialect, id=f"{entry.name}-{dialect}")
    for entry in TABLE
    for dialect in (*entry.system.dialects, *(f"{TEXT}+{deviation.name}" for deviation in entry.system.deviations))
]


def told_by_the_model(system: System, case: Case, dialect_name: str) -> list[tuple[Any, Any]]:
    """(outcome, snapshot) after each step."""
    dialect, state, told = system.dialect(dialect_name), system.model.start(case.config), []
    for command in case.commands:
        state, outcome = system.model.step(case.config, state, command, dialect)
        told.append((outcome, system.model.view(state)))
    return told


def readings_differ(system: System, deviation: Deviation, case: Case) -> bool:
    other = f"{TEXT}+{deviation.name}"
    return told_by_the_model(system, case, TEXT) != told_by_the_model(system, case, other)


def committed(path: Path, system: System) -> Case:
    return read_case(path.read_bytes(), lambda name: system if name == system.name else None, path.name)


@each_deviation
def test_the_committed_case_is_the_declared_one(root: Path, entry: Entry, deviation: Deviation) -> None:
    case = committed(root / CASES / entry.name / f"{deviation.name}.json", entry.system)
    assert evolve(case, note="") == evolve(deviation.case, note="")


def test_no_case_is_committed_for_a_deviation_that_is_not_there(root: Path) -> None:
    found = {f"{path.parent.name}/{path.stem}" for entry in TABLE for path in (root / CASES / entry.name).glob("*")}
    assert found == {f"{entry.name}/{deviation.name}" for entry in TABLE for deviation in entry.system.deviations}


@each_deviation
def test_the_case_tells_the_readings_apart(entry: Entry, deviation: Deviation) -> None:
    assert readings_differ(entry.system, deviation, deviation.case)


@each_deviation
def test_no_command_of_the_case_can_be_dropped(entry: Entry, deviation: Deviation) -> None:
    case, beside = deviation.case, BESIDE.get(deviation.name, set())
    droppable = {
        place
        for place in range(len(case.commands))
        if readings_differ(
            entry.system, deviation, case.with_commands(case.commands[:place] + case.commands[place + 1 :])
        )
    }
    assert droppable == beside


@each_deviation
@pytest.mark.parametrize("reading", ["text", "deviation"])
def test_the_reference_follows_the_model_in_both_readings(entry: Entry, deviation: Deviation, reading: str) -> None:
    dialect = TEXT if reading == "text" else f"{TEXT}+{deviation.name}"
    assert run(entry.system, entry.reference(), evolve(deviation.case, dialect=dialect)).breaches == ()


@pytest.mark.parametrize(("entry", "dialect"), DIALECTS)
def test_the_laws_that_are_claimed_in_a_dialect_hold_on_the_reference(entry: Entry, dialect: str) -> None:
    job = Job(entry.system, entry.reference, "reference", seed=430, dialect=dialect, checked=True)
    result = run_cases(job, range(SEEDED_CASES[entry.name]))
    assert [(finding.breach.law, finding.breach.evidence) for finding in result.findings] == []
    assert sum(held for held, _, _ in result.tally.laws.values()) > 1_000


# ---- Real bugs, as cases --------------------------------------------------------------------------------------------

BUGS = ("removes-another", "double-release", "read-moves-shared-view")


@pytest.mark.parametrize("name", BUGS)
def test_a_bug_breaks_a_law_on_its_committed_case_and_the_reference_does_not(root: Path, name: str) -> None:
    entry = entry_named("entry_cache")
    assert entry is not None
    case = committed(root / CASES / "bugs" / f"{name}.json", entry.system)
    mutant = next(mutant for mutant in entry.mutants if mutant.name == name)
    assert mutant.origin in case.note

    def breaks(commands: tuple[Any, ...]) -> bool:
        done = run(entry.system, mutant.make(), case.with_commands(commands), model=False)
        return bool(done.breaches)

    assert breaks(case.commands)
    assert not any(breaks(case.commands[:n] + case.commands[n + 1 :]) for n in range(len(case.commands)))
    assert run(entry.system, entry.reference(), case).breaches == ()
