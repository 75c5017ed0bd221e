"""The doctor: each thing that laws take for granted has a subject here that lacks it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from brokerlaw.driver.child import Limits
from brokerlaw.driver.doctor import Diagnosis, Doctor, examine
from brokerlaw.driver.examinations import EXAMINATIONS, EXAMINATIONS_OF_CLONES
from brokerlaw.driver.isolated import examine_isolated
from brokerlaw.reference.table import TABLE, Entry
from brokerlaw.spec.core import NOT_OBSERVED, Dialect

from .toy import TOY, Config, Insert, Returned, Snapshot, Tick, Turnstile


def _sick(make: Callable[[], Any]) -> dict[str, Diagnosis]:
    return {diagnosis.name: diagnosis for diagnosis in examine(TOY, make, cases=20) if diagnosis.ok is False}


def test_the_toy_reference_is_healthy() -> None:
    found = examine(TOY, Turnstile)
    asked = [name for name, _, _ in (*EXAMINATIONS, *EXAMINATIONS_OF_CLONES)]
    assert [diagnosis.name for diagnosis in found if diagnosis.ok] == asked
    assert [diagnosis.name for diagnosis in found if diagnosis.ok is None] == ["unsupported", "unobserved"]


@pytest.mark.parametrize("entry", TABLE, ids=lambda entry: entry.name)
def test_every_reference_is_healthy(entry: Entry) -> None:
    assert [diagnosis for diagnosis in examine(entry.system, entry.reference, cases=10) if diagnosis.ok is False] == []


class KeepsPassed(Turnstile):
    def reset(self, config: Config, dialect: Dialect) -> None:
        kept = getattr(self, "purses", {})
        super().reset(config, dialect)
        self.purses = kept


class Moody(Turnstile):
    moods = count()

    def tick(self) -> int:
        return super().tick() + next(self.moods) % 2


class SpoiledByLooking(Turnstile):
    def snapshot(self) -> Snapshot:
        seen = super().snapshot()
        for purse in self.purses.values():
            purse[1] += 1
        return seen


class CountsLooks(Turnstile):
    def snapshot(self) -> Snapshot:
        self.passed += 1
        return super().snapshot()


class RaisesInReset(Turnstile):
    def __init__(self) -> None: ...

    def reset(self, config: Config, dialect: Dialect) -> None:
        raise ValueError("no such price")


class RaisesWhenSeen(Turnstile):
    def snapshot(self) -> Snapshot:
        if self.purses:
            raise KeyError("ann")
        return super().snapshot()


class ShowsBackwards(Turnstile):
    def snapshot(self) -> Snapshot:
        shown = super().snapshot()
        return shown._replace(credits=shown.credits[::-1])


class Hangs(Turnstile):
    def tick(self) -> int:
        while True:
            time.sleep(1)


class HangsWhenSeen(Turnstile):
    def snapshot(self) -> Snapshot:
        while True:
            time.sleep(1)


class Unspeakable:
    def __repr__(self) -> str:
        raise ValueError("no words")


class AnswersUnspeakably(Turnstile):
    def apply(self, command: Any) -> Any:
        return Unspeakable()


class Leaves(Turnstile):
    def tick(self) -> int:
        os._exit(3)


class RaisesOnTick(Turnstile):
    def tick(self) -> int:
        raise RuntimeError("the clock is broken")


class AnswersText(Turnstile):
    def apply(self, command: Any) -> Any:
        return "ok" if isinstance(command, Insert) else super().apply(command)


class AnswersList(Turnstile):
    def apply(self, command: Any) -> Any:
        return Returned([1]) if isinstance(command, Tick) else super().apply(command)  # type: ignore[arg-type]


class ShowsTuple(Turnstile):
    def snapshot(self) -> Snapshot:
        return tuple(super().snapshot())  # type: ignore[return-value]


class HidesSilently(Turnstile):
    unobserved = frozenset({"passed"})


class SharesPurses(Turnstile):
    def clone(self) -> Turnstile:
        twin = super().clone()
        twin.purses = self.purses
        return twin


class ForgetsPurses(Turnstile):
    def clone(self) -> Turnstile:
        twin = super().clone()
        twin.purses = {}
        return twin


class UnhashableMark(Turnstile):
    def fingerprint(self) -> Any:
        return [self.passed]


@pytest.mark.parametrize(
    ("make", "name", "sentence"),
    [
        (KeepsPassed, "reset", "one that was reset"),
        (Moody, "repeatable", "another"),
        (SpoiledByLooking, "undisturbed", "with a look after every command"),
        (CountsLooks, "stable snapshot", "two looks after the same command differ"),
        (RaisesInReset, "total", "reset() raised ValueError: no such price (reset, line"),
        (AnswersUnspeakably, "outcomes", "judging what it gave raised ValueError: no words"),
        (RaisesWhenSeen, "total", "snapshot() raised KeyError: 'ann' (snapshot, line"),
        (ShowsBackwards, "order", "the rows of credits are not in order"),
        (RaisesOnTick, "total", "Tick() raised RuntimeError: the clock is broken"),
        (AnswersText, "outcomes", "expected one of Accepted, Passed, Locked, Returned"),
        (AnswersList, "outcomes", "whose coins is not plain immutable data"),
        (ShowsTuple, "snapshot", "expected a Snapshot"),
        (HidesSilently, "snapshot", "the part passed of its snapshot is 0, and passed is in its unobserved"),
        (SharesPurses, "clone", "one never cloned"),
        (ForgetsPurses, "clone", "the clone"),
        (UnhashableMark, "fingerprint", "can not be hashed"),
    ],
)
def test_a_sick_subject_is_told_what_it_lacks_with_the_case_that_shows_it(
    make: Callable[[], Any], name: str, sentence: str
) -> None:
    found = _sick(make)
    assert name in found
    assert sentence in found[name].sentence
    assert found[name].case is not None


def test_an_exception_is_told_once_with_the_case_up_to_it() -> None:
    found = {diagnosis.name: diagnosis for diagnosis in examine(TOY, RaisesInReset, cases=5)}
    assert [name for name, diagnosis in found.items() if diagnosis.ok is False] == ["total"]
    assert found["total"].case is not None
    assert found["total"].case.commands == ()
    assert found["reset"].ok is None
    assert found["reset"].sentence.startswith("not examined")
    ticks = _sick(RaisesOnTick)
    assert list(ticks) == ["total"]
    assert ticks["total"].case is not None
    assert ticks["total"].case.commands[-1] == Tick()
    assert Tick() not in ticks["total"].case.commands[:-1]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (Hangs, "it took longer than 0.3 s, in step"),
        (Leaves, "the subject ended the process with exit code 3, in step"),
    ],
)
def test_a_subject_that_ends_the_examination_is_a_diagnosis(make: Callable[[], Any], sentence: str) -> None:
    found = {each.name: each for each in examine_isolated(Doctor(TOY, make, cases=5), Limits(case_seconds=0.3))}
    assert found["total"].ok is False
    assert found["total"].sentence.startswith(sentence)
    assert found["total"].case is not None
    assert found["total"].case.commands[-1] == Tick()
    assert [each.ok for name, each in found.items() if name != "total"] == [None] * (len(found) - 1)


def test_a_look_that_hangs_is_blamed_and_not_the_command_before_it() -> None:
    first = examine_isolated(Doctor(TOY, HangsWhenSeen, cases=5), Limits(case_seconds=0.3))[0]
    assert first.sentence.startswith("it took longer than 0.3 s, in snapshot() after step 1, ")


@pytest.mark.parametrize("make", [Turnstile, RaisesOnTick, ShowsBackwards])
def test_a_child_says_what_the_doctor_says(make: Callable[[], Any]) -> None:
    assert examine_isolated(Doctor(TOY, make, cases=5)) == examine(TOY, make, cases=5)


def test_exceptions_in_other_places_are_counted_where_the_first_is_told() -> None:
    class RaisesTwice(RaisesOnTick):
        def push(self, visitor: str) -> Any:
            raise LookupError(visitor)

    found = _sick(RaisesTwice)
    assert list(found) == ["total"]
    assert "; 1 more exception in other cases" in found["total"].sentence


def test_what_it_can_not_do_is_listed_for_information() -> None:
    class Plain:
        unsupported = frozenset({"Tick", "Reset"})
        unobserved = frozenset({"passed"})

        def __init__(self) -> None:
            self.inner = Turnstile()
            self.reset, self.apply = self.inner.reset, self.inner.apply

        def snapshot(self) -> Snapshot:
            return self.inner.snapshot()._replace(passed=NOT_OBSERVED)

    found = examine(TOY, Plain, cases=20)
    assert [d for d in found if d.ok is False] == []
    told = {diagnosis.name: diagnosis.sentence for diagnosis in found if diagnosis.ok is None}
    assert told["unsupported"] == "it does not take Reset, Tick"
    assert told["unobserved"] == "it does not show passed"
    assert "no clone" in told["clone"]
