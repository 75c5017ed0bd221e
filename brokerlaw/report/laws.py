"""What a campaign showed of the laws: their table, the clauses that they state, the states reached, the coverage."""

from __future__ import annotations

from ..spec.core import Law, System
from .content import ClauseLine, CommandLine, Coverage, LawLine, OutcomeCount, ReachedLine
from .reader import Node

EVIDENCE = ("fuzzed", "violated", "unknown", "not observed")
NOT_AT_HAND = "its declaration was not at hand when this report was made"


def law_lines(part: Node, system: System | None) -> tuple[LawLine, ...]:
    """The laws that the campaign claimed, in its own order."""
    counts = part.get("tally").get("laws")
    return tuple(_law_line(row, counts, system) for row in part.get("laws").items())


def _law_line(row: Node, counts: Node, system: System | None) -> LawLine:
    name, evidence = row.get("law").text(), row.get("evidence").one_of(*EVIDENCE)
    law = None if system is None else system.law_named.get(name)
    counted = counts.fields().get(name)
    broken = 0
    if counted is not None:
        three = counted.items()
        if len(three) != 3:
            raise counted.wrong(f"expected three counts (held, vacuous, broken), got {len(three)}")
        broken = three[2].count()
    held, vacuous = row.get("held").count(), row.get("vacuous").count()
    return LawLine(
        name,
        row.get("kind").one_of("always", "step", "within"),
        law.sentence if law else "",
        law.source if law else "",
        evidence,
        held,
        vacuous,
        broken,
        row.get("broken_cases").count(),
        0 if row.get("broken_saved").missing else row.get("broken_saved").count(),
        row.get("tolerated").flag(),
        law.blind if law else "",
        _reason(evidence, vacuous),
    )


def _reason(evidence: str, vacuous: int) -> str:
    if evidence == "not observed":
        return "the subject does not show a part of the state that the law reads, or does not take its commands"
    if evidence == "unknown":
        return f"all {vacuous:,} answers were vacuous" if vacuous else "it was never asked"
    return ""


def laws_left_out(system: System | None, dialect: str, laws: tuple[LawLine, ...]) -> tuple[LawLine, ...]:
    """The laws of the system that are not in the campaign's table, each with the reason."""
    if system is None:
        return ()
    asked = {law.law for law in laws}
    claimed = {law.name for law in system.laws_in(system.dialect(dialect))}
    used = system.dialect(dialect).deviations
    return tuple(_left_out(law, law.name in claimed, used) for law in system.laws if _missing(law, asked))


def _missing(law: Law, asked: set[str]) -> bool:
    return law.kind != "sometimes" and law.name not in asked


def _left_out(law: Law, claimed: bool, used: frozenset[str]) -> LawLine:
    evidence, reason = "not claimed", "a deviation of this dialect gives it up"
    if claimed:
        evidence, reason = "not asked", "the campaign was told to ask other laws alone"
    elif law.only and used.isdisjoint(law.only):
        reason = f"it is claimed only where one of these is in force: {', '.join(law.only)}"
    return LawLine(law.name, law.kind, law.sentence, law.source, evidence, 0, 0, 0, 0, 0, False, law.blind, reason)


def reached_lines(part: Node, system: System | None) -> tuple[ReachedLine, ...]:
    """The states that the campaign should come to."""
    lines = []
    for row in part.get("reached").items():
        name = row.get("law").text()
        law = None if system is None else system.law_named.get(name)
        sentence, source = (law.sentence, law.source) if law else ("", "")
        lines.append(ReachedLine(name, sentence, source, row.get("observed").flag(), row.get("times").count()))
    return tuple(lines)


def clause_lines(laws: tuple[LawLine, ...], proposal: str) -> tuple[ClauseLine, ...]:
    """The laws by the clause that they state, those of the proposal first; else in the order of the laws."""
    clauses: dict[str, list[str]] = {}
    for law in laws:
        clauses.setdefault(law.source or NOT_AT_HAND, []).append(law.law)
    lines = [
        ClauseLine(clause, bool(proposal) and clause.startswith(proposal), tuple(names))
        for clause, names in clauses.items()
    ]
    return tuple(sorted(lines, key=lambda line: not line.of_proposal))


def coverage_of(part: Node, system: System | None) -> Coverage:
    """Command by outcome, as the campaign counted them."""
    counts: dict[str, dict[str, int]] = {}
    for key, times in part.get("tally").get("coverage").fields().items():
        command, between, outcome = key.partition(" > ")
        if not between:
            raise times.wrong("expected a name of the form Command > Outcome")
        counts.setdefault(command, {})[outcome] = times.count()
    lines = tuple(_command_line(command, counts[command]) for command in sorted(counts))
    never = () if system is None else tuple(name for name in system.command_named if name not in counts)
    return Coverage(part.get("tally").get("steps").count(), lines, never)


def _command_line(command: str, outcomes: dict[str, int]) -> CommandLine:
    often = sorted(outcomes.items(), key=lambda each: (-each[1], each[0]))
    return CommandLine(command, sum(outcomes.values()), tuple(OutcomeCount(name, times) for name, times in often))
