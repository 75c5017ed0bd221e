"""brokerlaw.testing in a suite of one's own: the seeded way, replay, profiles, pytest and unittest."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, seed, settings
from hypothesis.errors import InvalidArgument

from brokerlaw.properties import profiles
from brokerlaw.spec.core import BadCase, Case, write_case
from brokerlaw.testing import LawBroken, assert_laws, law_tests, replay_case

from .toy import TOY, Config, Insert, LastCoinIsFree, MaximumPlusOne, OnlyFirstPurseAges, Reset, Turnstile


class TwoBugs(MaximumPlusOne):
    price = LastCoinIsFree.price


# ---- The seeded way, and replay -------------------------------------------------------------------------------------


def test_assert_laws_passes_on_the_reference_and_tells_the_law_of_a_mutant() -> None:
    assert_laws(TOY, Turnstile)
    with pytest.raises(LawBroken, match="the law credit_stays_within_the_maximum is broken") as failure:
        assert_laws(TOY, MaximumPlusOne)
    assert len(failure.value.case.commands) == 1


def test_assert_laws_gives_the_same_case_for_the_same_seed() -> None:
    cases = []
    for _ in range(2):
        with pytest.raises(LawBroken) as failure:
            assert_laws(TOY, OnlyFirstPurseAges, seed=7)
        cases.append(failure.value.case)
    assert cases[0] == cases[1]


def test_assert_laws_passes_over_a_tolerated_law() -> None:
    assert_laws(TOY, MaximumPlusOne, tolerate=["credit_stays_within_the_maximum"])
    with pytest.raises(LawBroken, match="a_pass_costs_exactly_its_price"):
        assert_laws(TOY, TwoBugs, tolerate=["credit_stays_within_the_maximum"])


def test_a_case_file_is_replayed(tmp_path: Path) -> None:
    file = tmp_path / "case.json"
    file.write_text(write_case(Case("toy", Config(max_credit_coins=1), (Insert("ann", 2),))))
    assert [row.step for row in replay_case(file, Turnstile, system=TOY).rows] == [1]
    with pytest.raises(LawBroken, match="credit 2 > maximum 1"):
        replay_case(str(file), MaximumPlusOne, system=TOY)


def test_a_case_that_can_not_be_replayed_says_why(tmp_path: Path) -> None:
    file = tmp_path / "case.json"
    file.write_text("{")
    with pytest.raises(BadCase, match=r"case\.json, line 1 column 2: not JSON"):
        replay_case(file, Turnstile, system=TOY)
    with pytest.raises(BadCase, match="command 1"):
        replay_case(Case("toy", Config(), (Reset, "x")), Turnstile, system=TOY)
    with pytest.raises(ValueError, match="brokerlaw has no system 'toy'"):
        replay_case(Case("toy", Config(), ()), Turnstile)


# ---- Profiles -------------------------------------------------------------------------------------------------------


@pytest.fixture
def profile(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Loads a profile for the time of one test."""
    monkeypatch.delenv(profiles.VARIABLE, raising=False)
    before = settings.get_current_profile_name()
    yield settings.load_profile
    settings.load_profile(before)


@pytest.mark.parametrize("name", ["default", "dev", "ci", "nightly"])
def test_a_profile_says_how_much_a_machine_does(name: str, profile: Callable[[str], None]) -> None:
    profile(name)
    now = profiles.machine_settings()
    assert (now.max_examples, now.stateful_step_count) == (
        profiles.EFFORTS[name].examples,
        profiles.EFFORTS[name].commands,
    )
    assert now.deadline is None
    assert not now.report_multiple_bugs
    assert Phase.explain not in now.phases


def test_ci_makes_the_same_examples_in_every_run_and_prints_the_blob(profile: Callable[[str], None]) -> None:
    profile("ci")
    now = profiles.machine_settings()
    assert now.derandomize
    assert now.print_blob


def test_numbers_that_a_user_put_into_a_profile_win(profile: Callable[[str], None]) -> None:
    ci = settings.get_profile("ci")
    try:
        settings.register_profile("ci", ci, max_examples=7)
        profile("ci")
        assert profiles.machine_settings().max_examples == 7
    finally:
        settings.register_profile("ci", ci)


def test_a_profile_of_another_name_counts_as_it_is(profile: Callable[[str], None]) -> None:
    settings.register_profile("mine", max_examples=100)
    profile("mine")
    assert profiles.machine_settings().max_examples == 100


def test_settings_given_to_the_tests_win() -> None:
    own = settings(max_examples=3, stateful_step_count=4, deadline=5_000, report_multiple_bugs=False)
    now = profiles.machine_settings(own)
    assert (now.max_examples, now.stateful_step_count) == (3, 4)
    assert now.deadline == own.deadline


def test_registering_again_leaves_a_profile_as_the_user_made_it(profile: Callable[[str], None]) -> None:
    nightly = settings.get_profile("nightly")
    try:
        settings.register_profile("nightly", max_examples=12)
        profiles.register()
        assert settings.get_profile("nightly").max_examples == 12
    finally:
        settings.register_profile("nightly", nightly)


def test_the_environment_chooses_a_profile_unless_another_was_loaded(
    profile: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(profiles.VARIABLE, "nightly")
    profile("default")
    profiles.register()
    assert profiles.profile() == "nightly"
    profile("dev")
    profiles.register()
    assert profiles.profile() == "dev"


def test_a_profile_that_is_not_there_is_told(profile: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(profiles.VARIABLE, "nihgtly")
    with pytest.raises(InvalidArgument, match="HYPOTHESIS_PROFILE=nihgtly: there is no such profile"):
        profiles.profile()


# ---- In a suite of one's own ----------------------------------------------------------------------------------------

SUITE = """
from brokerlaw.testing import law_tests
from tests.toy import TOY, LastCoinIsFree, Turnstile

TestGood = law_tests(TOY, Turnstile)
TestBad = law_tests(TOY, LastCoinIsFree)
"""


def run_python(root: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(root)}
    environment.pop(profiles.VARIABLE, None)
    return subprocess.run([sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True)


def test_pytest_collects_the_tests_and_its_hypothesis_options_work(root: Path, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("import brokerlaw.testing\n")
    (tmp_path / "test_mine.py").write_text(SUITE)
    options = ("--hypothesis-seed=3", "--hypothesis-profile=dev", "--hypothesis-show-statistics", "-pno:cacheprovider")
    done = run_python(root, tmp_path, "-m", "pytest", *options, "test_mine.py")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 1 passed" in done.stdout
    for told in ("the law a_pass_costs_exactly_its_price is broken", "TOY, Passing", "state.push(visitor='ann')"):
        assert told in done.stdout
    assert "- Stopped because settings.max_examples=100" in done.stdout


def test_unittest_runs_the_tests_too(root: Path, tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(SUITE)
    done = run_python(root, tmp_path, "-m", "unittest", "test_mine")
    assert done.returncode == 1
    assert "Ran 2 tests" in done.stderr
    assert "the law a_pass_costs_exactly_its_price is broken" in done.stderr


def test_a_seed_on_the_test_class_repeats_a_run() -> None:
    runs: list[list[Any]] = []
    for _ in range(2):
        seen: list[Any] = []

        class Recording(Turnstile):
            def apply(self, command: Any, seen: list[Any] = seen) -> Any:
                seen.append(command)
                return super().apply(command)

        own = settings(max_examples=5, stateful_step_count=5, database=None)
        tests = seed(11)(law_tests(TOY, Recording, settings=own))
        tests("test_laws").run_machine()
        runs.append(seen)
    assert runs[0] == runs[1]
