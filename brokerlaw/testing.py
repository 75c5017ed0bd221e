"""brokerlaw in a test suite of your own.

    from brokerlaw.testing import law_tests

    TestMyCache = law_tests("entry_cache", MyCache)

That is a test class, for pytest and unittest alike: Hypothesis drives `MyCache` through the commands of the system,
asks every law at every step and compares with the model; a failure names the law, its source, and a small case that
breaks it.  `MyCache` is any callable that makes a subject: `reset(config, dialect)`, `apply(command)`, `snapshot()`.

`assert_laws` does the same without Hypothesis, many times faster, from a seed; `replay_case` runs one case again.
Importing this module registers the profiles `dev` and `nightly` beside Hypothesis's own `ci`.
"""

from __future__ import annotations

import unittest
from collections.abc import Callable, Collection
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import attrs
from hypothesis import settings as Settings  # noqa: N812, users write settings=settings(...)
from hypothesis.stateful import run_state_machine_as_test

from .driver.checker import Run, run
from .driver.finding import Finding
from .driver.loop import Job, Runner
from .driver.shrink import shrink
from .properties.blame import Blame, LawBroken, broken_as, name_of, to_blame
from .properties.machine import LawMachine, check_names, fresh_subject
from .properties.machine import machine_for as _machine_for
from .properties.profiles import machine_settings, register
from .spec.core import Case, Subject, System, check_case, read_case
from .spec.core.case import MAX_BYTES

__all__ = ["LawBroken", "LawTests", "assert_laws", "law_tests", "machine_for", "replay_case"]

MakeSubject = Callable[[], Subject]

register()


class LawTests(unittest.TestCase):
    """What `law_tests` makes subclasses of; Hypothesis's decorators `seed` and `reproduce_failure` go on them."""

    machine: ClassVar[type[LawMachine]]
    settings: ClassVar[Settings | None] = None

    def run_machine(self) -> None:
        """One run of the machine; a class of its own for each, which tells one bug and keeps to it while shrinking."""
        given = {name: value for name, value in vars(type(self)).items() if name.startswith("_hypothesis_internal_use")}
        machine = type(self.machine.__name__, (self.machine,), {"blame": Blame(), **given})
        run_state_machine_as_test(machine, settings=machine_settings(self.settings))


def law_tests(
    system: str | System,
    make_subject: MakeSubject,
    *,
    dialect: str = "text",
    only: Collection[str] = (),
    tolerate: Collection[str] = (),
    model: bool = True,
    settings: Settings | None = None,
) -> type[LawTests]:
    """A test class that holds a subject to the laws of a system.

    `only` asks these laws alone; `tolerate` names laws known to be broken, which are passed over (as is a difference
    from the model in a run that breaks one); `model=False` asks laws alone.  `settings` goes before every profile.
    """
    machine = machine_for(system, make_subject, dialect, only, model, tolerate)

    def test_laws(self: LawTests) -> None:
        self.run_machine()

    test_laws.is_hypothesis_test = True  # type: ignore[attr-defined]  # Hypothesis's pytest plugin asks for it
    members = {"machine": machine, "settings": settings, "test_laws": test_laws, "__doc__": machine.__doc__}
    return type(machine.__name__, (LawTests,), members)


def machine_for(
    system: str | System,
    make_subject: MakeSubject,
    dialect: str = "text",
    only: Collection[str] = (),
    model: bool = True,
    tolerate: Collection[str] = (),
) -> type[LawMachine]:
    """The Hypothesis state machine behind `law_tests`, for those who want to add rules of their own."""
    return _machine_for(_system(system), make_subject, dialect, only, model, tolerate)


def assert_laws(
    system: str | System,
    make_subject: MakeSubject,
    cases: int = 200,
    seed: int = 0,
    *,
    dialect: str = "text",
    only: Collection[str] = (),
    tolerate: Collection[str] = (),
    model: bool = True,
) -> None:
    """Runs seeded cases, the same ones every time; raises LawBroken with the first that breaks something, shrunk."""
    found_in = _system(system)
    check_names(found_in, dialect, (*only, *tolerate))
    fresh_subject(make_subject)
    job = Job(found_in, make_subject, name_of(make_subject), seed, dialect, tuple(only), model)

    def keep(found: Finding) -> Finding | None:
        if not tolerate:
            return found
        again = run(found_in, make_subject(), found.case, only=only, model=model)
        breach = to_blame(again.breaches, tolerate)
        return None if breach is None else attrs.evolve(found, breach=breach)

    runner = Runner(job, keep)
    for number in range(cases):
        runner.run(number)
        if runner.result.findings:
            small = shrink(found_in, make_subject, runner.result.findings[0], only=only, model=model)
            raise broken_as(small.breach)(found_in, name_of(make_subject), small.breach, small.case)


def replay_case(
    case: Case | str | PathLike[str], make_subject: MakeSubject, *, system: System | None = None, model: bool = True
) -> Run:
    """Runs a case, or the case in a file, on a subject; raises LawBroken where it breaks something.

    `system` is needed where the case is for a system of your own.
    """
    if not isinstance(case, Case):
        path = Path(case)
        with path.open("rb") as file:
            text = file.read(MAX_BYTES + 1)
        case = read_case(text, lambda name: system if system and system.name == name else _named(name), str(path))
    found_in = system or _system(case.system)
    check_case(case, found_in)
    done = run(found_in, fresh_subject(make_subject), case, model=model, keep_rows=True)
    breach = to_blame(done.breaches)
    if breach is not None:
        raise broken_as(breach)(found_in, name_of(make_subject), breach, case)
    return done


def _system(system: str | System) -> System:
    if isinstance(system, System):
        return system
    found = _named(system)
    if found is None:
        raise ValueError(f"brokerlaw has no system {system!r}; give its name, or a System of your own")
    return found


def _named(name: str) -> System | None:
    from .reference.table import entry_named  # a system of one's own needs none of ours

    entry: Any = entry_named(name)
    return None if entry is None else entry.system
