"""`brokerlaw check`: what it prints, what it saves, and how it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from brokerlaw.cli import check
from brokerlaw.driver.errors import Usage
from brokerlaw.driver.swarm import CHECKED_RATE

from .cli_harness import BROKEN, ON_TOY, Cli, cli_in, in_a_process


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    return cli_in(tmp_path, capsys, monkeypatch)


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
    laws = cli("check", "entry_cache", "--cases", "1", "--json").data["systems"][0]["laws"]
    assert f"never put to the test: {len(laws)} laws (named with --verbose or --json)" in ran.out
    assert "reached:\n" not in ran.out
    assert "Nothing broke" not in ran.out
    assert "No law was put to the test in 1 case" in ran.out
    assert "Run more cases, or use --every-step." in ran.out
    law = laws[0]["law"]
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
    words = ("check", "cursor_ranks", "--subject", "tests.cli_subjects:BlindRanks", "--cases", "20", "--every-step")
    ran = cli(*words)
    blind = [row for row in cli(*words, "--json").data["systems"][0]["laws"] if row["evidence"] == "not observed"]
    assert ran.code == 0
    assert f"{len(blind)} laws not observed: removed_cursors_are_not_held" in ran.out
    assert f"Beside that: {len(blind)} laws not observed" in ran.out


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
