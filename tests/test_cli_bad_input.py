"""Bad input of every kind: exit code 2, one sentence on stderr, nothing on stdout but for --json, nothing written."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from brokerlaw.cli.main import entry

TOY = ("--system", "tests.cli_subjects:TOY_ENTRY")
CASE = '{"brokerlaw-case": 1, "system": "cursor_ranks", "commands": [%s]}'


def subject(name: str) -> tuple[str, ...]:
    return ("check", "cursor_ranks", "--subject", name)


BAD: list[tuple[tuple[str, ...], str]] = [
    ((), "COMMAND"),
    (("chek",), "did you mean check?"),
    (("check", "--nonsense"), "--nonsense"),
    (("check", "--case", "5"), "did you mean --cases"),
    (("doctor", *TOY, "--subject", "reference", "--sed", "5"), "see brokerlaw doctor --help"),
    (("mutants", "--system", "tests.toy:TOY"), "toy has no mutants"),
    (("check", "cursor_rank"), "did you mean cursor_ranks?"),
    (("systems", "nothing"), "there is no system 'nothing'"),
    (("check", "--system", "no_such_module:X"), "there is no module 'no_such_module'"),
    (("check", "--system", "tests.toy:TOYS"), "did you mean TOY?"),
    (("check", "--system", "tests.toy:Turnstile"), "--subject"),
    (("check", "--system", "tests.cli_subjects:A_NUMBER"), "expected a System or an Entry"),
    (("check", "--system", "tests.toy:TOY"), "has no reference"),
    (("check", "--system", "tests.toy:TOY", "--system", "tests.cli_subjects:TOY_ENTRY"), "two of the systems"),
    (("check", *TOY, "--law", "idle_credit_come_back"), "did you mean idle_credit_comes_back"),
    (("check", "--law", "first_put_wins", "cursor_ranks"), "name systems before --law"),
    (("check", *TOY, "--tolerate", "hangs"), "did you mean hang?"),
    (("check", *TOY, "--mutant", "maximum-plus-two"), "did you mean maximum-plus-one?"),
    (("check", "--mutant", "leaving-lowers-nothing"), "did you mean leaving-lowers-none"),
    (("check", *TOY, "--dialect", "strikt"), "did you mean strict?"),
    (("check", *TOY, "--dialect", "text+nothing"), "no deviation 'nothing'"),
    (("check", *TOY, "--mutant", "x", "--subject", "reference"), "not both"),
    (("check", "--subject", "tests.toy:Turnstile"), "say which system"),
    (subject("refrence"), "did you mean reference?"),
    (subject("no_such_module:Thing"), "there is no module"),
    (subject("tests.toy:Nothing"), "has no 'Nothing'"),
    (subject("tests.cli_subjects:A_NUMBER"), "expected a class or function"),
    (subject("tests.cli_subjects:NoSnapshot"), "no method snapshot()"),
    (subject("tests.cli_subjects:NeedsArguments"), "needs arguments (price)"),
    (subject("tests.cli_subjects:NeverMade"), "raised OSError: no license found"),
    (subject("tests.cli_subjects:leaves"), "ended the program (4)"),
    (subject("not a module:Thing"), "is not the name of a module"),
    (("check", *TOY, "--cases", "0"), "1 or more, got '0'"),
    (("check", *TOY, "--cases", "-5"), "--cases"),
    (("check", *TOY, "--cases", "many"), "got 'many'"),
    (("check", *TOY, "--seed", "-1"), "--seed"),
    (("check", *TOY, "--jobs", "0"), "--jobs"),
    (("check", *TOY, "--time-budget", "0"), "above 0"),
    (("check", *TOY, "--time-budget", "nan"), "above 0"),
    (("mutants", *TOY, "--max-steps", "0"), "--max-steps"),
    (("mutants", *TOY, "--dialect", "nothing"), "no dialect 'nothing'"),
    (("check", *TOY, "--corpus", "nowhere"), "does not exist"),
    (("check", *TOY, "--corpus", "a-file"), "not a folder"),
    (("check", *TOY, "--out", "a-file"), "not a folder"),
    (("check", *TOY, "--out", "a-file/deeper"), "not a folder"),
    (("check", "cursor_ranks", "--corpus", "corpus"), "bad.json"),
    (("doctor", "cursor_ranks"), "--subject"),
    (("doctor", "--subject", "reference"), "name one system"),
    (("doctor", *TOY, "--subject", "reference", "--cases", "0"), "--cases"),
    (("replay",), "CASE"),
    (("replay", "nowhere.json"), "nowhere.json: can not be read"),
    (("replay", "corpus"), "corpus: can not be read"),
    (("replay", "corpus/bad.json"), "not JSON"),
    (("replay", "stray.json"), "cursor_ranks has no command 'Jump'"),
    (("replay", "toy.json"), "--system MODULE:NAME"),
    (("replay", "good.json", "--law", "slowest_is_the_most"), "did you mean slowest_is_the_least?"),
    (("replay", "good.json", "--mutant", "nothing"), "no mutant 'nothing'"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "a-file").write_text("text")
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus/bad.json").write_text("{nothing")
    (tmp_path / "good.json").write_text(CASE % "")
    (tmp_path / "stray.json").write_text(CASE % '{"do": "Jump"}')
    (tmp_path / "toy.json").write_text('{"brokerlaw-case": 1, "system": "toy", "commands": []}')
    return tmp_path


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize(("words", "said"), BAD, ids=lambda value: " ".join(value) if isinstance(value, tuple) else "")
def test_bad_input_gets_one_sentence(
    words: tuple[str, ...], said: str, form: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(folder.rglob("*"))
    code = entry([*words, *form])
    out, err = capsys.readouterr()
    assert code == 2
    if form:
        command = words[0] if words and words[0] != "chek" else ""
        sentence = err.removeprefix("brokerlaw: ").rstrip("\n")
        assert json.loads(out) == {"brokerlaw": command, "version": 1, "error": sentence}
    else:
        assert out == ""
    assert err.startswith("brokerlaw: ")
    assert err.count("\n") == 1
    assert said in err
    assert "Traceback" not in err
    assert sorted(folder.rglob("*")) == before


def test_an_interrupt_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert entry(["check", "cursor_ranks", "--subject", "tests.cli_subjects:interrupted"]) == 130
    assert capsys.readouterr() == ("", "brokerlaw: interrupted\n")
