"""The report as JUnit XML: a test case for each law, each state to reach, each other failure, and each canary.

Violated is a failure, and a canary that was not caught an error; what is unknown, not observed, not asked or tolerated
is skipped, with the reason: never passed.
"""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from attrs import frozen

from ..told import counted
from .content import CanaryPart, Content, FindingPart, LawLine, ReachedLine, SystemPart

BROKEN_WITHOUT_A_LAW = ("error", "hang", "crash", "memory")  # an error of the subject, not a judgement of it
SELF_TEST = "self-test"


@frozen
class Result:
    """What becomes of one test case."""

    name: str
    outcome: str = ""  # failure, error or skipped; empty where it passed
    message: str = ""
    detail: str = ""
    kind: str = ""


def junit_of(content: Content) -> str:
    """One suite for each system, and one for the canaries where there are any."""
    suites = [(part, _results(part)) for part in content.systems]
    canaries = [_of_canary(each) for each in content.canaries]
    every = [*(result for _, results in suites for result in results), *canaries]
    top = Xml.Element("testsuites", {"name": "brokerlaw", **_counts(every)})
    for part, results in suites:
        counts = {**_counts(results), "skipped": _count(results, "skipped"), "time": f"{part.effort.seconds:.3f}"}
        suite = Xml.SubElement(top, "testsuite", {"name": f"{part.name}: {part.subject}", **counts})
        if content.made.when:
            suite.set("timestamp", content.made.when.removesuffix("Z"))
        _properties(suite, _told(content, part))
        for result in results:
            _test_case(suite, part.name, result)
    if canaries:
        counts = {**_counts(canaries), "skipped": "0", "time": "0.000"}
        suite = Xml.SubElement(top, "testsuite", {"name": SELF_TEST, **counts})
        _properties(suite, {"canaries": content.mutants})
        for result in canaries:
            _test_case(suite, SELF_TEST, result)
    Xml.indent(top)
    return Xml.tostring(top, encoding="unicode", xml_declaration=False).join(
        ['<?xml version="1.0" encoding="UTF-8"?>\n', "\n"]
    )


def _counts(results: list[Result]) -> dict[str, str]:
    return {
        "tests": str(len(results)),
        "failures": _count(results, "failure"),
        "errors": _count(results, "error"),
    }


def _count(results: list[Result], outcome: str) -> str:
    return str(sum(result.outcome == outcome for result in results))


def _told(content: Content, part: SystemPart) -> dict[str, str]:
    return {
        "subject": part.named,
        "dialect": part.dialect,
        "seed": str(part.seed),
        "cases": f"{part.effort.cases_run} of {part.effort.cases_asked}",
        "steps": str(part.effort.steps),
        "digest": part.digest,
        "command": content.made.command or "not recorded",
        "verdict": content.verdict.sentence,
    }


def _properties(suite: Xml.Element, told: dict[str, str]) -> None:
    properties = Xml.SubElement(suite, "properties")
    for name, value in told.items():
        Xml.SubElement(properties, "property", name=name, value=value)


def _test_case(suite: Xml.Element, of: str, result: Result) -> None:
    case = Xml.SubElement(suite, "testcase", classname=f"brokerlaw.{of}", name=result.name, time="0.000")
    if result.outcome:
        more = {"type": result.kind} if result.kind else {}
        Xml.SubElement(case, result.outcome, {"message": result.message, **more}).text = result.detail or None


def _results(part: SystemPart) -> list[Result]:
    laws = [_of_law(law, part) for law in (*part.laws, *part.left_out)]
    others = {finding.headline: finding for finding in reversed(part.findings) if finding.kind != "law"}
    return [*laws, *(_of_state(row) for row in part.reached), *(_of_other(each) for each in others.values())]


def _of_law(law: LawLine, part: SystemPart) -> Result:
    if law.evidence == "fuzzed":
        return Result(law.law)
    if law.evidence != "violated":
        return Result(law.law, "skipped", f"{law.evidence}: {law.reason}")
    found = next((each for each in part.findings if each.kind == "law" and each.law == law.law), None)
    effort = part.effort
    saved = f" and {law.broken_saved:,} of {counted(effort.corpus_cases, 'saved case')}" if effort.corpus_cases else ""
    message = f"broken in {law.broken_cases:,} of {effort.cases_run:,} cases{saved}: {law.sentence or law.law}"
    if law.tolerated:
        return Result(law.law, "skipped", f"tolerated: {message}")
    return Result(law.law, "failure", message, _detail(found) if found else "", "law")


def _of_state(row: ReachedLine) -> Result:
    if not row.observed:
        return Result(row.law, "skipped", "not observed: the subject does not show what the state is seen by")
    return (
        Result(row.law) if row.times else Result(row.law, "skipped", "never reached: the campaign did not come there")
    )


def _of_canary(canary: CanaryPart) -> Result:
    name = f"canary {canary.mutant} of {canary.system}"
    if not canary.ranges:
        return Result(name, "skipped", "never run: the campaign ended before")
    if not canary.mute:
        return Result(name)
    caught = f"caught in {canary.caught:,} of {counted(canary.ranges, 'range')}"
    message = f"the campaign can not be trusted: this bug, put in on purpose, was {caught}"
    return Result(name, "error", message, kind="canary")


def _of_other(finding: FindingPart) -> Result:
    if finding.tolerated:
        return Result(finding.headline, "skipped", f"tolerated: {finding.headline}")
    outcome = "error" if finding.kind in BROKEN_WITHOUT_A_LAW else "failure"
    return Result(finding.headline, outcome, finding.headline, _detail(finding), finding.kind)


def _detail(finding: FindingPart) -> str:
    lines = [f"at step {finding.step}: {finding.evidence}", f"case: {finding.about}"]
    lines += [f"source: {finding.source}"] if finding.source else []
    lines += [f"replay: {finding.replay}"] if finding.replay else []
    return "\n".join(lines)
