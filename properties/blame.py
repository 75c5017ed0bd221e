"""Blame: what a test says when a subject breaks a law, and how one bug at a time is told."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import partial
from textwrap import indent
from typing import Any

from attrs import define

from ..driver.checker import Breach
from ..spec.core import Case, System, fields_of, write_case


class LawBroken(AssertionError):
    """A subject broke a law, differed from the model or raised; says which, why that is wrong, and on which case."""

    def __init__(self, system: System, subject: str, breach: Breach, case: Case) -> None:
        super().__init__(breach.law)
        self.system, self.subject, self.breach, self.case = system, subject, breach, case

    def __str__(self) -> str:
        return explain(self.system, self.subject, self.breach, self.case)


_KINDS: dict[tuple[str, str], type[LawBroken]] = {}


def broken_as(breach: Breach) -> type[LawBroken]:
    """A LawBroken of its own for each thing that can break: Hypothesis tells bugs apart by their exceptions' types."""
    kind = _KINDS.get(breach.key)
    if kind is None:
        kind = _KINDS[breach.key] = type("LawBroken", (LawBroken,), {"__module__": __name__})
    return kind


def to_blame(breaches: Iterable[Breach], tolerate: Collection[str] = ()) -> Breach | None:
    """The breach to name: the first exception or broken law, else the first difference from the model.

    A tolerated law is passed over; where one broke, so is the difference from the model that it brings about.
    """
    seen = list(breaches)
    forgiven = any(breach.kind == "law" and breach.law in tolerate for breach in seen)
    named = [b for b in seen if b.kind != "model" and not (b.kind == "law" and b.law in tolerate)]
    differs = [] if forgiven else [b for b in seen if b.kind == "model"]
    return next(iter([*named, *differs]), None)


@define
class Blame:
    """Holds on to the first thing that broke, so that a shrinking run does not slip to another bug half way."""

    key: tuple[str, str] | None = None

    def takes(self, breach: Breach) -> bool:
        if self.key is None:
            self.key = breach.key
        return breach.key == self.key


def explain(system: System, subject: str, breach: Breach, case: Case) -> str:
    """The whole story of a breach, for the person who reads it in a failed test."""
    lines = [headline(system, subject, breach), ""]
    law = system.law_named.get(breach.law) if breach.kind == "law" else None
    if law is not None:
        lines += [f"  the law:        {law.sentence}", f"  its source:     {law.source}"]
    lines.append(f"  what was seen:  {breach.evidence} ({_place(breach, case)})")
    if law is not None and law.blind:
        lines.append(f"  it can not see: {law.blind}")
    return "\n".join(
        [
            *lines,
            "",
            "The case as Python:",
            "",
            indent(case_as_python(case, subject, ours=system.config.__module__.startswith("brokerlaw.")), "  "),
            "The case as JSON, for `brokerlaw replay`:",
            "",
            indent(write_case(case), "  "),
        ]
    )


def headline(system: System, subject: str, breach: Breach) -> str:
    """What broke, in one line."""
    where = f"{subject} under {system.name}"
    match breach.kind:
        case "law":
            return f"{where}: the law {breach.law} is broken"
        case "model":
            return f"{where}: {breach.law} differs from what the model of {system.proposal} says"
        case "error":
            return f"{where}: {breach.law} was raised"
        case _:
            return f"{where}: {breach.kind} ({breach.law})"


def case_as_python(case: Case, subject: str, ours: bool = True) -> str:
    """A case as a program that runs it, where the subject has that name; and `system`, unless the system is ours."""
    values = [case.config, *case.commands]
    imports: dict[str, set[str]] = {}
    for value in values:
        imports.setdefault(type(value).__module__, set()).add(type(value).__name__)
    commands = "".join(f"    {call(command)},\n" for command in case.commands)
    more = "".join(
        f", {name}={value!r}"
        for name, value, usual in (("dialect", case.dialect, "text"), ("observe", case.observe, 1))
        if value != usual
    )
    return "\n".join(
        [
            "from brokerlaw.spec.core import Case",
            "from brokerlaw.testing import replay_case",
            *(f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(imports.items())),
            "",
            f"commands = [\n{commands}]" if commands else "commands = []",
            f"case = Case({case.system!r}, {call(case.config)}, commands{more})",
            f"replay_case(case, {subject})" if ours else f"replay_case(case, {subject}, system=system)",
            "",
        ]
    )


def call(value: Any) -> str:
    """A config or a command as the call that makes it, fields at their defaults left out."""
    return f"{type(value).__name__}({arguments(value)})"


def arguments(value: Any) -> str:
    """The arguments of that call."""
    fields = [(f, getattr(value, f.name)) for f in fields_of(type(value))]
    return ", ".join(f"{f.name}={now!r}" for f, now in fields if now != f.default or type(now) is not type(f.default))


def name_of(make_subject: Any) -> str:
    """What a subject is called in messages: as its class is, wherever that can be told."""
    while isinstance(make_subject, partial):
        make_subject = make_subject.func
    name: str = getattr(make_subject, "__qualname__", type(make_subject).__qualname__).rpartition("<locals>.")[2]
    return "make_subject" if name == "<lambda>" else name


def _place(breach: Breach, case: Case) -> str:
    if breach.step == 0 or breach.step > len(case.commands):
        return "before the first command"
    return f"step {breach.step}, {call(case.commands[breach.step - 1])}"
