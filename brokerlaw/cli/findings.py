"""Findings on paper: what broke, why that is wrong, the case that shows it, and how to see it again."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from attrs import frozen

from ..driver.finding import Finding, finding_to_json
from ..spec.core import Case, System
from ..told import counted, headline, looks, plain, settings, size_of
from .terminal import Style, wrapped

MAX_COMMANDS = 40  # drawn; the file has them all
MAX_EVIDENCE = 600  # characters; replay shows more


@frozen
class Filed:
    """A finding, the file that its case is in (none where it could not be saved), and the command that shows it."""

    finding: Finding
    path: Path | None
    replay: str


def grouped(filed: Iterable[Filed]) -> list[list[Filed]]:
    """Findings of the same thing together, the shortest case first."""
    groups: dict[tuple[object, ...], list[Filed]] = {}
    for each in filed:
        finding = each.finding
        groups.setdefault((finding.system, finding.breach.key, finding.tolerated), []).append(each)
    return [sorted(group, key=lambda each: len(each.finding.case.commands)) for group in groups.values()]


def draw(group: list[Filed], system: System, style: Style) -> list[str]:
    """Findings of the same thing as lines of text: one drawn, the others named."""
    shown, *others = group
    paths = [str(each.path) for each in others if each.path is not None]
    also = _item("also", ", ".join(paths), style) if paths else []
    replay = [f"  replay  {shown.replay}"] if shown.path is not None else []
    return [*_draw(shown.finding, system, style), *replay, *also]


def _draw(finding: Finding, system: System, style: Style) -> list[str]:
    breach, case = finding.breach, finding.case
    word = style.doubtful("TOLERATED") if finding.tolerated else style.bad("BROKEN")
    lines = [f"{word}  {style.bold(headline(finding))}"]
    law = system.law_named.get(breach.law) if breach.kind == "law" else None
    if law is not None:
        lines += _item("law", law.sentence, style) + _item("source", law.source, style)
    lines += _item("seen", shortened(breach.evidence), style)
    lines += _item("case", _about(finding), style)
    return lines + [f"      {line}" for line in drawn_commands(case, breach.step, style)]


def shortened(evidence: str) -> str:
    return evidence if len(evidence) <= MAX_EVIDENCE else f"{evidence[: MAX_EVIDENCE - 3]}..."


def _item(name: str, text: str, style: Style) -> list[str]:
    return wrapped(text, style.width, " " * 10, f"  {name.ljust(8)}")


def _about(finding: Finding) -> str:
    case = finding.case
    drawn = f", case {finding.number:,} of seed {finding.seed}" if finding.number is not None else ""
    return f"{size_of(finding)}, {settings(case)}, dialect {case.dialect}, looking {looks(case)}{drawn}"


def drawn_commands(case: Case, step: int, style: Style) -> list[str]:
    """The commands of a case, numbered, the step at which it broke marked; the first ones left out where it is long."""
    width = len(str(len(case.commands)))
    skipped = max(0, len(case.commands) - MAX_COMMANDS)
    lines = [style.dim(f"... {counted(skipped, 'command')} before these")] if skipped else []
    for number, command in enumerate(case.commands[skipped:], skipped + 1):
        text = f"{number:>{width}}  {plain(repr(command))}"
        lines.append(style.bad(f"> {text}") if number == step else f"  {text}")
    return lines


def replay_command(path: Path, subject: str, own_system: str | None, laws: tuple[str, ...] = ()) -> str:
    """What to type to see a case again."""
    words = ["brokerlaw", "replay", str(path)]
    words += ["--system", own_system] if own_system else []
    words += ["--subject", subject] if subject != "reference" else []
    words += [word for law in laws for word in ("--law", law)]
    return shlex.join(words)


def filed_data(filed: Filed) -> dict[str, Any]:
    """A finding as JSON data: its case as an object, and where it was saved."""
    data = finding_to_json(filed.finding)
    file = None if filed.path is None else str(filed.path)
    return {**data, "case": json.loads(data["case"]), "file": file, "replay": filed.replay}
