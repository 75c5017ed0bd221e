"""What the tests of campaigns on Spark name with --subject and --system: executors look these up by name."""

from __future__ import annotations

import os
import time
from typing import Any

from brokerlaw.reference.mutant import Mutant
from brokerlaw.reference.table import Entry

from .toy import MUTANTS, TOY, Turnstile

TOY_WITH_CANARY = Entry(TOY, Turnstile, mutants=MUTANTS, canary="maximum-plus-one")
MUTE = Entry(
    TOY,
    Turnstile,
    mutants=(Mutant("no-bug-at-all", "none", "It is the reference.", Turnstile, breaks="idle_credit_comes_back"),),
    canary="no-bug-at-all",
)


class Slow(Turnstile):
    """A millisecond for each command: a range takes long enough to be killed in."""

    def apply(self, command: Any) -> Any:
        time.sleep(0.001)
        return super().apply(command)


class Stuck(Turnstile):
    """Hangs in every case that pushes."""

    def push(self, visitor: str) -> Any:
        time.sleep(600)
        return super().push(visitor)


class Troubled(Turnstile):
    """Fails in every way there is, by how its turnstile is set up."""

    def push(self, visitor: str) -> Any:
        match self.config.price_coins:
            case 2:
                raise RuntimeError("the arm is stuck")
            case 3:
                os._exit(3)
            case 4:
                self.hoard = bytearray(8 * 2**30)
            case 1 if self.config.idle_ticks == 3:
                time.sleep(600)
        return super().push(visitor)
