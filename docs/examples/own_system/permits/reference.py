"""The reference of permits, its mutants, and the entry that names them all."""

from __future__ import annotations

from typing import Any

from brokerlaw import Dialect
from brokerlaw.reference.mutant import Mutant
from brokerlaw.reference.table import Entry

from .spec import PERMITS, Config, Dispatch, Done, Flow, Publish, Sent, Snapshot


class Dispatcher:
    """The broker's side of one consumer."""

    def reset(self, config: Config, dialect: Dialect) -> None:
        self.max_permits = config.max_permits
        self.permits = self.backlog = 0

    def apply(self, command: Any) -> Any:
        match command:
            case Flow(permits):
                self.grant(permits)
            case Publish(messages):
                self.backlog += messages
            case Dispatch():
                return Sent(self.dispatch())
            case _:
                self.reconnect()
        return Done()

    def grant(self, permits: int) -> None:
        self.permits = min(self.permits + permits, self.max_permits)

    def dispatch(self) -> int:
        sent = min(self.permits, self.backlog)
        self.permits -= sent
        self.backlog -= sent
        return sent

    def reconnect(self) -> None:
        self.permits = 0

    def snapshot(self) -> Snapshot:
        return Snapshot(self.permits, self.backlog)


class GrantsWithoutEnd(Dispatcher):
    def grant(self, permits: int) -> None:
        self.permits += permits


class BatchCostsOne(Dispatcher):
    def dispatch(self) -> int:
        sent = min(self.permits, self.backlog)
        self.permits -= bool(sent)
        self.backlog -= sent
        return sent


class KeepsPermits(Dispatcher):
    def reconnect(self) -> None:
        """Forgets to forget."""


MUTANTS = (
    Mutant(
        "grants-without-end",
        "first-order",
        "Permits go over the maximum.",
        GrantsWithoutEnd,
        breaks="permits_stay_within_bounds",
    ),
    Mutant(
        "batch-costs-one",
        "our ticket 311",
        "A batch of messages costs one permit.",
        BatchCostsOne,
        breaks="every_message_costs_a_permit",
    ),
    Mutant(
        "keeps-permits",
        "first-order",
        "Permits survive a reconnect.",
        KeepsPermits,
        breaks="permits_do_not_outlive_a_connection",
    ),
)

ENTRY = Entry(PERMITS, Dispatcher, mutants=MUTANTS)
