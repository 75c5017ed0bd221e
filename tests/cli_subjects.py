"""What the tests of the command line name with --subject and --system."""

from __future__ import annotations

import os
import sys
from typing import Any

from brokerlaw.reference.cursor_ranks import CursorRanks
from brokerlaw.reference.mutant import Mutant
from brokerlaw.reference.table import Entry
from brokerlaw.spec.core import NOT_OBSERVED
from brokerlaw.spec.cursor_ranks import Snapshot as RanksSnapshot

from .toy import MUTANTS, TOY, Push, Turnstile

TOY_ENTRY = Entry(TOY, Turnstile, mutants=MUTANTS)
WITH_SURVIVOR = Entry(
    TOY,
    Turnstile,
    mutants=(
        *MUTANTS[:1],
        Mutant("no-bug-at-all", "none", "It is the reference.", Turnstile, breaks="idle_credit_comes_back"),
    ),
)
WITH_WRONG_NAME = Entry(
    TOY,
    Turnstile,
    mutants=(Mutant("misnamed", "none", "It names another law.", MUTANTS[0].make, breaks="idle_credit_comes_back"),),
)

A_NUMBER = 7


class Raises(Turnstile):
    def push(self, visitor: str) -> Any:
        raise RuntimeError("the arm is \x1b[31mstuck\x1b[0m\nfor good")


class Prints(Turnstile):
    def apply(self, command: Any) -> Any:
        print("a subject that talks")
        return super().apply(command)


class Exits(Turnstile):
    def push(self, visitor: str) -> Any:
        os._exit(3)


class KeepsCreditOverReset(Turnstile):
    """Its reset forgets to forget."""

    def reset(self, config: Any, dialect: Any) -> None:
        kept = getattr(self, "purses", {})
        super().reset(config, dialect)
        self.purses = kept


class BlindRanks(CursorRanks):
    unsupported = frozenset({"Find"})
    unobserved = frozenset({"pending", "held", "work", "rebuilds"})

    def snapshot(self) -> RanksSnapshot:
        return super().snapshot()._replace(**dict.fromkeys(self.unobserved, NOT_OBSERVED))


class NoSnapshot:
    def reset(self, config: Any, dialect: Any) -> None: ...

    def apply(self, command: Push) -> Any: ...


class NeedsArguments(Turnstile):
    def __init__(self, price: int) -> None:
        super().__init__()


class NeverMade(Turnstile):
    def __init__(self) -> None:
        raise OSError("no license\nfound")


def interrupted() -> Turnstile:
    raise KeyboardInterrupt


def leaves() -> Turnstile:
    sys.exit(4)
