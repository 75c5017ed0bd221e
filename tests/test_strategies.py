"""The Hypothesis strategies: inside the declared domains, and shrinking towards the simplest value."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import frozen
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from brokerlaw.properties.nearby import beside, narrowed, renamed
from brokerlaw.properties.strategies import arguments_of, cases_of, commands_of, configs_of, values_of
from brokerlaw.spec.core import Case, check_case, choice, fields_of, flag, integer
from brokerlaw.spec.core.domain import Choice, Domain, Flag, Integer, Maybe

from .toy import TOY, Config, Insert, Tick

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


@frozen
class Visit:
    place: str = choice("a", "b", "c", "d", "e", "f", "g", "h")
    guest: str = choice("x", "y", "z", narrows=False)
    hour: int = integer(0, 23)


def test_what_is_nearby_a_command_follows_from_its_fields() -> None:
    assert [narrowed(Visit(place, "z", 5)) for place in "abch"] == [Visit(place, "z", 5) for place in "abab"]
    assert narrowed(Tick()) == Tick()
    assert renamed(Visit("c", "y", 5)) == [Visit("c", "x", 5), Visit("c", "z", 5)]
    assert beside(Visit("c", "y", 5)) == [Visit("c", "y", 4), Visit("c", "y", 6)]
    assert beside(Visit("c", "y", 0)) == [Visit("c", "y", 1)]


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
