"""Laws: named statements about a run, each with its source, its limits and a check that can fail.

A check answers `True` (it holds), `VACUOUS` (its antecedent was false, so this step says nothing) or `Broken` with the
evidence.  Vacuous answers are counted apart: a law that was never put to the test has not passed.

Kinds:
    always      every observed state                 check(config, now)
    step        one command with what it did         check(config, before, command, outcome, after)
    within      a promise kept in bounded time       check(past, config, before, command, outcome, after)
    sometimes   a state that a campaign must reach   check(past, config, before, command, outcome, after) -> bool

`past` is the system's history: what a law may remember of the run so far, this step included.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from attrs import evolve, field, frozen

Kind = Literal["always", "step", "within", "sometimes"]


@frozen
class Vacuous:
    """The law's antecedent was false."""

    def __repr__(self) -> str:
        return "VACUOUS"


VACUOUS = Vacuous()


@frozen
class Broken:
    """The law does not hold; the evidence says what was seen and what was expected."""

    evidence: str


Verdict = bool | Vacuous | Broken
Check = Callable[..., Verdict]


@frozen
class Law:
    """A named statement that an implementation can break."""

    name: str
    sentence: str
    source: str
    kind: Kind
    check: Check = field(repr=False, eq=False)
    on: tuple[type, ...] = ()  # the commands after which it is asked; empty: after each one
    reads: tuple[str, ...] = ()  # the parts of a snapshot it looks at
    blind: str = ""  # what it can not see
    follows_from: tuple[str, ...] = ()  # laws that together imply it, where no mutant can break it alone
    unless: tuple[str, ...] = ()  # deviations under which it is not claimed
    only: tuple[str, ...] = ()  # deviations that it needs: claimed only where one of them is in force
    recalls: bool = False  # whether it looks at the history, and so needs what that reads

    def holds_in(self, deviations: Iterable[str]) -> bool:
        """Whether the law is claimed under these deviations."""
        named = set(deviations)
        return named.isdisjoint(self.unless) and (not self.only or not named.isdisjoint(self.only))

    def except_where(self, conditions: Sequence[Callable[[Any], bool]]) -> Law:
        """The law, vacuous in the configs for which a condition holds."""
        if not conditions:
            return self
        check, place = self.check, 1 if self.kind in ("within", "sometimes") else 0  # where the config stands

        def narrowed(*seen: Any) -> Verdict:
            return VACUOUS if any(condition(seen[place]) for condition in conditions) else check(*seen)

        return evolve(self, check=narrowed)


def always(source: str, *, reads: tuple[str, ...], **more: Any) -> Callable[[Check], Law]:
    """Declares a law over every observed state: `check(config, now)`."""
    return _declared("always", source, reads, (), more)


def step(source: str, *, reads: tuple[str, ...], on: tuple[type, ...] = (), **more: Any) -> Callable[[Check], Law]:
    """Declares a law over one step: `check(config, before, command, outcome, after)`."""
    return _declared("step", source, reads, on, more)


def within(source: str, *, reads: tuple[str, ...], on: tuple[type, ...] = (), **more: Any) -> Callable[[Check], Law]:
    """Declares a law over the run so far: `check(past, config, before, command, outcome, after)`."""
    return _declared("within", source, reads, on, {"recalls": True, **more})


def sometimes(source: str, *, reads: tuple[str, ...], on: tuple[type, ...] = (), **more: Any) -> Callable[[Check], Law]:
    """Declares a state to reach: `check(past, config, before, command, outcome, after) -> bool`."""
    return _declared("sometimes", source, reads, on, more)


def _declared(
    kind: Kind, source: str, reads: tuple[str, ...], on: tuple[type, ...], more: dict[str, Any]
) -> Callable[[Check], Law]:
    def declare(check: Check) -> Law:
        sentence, blind = _sentences(check.__doc__ or "")
        if not sentence:
            raise TypeError(f"law {check.__name__} needs a docstring: the law in one plain sentence")
        return Law(check.__name__, sentence, source, kind, check, on=on, reads=reads, blind=blind, **more)

    return declare


def _sentences(doc: str) -> tuple[str, str]:
    """A law's sentence, and what follows `Can not see:` in its docstring."""
    text = re.sub(r"\s+", " ", doc).strip()
    sentence, _, blind = text.partition("Can not see:")
    return sentence.strip(), blind.strip()
