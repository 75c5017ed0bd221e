"""driver: how many steps the seeded driver makes in a second, against Hypothesis's stateful runner.

Same system, same laws, same model, same reference, one run.  Beside it the driver with every law asked at every step,
and where a step's time goes.
"""

from __future__ import annotations

import statistics

from attrs import frozen

from brokerlaw.driver.loop import Job, drawn_case, run_cases
from brokerlaw.driver.swarm import CHECKED_RATE
from brokerlaw.spec.core import Case

from .hypothesis_runs import Record, recorded, run_hypothesis
from .measure import Spread, cpu, number, ratios, table
from .parts import shares
from .roomy import Roomy, residents, roomy_cursor_ranks, roomy_entry_cache

SEED = 430


@frozen
class Sizes:
    """How much each engine does in one round."""

    rounds: int = 5
    cases: int = 400  # of the driver
    checked_cases: int = 30  # of the driver with every law at every step
    examples: int = 40  # of Hypothesis
    steps: int = 150  # of each example; the driver's cases have 20 to 300 commands, 122 on average, and a drain
    part_cases: int = 150  # for the parts of a step
    part_rounds: int = 3


QUICK = Sizes(rounds=2, cases=6, checked_cases=2, examples=3, steps=20, part_cases=6, part_rounds=1)


@frozen
class Figures:
    """Steps a second of each engine, one value for each round."""

    light: Spread
    checked: Spread
    hypothesis: Spread
    driver_cases: list[Case]
    hypothesis_cases: list[Case]


def measure(roomy: Roomy, sizes: Sizes) -> Figures:
    """Alternates the engines, round by round; raises AssertionError where the reference broke a law."""
    light_job = Job(roomy.system, roomy.reference, "reference", SEED)
    checked_job = Job(roomy.system, roomy.reference, "reference", SEED, checked=True)
    run_hypothesis(recorded(roomy.system, roomy.reference, Record()), 2, sizes.steps, SEED)  # builds its strategies
    light, checked, hypothesis = [], [], []
    driver_cases: list[Case] = []
    hypothesis_cases: list[Case] = []
    for round_number in range(sizes.rounds):
        numbers = range(round_number * sizes.cases, (round_number + 1) * sizes.cases)
        light.append(_driver_rate(light_job, numbers))
        record = Record()
        machine = recorded(roomy.system, roomy.reference, record)
        seconds, _ = cpu(lambda: run_hypothesis(machine, sizes.examples, sizes.steps, round_number))  # noqa: B023
        hypothesis.append(record.steps / seconds)
        hypothesis_cases += record.cases
        checked.append(_driver_rate(checked_job, numbers[: sizes.checked_cases]))
        driver_cases += [drawn_case(light_job, each) for each in numbers[: sizes.checked_cases]]
    return Figures(Spread.of(light), Spread.of(checked), Spread.of(hypothesis), driver_cases, hypothesis_cases)


def _driver_rate(job: Job, numbers: range) -> float:
    seconds, result = cpu(lambda: run_cases(job, numbers))
    assert not result.findings, f"the reference fails: {result.findings[0].breach}"
    return result.tally.steps / seconds


def report(roomy: Roomy, sizes: Sizes) -> str:
    """Prints what one system gave; returns its part of the figure."""
    print(f"{roomy.name}: {sizes.rounds} alternating rounds")
    figures = measure(roomy, sizes)
    here = statistics.median(residents(roomy, figures.driver_cases))
    there = statistics.median(residents(roomy, figures.hypothesis_cases))
    print(f"median of {roomy.counted} over all steps: driver {here:g}, Hypothesis {there:g}")
    default, all_laws = ratios(figures.light, figures.hypothesis), ratios(figures.checked, figures.hypothesis)
    rows = [
        ("Hypothesis (3 runs in 4: every law at every step)", number(figures.hypothesis.median), "1"),
        (f"driver, default policy (1 case in {1 / CHECKED_RATE:g} checked)", *_row(figures.light, default)),
        ("driver, every law at every step", *_row(figures.checked, all_laws)),
    ]
    print(table(("engine", "steps/s", "against Hypothesis (spread of the rounds)"), rows))
    print("\nwhere a step's time goes, default policy, each part run alone on the same cases:")
    parts = shares(Job(roomy.system, roomy.reference, "reference", SEED), range(sizes.part_cases), sizes.part_rounds)
    whole = parts[-1]
    print(table(("part", "us/step", "share"), [(p.name, number(p.us), f"{p.us / whole.us:.0%}") for p in parts]))
    print()
    return f"{roomy.name} {default.median:.1f}x (every law at every step {all_laws.median:.1f}x)"


def _row(rate: Spread, ratio: Spread) -> tuple[str, str]:
    return number(rate.median), ratio.times()


def run(quick: bool) -> str:
    """Measures both systems; the figure."""
    sizes = QUICK if quick else Sizes()
    return "driver against Hypothesis: " + ", ".join(
        [report(roomy, sizes) for roomy in (roomy_entry_cache(), roomy_cursor_ranks())]
    )
