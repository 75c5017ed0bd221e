"""The report as SARIF 2.1.0: a rule for each law, a result for each finding."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any
from urllib.parse import quote

from .content import Content, FindingPart, LawLine, SystemPart

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
OTHERS = {
    "model": "An outcome or a part of the state differs from the model's.",
    "error": "The subject raised an exception.",
    "checker": "A law could not be asked: it raised an exception itself.",
    "hang": "The subject did not come back within the time limit.",
    "crash": "The subject ended its process.",
    "memory": "The subject went over the memory limit.",
}


def sarif_of(content: Content) -> str:
    """The whole log."""
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(content)]}, indent=1) + "\n"


def _run(content: Content) -> dict[str, Any]:
    rules = [_rule(part, law) for part in content.systems for law in (*part.laws, *part.left_out)]
    rules += [{"id": kind, "shortDescription": {"text": text}} for kind, text in OTHERS.items()]
    places = {rule["id"]: place for place, rule in enumerate(rules)}
    results = [_result(part, each, places) for part in content.systems for each in part.findings]
    driver: dict[str, Any] = {"name": "brokerlaw", "rules": rules}
    version = dict(content.made.environment).get("brokerlaw")
    if version:
        driver["version"] = version
    return {
        "tool": {"driver": driver},
        "invocations": [_invocation(content)],
        "automationDetails": {"id": f"brokerlaw/{'+'.join(part.name for part in content.systems)}/"},
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": {"verdict": content.verdict.sentence, "digest": content.digest},
    }


def _invocation(content: Content) -> dict[str, Any]:
    trusted = content.verdict.word != "untrusted"
    told: dict[str, Any] = {
        "executionSuccessful": trusted and content.exit_code in (0, 1),
        "exitCode": content.exit_code,
    }
    if not trusted:
        told["toolExecutionNotifications"] = [{"level": "error", "message": {"text": content.verdict.sentence}}]
    if content.made.command:
        told["commandLine"] = content.made.command
    if content.made.when:
        told["endTimeUtc"] = content.made.when
    return told


def _rule(part: SystemPart, law: LawLine) -> dict[str, Any]:
    text = law.sentence or law.law
    counts = {"held": law.held, "vacuous": law.vacuous, "asked": law.asked, "brokenCases": law.broken_cases}
    counts["brokenSavedCases"] = law.broken_saved
    return {
        "id": _rule_id(part, law.law),
        "name": law.law,
        "shortDescription": {"text": text},
        "help": {"text": f"{text} Source: {law.source or 'not at hand'}.{_blind(law)}"},
        "defaultConfiguration": {"level": "error"},
        "properties": {"kind": law.kind, "source": law.source, "evidence": law.evidence, **counts},
    }


def _blind(law: LawLine) -> str:
    return f" Can not see: {law.blind}" if law.blind else ""


def _rule_id(part: SystemPart, law: str) -> str:
    return f"{part.name}/{law}"


def _result(part: SystemPart, finding: FindingPart, places: dict[str, int]) -> dict[str, Any]:
    rule = _rule_id(part, finding.law) if finding.kind == "law" else finding.kind
    again = f" Replay: {finding.replay}" if finding.replay else ""
    told: dict[str, Any] = {
        "ruleId": rule,
        "kind": "fail",
        "level": "note" if finding.tolerated else "error",
        "message": {"text": f"{finding.headline}, at step {finding.step}: {finding.evidence}{again}"},
        "locations": [_location(part, finding)],
        "partialFingerprints": {"brokerlawShape/v1": _fingerprint(part, finding)},
        "properties": {"about": finding.about, "step": finding.step, "replay": finding.replay},
    }
    if rule in places:
        told["ruleIndex"] = places[rule]
    if finding.tolerated:
        told["suppressions"] = [{"kind": "external", "justification": "tolerated by the campaign's command line"}]
    return told


def _location(part: SystemPart, finding: FindingPart) -> dict[str, Any]:
    """The subject's source where it is known, else the file of the case; and the subject by its name."""
    place: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": part.subject, "kind": "type"}]}
    file = part.identity.file or finding.file
    if file:
        uri = f"file://{quote(file)}" if file.startswith("/") else quote(file)
        place["physicalLocation"] = {"artifactLocation": {"uri": uri}, "region": {"startLine": 1}}
    return place


def _fingerprint(part: SystemPart, finding: FindingPart) -> str:
    """The same for the same bug found again: system, what broke, and the commands that do it."""
    return blake2b(repr((part.name, finding.shape)).encode(), digest_size=16).hexdigest()
