"""The Hypothesis machines, shown on the toy system."""

from __future__ import annotations

import re
import unittest
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from brokerlaw.driver.checker import Breach
from brokerlaw.properties.blame import Blame, case_as_python, name_of, to_blame
from brokerlaw.properties.machine import LawMachine
from brokerlaw.spec.core import read_case
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


def broken_by(make_subject: Callable[[], Any], **options: Any) -> LawBroken:
    """What the machine of the toy says of a subject."""
    tests = law_tests(TOY, make_subject, settings=FIXED, **options)
    with pytest.raises(LawBroken) as failure:
        tests("test_laws").run_machine()
    return failure.value


def test_every_command_is_a_rule_under_its_own_name() -> None:
    machine = machine_for(TOY, Turnstile)
    count = Counter(rule.function.__qualname__.rpartition(".")[2] for rule in machine.setup_state().rules)
    assert set(count) == {"insert", "push", "tick", "reset", "stray", "likewise"}
    assert set(count) <= set(dir(machine))
    assert (count["push"], count["reset"]) == (2, 1)  # the root of what its action weighs
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


def test_a_run_sends_every_command_that_is_not_rare() -> None:
    sent: list[set[type]] = []

    class Recording(Turnstile):
        def reset(self, config: Config, dialect: Any) -> None:
            super().reset(config, dialect)
            sent.append(set())

        def apply(self, command: Any) -> Any:
            sent[-1].add(type(command))
            return super().apply(command)

    law_tests(TOY, Recording, settings=FIXED)("test_laws").run_machine()
    runs = [run for run in sent if run]
    assert sum({Insert, Push, Tick} <= run for run in runs) > len(runs) * 3 / 4
    assert 0 < sum(Reset in run for run in runs) < len(runs)


def test_a_narrow_run_keeps_to_the_first_names() -> None:
    seen: list[Any] = []
    machine = machine_for(TOY, recording(seen))()
    machine.begin(Config(), observe=1, narrow=True)
    machine.send(Insert("cid", 1))
    assert seen == [Insert("ann", 1)]


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


def test_a_subject_is_called_as_its_class_is_wherever_that_can_be_told() -> None:
    made = (Turnstile, partial(Turnstile), recording([]), lambda: Turnstile())
    assert [name_of(make) for make in made] == ["Turnstile", "Turnstile", "Recording", "make_subject"]


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


def test_the_bare_machine_runs_as_any_other_of_hypothesis() -> None:
    machine: type[LawMachine] = machine_for(TOY, Turnstile)
    assert issubclass(machine.TestCase, unittest.TestCase)
    run_state_machine_as_test(machine, settings=FIXED)
