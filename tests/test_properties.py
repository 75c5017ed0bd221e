"""The Hypothesis machines and brokerlaw.testing, shown on the toy system."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import unittest
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from hypothesis import Phase, find, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument
from hypothesis.stateful import run_state_machine_as_test

from brokerlaw.driver.checker import Breach
from brokerlaw.properties import profiles
from brokerlaw.properties.blame import Blame, case_as_python, to_blame
from brokerlaw.properties.machine import LawMachine
from brokerlaw.properties.strategies import arguments_of, cases_of, commands_of, configs_of, values_of
from brokerlaw.spec.core import BadCase, Case, check_case, choice, fields_of, flag, integer, read_case, write_case
from brokerlaw.spec.core.domain import Choice, Domain, Flag, Integer, Maybe
from brokerlaw.testing import LawBroken, assert_laws, law_tests, machine_for, replay_case

from .toy import (
    MUTANTS,
    TOY,
    Config,
    Insert,
    LastCoinIsFree,
    MaximumPlusOne,
    OnlyFirstPurseAges,
    Push,
    Reset,
    Snapshot,
    Tick,
    Turnstile,
    mutant,
)

FIXED = settings(max_examples=60, stateful_step_count=25, derandomize=True, database=None)
SEARCH = settings(max_examples=2000, database=None, derandomize=True, phases=(Phase.generate, Phase.shrink))

DOMAINS: tuple[Domain, ...] = (
    Integer(0, 2**63 - 1, (3, 40), (0, 2**63 - 1), (3,)),
    Integer(-5, 5, (-5, 5), (), (0,)),
    Integer(0, 10**9, (10, 10**8), (), (10,)),
    Choice(("a", "b", "c"), ("a",)),
    Flag(True),
    Flag(False, rate=0.9),
    Maybe(Integer(0, 99, (1, 9), (99,), (1,)), 0.25, (None,)),
)


def broken_by(make_subject: Callable[[], Any], **options: Any) -> LawBroken:
    """What the machine of the toy says of a subject."""
    tests = law_tests(TOY, make_subject, settings=FIXED, **options)
    with pytest.raises(LawBroken) as failure:
        tests("test_laws").run_machine()
    return failure.value


# ---- Strategies -----------------------------------------------------------------------------------------------------


@given(st.data(), st.sampled_from(DOMAINS))
def test_a_strategy_draws_values_of_its_domain(data: st.DataObject, domain: Domain) -> None:
    assert domain.problem(data.draw(values_of(domain))) is None


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_a_strategy_shrinks_to_the_simplest_value(domain: Domain) -> None:
    assert find(values_of(domain), lambda value: True, settings=SEARCH) == domain.simplest


def test_an_integer_strategy_shrinks_towards_the_simplest_and_reaches_edges_and_the_full_range() -> None:
    domain = Integer(0, 10**6, (3, 40), (0, 10**6), (3,))
    values = values_of(domain)
    assert find(values, lambda value: value >= 17, settings=SEARCH) == 17
    assert find(values, lambda value: value < 3, settings=SEARCH) == 0
    assert find(values, lambda value: 40 < value < 10**6, settings=SEARCH) == 41


def test_a_config_shrinks_to_its_defaults_and_the_least_of_what_matters() -> None:
    configs = configs_of(Config)
    assert find(configs, lambda config: True, settings=SEARCH) == Config()
    assert find(configs, lambda config: config.max_credit_coins < 10, settings=SEARCH) == Config(max_credit_coins=1)


def test_the_fields_of_a_command_shrink_each_for_itself() -> None:
    assert find(commands_of(Insert), lambda command: command.coins >= 5, settings=SEARCH) == Insert("ann", 5)
    unusual = find(commands_of(Insert), lambda command: command.coins > 8, settings=SEARCH)
    assert unusual in (Insert("ann", 9), Insert("ann", 1_000))  # the least, or an edge


@frozen
class Four:
    name: str = choice("a", "b", "c")
    place: int = integer(0, 9, usual=(1, 5), edges=(0,))
    on: bool = flag()
    size: int = integer(0, 99, usual=(3, 9))


@given(arguments_of(fields_of(Four)))
def test_many_fields_in_few_choices_stay_in_their_domains(values: tuple[Any, ...]) -> None:
    assert [f.domain.problem(value) for f, value in zip(fields_of(Four), values, strict=True)] == [None] * 4


def test_many_fields_in_few_choices_shrink_to_the_simplest() -> None:
    arguments = arguments_of(fields_of(Four))
    assert find(arguments, lambda values: True, settings=SEARCH) == ("a", 1, False, 3)
    assert find(arguments, lambda values: values[2] and values[3] > 9, settings=SEARCH) == ("a", 1, True, 10)
    assert find(arguments, lambda values: values[1] > 5, settings=SEARCH)[1:] == (6, False, 3)


def test_a_command_without_fields_is_drawn() -> None:
    assert find(commands_of(Tick), lambda command: True, settings=SEARCH) == Tick()


@frozen
class Huge:
    low: int = integer(0, 2**40, usual=(0, 2**30))
    high: int = integer(0, 2**40, usual=(5, 2**30))


def test_fields_with_too_many_usual_values_are_drawn_apart() -> None:
    arguments = arguments_of(fields_of(Huge), choices=1)
    assert find(arguments, lambda pair: pair[1] > 10, settings=SEARCH) == (0, 11)


@given(cases_of(TOY))
def test_a_drawn_case_is_a_case_of_its_system(case: Case) -> None:
    check_case(case, TOY)
    TOY.dialect(case.dialect)


# ---- The machine ----------------------------------------------------------------------------------------------------


def test_every_command_is_a_rule_under_its_own_name() -> None:
    machine = machine_for(TOY, Turnstile)
    names = {rule.function.__name__ for rule in machine.setup_state().rules}
    assert names == {"insert", "push", "tick", "reset", "stray"}
    assert [rule.function.__name__ for rule in machine.setup_state().initializers] == ["start"]


def test_the_reference_passes() -> None:
    law_tests(TOY, Turnstile, settings=FIXED)("test_laws").run_machine()


def test_the_reference_passes_in_every_dialect() -> None:
    for dialect in (*TOY.dialects, "text+refuse-whole"):
        law_tests(TOY, Turnstile, dialect=dialect, settings=FIXED)("test_laws").run_machine()


@pytest.mark.parametrize("name", [mutant.name for mutant in MUTANTS])
def test_a_mutant_is_told_by_its_law_with_source_evidence_and_case(name: str) -> None:
    broken = broken_by(mutant(name))
    law = TOY.law_named[next(mutant.breaks for mutant in MUTANTS if mutant.name == name)]
    assert (broken.breach.kind, broken.breach.law) == ("law", law.name)
    message = str(broken)
    for told in (law.name, law.sentence, law.source, law.blind, broken.breach.evidence, '"brokerlaw-case": 1'):
        assert told in message


def test_a_counterexample_is_small() -> None:
    broken = broken_by(LastCoinIsFree)
    assert (broken.case.config, broken.case.commands) == (Config(), (Insert("ann", 1), Push("ann")))


def test_the_printed_steps_can_be_run_as_they_are() -> None:
    broken = broken_by(LastCoinIsFree)
    steps = [line for line in broken.__notes__ if line.startswith("state.")]
    assert steps == [
        "state.start(Config(), observe=1)",
        "state.insert(visitor='ann', coins=1)",
        "state.push(visitor='ann')",
        "state.teardown()",
    ]
    state = machine_for(TOY, LastCoinIsFree)()
    with pytest.raises(LawBroken):
        exec("\n".join(steps[:-1]), {"state": state, "Config": Config})


def test_the_case_is_told_as_a_program_that_runs() -> None:
    broken = broken_by(MaximumPlusOne)
    program = case_as_python(broken.case, "MaximumPlusOne", ours=False)
    with pytest.raises(LawBroken) as again:
        exec(program, {"MaximumPlusOne": MaximumPlusOne, "system": TOY})
    assert again.value.breach == broken.breach


def test_the_case_is_told_as_json_that_replays() -> None:
    broken = broken_by(MaximumPlusOne)
    text = str(broken).partition("for `brokerlaw replay`:")[2]
    assert read_case(text, {"toy": TOY}.get) == broken.case


def test_a_run_settles_before_it_ends() -> None:
    seen: list[Any] = []
    machine = machine_for(TOY, recording(seen))()
    machine.begin(Config(idle_ticks=3), observe=1)
    machine.send(Insert("ann", 1))
    machine.teardown()
    assert seen == [Insert("ann", 1), Tick(), Tick(), Tick()]


def test_a_run_that_was_broken_off_does_not_settle() -> None:
    seen: list[Any] = []
    machine = machine_for(TOY, recording(seen))()
    machine.begin(Config(), observe=1)
    machine.send(Insert("ann", 1))
    try:
        raise RuntimeError
    except RuntimeError:
        machine.teardown()
    assert seen == [Insert("ann", 1)]


def recording(seen: list[Any]) -> Callable[[], Turnstile]:
    class Recording(Turnstile):
        def apply(self, command: Any) -> Any:
            seen.append(command)
            return super().apply(command)

    return Recording


def test_some_commands_are_stray_and_most_are_not() -> None:
    stray = [0, 0]

    class Counting(Turnstile):
        def push(self, visitor: str) -> Any:
            stray[self.purses.get(visitor, [0])[0] < self.config.price_coins] += 1
            return super().push(visitor)

    law_tests(TOY, Counting, settings=FIXED)("test_laws").run_machine()
    enabled, strays = stray
    assert 0 < strays < enabled


class HealsWhenLookedAt(Turnstile):
    """Keeps one coin too many, until somebody looks."""

    def maximum(self) -> int:
        return self.config.max_credit_coins + 1

    def snapshot(self) -> Snapshot:
        for purse in self.purses.values():
            purse[0] = min(purse[0], self.config.max_credit_coins)
        return super().snapshot()

    def insert(self, visitor: str, coins: int) -> Any:
        credit = self.purses.get(visitor, [0, 0])[0]
        accepted = super().insert(visitor, coins)
        over = max(0, credit + accepted.kept - self.config.max_credit_coins)
        return type(accepted)(accepted.kept - over, accepted.returned + over)


def test_what_hides_from_an_observer_is_found_by_looking_less_often() -> None:
    broken = broken_by(HealsWhenLookedAt)
    assert broken.case.observe == 4
    with pytest.raises(LawBroken):
        replay_case(broken.case, HealsWhenLookedAt, system=TOY)


class Raises(Turnstile):
    def tick(self) -> int:
        raise KeyError("purse")


def test_an_exception_of_a_subject_is_told_with_its_place() -> None:
    broken = broken_by(Raises)
    assert broken.breach.key == ("error", "KeyError")
    assert "Tick() raised KeyError: 'purse' (tick, line" in str(broken)


class ForgetsPasses(Turnstile):
    """Breaks no law: no law speaks of how many passed."""

    def push(self, visitor: str) -> Any:
        done = super().push(visitor)
        self.passed = 0
        return done


def test_a_difference_from_the_model_is_told_where_no_law_is_broken() -> None:
    broken = broken_by(ForgetsPasses)
    assert broken.breach.key == ("model", "")
    assert "passed is 0; the model says 1" in str(broken)


def test_the_model_can_be_set_aside() -> None:
    law_tests(TOY, ForgetsPasses, model=False, settings=FIXED)("test_laws").run_machine()


class TwoBugs(MaximumPlusOne):
    price = LastCoinIsFree.price


def test_one_bug_is_told_at_a_time() -> None:
    told = broken_by(TwoBugs).breach.law
    other = {"credit_stays_within_the_maximum", "a_pass_costs_exactly_its_price"} - {told}
    assert len(other) == 1
    assert broken_by(TwoBugs, tolerate=[told]).breach.law in other
    law_tests(TOY, TwoBugs, tolerate=[told, *other], settings=FIXED)("test_laws").run_machine()


def test_blame_keeps_to_the_first_thing_that_broke() -> None:
    blame = Blame()
    first, second = Breach("law", "a", 1, ""), Breach("law", "b", 1, "")
    assert [blame.takes(breach) for breach in (first, second, first)] == [True, False, True]


def test_a_law_goes_before_the_model_and_a_tolerated_law_takes_the_model_with_it() -> None:
    model, law, error = Breach("model", "x", 1, ""), Breach("law", "a", 2, ""), Breach("error", "KeyError", 3, "")
    assert to_blame([]) is None
    assert to_blame([model]) == model
    assert to_blame([model, law]) == law
    assert to_blame([model, law], tolerate=["a"]) is None
    assert to_blame([model, law, error], tolerate=["a"]) == error


def test_only_the_named_laws_are_asked() -> None:
    only = ["idle_credit_comes_back"]
    law_tests(TOY, MaximumPlusOne, only=only, model=False, settings=FIXED)("test_laws").run_machine()
    assert broken_by(OnlyFirstPurseAges, only=only, model=False).breach.law == only[0]


def test_a_subject_gets_no_command_that_it_does_not_take() -> None:
    seen: list[Any] = []
    make = recording(seen)
    make.unsupported = {"Reset", "Tick"}  # type: ignore[attr-defined]
    law_tests(TOY, make, settings=FIXED)("test_laws").run_machine()
    assert {type(command) for command in seen} == {Insert, Push}


class Blindfolded(MaximumPlusOne):
    unobserved = frozenset({"credits"})


def test_a_law_over_what_a_subject_can_not_show_is_not_asked() -> None:
    law_tests(TOY, Blindfolded, model=False, settings=FIXED)("test_laws").run_machine()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"only": ["no_such_law"]}, "toy has no law 'no_such_law'; it has credit_stays_within_the_maximum"),
        ({"tolerate": ["no_such_law"]}, "toy has no law 'no_such_law'"),
        ({"dialect": "latin"}, "toy has no dialect 'latin'; it has text, strict"),
        ({"dialect": "text+x"}, "toy has no deviation 'x'; it has refuse-whole"),
    ],
)
def test_a_name_that_is_not_there_is_refused_at_once(options: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        law_tests(TOY, Turnstile, **options)
    with pytest.raises(ValueError, match=re.escape(told)):
        assert_laws(TOY, Turnstile, cases=1, **options)


def test_a_thing_that_is_no_subject_is_refused_with_what_is_missing() -> None:
    with pytest.raises(TypeError, match=r"object makes no subject: it has no method reset\(config, dialect\)"):
        assert_laws(TOY, object)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="object makes no subject"):
        law_tests(TOY, object, settings=FIXED)("test_laws").run_machine()  # type: ignore[arg-type]


def test_a_command_that_is_a_word_of_python_or_of_the_machine_gets_another_name() -> None:
    from brokerlaw.properties.machine import _rule_name

    names = {name: _rule_name(type(name, (), {})) for name in ("FinishLoad", "SetTtl", "Import", "Start", "Teardown")}
    assert list(names.values()) == ["finish_load", "set_ttl", "import_", "start_", "teardown_"]


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
        own = settings(max_examples=5, stateful_step_count=5, database=None)
        tests = seed(11)(law_tests(TOY, recording(seen), settings=own))
        tests("test_laws").run_machine()
        runs.append(seen)
    assert runs[0] == runs[1]


def test_the_bare_machine_runs_as_any_other_of_hypothesis() -> None:
    machine: type[LawMachine] = machine_for(TOY, Turnstile)
    assert issubclass(machine.TestCase, unittest.TestCase)
    run_state_machine_as_test(machine, settings=FIXED)
