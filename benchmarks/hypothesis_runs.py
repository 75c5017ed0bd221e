"""Runs of Hypothesis's stateful runner, with their steps counted from outside."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from attrs import Factory, define
from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from brokerlaw.properties.machine import LawMachine, machine_for
from brokerlaw.spec.core import Case, Subject, System


@define
class Record:
    """What the runs of one machine did, until the first of them failed."""

    cases: list[Case] = Factory(list)
    steps: int = 0
    failed_at: float | None = None  # process CPU time at the first failure

    def ran(self, machine: LawMachine, watch: Any, failed: bool) -> None:
        if self.failed_at is not None:
            return  # Hypothesis runs a failing example again, to show it
        case = Case(machine.system.name, watch.checker.config, watch.commands, machine.dialect)
        self.cases.append(case)
        self.steps += len(case.commands)
        if failed:
            self.failed_at = time.process_time()


def recorded(
    system: System, make_subject: Callable[[], Subject], record: Record, dialect: str = "text"
) -> type[LawMachine]:
    """The machine of a system, which leaves a record of each run when it ends: nothing is added to a step."""
    base: Any = machine_for(system, make_subject, dialect)

    def teardown(self: LawMachine) -> None:
        watch, failed = self.watch, _is_failure(sys.exc_info()[1], self.outer_error)
        try:
            base.teardown(self)
        except Exception:
            failed = True
            raise
        finally:
            if watch is not None:
                record.ran(self, watch, failed)

    return type(base.__name__, (base,), {"teardown": teardown})


def _is_failure(error: BaseException | None, outer: BaseException | None) -> bool:
    """Whether a run ends with an error of its own; Hypothesis's way to break a run off is no Exception."""
    return error is not outer and isinstance(error, Exception)


def run_hypothesis(machine: type[LawMachine], examples: int, steps: int, number: int) -> None:
    """Generates examples and nothing else: no database, no shrinking, no health checks, no deadline."""
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
        report_multiple_bugs=False,
        verbosity=Verbosity.quiet,
    )
    run_state_machine_as_test(seed(number)(machine), settings=chosen)
