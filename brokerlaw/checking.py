"""One campaign on one subject, for those who call it from Python."""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve

from .driver.campaign import Options
from .driver.campaign import check as run_campaign
from .driver.errors import Usage
from .driver.report import Report
from .driver.subjects import find_entry
from .reference.table import Entry
from .spec.core import Subject, System, shape_problems


def check_subject(
    system: str | System, subject: str | Callable[[], Subject], cases: int, seed: int, dialect: str
) -> Report:
    """Runs a campaign; names are looked up, things are taken as they are."""
    entry = find_entry(system) if isinstance(system, str) else Entry(system, reference=_missing(system))
    if not isinstance(subject, str):
        name = getattr(subject, "__qualname__", type(subject).__qualname__)
        problems = shape_problems(subject())
        if problems:
            raise Usage(f"{name} does not give a subject: {'; '.join(problems)}")
        entry, subject = evolve(entry, legacy={name: subject}), name  # known by its own name, as a legacy design is
    return run_campaign(Options((entry,), subject, dialect, seed, cases))


def _missing(system: System) -> Callable[[], Subject]:
    def make() -> Subject:
        raise Usage(f"{system.name} has no reference here; name a subject")

    return make
