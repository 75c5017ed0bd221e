"""The report as Markdown: the same content, plain, for a pull request or a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from .content import Changes, Content, DeviationPart, FindingPart, LawLine, Mark, SystemPart
from .words import (
    EFFORT_HEAD,
    MARKS,
    NOT_RECORDED,
    VERDICT_WORDS,
    WHY,
    broken_of,
    cases_of,
    effort_rows,
    evidence_of,
    laws_caption,
    made_rows,
    of,
)

SPECIAL = re.compile(r"([\\`*_{}\[\]<>#~&$])")
NOBODY = "@\u2060"  # a word joiner behind it: `@name` would call somebody who has that name where this is posted


def markdown_of(content: Content) -> str:
    """The whole report."""
    lines = [f"# {escaped(content.title)}", "", *_verdict(content)]
    if content.changes is not None:
        lines += ["", "## What changed", "", *_changes(content.changes)]
    lines += ["", "## Clause, law, evidence", *_each(content, _clauses)]
    lines += ["", "## Environment and command", "", *_made(content)]
    lines += ["", "## Effort and saturation", *_each(content, _effort)]
    lines += ["", "## Laws", *_each(content, _laws)]
    lines += ["", "## States to reach", *_each(content, _reached)]
    lines += ["", "## Commands and outcomes", *_each(content, _coverage)]
    lines += ["", "## Counterexamples", *_each(content, _findings)]
    lines += ["", "## Readings of the text", *_each(content, _deviations)]
    lines += ["", "## The checker's self-test", "", *_self_test(content)]
    lines += ["", "## Limits", "", *(f"- {escaped(limit)}" for limit in content.verdict.limits)]
    return "\n".join([*lines, *_each(content, _limits)]) + "\n"


def escaped(text: str) -> str:
    """Text that no reader of Markdown or HTML obeys, on one line."""
    return _escaped(" ".join(text.split()))


def prose(text: str) -> str:
    """A sentence of a declaration: what stands between backticks stays code."""
    return "".join(code(part) if place % 2 else _escaped(part) for place, part in enumerate(_ticked(text)))


def _ticked(text: str) -> list[str]:
    return re.split(r"`([^`]+)`", " ".join(text.split()))


def _escaped(text: str) -> str:
    return SPECIAL.sub(r"\\\1", text).replace("@", NOBODY)


def code(text: str) -> str:
    """Text in a code span, on one line, whatever backticks it has."""
    line = " ".join(text.split())
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if "`" in line[:1] + line[-1:] else ""
    return f"{fence}{pad}{line}{pad}{fence}" if line else ""


def block(text: str, language: str) -> list[str]:
    """A fenced block, its fence longer than any in the text."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return [f"{fence}{language}", *text.rstrip("\n").split("\n"), fence]


def table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """A table; numbers stand to the right."""
    rule = ["---:" if place in right else "---" for place in range(len(head))]
    cells = [[cell.replace("|", r"\|") for cell in row] for row in (head, rule, *rows)]
    return [f"| {' | '.join(row)} |" for row in cells]


def _each(content: Content, section: Callable[[SystemPart], list[str]]) -> list[str]:
    """A section for each system, with its name above it where there are several."""
    lines: list[str] = []
    for part in content.systems:
        head = ["", f"### {code(part.name)}, {code(part.subject)}"] if len(content.systems) > 1 else []
        lines += [*head, "", *section(part)]
    return lines


def _verdict(content: Content) -> list[str]:
    verdict = content.verdict
    lines = [f"**{VERDICT_WORDS[verdict.word]}.** {escaped(verdict.sentence)}"]
    points = (*verdict.details, *verdict.reservations)
    lines += ["", *(f"- {escaped(text)}" for text in points)] if points else []
    return lines


def _changes(changes: Changes) -> list[str]:
    lines = [f"{escaped(changes.sentence)} Compared with {code(changes.before)}."]
    for name, group in changes.groups:
        rows = [[escaped(each.what), escaped(each.before), escaped(each.after), _worse(each.worse)] for each in group]
        lines += ["", f"**{escaped(name)}**", "", *table(["what", "before", "now", ""], rows)]
    return lines


def _worse(worse: bool | None) -> str:
    return {True: "worse", False: "better", None: ""}[worse]


def _clauses(part: SystemPart) -> list[str]:
    laws = {law.law: law for law in part.laws}
    rows = [
        [prose(line.clause), "<br>".join(f"{code(name)} {_evidence(laws[name])}" for name in line.laws)]
        for line in part.clauses
    ]
    lines = table(["clause", "laws and their evidence"], rows)
    if part.uncovered:
        uncovered = [[prose(clause), prose(reason)] for clause, reason in part.uncovered]
        lines += ["", "Clauses that no law covers:", "", *table(["clause", "why"], uncovered)]
    return lines


def _evidence(law: LawLine) -> str:
    return f"{MARKS[law.evidence]} {evidence_of(law)}"


def _made(content: Content) -> list[str]:
    rows = [[escaped(name), escaped(value) or NOT_RECORDED] for name, value in made_rows(content)]
    command = block(content.made.command, "text") if content.made.command else ["The command was not recorded."]
    subjects = [
        [code(part.subject), escaped(part.named), code(part.identity.sha256) or NOT_RECORDED]
        for part in content.systems
    ]
    return [
        *command,
        "",
        *table(["", ""], rows),
        "",
        *table(["subject", "identified by", "sha256 of its source"], subjects),
    ]


def _effort(part: SystemPart) -> list[str]:
    rows = [[escaped(name), escaped(value)] for name, value in effort_rows(part.effort)]
    lines = [*table(["", ""], rows), "", escaped(part.effort.saturation)]
    if part.effort.points:
        points = [[f"{n:,}" for n in (p.cases, p.steps, p.states, p.pairs, p.findings)] for p in part.effort.points]
        lines += ["", *table(EFFORT_HEAD, points, right=range(5))]
    return lines


def _laws(part: SystemPart) -> list[str]:
    rows = [
        [
            code(law.law),
            law.kind,
            _evidence(law),
            f"{law.held:,} of {law.asked:,}",
            f"{law.vacuous:,}",
            broken_of(law, part.effort),
            prose(law.sentence),
        ]
        for law in part.by_gravity
    ]
    head = ["law", "kind", "evidence", "held, of times asked", "vacuous", "broken, of cases", "sentence"]
    lines = [laws_caption(part), "", *table(head, rows, right=(3, 4, 5))]
    if part.left_out:
        left = [[code(law.law), law.evidence, prose(law.reason)] for law in part.left_out]
        lines += ["", "Laws that this campaign did not ask:", "", *table(["law", "", "why"], left)]
    return lines


def _reached(part: SystemPart) -> list[str]:
    rows = [[code(row.law), _times(row.observed, row.times), prose(row.sentence)] for row in part.reached]
    hit = sum(bool(row.times) for row in part.reached)
    checked = f"{part.effort.checked_steps:,} steps in which every law was asked"
    return [
        f"{of(hit, len(part.reached))} reached, in {checked}.",
        "",
        *table(["state", "times", "what it is"], rows, (1,)),
    ]


def _times(observed: bool, times: int) -> str:
    if not observed:
        return "not observed"
    return f"{times:,}" if times else "? never"


def _coverage(part: SystemPart) -> list[str]:
    rows = [
        [code(line.command), of(line.times, part.coverage.steps), f"{code(each.outcome)}", of(each.times, line.times)]
        for line in part.coverage.commands
        for each in line.outcomes
    ]
    lines = table(["command", "of all steps", "outcome", "of its steps"], rows, (1, 3))
    never = ", ".join(code(name) for name in part.coverage.never_sent)
    return [*lines, "", f"Never sent: {never or 'none'}."]


def _findings(part: SystemPart) -> list[str]:
    if not part.findings:
        return [f"None in {cases_of(part.effort)}."]
    lines: list[str] = []
    for finding in part.findings:
        lines += ["", *_finding(finding)]
    return lines[1:]


def _finding(finding: FindingPart) -> list[str]:
    word = "Tolerated" if finding.tolerated else "Broken"
    lines = [f"#### {word}: {escaped(finding.headline)}", ""]
    lines += [f"{prose(finding.sentence)} *({escaped(finding.source)})*", ""] if finding.sentence else []
    lines += [
        f"Seen at step {finding.step}:",
        "",
        *block(finding.evidence, "text"),
        "",
        f"Case: {escaped(finding.about)}.",
    ]
    if finding.picture is not None:
        rows = [
            [str(step.number), escaped(step.lane), code(step.command), code(step.outcome), _marks(step.marks)]
            for step in finding.picture.steps
        ]
        left = f"{finding.picture.left_out:,} steps before these are left out. " if finding.picture.left_out else ""
        lines += ["", *table(["step", "lane", "command", "outcome", ""], rows, (0,))]
        lines += ["", f"{left}{finding.picture.note}"] if left or finding.picture.note else []
    lines += ["", "Replay:", "", *block(finding.replay or "the case was not saved", "text")]
    return lines + (["", "As Python:", "", *block(finding.python, "python")] if finding.python else [])


def _marks(marks: Sequence[Mark]) -> str:
    return ", ".join(f"✗ {escaped(mark.name)}" for mark in marks)


def _deviations(part: SystemPart) -> list[str]:
    lines: list[str] = []
    for deviation in part.deviations:
        lines += ["", *_deviation(deviation)]
    return lines[1:] or ["None is declared." if part.at_hand else "The declaration was not at hand."]


def _deviation(deviation: DeviationPart) -> list[str]:
    state = "in force in this campaign" if deviation.in_force else "not in force in this campaign"
    replaced = ", ".join(code(law) for law in deviation.replaces) or "nothing"
    return [
        f"**{code(deviation.name)}** ({WHY[deviation.origin]}; {state}). {prose(deviation.says)} "
        f"*({escaped(deviation.source)})* {prose(deviation.here)}",
        "",
        f"Case ({escaped(deviation.settings)}), and what differs after step {deviation.parts_at}, text -> here:",
        "",
        *block("\n".join([*deviation.commands, *(f"  {line}" for line in deviation.differs)]), "text"),
        "",
        f"Not claimed under it: {replaced}.",
    ]


def _self_test(content: Content) -> list[str]:
    rows = [
        [
            code(each.system),
            code(each.mutant),
            code(each.law) or "nothing",
            f"{'✗ ' if each.mute else ''}{of(each.caught, each.ranges)} ranges",
            f"{each.cases:,}",
        ]
        for each in content.canaries
    ]
    lines = [prose(content.mutants)]
    return [*lines, "", *table(["system", "canary", "caught by", "caught in", "cases"], rows)] if rows else lines


def _limits(part: SystemPart) -> list[str]:
    blind = [law for law in (*part.laws, *part.left_out) if law.blind]
    return [f"- {code(law.law)} can not see: {prose(law.blind)}" for law in blind] or [
        "No law names a limit of its own."
    ]
