"""What is tested is named for what it is, before anything runs; what is not known is not guessed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from brokerlaw.driver import identity
from brokerlaw.driver.campaign import Options, check
from brokerlaw.driver.errors import Usage

from .cli_subjects import TOY_ENTRY


def test_what_is_tested_is_known_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreadable(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "broker.py")

    monkeypatch.setattr("brokerlaw.driver.campaign.identity_of", unreadable)
    with pytest.raises(Usage, match=r"subject 'reference': broker\.py can not be read: Permission denied"):
        check(Options((TOY_ENTRY,), cases=5, jobs=1), lambda progress: pytest.fail("something ran"))


def test_a_file_that_git_does_not_know_has_no_commit(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True)

    (tmp_path / ".gitignore").write_text(".venv\n")
    (tmp_path / ".venv").mkdir()
    for name in ("known.py", ".venv/unknown.py"):
        (tmp_path / name).write_text("")
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "-m", "all there is")
    commit, dirty = identity._commit(tmp_path / "known.py")
    assert (len(commit), dirty) == (40, False)
    assert identity._commit(tmp_path / ".venv/unknown.py") == ("", None)
