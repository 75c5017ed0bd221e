"""Words that the command line and the report share: counts, and what a finding and its case are called."""

from __future__ import annotations

from .driver.finding import Finding
from .spec.core import Case, fields_of


def counted(number: int, one: str, many: str = "") -> str:
    """`1 case`, `12,500 cases`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def plain(text: object) -> str:
    """Text that came from a subject or a file, on one line and without anything that a terminal would obey."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in str(text))


def headline(finding: Finding) -> str:
    """What broke, in a few words."""
    breach = finding.breach
    match breach.kind:
        case "law":
            return breach.law
        case "model":
            return f"differs from the model: {plain(breach.law)}"
        case "error":
            return f"raised {plain(breach.law)}"
        case _:
            return f"{breach.kind}: {plain(breach.law)}"


def size_of(finding: Finding) -> str:
    """How many commands a case has, and from how many it was shrunk."""
    kept = len(finding.case.commands)
    shrunk = finding.shrunk and finding.commands_before > kept
    return counted(kept, "command") + (f" (shrunk from {finding.commands_before:,})" if shrunk else "")


def looks(case: Case) -> str:
    """How often a case looks at the snapshot."""
    if case.observe == 1:
        return "after every step"
    return f"every {case.observe} steps" if case.observe else "at the end"


def settings(case: Case) -> str:
    """The settings of a case that are not at their defaults."""
    fields = [(f, getattr(case.config, f.name)) for f in fields_of(type(case.config))]
    changed = [f"{f.name}={value}" for f, value in fields if value != f.default]
    return " ".join(changed) or "default settings"
