"""`spark-submit spark_fuzz/campaign.py`, and what bad input gets from a campaign on Spark."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyspark
import pytest

from .cli_harness import cli_in
from .spark_harness import ON_TOY, ROOT, ran, report_in, words_of

SUBMIT = str(Path(pyspark.__file__).parent / "bin" / "spark-submit")
CAMPAIGN = str(ROOT / "spark_fuzz" / "campaign.py")
SMALL = (*ON_TOY, "--cases", "40", "--range-size", "250")


@pytest.mark.spark
def test_spark_submit_from_elsewhere_finds_the_package_and_gives_workers_the_right_python(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("from brokerlaw.reference.cursor_ranks import CursorRanks as Mine\n")
    words = ("cursor_ranks", "--cases", "40", "--range-size", "250", "--json", "--quiet")
    (tmp_path / "bin").mkdir()
    wrong = tmp_path / "bin" / "python3"
    wrong.write_text("#!/bin/sh\nexit 77\n")
    wrong.chmod(0o755)
    done = ran(
        *(SUBMIT, "--master", "local[2]", CAMPAIGN, *words, "--subject", "mine:Mine", "--out", "out"),
        cwd=tmp_path,
        PATH=os.pathsep.join([str(wrong.parent), os.environ["PATH"]]),
        PYTHONPATH="",
        PYSPARK_DRIVER_PYTHON=sys.executable,  # the workers are to have the same, and not the first python3 there is
    )
    assert done.code == 0, done.out + done.err
    checked = ran(*words_of("check", "cursor_ranks", "--cases", "40", "--json"))
    assert report_in(tmp_path / "out")["digest"] == checked.data["digest"]
    assert done.data["made"]["command"].startswith("brokerlaw fuzz cursor_ranks")
    assert done.data["made"]["environment"]["master"] == "local[2]"


@pytest.mark.spark
def test_spark_submit_with_a_python_that_lacks_a_package_is_one_sentence(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True, timeout=120)
    python = str(bare / "bin" / "python")
    done = ran(SUBMIT, CAMPAIGN, "--out", "out", cwd=tmp_path, PYTHONPATH="", PYSPARK_PYTHON=python)
    said = done.out.strip()  # spark-submit passes on there what its Python prints
    assert done.code == 2
    assert said.startswith(f"brokerlaw: {python} (Python 3.")
    assert said.endswith(
        "has no package 'attrs': let PYSPARK_PYTHON name a Python that has what brokerlaw needs, such as "
        ".venv/bin/python"
    )
    assert "Traceback" not in done.err
    assert not (tmp_path / "out").exists()


Refused = Callable[..., str]


@pytest.fixture
def refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Refused:
    """What a campaign says that is refused; nothing may be left behind."""
    cli = cli_in(tmp_path, capsys, monkeypatch)

    def say(*words: str) -> str:
        before = sorted(tmp_path.rglob("*"))
        done = cli("fuzz", *SMALL, *words, "--quiet")
        assert (done.code, done.out) == (2, ""), done.err
        assert sorted(tmp_path.rglob("*")) == before
        (sentence,) = done.err.splitlines()
        return sentence

    return say


def test_without_java_a_campaign_says_what_to_install(
    refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    said = refused("--out", "out")
    assert said == "brokerlaw: Spark needs Java 17 or newer, and there is none: install one, or let JAVA_HOME name it"


def test_a_java_that_is_too_old_or_none_is_named(
    refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = tmp_path / "old" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_392\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    said = refused("--out", "out")
    assert said == f'brokerlaw: Spark needs Java 17 or newer; {java} is openjdk version "1.8.0_392"'
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    said = refused("--out", "out")
    assert said.startswith(f"brokerlaw: Spark needs Java 17 or newer; {tmp_path}/nowhere/bin/java can not be run: ")


def test_a_folder_or_a_setting_that_can_not_be_is_refused_before_anything_starts(
    refused: Refused, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("mine")
    assert refused("--out", "file/x") == "brokerlaw: file/x can not be made, since file is not a folder"
    assert refused("--out", "file") == "brokerlaw: file is not a folder"
    assert "Spark takes '[' for part of a pattern" in refused("--out", "run[1]")
    assert refused("--out", "out", "--spark-conf", "fast=true").endswith(
        "--spark-conf fast=true: expected spark.NAME=VALUE"
    )
    assert "--out" in refused()


@pytest.mark.spark
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--master", "moon"), "Spark did not start at moon: "),
        (("--spark-conf", "spark.task.cpus=many"), "Spark did not start: "),
        (("--resume",), "out holds no campaign to go on with; without --resume one begins there"),
        (("--out", "nofs://host/run"), "--out nofs://host/run: Spark can not write there: "),
    ],
)
def test_what_spark_refuses_is_one_sentence(words: tuple[str, ...], sentence: str, refused: Refused) -> None:
    said = refused("--out", "out", *words)
    assert said.startswith(f"brokerlaw: {sentence}")
    assert len(said) < 500
    assert "Traceback" not in said


@pytest.mark.spark
def test_a_jvm_that_does_not_even_start_is_quoted(tmp_path: Path) -> None:
    done = ran(*words_of("fuzz", *SMALL, "--spark-conf", "spark.driver.memory=much", "--out", str(tmp_path / "out")))
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("brokerlaw: Spark did not start: ")
    assert "much" in done.err
    assert len(done.err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.spark
def test_a_folder_in_which_nothing_can_be_written_is_named(refused: Refused, tmp_path: Path) -> None:
    place = Path("/proc/brokerlaw") if os.geteuid() == 0 else tmp_path / "shut"
    if os.geteuid() != 0:
        place.mkdir(mode=0o500)
    said = refused("--out", str(place))
    assert "can not be written" in said or "you can not write into" in said
    assert str(place) in said


def test_without_java_the_tests_of_spark_are_skipped_with_what_to_do(tmp_path: Path) -> None:
    words = ("-m", "pytest", "-p", "no:cacheprovider", "-m", "nightly", "tests/test_spark_cluster.py")
    done = ran(sys.executable, *words, JAVA_HOME=str(tmp_path))
    assert done.code == 0
    assert "Spark needs Java 17 or newer: install one" in done.out
    assert " 1 skipped" in done.out
    assert " passed" not in done.out
