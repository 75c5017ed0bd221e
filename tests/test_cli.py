"""The command line: what each command but `check` answers, as text and as JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from brokerlaw.reference.table import TABLE

from .cli_harness import BROKEN, ON_TOY, Cli, cli_in


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    return cli_in(tmp_path, capsys, monkeypatch)


# ---- systems --------------------------------------------------------------------------------------------------------


def test_systems_lists_every_system_of_the_table(cli: Cli) -> None:
    ran = cli("systems")
    assert ran.code == 0
    assert all(each.name in ran.out and each.system.title in ran.out for each in TABLE)


@pytest.mark.parametrize("each", TABLE, ids=lambda each: each.name)
def test_systems_shows_everything_that_a_spec_declares(cli: Cli, each: Any) -> None:
    shown = cli("systems", each.name).out
    data = cli("systems", each.name, "--json").data["systems"][0]
    names = [
        *each.system.command_named,
        *each.system.law_named,
        *each.system.dialects,
        *(deviation.name for deviation in each.system.deviations),
        *(mutant.name for mutant in each.mutants),
        *(one.name for one in each.inexpressible),
    ]
    assert [name for name in names if name not in shown] == []
    assert [name for name in names if name not in json.dumps(data)] == []
    words = " ".join(shown.split())
    assert [law.name for law in each.system.laws if law.sentence not in words or law.source not in words] == []


def test_systems_shows_what_a_field_may_hold(cli: Cli) -> None:
    shown = cli("systems", "tests.cli_subjects:TOY_ENTRY").out
    assert re.search(r"coins +1 to 1000", shown)
    assert re.search(r"visitor +ann \| bob \| cid", shown)
    assert re.search(r"price_coins +1 to 9, default 1", shown)


def test_systems_shows_what_outcomes_and_rows_are_made_of(cli: Cli) -> None:
    shown = cli("systems", "cursor_ranks").out
    assert "Outcomes (from brokerlaw.spec.cursor_ranks.words)" in shown
    assert "  At(position: tuple[int, int] | None)" in shown
    assert re.search(r"cursors +tuple\[CursorRow, \.\.\.\]", shown)
    assert "  CursorRow(cursor: str, number: int, position: tuple[int, int] | None)" in shown
    data = cli("systems", "cursor_ranks", "--json").data["systems"][0]
    assert data["outcome_fields"]["Count"] == {"value": "int"}
    assert data["rows"]["CursorRow"]["cursor"] == "str"


# ---- mutants --------------------------------------------------------------------------------------------------------


def test_the_kill_table_names_the_law_of_each_mutant(cli: Cli) -> None:
    ran = cli("mutants", *ON_TOY)
    assert ran.code == 0
    assert re.search(r"maximum-plus-one +first-order +killed +[\d,]+ +credit_stays_within_the_maximum", ran.out)
    assert "3 of 3 killed" in ran.out


def test_a_survivor_fails_and_is_named(cli: Cli) -> None:
    ran = cli("mutants", "--system", "tests.cli_subjects:WITH_SURVIVOR", "--max-steps", "2000")
    assert ran.code == 1
    assert "survive: no-bug-at-all" in ran.out


def test_a_mutant_that_its_own_law_does_not_kill_fails(cli: Cli) -> None:
    ran = cli("mutants", "--system", "tests.cli_subjects:WITH_WRONG_NAME", "--max-steps", "2000", "--json")
    assert ran.code == 1
    (row,) = ran.data["systems"][0]["mutants"]
    assert (row["verdict"], row["by"], row["expected_steps"]) == ("NOT BY ITS LAW", "law", None)


def test_the_matrix_says_what_each_law_is_needed_for(cli: Cli) -> None:
    system = cli("mutants", *ON_TOY, "--matrix", "--json").data["systems"][0]
    assert system["laws"]["idle_credit_comes_back"] == "alone kills only-first-purse-ages"
    assert system["missing"] == []
    lone = cli("mutants", "--system", "tests.cli_subjects:WITH_WRONG_NAME", "--matrix", "--max-steps", "500").out
    assert "idle_credit_comes_back: MISSING" in lone


# ---- replay ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def toy_case(tmp_path: Path) -> Path:
    path = tmp_path / "case.json"
    commands = '{"do": "Insert", "visitor": "ann", "coins": 2}, {"do": "Push", "visitor": "ann"}, {"do": "Tick"}'
    config = '"config": {"max_credit_coins": 1}'
    path.write_text(f'{{"brokerlaw-case": 1, "system": "toy", {config}, "commands": [{commands}]}}')
    return path


def test_replay_shows_each_step_and_what_changed(cli: Cli, toy_case: Path) -> None:
    ran = cli("replay", str(toy_case), *ON_TOY)
    assert ran.code == 0
    assert "max_credit_coins=1" in ran.out
    assert "   1  Insert(visitor='ann', coins=2)\n      -> Accepted(kept=1, returned=1)\n" in ran.out
    assert "credits  + (ann, 1)" in ran.out
    assert "passed  0 -> 1" in ran.out
    assert ran.out.endswith("Nothing broke in 3 steps.\n")


def test_replay_marks_the_step_that_broke_and_the_models_answer(cli: Cli, toy_case: Path) -> None:
    ran = cli("replay", str(toy_case), *ON_TOY, *BROKEN)
    assert ran.code == 1
    assert ">  1  Insert(visitor='ann', coins=2)" in ran.out
    assert "!= Accepted(kept=1, returned=1), says the model" in ran.out
    data = cli("replay", str(toy_case), *ON_TOY, *BROKEN, "--json").data
    assert [row["step"] for row in data["rows"]] == [1, 2, 3]
    assert {"kind": "law", "law": "credit_stays_within_the_maximum"}.items() <= data["broken"][1].items()
    assert data["rows"][0]["outcome"] == {"is": "Accepted", "kept": 2, "returned": 0}


@pytest.mark.parametrize(("subject", "said"), [("Exits", "exit code 3"), ("Raises", "raised RuntimeError")])
def test_replay_survives_a_subject_that_does_not(cli: Cli, toy_case: Path, subject: str, said: str) -> None:
    ran = cli("replay", str(toy_case), *ON_TOY, "--subject", f"tests.cli_subjects:{subject}")
    assert ran.code == 1
    assert said in ran.out
    assert ">  2  Push(visitor='ann')" in ran.out
    assert "   1  Insert(visitor='ann', coins=2)\n      -> Accepted" in ran.out


def test_replay_of_a_case_of_ours_needs_no_system(cli: Cli) -> None:
    assert cli("check", "--mutant", "leaving-lowers-none", "--cases", "100").code == 1
    saved = sorted(Path("brokerlaw-out").iterdir())
    assert cli("replay", str(saved[0])).code == 0
    assert cli("replay", str(saved[0]), "--mutant", "leaving-lowers-none").code == 1


# ---- doctor ---------------------------------------------------------------------------------------------------------


def test_the_doctor_finds_the_reference_sound(cli: Cli) -> None:
    ran = cli("doctor", *ON_TOY, "--subject", "reference")
    assert ran.code == 0
    assert "The adapter is sound." in ran.out


def test_the_doctor_survives_a_subject_that_does_not(cli: Cli) -> None:
    ran = cli("doctor", *ON_TOY, "--subject", "tests.cli_subjects:Exits")
    assert ran.code == 1
    assert re.search(r"WRONG +total +the subject ended the process with exit code 3, in step \d+, Push", ran.out)
    assert re.search(r"-- +reset +not examined", ran.out)


def test_the_doctor_shows_a_case_for_what_is_unsound(cli: Cli) -> None:
    words = ("doctor", "--system", "tests.toy:TOY", "--subject", "tests.cli_subjects:KeepsCreditOverReset")
    ran = cli(*words)
    assert ran.code == 1
    assert re.search(r"WRONG +reset", ran.out)
    wrong = [each for each in cli(*words, "--json").data["diagnoses"] if each["ok"] is False]
    assert wrong[0]["case"]["commands"]
