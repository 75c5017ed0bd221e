"""A law looks at the parts of a snapshot that it declares, and at no others: what is not observed is never asked."""

from __future__ import annotations

from typing import Any

import pytest

from brokerlaw.driver.loop import Job, drawn_case
from brokerlaw.reference.table import TABLE, Entry
from brokerlaw.spec.core import TEXT_DIALECT, Law

CASES = 25


class Spy:
    """A snapshot that notes which of its parts are looked at."""

    def __init__(self, snapshot: Any, seen: set[str]) -> None:
        self._snapshot, self._seen = snapshot, seen

    def __getattr__(self, part: str) -> Any:
        self._seen.add(part)
        return getattr(self._snapshot, part)


def _ask(law: Law, past: Any, config: Any, before: Any, command: Any, outcome: Any, after: Any) -> None:
    if law.kind == "always":
        law.check(config, after)
    elif law.kind == "step":
        law.check(config, before, command, outcome, after)
    else:
        law.check(past, config, before, command, outcome, after)


@pytest.mark.parametrize("entry", TABLE, ids=lambda entry: entry.name)
def test_laws_look_at_nothing_that_they_do_not_declare(entry: Entry) -> None:
    system, subject = entry.system, entry.reference()
    laws = system.laws_in(TEXT_DIALECT)
    seen: dict[str, set[str]] = {law.name: set() for law in laws}
    looked: set[str] = set()
    for number in range(CASES):
        case = drawn_case(Job(system, entry.reference, "reference", seed=2), number)
        subject.reset(case.config, TEXT_DIALECT)
        before, past = subject.snapshot(), system.history(case.config)
        for command in case.commands:
            outcome, after = subject.apply(command), None
            after = subject.snapshot()
            past.record(Spy(before, looked), command, outcome, Spy(after, looked))
            for law in laws:
                if not law.on or type(command) in law.on:
                    spies = (Spy(before, seen[law.name]), command, outcome, Spy(after, seen[law.name]))
                    _ask(law, past, case.config, *spies)
            before = after
    undeclared = {law.name: seen[law.name] - {*law.reads} for law in laws if not seen[law.name] <= {*law.reads}}
    assert undeclared == {}
    assert looked <= set(system.history_reads)
