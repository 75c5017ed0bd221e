"""`brokerlaw report`: what it writes where, and what it says of two campaigns."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from brokerlaw.driver.errors import Usage
from brokerlaw.files import write_whole
from brokerlaw.report import write_all

from . import report_samples as samples
from .cli_harness import BROKEN, ON_TOY, Cli, cli_in

LAW = "rank_counts_at_or_before"


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    return cli_in(tmp_path, capsys, monkeypatch)


# ---- The command ----------------------------------------------------------------------------------------------------


def test_without_options_it_writes_four_files_and_says_which_to_open(cli: Cli, tmp_path: Path) -> None:
    samples.write(samples.broken(), tmp_path / "out")
    ran = cli("report", "out")
    assert ran.code == 1
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        *("report.json", "report.html", "report.md", "report.junit.xml", "report.sarif")
    }
    assert ran.out.splitlines()[-1] == "open  out/report.html"
    assert f"BROKEN  {LAW}" in ran.out
    assert cli("report", str(samples.write(samples.clean(), tmp_path / "clean"))).code == 0
    assert cli("report", str(samples.write(samples.untrusted(), tmp_path / "mute"))).code == 1


def test_a_file_that_can_not_be_put_in_its_place_leaves_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", refused)
    with pytest.raises(Usage, match=r"new\.txt: can not be written: No space left on device"):
        write_whole(tmp_path / "new.txt", "text")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["html", "markdown", "json", "junit", "sarif"])
def test_one_format_goes_to_a_file_or_to_standard_output(name: str, cli: Cli, tmp_path: Path) -> None:
    samples.write(samples.broken(), tmp_path / "out")
    printed = cli("report", "out", f"--{name}", "-").out
    assert cli("report", "out", f"--{name}", "deep/file").out.splitlines()[-1].endswith("deep/file")
    written = (tmp_path / "deep" / "file").read_text(encoding="utf-8")
    if name == "json":
        assert json.loads(written).items() <= json.loads(printed).items()
    else:
        assert written == printed
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["report.json"]


def test_a_bare_json_is_json_on_standard_output(cli: Cli, tmp_path: Path) -> None:
    samples.write(samples.clean(), tmp_path / "out")
    data = cli("report", "out", "--json").data
    assert (data["brokerlaw"], data["verdict"]["word"]) == ("report", "held")


def test_a_campaign_can_write_everything_at_its_end(tmp_path: Path) -> None:
    written = write_all(samples.several(), tmp_path / "new")
    assert [path.name for path in written] == ["report.html", "report.md", "report.junit.xml", "report.sarif"]
    page = written[0].read_text(encoding="utf-8")
    assert page.count("<h1>") == 1
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids)), "two systems share no anchor"


def test_a_system_of_the_users_own_is_named_again(cli: Cli, tmp_path: Path) -> None:
    assert cli("check", *ON_TOY, *BROKEN, "--cases", "20", "--out", "out", "--quiet").code == 1
    ran = cli("report", "out", *ON_TOY, "--json")
    part = ran.data["systems"][0]
    assert part["at_hand"]
    assert part["findings"][0]["picture"]["note"] == ""
    assert "find_entry('tests.cli_subjects:TOY_ENTRY')" in part["findings"][0]["python"]
    assert not cli("report", "out", "--json").data["systems"][0]["at_hand"]


def test_the_command_line_starts_without_jinja_and_matplotlib(root: Path) -> None:
    program = "import sys, brokerlaw.cli.main; print(sorted({'jinja2', 'matplotlib'} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, timeout=60)
    assert ran.stdout.strip() == "[]", ran.stderr


# ---- Against another campaign ---------------------------------------------------------------------------------------


def _against(cli: Cli, tmp_path: Path, before: dict[str, Any], now: dict[str, Any]) -> Any:
    samples.write(before, tmp_path / "before")
    samples.write(now, tmp_path / "now")
    return cli("report", "now", "--against", "before", "--json").data["changes"]


def _group(changes: Any, name: str) -> list[Any]:
    return [change for group, many in changes["groups"] if group == name for change in many]


def test_a_law_that_breaks_is_worse_and_one_that_is_mended_is_better(cli: Cli, tmp_path: Path) -> None:
    worse = _against(cli, tmp_path, samples.clean(), samples.broken())
    assert worse["sentence"].startswith("1 law newly violated, 0 mended, 0 not known any more; 1 finding new, 0 gone")
    assert [(each["what"], each["worse"]) for each in _group(worse, "Laws")] == [(LAW, True)]
    assert [each["after"] for each in _group(worse, "Findings")] == ["new"]
    better = _against(cli, tmp_path, samples.broken(), samples.clean())
    assert better["sentence"].startswith(
        "0 laws newly violated, 1 mended, 0 not known any more; 0 findings new, 1 gone"
    )
    assert [(each["what"], each["worse"]) for each in _group(better, "Laws")] == [(LAW, False)]
    assert [(each["after"], each["worse"]) for each in _group(better, "Findings")] == [("gone", False)]


@pytest.mark.parametrize("evidence", ["unknown", "not observed"])
def test_a_law_of_which_nothing_is_known_now_is_not_mended(evidence: str, cli: Cli, tmp_path: Path) -> None:
    now = samples.clean()
    next(law for law in now["systems"][0]["laws"] if law["law"] == LAW)["evidence"] = evidence
    changes = _against(cli, tmp_path, samples.broken(), now)
    assert "0 mended, 1 not known any more; 0 findings new, 0 gone, 1 not seen again" in changes["sentence"]
    (law,) = _group(changes, "Laws")
    assert (law["worse"], law["after"].endswith(": not known any more")) == (None, True)
    assert [(each["after"], each["worse"]) for each in _group(changes, "Findings")] == [("not seen again", None)]
    back = _against(cli, tmp_path, now, samples.clean())
    assert [(each["what"], each["worse"]) for each in _group(back, "Laws")] == [(LAW, False)]
    lost = _against(cli, tmp_path, samples.clean(), now)
    assert [(each["what"], each["worse"]) for each in _group(lost, "Laws")] == [(LAW, True)]


def test_a_law_that_only_one_campaign_asked_is_named(cli: Cli, tmp_path: Path) -> None:
    less = samples.broken()
    less["systems"][0]["laws"] = [law for law in less["systems"][0]["laws"] if law["law"] != LAW]
    come = _group(_against(cli, tmp_path, less, samples.broken()), "Laws")
    assert [(each["before"], each["after"], each["worse"]) for each in come] == [
        ("not in that campaign", "violated", True)
    ]
    gone = _group(_against(cli, tmp_path, samples.broken(), less), "Laws")
    assert [(each["before"], each["after"], each["worse"]) for each in gone] == [
        ("violated", "not in this campaign", None)
    ]


def test_states_lost_and_environments_that_differ_are_named(cli: Cli, tmp_path: Path) -> None:
    now = samples.clean()
    now["made"]["environment"]["python"] = "3.14.0"
    now["systems"][0]["reached"][0]["times"] = 0
    changes = _against(cli, tmp_path, samples.clean(), now)
    assert [(each["what"], each["worse"]) for each in _group(changes, "States to reach")] == [
        (now["systems"][0]["reached"][0]["law"], True)
    ]
    assert [(each["before"], each["after"]) for each in _group(changes, "Environment")] == [("3.11.7", "3.14.0")]


def test_the_same_campaign_has_not_changed(cli: Cli, tmp_path: Path) -> None:
    changes = _against(cli, tmp_path, samples.broken(), samples.broken())
    assert changes["sentence"].endswith("0 gone, 0 not seen again, 1 the same by shape; the digest is the same.")
    assert [name for name, _ in changes["groups"]] == ["Findings"]


def test_changes_are_in_the_page_in_markdown_and_on_the_terminal(cli: Cli, tmp_path: Path) -> None:
    samples.write(samples.clean(), tmp_path / "before")
    samples.write(samples.broken(), tmp_path / "now")
    ran = cli("report", "now", "--against", "before")
    assert "Against before" in ran.out
    assert f"    - {LAW}: fuzzed" in ran.out
    assert 'id="changes"' in (tmp_path / "now" / "report.html").read_text()
    assert "## What changed" in (tmp_path / "now" / "report.md").read_text()
