"""brokerlaw: executable laws for the memory and acknowledgement state of message brokers.

Importing it gives the vocabulary (systems, commands' domains, laws, models, cases, subjects) and `check`; it loads no
engine.  For a test suite there is `brokerlaw.testing`, for a terminal the command `brokerlaw`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .spec.core import (
    NOT_OBSERVED,
    TEXT,
    TEXT_DIALECT,
    VACUOUS,
    Action,
    BadCase,
    Broken,
    Case,
    Cloneable,
    Deviation,
    Dialect,
    Field,
    Law,
    Model,
    NoHistory,
    Shape,
    Subject,
    System,
    Vacuous,
    Verdict,
    always,
    check_case,
    choice,
    fields_of,
    flag,
    integer,
    maybe,
    read_case,
    shape_problems,
    sometimes,
    step,
    unobserved_by,
    unsupported_by,
    within,
    write_case,
)

if TYPE_CHECKING:
    from .driver.report import Report

__all__ = [
    "NOT_OBSERVED",
    "TEXT",
    "TEXT_DIALECT",
    "VACUOUS",
    "Action",
    "BadCase",
    "Broken",
    "Case",
    "Cloneable",
    "Deviation",
    "Dialect",
    "Field",
    "Law",
    "Model",
    "NoHistory",
    "Shape",
    "Subject",
    "System",
    "Vacuous",
    "Verdict",
    "always",
    "check",
    "check_case",
    "choice",
    "fields_of",
    "flag",
    "integer",
    "maybe",
    "read_case",
    "shape_problems",
    "sometimes",
    "step",
    "unobserved_by",
    "unsupported_by",
    "within",
    "write_case",
]


def check(
    system: str | System,
    subject: str | Callable[[], Subject] = "reference",
    *,
    cases: int = 1_000,
    seed: int = 0,
    dialect: str = TEXT,
) -> Report:
    """Checks a subject against a system from a seed, as `brokerlaw check` does, and returns the report.

    Both may be names, as on the command line, or the things themselves.  What can not be used raises
    `brokerlaw.driver.errors.Usage` with a sentence.
    """
    from .checking import check_subject  # the references and the driver are loaded by those who run something

    return check_subject(system, subject, cases, seed, dialect)
