"""The vocabulary: laws, dialects, systems, models, subjects, and which laws can be asked of a subject."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from attrs import evolve, frozen
from hypothesis import given
from hypothesis import strategies as st

from brokerlaw.driver.checker import Checker, plan_for
from brokerlaw.driver.tally import Tally
from brokerlaw.properties.strategies import cases_of, commands_of
from brokerlaw.spec.core import (
    NOT_OBSERVED,
    TEXT_DIALECT,
    VACUOUS,
    Action,
    Broken,
    Case,
    Cloneable,
    Deviation,
    Law,
    Model,
    NoHistory,
    System,
    always,
    shape_problems,
    sometimes,
    step,
    unobserved_by,
    unsupported_by,
    within,
)

from .toy import (
    TOY,
    Config,
    Insert,
    Push,
    Reset,
    State,
    Tick,
    Turnstile,
    credit_stays_within_the_maximum,
    with_credit,
)

# ---- Laws -----------------------------------------------------------------------------------------------------------


def test_a_law_is_its_name_its_sentence_and_what_it_can_not_see() -> None:
    @always("PIP-0, Here", reads=("credits",))
    def small_is_beautiful(config: Any, now: Any) -> bool:
        """What is small
        is beautiful.  Can not see: what is too small
        to be seen."""
        return True

    assert isinstance(small_is_beautiful, Law)
    assert small_is_beautiful.name == "small_is_beautiful"
    assert small_is_beautiful.sentence == "What is small is beautiful."
    assert small_is_beautiful.blind == "what is too small to be seen."
    assert (small_is_beautiful.source, small_is_beautiful.kind) == ("PIP-0, Here", "always")


def test_each_kind_of_law_has_its_decorator() -> None:
    def check(*seen: Any) -> bool:
        """It is so."""
        return True

    for declare, kind in ((step, "step"), (within, "within"), (sometimes, "sometimes")):
        law = declare("PIP-0", reads=(), on=(Push,))(check)
        assert (law.kind, law.on, law.sentence, law.blind) == (kind, (Push,), "It is so.", "")


def test_a_law_without_a_sentence_is_refused() -> None:
    with pytest.raises(TypeError, match="law check needs a docstring: the law in one plain sentence"):

        @always("PIP-0", reads=())
        def check(config: Any, now: Any) -> bool:
            return True


@pytest.mark.parametrize(
    ("unless", "only", "in_force", "claimed"),
    [
        ((), (), (), True),
        ((), (), ("a",), True),
        (("a",), (), (), True),
        (("a",), (), ("a",), False),
        (("a",), (), ("b",), True),
        ((), ("a", "b"), (), False),
        ((), ("a", "b"), ("b",), True),
        (("a",), ("b",), ("a", "b"), False),
    ],
    ids=str,
)
def test_a_law_is_claimed_unless_or_only_where_a_deviation_is_in_force(
    unless: tuple[str, ...], only: tuple[str, ...], in_force: tuple[str, ...], claimed: bool
) -> None:
    law = Law("a_law", "It is so.", "PIP-0", "always", lambda *seen: True, unless=unless, only=only)
    assert law.holds_in(in_force) is claimed


def test_a_broken_law_tells_its_evidence_and_a_vacuous_one_is_not_a_pass() -> None:
    assert Broken("2 > 1").evidence == "2 > 1"
    assert repr(VACUOUS) == "VACUOUS"
    subject = Turnstile()
    checker = Checker(plan_for(TOY, TEXT_DIALECT, subject), subject, Config())
    checker.start()
    assert checker.tally.laws["credit_stays_within_the_maximum"] == [0, 1, 0]
    checker.step(Insert("ann", 1))
    assert checker.tally.laws["credit_stays_within_the_maximum"] == [1, 1, 0]


# ---- Dialects -------------------------------------------------------------------------------------------------------


def test_a_dialect_is_a_name_or_the_text_with_deviations() -> None:
    assert not TOY.dialect("text").has("refuse-whole")
    assert TOY.dialect("strict").has("refuse-whole")
    added = TOY.dialect("text+refuse-whole")
    assert (added.name, added.deviations) == ("text+refuse-whole", frozenset({"refuse-whole"}))
    assert TOY.dialect("strict+refuse-whole").deviations == TOY.dialect("strict").deviations


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("latin", "toy has no dialect 'latin'; it has text, strict"),
        ("", "toy has no dialect ''; it has text, strict"),
        ("text+", "toy has no deviation ''; it has refuse-whole"),
        ("text+strict", "toy has no deviation 'strict'; it has refuse-whole"),
    ],
)
def test_an_unknown_dialect_is_told_with_those_there_are(name: str, told: str) -> None:
    with pytest.raises(KeyError) as failure:
        TOY.dialect(name)
    assert failure.value.args[0] == told


def _law(name: str, **more: Any) -> Law:
    return Law(name, "It is so.", "PIP-0", "always", lambda config, now: True, **more)


def _deviation(name: str, *replaces: str) -> Deviation:
    return Deviation(name, "", "", "silent", Case("toy", Config(), ()), replaces)


def test_a_deviation_replaces_laws_and_brings_its_own() -> None:
    system = evolve(
        TOY,
        laws=(_law("plain"), _law("replaced"), _law("not_here", unless=("dev",)), _law("here_only", only=("dev",))),
        deviations=(_deviation("dev", "replaced"), _deviation("other")),
        dialects={"text": (), "shipped": ("dev",)},
    )
    assert [law.name for law in system.laws_in(system.dialect("text"))] == ["plain", "replaced", "not_here"]
    assert [law.name for law in system.laws_in(system.dialect("shipped"))] == ["plain", "here_only"]
    assert [law.name for law in system.laws_in(system.dialect("text+other"))] == ["plain", "replaced", "not_here"]


# ---- Systems --------------------------------------------------------------------------------------------------------


@frozen
class Unknown:
    """A command that no model knows."""


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"commands": (*TOY.commands, Unknown)}, "the model has no action for Unknown"),
        ({"laws": (_law("one"), _law("one"))}, "two laws are called one"),
        ({"laws": (_law("one", reads=("colour",)),)}, "law one reads 'colour', which no snapshot has"),
        ({"laws": (_law("one", follows_from=("two",)),)}, "law one follows from unknown 'two'"),
        ({"laws": (_law("one", unless=("dev",)),)}, "law one names unknown deviation 'dev'"),
        ({"laws": (_law("one", only=("dev",)),)}, "law one names unknown deviation 'dev'"),
        ({"deviations": (_deviation("refuse-whole", "two"),)}, "deviation refuse-whole replaces unknown law 'two'"),
        ({"dialects": {"text": (), "x": ("dev",)}}, "dialect x names unknown deviation 'dev'"),
        ({"dialects": {"x": ()}}, "it has no dialect called text"),
    ],
    ids=str,
)
def test_a_declaration_that_does_not_fit_together_is_refused(change: dict[str, Any], told: str) -> None:
    with pytest.raises(TypeError) as failure:
        evolve(TOY, **change)
    assert str(failure.value) == f"system toy: {told}"


def test_a_system_knows_its_commands_laws_and_parts_by_name() -> None:
    assert TOY.command_named["Push"] is Push
    assert TOY.law_named["credit_stays_within_the_maximum"] is credit_stays_within_the_maximum
    assert TOY.parts == ("credits", "passed")
    past = NoHistory(Config())
    assert past.record(None, None, None, None) is None  # type: ignore[func-returns-value]


# ---- Models ---------------------------------------------------------------------------------------------------------


@given(cases_of(TOY), st.data())
def test_a_command_is_enabled_where_its_targets_name_it(case: Case, data: st.DataObject) -> None:
    state = TOY.model.start(case.config)
    for command in case.commands:
        state, _ = TOY.model.step(case.config, state, command, TEXT_DIALECT)
    push = data.draw(commands_of(Push))
    assert TOY.model.enabled(case.config, state, push) is ((push.visitor,) in with_credit(case.config, state))
    assert TOY.model.enabled(case.config, state, Tick()) is bool(state.purses)
    assert TOY.model.enabled(case.config, state, Reset())


def test_targets_bind_the_first_fields_and_leave_the_others_free() -> None:
    def nothing(config: Any, state: Any, command: Any, dialect: Any) -> tuple[Any, Any]:
        return state, None

    def model(**more: Any) -> Model:
        action = Action(Insert, nothing, **more)
        return Model(lambda config: State(), (action,), lambda state: state, lambda state: state, lambda *now: None)

    bound = model(targets=lambda config, state: [("ann",), ("bob",)])
    assert [bound.enabled(Config(), State(), Insert(name, 5)) for name in ("ann", "bob", "cid")] == [True, True, False]
    whole = model(targets=lambda config, state: [("ann", 5)])
    assert [whole.enabled(Config(), State(), Insert("ann", coins)) for coins in (5, 6)] == [True, False]
    assert not model(targets=lambda config, state: []).enabled(Config(), State(), Insert("ann", 5))
    guarded = model(targets=lambda config, state: [("ann",)], when=lambda config, state: state.passed > 0)
    assert [guarded.enabled(Config(), State((), passed), Insert("ann", 5)) for passed in (0, 1)] == [False, True]


# ---- Subjects, and what can be asked of them ------------------------------------------------------------------------


def test_a_subject_needs_no_base_class() -> None:
    assert shape_problems(Turnstile()) == []
    assert isinstance(Turnstile(), Cloneable)
    assert unsupported_by(Turnstile()) == unobserved_by(Turnstile()) == frozenset()


def test_what_keeps_an_object_from_being_a_subject_is_told() -> None:
    class Half:
        apply = 3
        unsupported = "Tick"
        unobserved = (1,)

        def reset(self, config: Any, dialect: Any) -> None: ...

    assert shape_problems(Half()) == [
        "its apply is a int, not a method apply(command)",
        "it has no method snapshot()",
        "its unsupported must be a set of names, not 'Tick'",
        "its unobserved must be a set of names, not (1,)",
    ]
    assert not isinstance(Half(), Cloneable)


def test_a_list_of_names_that_can_not_be_listed_is_told_too() -> None:
    class Odd(Turnstile):
        unsupported = 3

    assert shape_problems(Odd()) == ["its unsupported must be a set of names, not 3"]


class WithoutCredits(Turnstile):
    """Can not show who has credit."""

    unobserved = frozenset({"credits"})

    def snapshot(self) -> Any:
        return super().snapshot()._replace(credits=NOT_OBSERVED)


class WithoutPush(Turnstile):
    """Has no arm to push."""

    unsupported = frozenset({"Push"})


def test_laws_over_what_a_subject_can_not_show_are_not_observed() -> None:
    plan = plan_for(TOY, TEXT_DIALECT, WithoutCredits())
    reading = tuple(law.name for law in TOY.laws if "credits" in law.reads)
    assert plan.unobserved == reading
    assert [law.name for law in plan.asked] == ["a_coin_comes_back"]
    assert [TOY.parts[index] for index in plan.compared] == ["passed"]


def test_laws_over_commands_that_a_subject_does_not_take_are_not_observed() -> None:
    plan = plan_for(TOY, TEXT_DIALECT, WithoutPush())
    assert plan.unobserved == ("a_pass_costs_exactly_its_price", "somebody_passes_while_another_waits")
    assert plan.unsupported == {"Push"}


def test_a_law_that_is_not_observed_is_neither_passed_nor_vacuous() -> None:
    tally = _run_of(evolve(TOY, history=NoHistory), WithoutCredits())
    assert tally.laws == {}
    assert tally.reached == {"a_coin_comes_back": 1}


def test_a_history_over_what_a_subject_can_not_show_is_not_the_fault_of_the_subject() -> None:
    assert _run_of(TOY, WithoutCredits()).laws == {}


def _run_of(system: System, subject: Turnstile) -> Tally:
    checker = Checker(plan_for(system, TEXT_DIALECT, subject), subject, Config())
    checker.start()
    for command in (Insert("ann", 99), Push("ann"), Tick()):
        assert checker.step(command) == []
    return checker.tally


def test_a_plan_can_be_kept_to_some_laws() -> None:
    plan = plan_for(TOY, TEXT_DIALECT, Turnstile(), only=["a_pass_costs_exactly_its_price"])
    assert [law.name for law in plan.asked] == ["a_pass_costs_exactly_its_price"]
    assert plan.step[Push] == plan.asked
    assert plan.step[Tick] == plan.always == ()
    assert plan.unobserved == ()


def test_a_part_that_no_model_knows_is_not_compared() -> None:
    model = evolve(TOY.model, view=lambda state: TOY.model.view(state)._replace(passed=NOT_OBSERVED))
    plan = plan_for(evolve(TOY, model=model), TEXT_DIALECT, Turnstile())
    assert [TOY.parts[index] for index in plan.compared] == ["credits"]


def test_the_declared_things_are_immutable() -> None:
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        TOY.name = "other"  # type: ignore[misc]
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        Insert("ann", 1).coins = 2  # type: ignore[misc]
    assert isinstance(TOY, System)
