"""The supervisor: a subject that hangs, dies or eats memory costs its own case, and is named by its true cause."""

from __future__ import annotations

import ctypes
import faulthandler
import inspect
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from brokerlaw.driver.child import Limits, mapped_bytes
from brokerlaw.driver.errors import SubjectFailed
from brokerlaw.driver.loop import Job, Result, run_cases
from brokerlaw.driver.shrink import shrink
from brokerlaw.driver.supervisor import Counts, supervise, supervise_many

from .toy import TOY, Config, Locked, OnlyFirstPurseAges, Passed, Turnstile

ROOT = Path(__file__).parent.parent
CASES = 200
LIMITS = Limits(case_seconds=0.5, memory_bytes=256 * 1024**2)


def _trapped(act: Callable[[], object]) -> Callable[[], Turnstile]:
    """A turnstile that does something terrible in a state that few cases come to."""

    class Trapped(Turnstile):
        def push(self, visitor: str) -> Passed | Locked:
            if len(self.purses) == 2 and self.config.price_coins == 2 and self.purses.get(visitor, [0])[0] == 7:
                act()
            return super().push(visitor)

    return Trapped


def _job(make: Callable[[], Any], **more: Any) -> Job:
    return Job(TOY, make, "toy", seed=1, **more)


def _for_ever() -> None:
    while True:
        pass


def _eat() -> None:
    held = []
    while True:
        held.append(bytearray(1 << 20))


def _exit_politely() -> None:
    raise SystemExit(4)


def _segfault() -> None:
    faulthandler.disable()  # pytest switched it on; this crash is meant
    ctypes.string_at(0)


def _abort() -> None:
    faulthandler.disable()
    os.abort()


def _is_called_from(function: str) -> bool:
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_name != function:
        frame = frame.f_back
    return frame is not None


def _numbers_of(result: Result) -> list[int]:
    return [finding.number for finding in result.ended if finding.number is not None]


TRAPS: list[Any] = [
    ("loops", _for_ever, "hang time limit", "it took longer than 0.5 s"),
    ("sleeps", lambda: time.sleep(1_000), "hang time limit", "it took longer than 0.5 s"),
    ("exits", lambda: os._exit(3), "crash exit code 3", "the subject ended the process with exit code 3"),
    ("exits as if all was well", lambda: os._exit(0), "crash exit code 0", "exit code 0"),
    ("exits politely", _exit_politely, "crash exit code 4", "exit code 4"),
    ("segfaults", _segfault, "crash SIGSEGV", "SIGSEGV (Segmentation fault"),
    ("aborts", _abort, "crash SIGABRT", "SIGABRT"),
    ("is killed", lambda: os.kill(os.getpid(), signal.SIGKILL), "crash SIGKILL", "which brokerlaw did not send"),
    pytest.param(
        "eats memory",
        _eat,
        "memory MemoryError",
        "more memory than the limit of 0.25 GiB",
        marks=pytest.mark.skipif(mapped_bytes() is None, reason="this system does not limit the address space"),
    ),
]


@pytest.mark.parametrize(("name", "act", "cause", "sentence"), TRAPS)
def test_it_costs_its_own_case_and_is_named_by_its_cause(
    name: str, act: Callable[[], object], cause: str, sentence: str
) -> None:
    result = supervise(_job(_trapped(act)), 0, CASES, LIMITS)
    ended = _numbers_of(result)
    assert 1 <= len(ended) < 8, "the trap is meant to be rare, and not absent"
    assert result.ended_count == {cause: len(ended)}
    assert all(sentence in finding.breach.evidence for finding in result.ended)
    others = run_cases(_job(Turnstile), [number for number in range(CASES) if number not in ended])
    assert result.tally.to_json() == others.tally.to_json()
    assert result.broken == {}
    assert result.stopped == ""


def test_its_case_is_cut_behind_the_step_in_which_it_ended() -> None:
    result = supervise(_job(_trapped(lambda: os._exit(3))), 0, CASES, LIMITS)
    for finding in result.ended[:3]:
        assert finding.breach.step == len(finding.case.commands) <= finding.commands_before
        assert f"it ended in step {finding.breach.step}, Push(" in finding.breach.evidence
        subject = Turnstile()
        subject.reset(finding.case.config, TOY.dialect("text"))
        for command in finding.case.commands[:-1]:
            subject.apply(command)
        assert subject.purses[finding.case.commands[-1].visitor][0] == 7


def test_an_exception_is_a_finding_like_any_other() -> None:
    result = supervise(_job(_trapped(lambda: 1 // 0)), 0, CASES, LIMITS)
    assert set(result.broken) == {"error ZeroDivisionError"}
    assert result.ended == []
    assert result.tally.cases == CASES
    (finding,) = result.findings
    assert finding.shrunk
    assert "integer division or modulo by zero" in finding.breach.evidence


def test_what_a_subject_prints_does_not_reach_the_protocol_and_reading_gets_nothing() -> None:
    class Chatty(Turnstile):
        def apply(self, command: Any) -> Any:
            os.write(1, b'{"done": true}\n')
            assert sys.stdin is None or os.read(0, 1) == b""
            return super().apply(command)

    result = supervise(_job(Chatty), 0, 20)
    assert result.tally.to_json() == run_cases(_job(Turnstile), range(20)).tally.to_json()


def test_a_finding_whose_shrinking_kills_the_child_is_kept_whole() -> None:
    class DiesWhenShrunk(OnlyFirstPurseAges):
        def reset(self, config: Config, dialect: Any) -> None:
            super().reset(config, dialect)
            if _is_called_from("shrink_case"):
                os._exit(9)

    plain = supervise(_job(OnlyFirstPurseAges), 0, CASES)
    result = supervise(_job(DiesWhenShrunk), 0, CASES, LIMITS)
    assert result.ended_count == {}
    assert result.tally.to_json() == plain.tally.to_json()
    assert [finding.shrunk for finding in result.findings] == [False]
    assert [finding.number for finding in result.findings] == [finding.number for finding in plain.findings]


def test_one_finding_for_each_thing_that_breaks_is_shrunk_in_the_child() -> None:
    result = supervise(_job(OnlyFirstPurseAges), 0, CASES)
    here = run_cases(_job(OnlyFirstPurseAges), range(CASES))
    assert result.broken == here.broken
    assert result.findings == [shrink(TOY, OnlyFirstPurseAges, here.findings[0], max_attempts=1_000)]


def test_a_subject_that_hangs_again_and_again_is_given_up() -> None:
    limits = Limits(case_seconds=0.1, max_hangs=2)
    result = supervise_many(_job(_always(_for_ever)), 1_000, range_size=10, limits=limits)
    assert result.ended_count == {"hang time limit": 2}
    assert "2 cases took longer than 0.1 s each" in result.stopped


def _always(act: Callable[[], object]) -> Callable[[], Turnstile]:
    class Always(Turnstile):
        def apply(self, command: Any) -> Any:
            act()
            return super().apply(command)

    return Always


def test_a_subject_that_can_not_be_made_is_refused_in_a_sentence() -> None:
    def make() -> Turnstile:
        raise OSError("no route to the broker")

    with pytest.raises(SubjectFailed, match=r"toy can not be made: .*no route to the broker"):
        supervise(_job(make), 0, 10)
    with pytest.raises(SubjectFailed, match=r"toy can not be made: .*exit code 7"):
        supervise(_job(lambda: os._exit(7)), 0, 10)


def test_a_time_budget_ends_with_what_there_is_and_says_so() -> None:
    told: list[Counts] = []
    result = supervise_many(
        _job(_always(lambda: time.sleep(0.001))), 10_000, jobs=2, time_budget_seconds=1.5, progress=told.append
    )
    assert 0 < result.tally.cases < 10_000
    assert result.stopped == "the time budget ended"
    assert [counts.cases for counts in told] == sorted(counts.cases for counts in told)
    assert told[-1].cases <= result.tally.cases


def test_an_interrupt_ends_the_children_too() -> None:
    program = (
        "import time\n"
        "from brokerlaw.driver.loop import Job\n"
        "from brokerlaw.driver.supervisor import supervise_many\n"
        "from tests.toy import TOY, Turnstile\n"
        "class Sleeps(Turnstile):\n"
        "    def apply(self, command):\n"
        "        time.sleep(1_000)\n"
        "def told(counts):\n"
        "    print('running', flush=True)\n"
        "supervise_many(Job(TOY, Sleeps, 'toy', 1), 100, jobs=2, range_size=10, progress=told)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert "KeyboardInterrupt" in errors
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)  # nobody is left in its group
