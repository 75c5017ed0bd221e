"""Campaigns on Spark survive: a killed executor, a killed driver, and what a user does wrong on the way back."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from .spark_harness import (
    ON_TOY,
    SLOW,
    WAIT_SECONDS,
    descendants,
    files_of,
    fuzz,
    ran,
    report_in,
    running,
    until,
    whole_waves,
    words_of,
)

pytestmark = [pytest.mark.spark, pytest.mark.nightly]

EXECUTOR = "CoarseGrainedExecutorBackend"
CASES = ("--cases", "700", "--seed", "3", "--max-steps", "20")


@pytest.fixture(scope="module")
def expected() -> str:
    """The digest of the campaign below, by `check` and with a subject that answers the same, only faster."""
    done = ran(*words_of("check", *ON_TOY, *CASES, "--json"))
    assert done.code == 0
    return str(done.data["digest"])


def test_an_executor_that_is_killed_in_the_middle_of_a_task_changes_nothing(expected: str, tmp_path: Path) -> None:
    words = (*SLOW, *CASES, "--master", "local-cluster[2,1,1024]", "--range-size", "50", "--out", str(tmp_path))
    with running(*words) as campaign:

        def busy_executor() -> int | None:
            """An executor whose Python worker has a child: cases run there."""
            for pid, line in descendants(campaign.pid).items():
                below = descendants(pid) if EXECUTOR in line and "java" in line.split()[0] else {}
                if sum("pyspark.daemon" in each for each in below.values()) >= 3:  # daemon, worker, its child
                    return pid
            return None

        os.kill(until(busy_executor, campaign), signal.SIGKILL)
        out, err = campaign.communicate(timeout=WAIT_SECONDS)
    assert campaign.returncode == 0, out + err
    assert report_in(tmp_path)["digest"] == expected
    assert "run more than once, and counted once: " in out


def test_a_killed_driver_goes_on_where_it_was_and_runs_nothing_again(expected: str, tmp_path: Path) -> None:
    words = (*SLOW, *CASES, "--master", "local[2]", "--range-size", "10")
    out = tmp_path / "out"
    with running(*words, "--out", str(out)) as campaign:
        until(lambda: whole_waves(out), campaign)
        campaign.kill()  # nothing gets to tidy up
        campaign.wait(timeout=WAIT_SECONDS)
    until_now = files_of(out)
    done_by_then = {name: seen for wave in whole_waves(out) for name, seen in files_of(wave).items()}
    assert done_by_then
    assert not (out / "report.json").exists()

    without = fuzz(*words, "--out", str(out))
    assert (without.code, without.out) == (2, "")
    assert (
        without.err
        == f"brokerlaw: {out} holds a campaign already: --resume goes on with it; else name another folder\n"
    )

    plan = out / "campaign.json"
    good = plan.read_text()
    plan.write_text(json.dumps({**json.loads(good), "code": "0" * 64}))
    other = fuzz(*words, "--out", str(out), "--resume", "--seed", "4", "--every-step")
    assert (other.code, other.out) == (2, "")
    assert f"{out} holds another campaign, which this can not go on with: --seed was 3 and is now 4; " in other.err
    assert "; --every-step was None and is now True; brokerlaw's own code was 000000000000 and is now " in other.err
    plan.write_text(good)
    assert files_of(out).keys() == until_now.keys()
    assert {name: seen for name, seen in files_of(out).items() if name != str(plan)} == {
        name: seen for name, seen in until_now.items() if name != str(plan)
    }

    short = fuzz(*words, "--out", str(out), "--resume", "--time-budget", "9", "--json")
    (part,) = short.data["systems"]
    assert short.code == 0
    assert part["stopped"] in ("the time budget ended", "")
    done = fuzz(*words, "--out", str(out), "--resume")
    assert done.code == 0, done.err
    assert "there already, and not run again: " in done.out
    assert report_in(out)["digest"] == expected
    assert {name: files_of(out)[name] for name in done_by_then} == done_by_then


def test_a_short_campaign_has_something_to_show(tmp_path: Path) -> None:
    done = fuzz("cursor_ranks", "--cases", "100_000_000", "--time-budget", "8", "--out", str(tmp_path))
    assert done.code == 0
    data = report_in(tmp_path)
    assert data["systems"][0]["cases"]["run"] > 0
    assert data["systems"][0]["stopped"] == "the time budget ended"
    assert [each["caught"] == each["ranges"] > 0 for each in data["canaries"]] == [True]


def test_a_campaign_that_is_interrupted_before_spark_is_up_leaves_nothing_behind(tmp_path: Path) -> None:
    with running("cursor_ranks", "--cases", "1_000", "--out", str(tmp_path / "out")) as campaign:
        until(lambda: [line for line in descendants(campaign.pid).values() if "java" in line], campaign)
        os.killpg(campaign.pid, signal.SIGINT)
        out, err = campaign.communicate(timeout=WAIT_SECONDS)
    assert (campaign.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_a_jvm_that_is_killed_is_one_sentence_and_the_campaign_goes_on_later(expected: str, tmp_path: Path) -> None:
    words = (*SLOW, *CASES, "--master", "local[2]", "--range-size", "25", "--out", str(tmp_path))
    with running(*words) as campaign:
        until(lambda: whole_waves(tmp_path), campaign)
        (jvm,) = [pid for pid, line in descendants(campaign.pid).items() if "org.apache.spark.deploy" in line]
        os.kill(jvm, signal.SIGKILL)
        out, err = campaign.communicate(timeout=WAIT_SECONDS)
    assert (campaign.returncode, out) == (2, "")
    assert "Spark's JVM has ended; --resume goes on with what is whole" in err.splitlines()[-1]
    assert "Traceback" not in err
    assert fuzz(*words, "--resume").code == 0
    assert report_in(tmp_path)["digest"] == expected
