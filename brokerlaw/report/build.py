"""Makes the content of a report from report.json and the declarations of its systems."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..driver.errors import Usage
from ..reference.table import Entry
from ..spec.core import System
from ..told import counted
from .content import CanaryPart, Content, Effort, FindingPart, Identity, Made, Point, SystemPart
from .deviations import deviation_parts
from .findings import Known, finding_part, known_systems
from .laws import clause_lines, coverage_of, law_lines, laws_left_out, reached_lines
from .reader import FILE, Node, checked
from .verdict import named_subject, saturation_of, verdict_of

MAX_POINTS = 1_000
NOT_RUN = "mutants were not run in this campaign; the command `brokerlaw mutants` runs them."
ENVIRONMENT = ("brokerlaw", "commit", "dirty", "python", "platform", "cores", "spark", "java", "master")


def content_from(data: Mapping[str, Any], own: Mapping[str, Entry] | None = None) -> Content:
    """The content of a report that a campaign has just made; `own` has the user's systems, by MODULE:NAME."""
    return content_of(checked(data, FILE), known_systems(own))


def content_of(top: Node, known: Known) -> Content:
    """The content of a report; every field is checked on the way."""
    parts = top.get("systems").items()
    anchors = Anchors()
    systems = tuple(_system(part, known, anchors) for part in parts)
    canaries = _canaries(top)
    names = " and ".join(dict.fromkeys(f"{part.subject}, {part.name}" for part in systems))
    return Content(
        f"Invariant report: {names}",
        verdict_of(systems, canaries),
        top.get("exit_code").count(),
        top.get("digest").text(),
        _made(top.get("made")),
        systems,
        canaries,
        _mutants(canaries),
    )


class Anchors:
    """Names for places of the page, each given once."""

    def __init__(self) -> None:
        self.given: set[str] = set()

    def new(self, text: str) -> str:
        base = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60] or "part"
        name, number = base, 2
        while name in self.given:
            name, number = f"{base}-{number}", number + 1
        self.given.add(name)
        return name


def _system(part: Node, known: Known, anchors: Anchors) -> SystemPart:
    name, subject = part.get("system").text(), part.get("subject").text()
    entry = known.entry(name)
    system = None if entry is None else entry.system
    dialect = part.get("dialect").text()
    _check_dialect(part.get("dialect"), system, dialect)
    laws = law_lines(part, system)
    identity = _identity(part.get("identity"))
    return SystemPart(
        anchors.new(f"{name}-{subject}" if name in anchors.given else name),
        name,
        system.title if system else "",
        system.proposal if system else "",
        system is not None,
        subject,
        named_subject(subject, identity),
        identity,
        dialect,
        part.get("seed").count(),
        part.get("tally").get("digest").text(),
        _effort(part),
        laws,
        laws_left_out(system, dialect, laws),
        reached_lines(part, system),
        clause_lines(laws, system.proposal if system else ""),
        system.clauses if system else (),
        coverage_of(part, system),
        _findings(part, known, anchors),
        deviation_parts(system, dialect) if system else (),
    )


def _check_dialect(node: Node, system: System | None, dialect: str) -> None:
    if system is not None:
        try:
            system.dialect(dialect)
        except KeyError as unknown:
            raise Usage(f"{node.where}: {unknown.args[0]}") from None


def _findings(part: Node, known: Known, anchors: Anchors) -> tuple[FindingPart, ...]:
    nodes = (*part.get("findings").items(), *part.get("ended").items())
    found = [finding_part(node, known, anchors.new(f"finding-{_law(node)}")) for node in nodes]
    return tuple(sorted(found, key=lambda finding: finding.tolerated))  # what fails first


def _law(node: Node) -> str:
    breach = node.get("breach")
    return f"{breach.get('kind').text()}-{breach.get('law').text()}".removeprefix("law-")


def _effort(part: Node) -> Effort:
    cases, tally, corpus = part.get("cases"), part.get("tally"), part.get("corpus")
    points = _points(part.get("effort"))
    checked_cases = tally.get("checked_cases").count()
    return Effort(
        cases.get("asked").count(),
        cases.get("run").count(),
        cases.get("ended").count(),
        tuple((name, times.count()) for name, times in part.get("ended_count").fields().items()),
        part.get("stopped").text(),
        part.get("steps").count(),
        checked_cases,
        tally.get("checked_steps").count(),
        tally.get("observed_steps").count(),
        part.get("seconds").number(),
        corpus.get("cases").count() + corpus.get("ended").count(),
        corpus.get("broken").count() + corpus.get("ended").count(),
        points,
        saturation_of(points, checked_cases),
    )


def _points(effort: Node) -> tuple[Point, ...]:
    if effort.missing:
        return ()
    nodes = effort.get("points").items()
    if len(nodes) > MAX_POINTS:
        raise effort.get("points").wrong(f"expected at most {MAX_POINTS} points, got {len(nodes)}")
    return tuple(
        Point(*(node.get(name).count() for name in ("cases", "steps", "states", "pairs", "findings"))) for node in nodes
    )


def _identity(node: Node) -> Identity:
    if node.missing:
        return Identity()
    texts = {name: node.get(name).text_or_none() for name in ("name", "module", "file", "version", "commit", "sha256")}
    return Identity(**texts, dirty=node.get("dirty").flag_or_none())


def _made(node: Node) -> Made:
    if node.missing:
        return Made()
    environment = node.get("environment")
    seconds = node.get("seconds")
    return Made(
        node.get("engine").text_or_none(),
        node.get("command").text_or_none(),
        node.get("when").time_or_none(),
        None if seconds.missing else seconds.number(),
        () if environment.missing else _environment(environment),
        node.get("policy").text_or_none(),
    )


def _environment(node: Node) -> tuple[tuple[str, str], ...]:
    """What the campaign says of its machine; names that this brokerlaw does not know are shown behind the others."""
    fields = node.fields()
    order = [name for name in ENVIRONMENT if name in fields] + [name for name in fields if name not in ENVIRONMENT]
    return tuple((name, _told(fields[name])) for name in order)


def _told(node: Node) -> str:
    if node.missing:
        return ""
    if isinstance(node.value, bool):
        return "yes" if node.value else "no"
    return f"{node.count():,}" if isinstance(node.value, int) else node.text()


def _canaries(top: Node) -> tuple[CanaryPart, ...]:
    many = top.get("canaries")
    nodes = () if many.missing else many.items()
    return tuple(
        CanaryPart(
            node.get("system").text(),
            node.get("mutant").text(),
            node.get("law").text(),
            node.get("caught").count(),
            node.get("ranges").count(),
            node.get("cases").count(),
        )
        for node in nodes
    )


def _mutants(canaries: tuple[CanaryPart, ...]) -> str:
    """What the campaign itself says of whether it can report; `brokerlaw mutants` says more."""
    if not canaries:
        return f"No canary was recorded, and {NOT_RUN}"
    if not any(each.ranges for each in canaries):
        return f"The campaign ended before its canary ran, and {NOT_RUN}"
    silent = [each.mutant for each in canaries if each.mute]
    caught = f"{len(canaries) - len(silent)} of {counted(len(canaries), 'canary', 'canaries')}"
    missed = f"; it missed {', '.join(silent)}, so that its silence means little" if silent else ""
    return f"This campaign caught {caught} wherever they went{missed}. Other {NOT_RUN}"
