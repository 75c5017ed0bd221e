"""What a campaign showed, as text: of each system the laws and the states reached, then findings and the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..driver.report import LawRow, Report, SystemReport
from ..spec.core import System
from ..told import counted
from .findings import Filed, draw, grouped
from .terminal import Style, table, wrapped


def report_lines(
    report: Report,
    systems: Mapping[str, System],
    filed: Sequence[Filed],
    style: Style,
    model: bool = True,
    verbose: bool = False,
) -> list[str]:
    """The whole report; each law that was put to the test has a line where one system was checked, the broken ones
    where several were."""
    lines: list[str] = []
    whole = len(report.systems) == 1
    for part in report.systems:
        lines += [*_head(part, style), *_laws(part, style, whole, verbose), *_reached(part, style), ""]
    if report.skipped is not None:
        lines += [_corpus(report, report.skipped), ""]
    for group in grouped(filed):
        lines += [*draw(group, systems[group[0].finding.system], style), ""]
    return [*lines, verdict(report, style, model), f"digest {report.digest}"]


def _head(part: SystemReport, style: Style) -> list[str]:
    rate = part.steps / part.seconds if part.seconds else 0
    tally = part.tally
    lines = [style.bold(f"{part.system}: {part.subject}, dialect {part.dialect}, seed {part.seed}")]
    lines.append(
        f"  {part.cases_run:,} of {counted(part.cases_asked, 'case')}, {part.steps:,} steps in {part.seconds:.1f} s "
        f"({rate:,.0f} steps/s); every law at every step in {counted(tally.checked_cases, 'case')}"
    )
    if part.cases_ended:
        why = ", ".join(f"{count:,} by {key}" for key, count in part.ended_count.items())
        kept = sum(finding.number is not None for finding in part.ended)
        saved = f" ({kept:,} of {part.cases_ended:,} saved)" if kept < part.cases_ended else ""
        lines.append(f"  {counted(part.cases_ended, 'case')} ended by a limit or a crash, in no count: {why}{saved}")
    if part.stopped:
        lines += [style.doubtful(line) for line in wrapped(f"stopped early: {part.stopped}", style.width, "  ")]
    corpus = part.corpus
    if corpus.cases or corpus.ended:
        told = f"{counted(corpus.cases + corpus.ended, 'saved case')} run first, {corpus.broken + corpus.ended} broke"
        lines.append(f"  {told}")
    return lines


def _corpus(report: Report, skipped: int) -> str:
    """What became of the corpus."""
    others = f", {counted(skipped, 'case')} of other systems skipped" if skipped else ""
    return f"corpus: {counted(_replayed(report), 'saved case')} run first{others}"


def _replayed(report: Report) -> int:
    return sum(part.corpus.cases + part.corpus.ended for part in report.systems)


def _laws(part: SystemReport, style: Style, whole: bool, verbose: bool) -> list[str]:
    """The table of laws; `held` counts answers that were not vacuous."""
    rows = [row for row in part.laws if row.evidence == "violated" or (whole and row.evidence == "fuzzed")]
    lines = []
    if not whole:
        fuzzed = [row for row in part.laws if row.evidence == "fuzzed"]
        least = min(fuzzed, key=lambda row: row.held, default=None)
        fewest = f", the least often {least.law}, {counted(least.held, 'time')}" if least else ""
        lines += wrapped(f"{len(fuzzed)} of {len(part.laws)} laws held{fewest}", style.width, "    ", "  ")
    if rows:
        cells = [["law", "evidence", "held", "vacuous", "broken in"]]
        cells += [[row.law, _evidence(row), f"{row.held:,}", f"{row.vacuous:,}", _broken(row)] for row in rows]
        head, *body = table(cells, right=(2, 3, 4))
        lines.append(style.dim(head))
        lines += [_coloured(line, row, style) for line, row in zip(body, rows, strict=True)]
    lines += _untested(part, style, verbose)
    blind = [row.law for row in part.laws if row.evidence == "not observed"]
    return lines + (_listed(f"{counted(len(blind), 'law')} not observed", blind, style) if blind else [])


def _untested(part: SystemReport, style: Style, verbose: bool) -> list[str]:
    if not part.unknown:
        return []
    names = ", ".join(part.unknown) if verbose else "named with --verbose or --json"
    told = f"never put to the test: {counted(len(part.unknown), 'law')} ({names})"
    return [style.doubtful(line) for line in wrapped(told, style.width, "    ", "  ")]


def _evidence(row: LawRow) -> str:
    return f"{row.evidence}, tolerated" if row.tolerated and row.evidence == "violated" else row.evidence


def _broken(row: LawRow) -> str:
    drawn = [counted(row.broken_cases, "case")] if row.broken_cases else []
    return ", ".join([*drawn, *([f"{row.broken_saved:,} saved"] if row.broken_saved else [])])


def _coloured(line: str, row: LawRow, style: Style) -> str:
    if row.evidence == "violated":
        return style.doubtful(line) if row.tolerated else style.bad(line)
    return line


def _reached(part: SystemReport, style: Style) -> list[str]:
    """The states that a campaign should come to, and how often it did."""
    seen = [row for row in part.reached if row.observed]
    hit = [row for row in seen if row.times]
    lines = []
    if seen:
        told = [f"{row.law} {row.times:,}" for row in hit]
        lines += _listed(f"{len(hit)} of {counted(len(seen), 'state')} reached", told, style)
    if part.not_reached:
        lines += [style.doubtful(line) for line in _listed("never reached", part.not_reached, style)]
    blind = [row.law for row in part.reached if not row.observed]
    return lines + (_listed(f"{counted(len(blind), 'state')} not observed", blind, style) if blind else [])


def _listed(what: str, names: Sequence[str], style: Style) -> list[str]:
    return wrapped(f"{what}: {', '.join(names)}" if names else what, style.width, "    ", "  ")


def verdict(report: Report, style: Style, model: bool = True) -> str:
    """The whole run in one sentence."""
    every = [finding for part in report.systems for finding in (*part.findings, *part.ended)]
    failing = [finding for finding in every if not finding.tolerated]
    cases = counted(sum(part.cases_run + part.cases_ended for part in report.systems), "case")
    if failing:
        laws = {finding.breach.law for finding in failing if finding.breach.kind == "law"}
        saved = _replayed(report)
        also = f" and {counted(saved, 'saved case')}" if saved else ""
        others = len({finding.breach.key for finding in failing if finding.breach.kind != "law"})
        parts = [counted(len(laws), "law")] if laws else []
        parts += [counted(others, "other failure")] if others else []
        sentence = style.bad(f"Broken: {' and '.join(parts)}, in {counted(len(failing), 'finding')} of {cases}{also}.")
    elif report.nothing_ran:
        why = next((part.stopped for part in report.systems if part.stopped), "none was asked for")
        return style.doubtful(f"No case was run to its end: {why}.")
    else:
        held = sum(row.evidence == "fuzzed" for part in report.systems for row in part.laws)
        agreed = "every outcome was the model's" if model and not every else ""
        if held:
            also = f", and {agreed}" if agreed else ""
            sentence = style.good(f"Nothing broke: {counted(held, 'law')} held in {cases}{also}.")
        else:
            sentence = style.doubtful(_nothing_tested(report, cases, agreed))
    return " ".join([sentence, *_reservations(report, len(every) - len(failing))])


def _nothing_tested(report: Report, cases: str, agreed: str) -> str:
    """The verdict where no law had anything to say: that is no pass."""
    mendable = any(part.unknown for part in report.systems)
    hint = " Run more cases, or use --every-step." if mendable else ""
    still = f", though {agreed}" if agreed else ""
    return f"No law was put to the test in {cases}{still}.{hint}"


def _reservations(report: Report, tolerated: int) -> list[str]:
    """What the verdict does not cover."""
    evidence = [row.evidence for part in report.systems for row in part.laws]
    missed = sum(len(part.not_reached) for part in report.systems)
    told = [
        (tolerated, "tolerated finding", "tolerated findings"),
        (evidence.count("unknown"), "law never put to the test", "laws never put to the test"),
        (evidence.count("not observed"), "law not observed", "laws not observed"),
        (missed, "state not reached", "states not reached"),
    ]
    said = [counted(count, one, many) for count, one, many in told if count]
    stopped = ["not every case was run"] if any(part.stopped for part in report.systems) else []
    both = [*said, *stopped]
    return [f"Beside that: {', '.join(both)}."] if both else []
