"""A case as a Python program that shows what broke, for those who would rather read code than JSON."""

from __future__ import annotations

from typing import Any

from ..driver.checker import Breach
from ..spec.core import Case, System, fields_of


def python_of(system: System, case: Case, subject: str, breach: Breach, own_system: str | None) -> str:
    """A program that runs the case, prints what it broke, and fails unless that is what the finding says."""
    classes = {type(case.config), *(type(command) for command in case.commands)}
    named = system.name if own_system is None else own_system
    lines = [
        "from brokerlaw.driver.checker import run",
        "from brokerlaw.driver.subjects import find_entry, find_subject",
        "from brokerlaw.spec.core import Case",
        *_imports(classes),
        "",
        f"entry = find_entry({named!r})",
        f"subject = find_subject(entry, {subject!r}).make()",
        "case = Case(",
        f"    {system.name!r},",
        f"    {_config(case.config)},",
        "    [",
        *(f"        {command!r}," for command in case.commands),
        "    ],",
        f"    dialect={case.dialect!r},",
        f"    observe={case.observe},",
        ")",
        "done = run(entry.system, subject, case)",
        "for breach in done.breaches:",
        '    print(f"step {breach.step}: {breach.kind} {breach.law}: {breach.evidence}")',
        f"assert {breach.key!r} in [breach.key for breach in done.breaches]",
    ]
    return "\n".join(lines) + "\n"


def _imports(classes: set[type]) -> list[str]:
    modules: dict[str, list[str]] = {}
    for each in classes:
        modules.setdefault(each.__module__, []).append(each.__name__)
    return [f"from {module} import {', '.join(sorted(modules[module]))}" for module in sorted(modules)]


def _config(config: Any) -> str:
    """The config, settings that are at their defaults left out."""
    changed = [
        (f.name, getattr(config, f.name)) for f in fields_of(type(config)) if getattr(config, f.name) != f.default
    ]
    return f"{type(config).__name__}({', '.join(f'{name}={value!r}' for name, value in changed)})"
