"""The reader of cases is strict: whatever it is given, it reads a case, or says where it is wrong and what is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerlaw.properties.strategies import cases_of
from brokerlaw.reference.table import TABLE
from brokerlaw.spec.core import BadCase, Case, System, check_case, read_case, write_case
from brokerlaw.spec.core.case import MAX_BYTES, MAX_COMMANDS, case_to_json

from .toy import TOY, Config, Insert, Push, Tick

SYSTEMS: dict[str, System] = {"toy": TOY, **{entry.name: entry.system for entry in TABLE}}
MAX_MESSAGE = 2_000  # characters: a sentence for a person, whatever the file held

any_case = st.sampled_from(sorted(SYSTEMS)).flatmap(lambda name: cases_of(SYSTEMS[name], max_commands=4))

EXAMPLE = case_to_json(Case("toy", Config(), (Insert("ann", 2), Push("ann"), Tick())))


def read(text: str | bytes) -> Case:
    return read_case(text, SYSTEMS.get, "case.json")


def reads_or_says_why(text: str | bytes) -> None:
    """A case that can be written and read again; or BadCase, with a place and a problem of moderate length."""
    case = read_or_refused(text)
    if isinstance(case, BadCase):
        assert str(case) == f"{case.where}: {case.problem}"
        assert case.where.startswith("case.json")
        assert 0 < len(case.problem) < MAX_MESSAGE
    else:
        check_case(case, SYSTEMS[case.system])
        assert read(write_case(case)) == case


def read_or_refused(text: str | bytes) -> Case | BadCase:
    try:
        return read(text)
    except BadCase as bad:
        return bad


def refused(data: Any) -> BadCase:
    with pytest.raises(BadCase) as failure:
        read(data if isinstance(data, str | bytes) else json.dumps(data))
    return failure.value


# ---- What is written can be read ------------------------------------------------------------------------------------


@given(any_case)
def test_a_case_that_was_written_reads_as_it_was(case: Case) -> None:
    text = write_case(case)
    assert read(text) == case
    assert read(text.encode()) == case
    assert text.isascii()


@given(any_case)
def test_a_case_is_written_with_one_command_to_a_line(case: Case) -> None:
    lines = [line for line in write_case(case).splitlines() if line.lstrip().startswith('{"do"')]
    assert len(lines) == len(case.commands)


@given(any_case)
def test_fields_at_their_defaults_may_be_left_out(case: Case) -> None:
    data = case_to_json(case)
    for name, usual in (("dialect", "text"), ("note", ""), ("observe", 1)):
        if data[name] == usual:
            del data[name]
    assert read(json.dumps(data)) == case


# ---- What is broken is refused with a sentence ----------------------------------------------------------------------

junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([2**63, -(2**63), 10**4000, -1])
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["x" * 500, "text+", "text+refuse-whole+refuse-whole", "Insert", "toy", "\ud800"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def places_in(data: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a JSON value."""
    keys = list(data) if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    return [place for key in keys for place in ((data, key), *places_in(data[key]))]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """The text of a valid case in which one to three things were dropped, renamed, retyped or nested."""
    data = case_to_json(draw(any_case))
    for _ in range(draw(st.integers(1, 3))):
        places = places_in(data)
        if not places:
            break
        container, key = draw(st.sampled_from(places))
        match draw(st.sampled_from(["drop", "rename", "retype", "flag", "nest"])):
            case "drop":
                del container[key]
            case "rename" if isinstance(container, dict):
                container[draw(st.text(max_size=6))] = container.pop(key)
            case "flag":
                container[key] = bool(container[key])
            case "nest":
                container[key] = [container[key]]
            case _:
                container[key] = draw(junk)
    return json.dumps(data)


@given(mutated())
def test_a_mutated_case_is_read_or_refused(text: str) -> None:
    reads_or_says_why(text)


@given(any_case, st.data())
def test_a_truncated_case_is_refused(case: Case, data: st.DataObject) -> None:
    text = write_case(case).rstrip()
    bad = refused(text[: data.draw(st.integers(0, len(text) - 1))])
    assert re.search(r"line \d+ column \d+", bad.where)
    assert bad.problem.startswith("not JSON: ")


@given(any_case, st.data())
def test_a_case_with_other_text_in_it_is_read_or_refused(case: Case, data: st.DataObject) -> None:
    text = write_case(case)
    at = data.draw(st.integers(0, len(text)))
    put = data.draw(st.text(max_size=4) | st.sampled_from(['"', "[[[[", "}}", ",", "\\", "-", "1e9", "NaN", "\ufeff"]))
    reads_or_says_why(text[:at] + put + text[at + data.draw(st.integers(0, 3)) :])


@given(any_case, st.data())
def test_a_case_with_a_flipped_byte_is_read_or_refused(case: Case, data: st.DataObject) -> None:
    text = bytearray(write_case(case).encode())
    text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    reads_or_says_why(bytes(text))


@given(st.binary(max_size=60))
def test_bytes_that_are_no_case_are_refused(noise: bytes) -> None:
    refused(noise)


@given(junk)
def test_json_that_is_no_case_is_refused(value: Any) -> None:
    refused(json.dumps(value))


def test_bytes_that_are_not_utf_8_are_told_by_their_place() -> None:
    assert str(refused(b'{"a": "\xff"}')) == "case.json: byte 8 is not UTF-8"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda data: data.update(system="tao"), "case.json, system: there is no system 'tao' here"),
        (lambda data: data.update(system=None), "case.json, system: there is no system None here"),
        (lambda data: data.update(dialect="latin"), "case.json, dialect: toy has no dialect 'latin'; it has text"),
        (lambda data: data.update(dialect="text+x"), "case.json, dialect: toy has no deviation 'x'"),
        (lambda data: data.update(dialect=3), "case.json, dialect: expected a name, got a number"),
        (lambda data: data.update(note=[]), "case.json, note: expected text, got a list"),
        (
            lambda data: data.update(observe=True),
            "case.json, observe: expected a whole number from 0 to 100000, got True",
        ),
        (lambda data: data.update(observe=-1), "case.json, observe: expected a whole number from 0 to 100000, got -1"),
        (lambda data: data.update(config=None), "case.json, config: expected an object, got nothing"),
        (lambda data: data.update(commands={}), "case.json, commands: expected a list of commands, got an object"),
        (lambda data: data.pop("commands"), "case.json, commands: expected a list of commands, got nothing"),
        (lambda data: data.update(extra=1), "case.json: unknown field 'extra'; expected brokerlaw-case, commands"),
        (lambda data: data.pop("brokerlaw-case"), 'case.json: expected a field "brokerlaw-case"'),
        (lambda data: data.update({"brokerlaw-case": True}), "with the format's version, a whole number"),
        (
            lambda data: data.update({"brokerlaw-case": 2}),
            "case.json: version 2 is newer than this brokerlaw reads (1)",
        ),
        (lambda data: data.update({"brokerlaw-case": 0}), "case.json: there is no format version 0"),
        (lambda data: data["config"].update(price_coins=True), "config, field price_coins: expected a whole number"),
        (lambda data: data["config"].update(price_coins=10), "expected a whole number from 1 to 9, got 10"),
        (lambda data: data["config"].update(price=1), "case.json, config: unknown field 'price'"),
        (lambda data: data["commands"].insert(0, 7), "case.json, command 1: expected an object with a field do"),
        (lambda data: data["commands"][1].update(do="Pull"), "case.json, command 2: toy has no command 'Pull'; it has"),
        (lambda data: data["commands"][1].pop("do"), "case.json, command 2: toy has no command None"),
        (lambda data: data["commands"][0].pop("coins"), "command 1 (Insert): the field coins is missing (1 to 1000)"),
        (
            lambda data: data["commands"][0].update(coins="2"),
            "command 1 (Insert), field coins: expected a whole number",
        ),
        (lambda data: data["commands"][0].update(visitor=["ann"]), "field visitor: expected one of ann, bob, cid; got"),
        (lambda data: data["commands"][2].update(ms=1), "command 3 (Tick): unknown field 'ms'; expected no fields"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(change: Callable[[Any], object], told: str) -> None:
    data = json.loads(json.dumps(EXAMPLE))
    change(data)
    assert told in str(refused(data))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"observe": 1', '"observe": 1.0', "1.0 is not a whole number"),
        ('"observe": 1', '"observe": 1e0', "1e0 is not a whole number"),
        ('"observe": 1', '"observe": NaN', "NaN is not a number that a case can hold"),
        ('"observe": 1', '"observe": -Infinity', "-Infinity is not a number that a case can hold"),
        ('"observe": 1', '"observe": ' + "9" * 5000, "not readable: "),
        ('"observe": 1', '"observe": 1, "observe": 1', "the field 'observe' is there twice"),
        ('"coins": 2', '"coins": 2, "coins": 3', "the field 'coins' is there twice"),
    ],
)
def test_json_that_a_case_never_holds_is_refused(old: str, new: str, told: str) -> None:
    text = json.dumps(EXAMPLE)
    assert old in text
    assert told in str(refused(text.replace(old, new, 1)))


# ---- Input that is made to hurt -------------------------------------------------------------------------------------


@pytest.mark.parametrize("bracket", ["[", '{"a":', '{"commands":[{"a":'])
def test_deep_nesting_is_refused_before_it_is_parsed(bracket: str) -> None:
    assert "deep" in str(refused(bracket * 100_000))


def test_brackets_within_text_do_not_nest() -> None:
    assert read(json.dumps({**EXAMPLE, "note": '[[[[[[[[[[[["\\'})).note.startswith("[[[")


def test_more_bytes_than_allowed_are_refused() -> None:
    text = json.dumps({**EXAMPLE, "note": "x" * MAX_BYTES})
    assert f"bytes are more than the {MAX_BYTES} allowed" in str(refused(text))
    assert f"bytes are more than the {MAX_BYTES} allowed" in str(refused(text.encode()))


def test_bytes_are_counted_not_characters() -> None:
    text = json.dumps({**EXAMPLE, "note": "\N{SNOWMAN}" * (MAX_BYTES // 3)}, ensure_ascii=False)
    assert len(text) < MAX_BYTES
    assert "bytes are more than" in str(refused(text))


def test_more_commands_than_allowed_are_refused() -> None:
    data = {**EXAMPLE, "commands": [{"do": "Tick"}] * (MAX_COMMANDS + 1)}
    assert f"{MAX_COMMANDS + 1} commands are more than the {MAX_COMMANDS} allowed" in str(refused(data))


def test_a_field_that_is_there_twice_is_found_among_very_many() -> None:
    fields = ", ".join(f'"f{number}": 0' for number in range(300_000))
    assert "the field 'z' is there twice" in str(refused(f'{{{fields}, "z": 0, "z": 0}}'))


@pytest.mark.parametrize("place", ["dialect", "system", "note", "observe", "brokerlaw-case"])
def test_a_message_stays_short_whatever_the_file_held(place: str) -> None:
    for value in ("y" * 100_000, 10**4000):
        data = {**EXAMPLE, place: value}
        if place != "note" or isinstance(value, int):
            assert len(str(refused(data))) < MAX_MESSAGE


def test_a_message_stays_short_where_a_field_held_much() -> None:
    data = json.loads(json.dumps(EXAMPLE))
    data["commands"][0]["coins"] = 10**4000
    assert len(str(refused(data))) < MAX_MESSAGE
    data["commands"][0]["do"] = "y" * 100_000
    assert len(str(refused(data))) < MAX_MESSAGE


# ---- Cases made in Python -------------------------------------------------------------------------------------------


def test_a_case_made_in_python_is_checked_against_the_domains() -> None:
    check_case(Case("toy", Config(), (Insert("ann", 2),)), TOY)
    for config, commands, told in (
        (Config(price_coins=0), (), "config, field price_coins: expected a whole number from 1 to 9, got 0"),
        (None, (), "config: expected a Config, got nothing"),
        (Config(), (Insert("dan", 1),), "command 1 (Insert), field visitor: expected one of ann, bob, cid; got 'dan'"),
        (Config(), (Tick(), "Tick"), "command 2: 'Tick' is not a command of toy"),
    ):
        with pytest.raises(BadCase, match=re.escape(told)):
            check_case(Case("toy", config, commands), TOY)
