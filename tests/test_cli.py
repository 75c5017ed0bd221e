"""The command line: what each command answers, as text and as JSON."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from brokerlaw.cli import check
from brokerlaw.cli.main import entry
from brokerlaw.driver.errors import Usage
from brokerlaw.driver.swarm import CHECKED_RATE
from brokerlaw.reference.table import TABLE

ON_TOY = ("--system", "tests.cli_subjects:TOY_ENTRY")
BROKEN = "--mutant", "maximum-plus-one"


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


class Cli:
    """Runs the command line here, in an empty folder."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *words: str) -> Ran:
        code = entry(list(words))
        return Ran(code, *self.capsys.readouterr())


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return Cli(capsys)


def in_a_process(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    here = Path(__file__).resolve().parent.parent
    command = [sys.executable, "-m", "brokerlaw", *words]
    path = {"PYTHONPATH": str(here), **environment}
    return subprocess.run(command, cwd=here, env=os.environ | path, capture_output=True, text=True, timeout=120)


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


# ---- check ----------------------------------------------------------------------------------------------------------


def test_a_clean_check_ends_with_a_verdict_and_the_digest(cli: Cli, tmp_path: Path) -> None:
    ran = cli("check", *ON_TOY, "--cases", "200")
    *_, verdict, digest = ran.out.splitlines()
    assert ran.code == 0
    assert verdict == "Nothing broke: 3 laws held in 200 cases, and every outcome was the model's."
    assert re.fullmatch("digest [0-9a-f]{16}", digest)
    assert list(tmp_path.iterdir()) == []


def test_a_clean_check_of_everything_fits_on_a_page(cli: Cli) -> None:
    ran = cli("check", "--cases", "60", "--quiet")
    assert ran.code == 0
    assert len(ran.out.splitlines()) <= 60
    assert ran.err == ""


def test_the_law_table_of_one_system_has_a_line_for_each_law(cli: Cli) -> None:
    ran = cli("check", "cursor_ranks", "--cases", "100")
    assert re.search(r"rank_counts_at_or_before +fuzzed +[\d,]+ +0", ran.out)
    assert "of 10 states reached" in ran.out


def test_laws_that_were_never_put_to_the_test_are_one_line_and_no_pass(cli: Cli) -> None:
    ran = cli("check", "entry_cache", "--cases", "1")
    assert "unknown" not in ran.out
    assert "never put to the test: 56 laws (named with --verbose or --json)" in ran.out
    assert "reached:\n" not in ran.out
    assert "Nothing broke" not in ran.out
    assert "No law was put to the test in 1 case" in ran.out
    assert "Run more cases, or use --every-step." in ran.out
    law = cli("check", "entry_cache", "--cases", "1", "--json").data["systems"][0]["laws"][0]["law"]
    assert law not in ran.out
    assert law in cli("check", "entry_cache", "--cases", "1", "--verbose").out


def test_the_help_states_the_rate_at_which_every_law_is_asked(cli: Cli) -> None:
    with pytest.raises(SystemExit):
        cli("check", "--help")
    shown = " ".join(cli.capsys.readouterr().out.split())
    assert f"one case of {round(1 / CHECKED_RATE)}" in shown


def test_a_broken_law_is_drawn_with_its_case_and_how_to_replay_it(cli: Cli, tmp_path: Path) -> None:
    ran = cli("check", *ON_TOY, *BROKEN, "--cases", "200")
    assert ran.code == 1
    assert "BROKEN  credit_stays_within_the_maximum" in ran.out
    assert "Nobody's credit is above the maximum." in ran.out
    assert "TOY, Credit" in ran.out
    assert re.search(r"> +1  Insert\(visitor='ann', coins=\d+\)", ran.out)
    (replay,) = re.findall(r"replay  brokerlaw (replay .*)", ran.out)
    again = cli(*replay.split())
    assert again.code == 1
    assert "BROKEN  credit_stays_within_the_maximum" in again.out


def test_findings_of_one_thing_are_drawn_once(cli: Cli, tmp_path: Path) -> None:
    ran = cli("check", *ON_TOY, "--mutant", "only-first-purse-ages", "--cases", "400")
    assert ran.out.count("BROKEN  idle_credit_comes_back") == 1
    saved = {path.name for path in (tmp_path / "brokerlaw-out").iterdir()}
    assert all(name in " ".join(ran.out.split()) for name in saved)


def test_json_of_a_check_is_one_object_with_case_file_and_replay(cli: Cli) -> None:
    ran = cli("check", *ON_TOY, *BROKEN, "--cases", "200", "--json")
    data = ran.data
    assert (data["brokerlaw"], data["version"], data["exit_code"]) == ("check", 1, 1)
    finding = data["systems"][0]["findings"][0]
    assert finding["case"] == json.loads(Path(finding["file"]).read_text()) | {"note": finding["case"]["note"]}
    assert finding["replay"].startswith("brokerlaw replay brokerlaw-out/toy-credit")


def test_out_holds_the_report_and_the_cases(cli: Cli, tmp_path: Path) -> None:
    ran = cli("check", *ON_TOY, *BROKEN, "--cases", "200", "--out", "deep/er", "--json")
    report = json.loads((tmp_path / "deep/er/report.json").read_text())
    assert report == ran.data
    assert len(list((tmp_path / "deep/er").glob("toy-*.json"))) == len(ran.data["systems"][0]["findings"])
    assert not (tmp_path / "brokerlaw-out").exists()


def test_a_case_that_can_not_be_saved_does_not_cost_the_report(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> Path:
        raise Usage("brokerlaw-out: can not be written: No space left on device")

    monkeypatch.setattr(check, "add_to_corpus", full)
    ran = cli("check", *ON_TOY, *BROKEN, "--cases", "200")
    assert ran.code == 2
    assert "BROKEN  credit_stays_within_the_maximum" in ran.out
    assert "  replay  " not in ran.out
    assert ran.err == "brokerlaw: brokerlaw-out: can not be written: No space left on device\n"
    data = cli("check", *ON_TOY, *BROKEN, "--cases", "200", "--json").data
    assert "No space left" in data["error"]
    assert data["systems"][0]["findings"][0]["file"] is None


def test_ctrl_c_ends_a_check_with_what_it_has(tmp_path: Path) -> None:
    here = Path(__file__).resolve().parent.parent
    words = ["check", *ON_TOY, *BROKEN, "--cases", "100000000", "--jobs", "2", "--out", str(tmp_path / "out")]
    ours, theirs = os.openpty()  # progress is shown on a terminal at once
    process = subprocess.Popen(
        [sys.executable, "-m", "brokerlaw", *words],
        cwd=here,
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        start_new_session=True,
    )
    os.close(theirs)
    shown = b""
    while b" finding" not in shown:
        shown += os.read(ours, 4096)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the children too
    out, _ = process.communicate(timeout=30)
    os.close(ours)
    assert process.returncode == 130
    assert "stopped early: interrupted" in out
    assert "BROKEN  credit_stays_within_the_maximum" in out
    assert list((tmp_path / "out").glob("toy-*.json"))
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)  # nobody is left in its group


def test_cases_that_ended_are_counted_and_said_to_be_saved_in_part(cli: Cli) -> None:
    ran = cli("check", *ON_TOY, "--subject", "tests.cli_subjects:Exits", "--cases", "12")
    ended, kept = re.findall(r"(\d+) cases ended by a limit or a crash.*\((\d+) of \1 saved\)", ran.out)[0]
    assert int(kept) < int(ended)
    assert "of 12 cases." in ran.out


def test_a_subject_that_raises_is_a_finding(cli: Cli) -> None:
    ran = cli("check", "--system", "tests.toy:TOY", "--subject", "tests.cli_subjects:Raises", "--cases", "50")
    assert ran.code == 1
    assert "BROKEN  raised RuntimeError" in ran.out
    assert "\x1b" not in ran.out, "a subject's words are shown, not obeyed"


def test_a_tolerated_finding_is_listed_and_does_not_fail(cli: Cli) -> None:
    ran = cli("check", *ON_TOY, *BROKEN, "--cases", "200", "--tolerate", "credit_stays_within_the_maximum")
    assert ran.code == 0
    assert "TOLERATED  credit_stays_within_the_maximum" in ran.out
    assert "violated, tolerated" in ran.out
    other = cli("check", *ON_TOY, *BROKEN, "--cases", "200", "--tolerate", "idle_credit_comes_back")
    assert other.code == 1


def test_a_corpus_is_replayed_first_and_grows(cli: Cli, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    first = cli("check", *ON_TOY, *BROKEN, "--cases", "100", "--corpus", "corpus", "--json")
    saved = sorted(corpus.iterdir())
    assert first.code == 1
    assert saved
    assert not (tmp_path / "brokerlaw-out").exists()
    # One case is enough now, since the saved ones run before it; and nothing is saved twice.
    again = cli("check", *ON_TOY, *BROKEN, "--cases", "1", "--corpus", "corpus", "--json")
    assert again.code == 1
    assert again.data["systems"][0]["corpus"]["cases"] == len(saved)
    assert sorted(corpus.iterdir()) == saved
    files = [finding["file"] for finding in again.data["systems"][0]["findings"] if finding["number"] is None]
    assert files
    assert set(files) <= {f"corpus/{path.name}" for path in saved}
    assert not (tmp_path / "brokerlaw-out").exists()
    (corpus / "other.json").write_text('{"brokerlaw-case": 1, "system": "cursor_ranks", "commands": []}')
    healthy = cli("check", *ON_TOY, "--cases", "1", "--corpus", "corpus")
    assert healthy.code == 0
    assert f"corpus: {len(saved)} saved case" in healthy.out
    assert "run first, 1 case of other systems skipped" in healthy.out
    assert "run first, 0 broke" in healthy.out


def test_one_law_can_be_asked_alone(cli: Cli) -> None:
    asked = cli("check", *ON_TOY, "--cases", "50", "--law", "idle_credit_comes_back", "--json").data
    assert [row["law"] for row in asked["systems"][0]["laws"]] == ["idle_credit_comes_back"]
    alone = cli("check", *ON_TOY, *BROKEN, "--cases", "50", "--law", "idle_credit_comes_back", "--no-model")
    assert alone.code == 0
    assert "the model" not in alone.out


def test_a_dialect_changes_what_is_right(cli: Cli) -> None:
    assert cli("check", *ON_TOY, "--cases", "50", "--dialect", "strict").code == 0
    assert cli("check", *ON_TOY, "--cases", "50", "--dialect", "text+refuse-whole").code == 0


def test_what_a_subject_can_not_show_is_not_observed(cli: Cli) -> None:
    ran = cli("check", "cursor_ranks", "--subject", "tests.cli_subjects:BlindRanks", "--cases", "150", "--every-step")
    assert ran.code == 0
    assert "5 laws not observed: removed_cursors_are_not_held" in ran.out
    assert "Beside that: 5 laws not observed" in ran.out


def test_every_step_asks_every_law_in_every_case(cli: Cli) -> None:
    tally = cli("check", *ON_TOY, "--cases", "30", "--every-step", "--json").data["systems"][0]["tally"]
    assert tally["checked_cases"] == 30
    assert tally["checked_steps"] == tally["steps"]


def test_a_time_budget_ends_a_check_with_what_it_has(cli: Cli) -> None:
    ran = cli("check", *ON_TOY, "--cases", "100000000", "--time-budget", "0.5", "--jobs", "1")
    assert ran.code == 0
    assert "stopped early: the time budget" in ran.out
    assert "not every case was run" in ran.out


def test_what_a_subject_prints_stays_out_of_the_answer(cli: Cli) -> None:
    words = ("--system", "tests.toy:TOY", "--subject", "tests.cli_subjects:Prints", "--json")
    assert cli("check", *words, "--cases", "5").data["exit_code"] == 0
    assert cli("doctor", *words, "--cases", "5").data["exit_code"] == 0


def test_the_digest_depends_on_the_seed_alone() -> None:
    words = ("check", "--cases", "40", "--quiet")
    one, other = (in_a_process(*words, PYTHONHASHSEED=seed).stdout for seed in ("1", "2"))
    seeded = in_a_process(*words, "--seed", "1").stdout
    digests = [text.splitlines()[-1] for text in (one, other, seeded)]
    assert digests[0] == digests[1]
    assert digests[0] != digests[2]


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
