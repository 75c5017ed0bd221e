"""Domains: what a field may hold, drawn, described, refused and made simpler."""

from __future__ import annotations

from random import Random

import pytest
from attrs import frozen
from hypothesis import assume, given
from hypothesis import strategies as st

from brokerlaw.properties.strategies import values_of
from brokerlaw.spec.core import Shape, choice, fields_of, flag, integer, maybe
from brokerlaw.spec.core.domain import REQUIRED, Choice, Domain, Flag, Integer, Maybe


@st.composite
def integers(draw: st.DrawFn) -> Integer:
    low, first, last, high = sorted(draw(st.tuples(*[st.integers(-1000, 1000)] * 4)))
    inside = st.lists(st.integers(low, high), max_size=3).map(tuple)
    return Integer(low, high, (first, last), draw(inside), draw(inside) or (first,))


choices = st.integers(1, 5).map(lambda count: Choice(tuple("abcde"[:count]), ("a",)))
domains: st.SearchStrategy[Domain] = (
    integers()
    | choices
    | st.builds(Flag, simplest=st.booleans(), rate=st.floats(0, 1))
    | st.builds(Maybe, of=integers() | choices, none_rate=st.floats(0, 1), small=st.just((None,)))
)
shapes = st.builds(
    Shape, width=st.sampled_from([0.01, 0.5, 1.0]), edge_rate=st.sampled_from([0.0, 0.5]), full_rate=st.just(0.2)
)


@given(domains, shapes, st.integers())
def test_a_sampler_stays_inside_its_domain(domain: Domain, shape: Shape, seed: int) -> None:
    sample = domain.sampler(Random(seed).random, shape)
    assert [domain.problem(sample()) for _ in range(40)] == [None] * 40


@given(domains, shapes, st.integers())
def test_a_sampler_gives_the_same_values_for_the_same_seed(domain: Domain, shape: Shape, seed: int) -> None:
    one, two = (domain.sampler(Random(seed).random, shape) for _ in range(2))
    assert [one() for _ in range(10)] == [two() for _ in range(10)]


def test_an_integer_sampler_keeps_to_its_usual_range_and_takes_edges_and_the_full_range_as_often_as_told() -> None:
    domain = Integer(0, 10**6, (10, 19), (7,), (10,))
    usual = domain.sampler(Random(1).random, Shape(edge_rate=0.0, full_rate=0.0))
    assert {usual() for _ in range(500)} == set(range(10, 20))
    narrow = domain.sampler(Random(1).random, Shape(width=0.3, edge_rate=0.0, full_rate=0.0))
    assert {narrow() for _ in range(500)} == {10, 11, 12}
    edgy = domain.sampler(Random(1).random, Shape(edge_rate=1.0))
    assert {edgy() for _ in range(50)} == {7}
    full = domain.sampler(Random(1).random, Shape(edge_rate=0.0, full_rate=1.0))
    assert max(full() for _ in range(50)) > 19


def test_a_flag_is_on_as_often_as_told() -> None:
    assert {Flag(False, rate=1.0).sampler(Random(1).random, Shape())() for _ in range(20)} == {True}
    assert {Flag(True, rate=0.0).sampler(Random(1).random, Shape())() for _ in range(20)} == {False}


@given(domains, st.data())
def test_simpler_values_are_others_of_the_domain(domain: Domain, data: st.DataObject) -> None:
    value = data.draw(values_of(domain))
    offers = list(domain.simpler(value))
    assert value not in [offer for offer in offers if type(offer) is type(value)]
    assert [domain.problem(offer) for offer in offers] == [None] * len(offers)


@given(domains, st.data())
def test_always_taking_something_simpler_ends(domain: Domain, data: st.DataObject) -> None:
    value = data.draw(values_of(domain))
    for _ in range(3000):
        offers = list(domain.simpler(value))
        if not offers:
            break
        value = data.draw(st.sampled_from(offers[-3:]))  # the least ambitious ones: the longest way down
    assert value == domain.simplest


@given(domains, st.data())
def test_the_first_simpler_value_is_the_simplest(domain: Domain, data: st.DataObject) -> None:
    value = data.draw(values_of(domain))
    assume(value != domain.simplest)
    assert next(iter(domain.simpler(value))) == domain.simplest


@given(domains)
def test_the_simplest_value_is_in_the_domain_and_nothing_is_simpler(domain: Domain) -> None:
    assert domain.problem(domain.simplest) is None
    assert list(domain.simpler(domain.simplest)) == []  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("domain", "value", "told"),
    [
        (Integer(1, 9, (1, 4), (), (1,)), 10, "expected a whole number from 1 to 9, got 10"),
        (Integer(1, 9, (1, 4), (), (1,)), True, "expected a whole number, got True"),
        (Integer(1, 9, (1, 4), (), (1,)), 2.0, "expected a whole number, got 2.0"),
        (Integer(1, 9, (1, 4), (), (1,)), "x" * 100, "expected a whole number, got '" + "x" * 56 + "..."),
        (Choice(("a", "b"), ("a",)), "c", "expected one of a, b; got 'c'"),
        (Choice(("a", "b"), ("a",)), ["a"], "expected one of a, b; got ['a']"),
        (Flag(False), 1, "expected true or false, got 1"),
        (Maybe(Choice(("a",), ("a",)), 0.5, (None,)), "b", "expected one of a; got 'b'"),
    ],
)
def test_a_value_outside_its_domain_is_told_in_a_sentence(domain: Domain, value: object, told: str) -> None:
    assert domain.problem(value) == told


def test_a_domain_describes_itself_for_the_docs() -> None:
    number, name = Integer(1, 9, (1, 4), (), (1,)), Choice(("a", "b"), ("a",))
    assert [domain.describe() for domain in (number, name, Flag(True), Maybe(number, 0.1, (None,)))] == [
        "1 to 9",
        "a | b",
        "true | false",
        "none | 1 to 9",
    ]


@frozen
class Declared:
    size_bytes: int = integer(0, 9, usual=(2, 5), doc="how large")
    name: str = choice("a", "b", "c", small=2, default="b")
    on: bool = flag(default=True)
    ttl_ms: int | None = maybe(integer(0, 3, doc="how long"), default=None)
    note: str = ""  # not declared by a domain: no engine sees it


def test_fields_are_declared_where_they_stand() -> None:
    size, name, on, ttl = fields_of(Declared)
    assert [f.name for f in fields_of(Declared)] == ["size_bytes", "name", "on", "ttl_ms"]
    assert size.default is REQUIRED
    assert (size.doc, ttl.doc) == ("how large", "how long")
    assert isinstance(size.domain, Integer)
    assert (size.domain.simplest, size.domain.small) == (2, (2,))
    assert isinstance(name.domain, Choice)
    assert (name.default, name.domain.small) == ("b", ("a", "b"))
    assert (on.default, on.domain.simplest) == (True, True)
    assert (ttl.default, ttl.domain.simplest) == (None, None)
