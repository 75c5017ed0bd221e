"""Reports: what a campaign showed, as plain data.  Every number has its denominator; rendering is done elsewhere."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

from attrs import asdict, frozen

from ..spec.core import Law, System
from .corpus import SavedCase
from .effort import Effort
from .finding import Finding, finding_to_json
from .identity import Identity
from .loop import Result
from .supervisor import INTERRUPTED
from .tally import BROKEN, HOLDS, VACUOUS_COUNT, Tally

VERSION = 2
EXIT_INTERRUPTED = 130

Evidence = Literal["fuzzed", "violated", "unknown", "not observed"]


@frozen
class LawRow:
    """What a campaign showed of one law."""

    law: str
    kind: str
    evidence: Evidence
    held: int  # evaluations that were not vacuous
    vacuous: int
    broken_cases: int  # of the drawn ones
    broken_saved: int  # of the saved ones
    tolerated: bool


@frozen
class ReachedRow:
    """Whether a campaign came to a state that it should come to."""

    law: str
    observed: bool
    times: int


@frozen
class CorpusRow:
    """The replay of the saved cases."""

    cases: int
    steps: int
    broken: int
    ended: int


@frozen
class SystemReport:
    """What a campaign showed of one system."""

    system: str
    subject: str
    dialect: str
    seed: int
    cases_asked: int
    cases_run: int  # to their end, one way or another: those that a limit or a crash ended are counted apart
    cases_ended: int
    stopped: str  # why not all of them were run; empty where they were
    seconds: float
    tally: Tally
    laws: tuple[LawRow, ...]
    reached: tuple[ReachedRow, ...]
    broken: dict[str, int]  # "kind law" -> in how many drawn cases
    findings: tuple[Finding, ...]
    ended: tuple[Finding, ...]
    ended_count: dict[str, int]
    corpus: CorpusRow
    identity: Identity
    effort: Effort
    saved: tuple[SavedCase, ...] = ()  # the cases of the corpus that were run first

    @property
    def steps(self) -> int:
        return self.tally.steps

    @property
    def not_reached(self) -> tuple[str, ...]:
        return tuple(row.law for row in self.reached if row.observed and not row.times)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Laws that were asked, and never put to the test."""
        return tuple(row.law for row in self.laws if row.evidence == "unknown")

    @property
    def failed(self) -> bool:
        """Whether something broke that is not tolerated."""
        return any(not finding.tolerated for finding in (*self.findings, *self.ended))

    def file_of(self, finding: Finding) -> Path | None:
        """The file of the corpus that a finding came from; its case may be cut behind the step that ended it."""
        if finding.number is not None:
            return None
        ran = finding.case
        for each in self.saved:
            if ran == each.case.with_commands(each.case.commands[: len(ran.commands)]):
                return each.path
        return None

    def to_json(self) -> dict[str, Any]:
        return {
            "system": self.system,
            "subject": self.subject,
            "dialect": self.dialect,
            "seed": self.seed,
            "cases": {"asked": self.cases_asked, "run": self.cases_run, "ended": self.cases_ended},
            "stopped": self.stopped,
            "steps": self.steps,
            "seconds": self.seconds,
            "identity": self.identity.to_json(),
            "effort": self.effort.to_json(),
            "tally": {name: value for name, value in self.tally.to_json().items() if name not in ("states", "pairs")},
            "laws": [asdict(row) for row in self.laws],
            "reached": [asdict(row) for row in self.reached],
            "broken": self.broken,
            "findings": [finding_to_json(finding) for finding in self.findings],
            "ended": [finding_to_json(finding) for finding in self.ended],
            "ended_count": self.ended_count,
            "corpus": asdict(self.corpus),
        }


@frozen
class Canary:
    """A mutant that went through a campaign beside its subject: what reports nothing proves nothing if it can not
    report."""

    system: str
    mutant: str
    ranges: int
    caught: int  # ranges in which it broke something
    cases: int
    finding: Finding | None

    def to_json(self) -> dict[str, Any]:
        found = None if self.finding is None else finding_to_json(self.finding)
        law = "" if self.finding is None else self.finding.breach.law
        return {**asdict(self, recurse=False), "law": law, "finding": found}


@frozen
class Report:
    """What a campaign showed."""

    systems: tuple[SystemReport, ...]
    skipped: int | None = None  # cases of the corpus that are for other systems; none where there was no corpus
    canaries: tuple[Canary, ...] = ()

    @property
    def digest(self) -> str:
        """Of one system its own digest; of several one that does not depend on their order."""
        if len(self.systems) == 1:
            return self.systems[0].tally.digest_hex()
        named = [f"{each.system} {each.subject} {each.dialect} {each.tally.digest_hex()}" for each in self.systems]
        return blake2b("\n".join(sorted(named)).encode(), digest_size=8).hexdigest()

    @property
    def interrupted(self) -> bool:
        return any(system.stopped == INTERRUPTED for system in self.systems)

    @property
    def mute(self) -> tuple[Canary, ...]:
        """Canaries that were not caught wherever they went."""
        return tuple(canary for canary in self.canaries if canary.caught < canary.ranges)

    @property
    def unheard(self) -> bool:
        """Whether there are canaries, and none of them ran: the campaign was ended too soon to show what it can see."""
        return bool(self.canaries) and not any(canary.ranges for canary in self.canaries)

    @property
    def nothing_ran(self) -> bool:
        """Whether not one case, drawn or saved, came to an end of any kind."""
        return not any(part.cases_run or part.cases_ended or part.corpus.cases for part in self.systems)

    @property
    def exit_code(self) -> int:
        if self.interrupted:
            return EXIT_INTERRUPTED
        return 1 if self.mute or self.unheard or any(system.failed for system in self.systems) else 0

    def to_json(self) -> dict[str, Any]:
        return {
            "brokerlaw-report": VERSION,
            "digest": self.digest,
            "exit_code": self.exit_code,
            "corpus_skipped": self.skipped,
            "canaries": [canary.to_json() for canary in self.canaries],
            "systems": [system.to_json() for system in self.systems],
        }


def law_rows(laws: tuple[Law, ...], result: Result, replayed: Result, tolerated: tuple[str, ...]) -> tuple[LawRow, ...]:
    """The table of the laws that can be broken."""
    return tuple(_law_row(law, result, replayed, law.name in tolerated) for law in laws if law.kind != "sometimes")


def _law_row(law: Law, result: Result, replayed: Result, tolerated: bool) -> LawRow:
    counts = result.tally.laws.get(law.name, [0, 0, 0])
    cases = max(result.broken.get(f"law {law.name}", 0), 1 if counts[BROKEN] else 0)
    saved = replayed.broken.get(f"law {law.name}", 0)
    evidence: Evidence = "unknown"
    if law.name in result.unobserved:
        evidence = "not observed"
    elif cases or saved:
        evidence = "violated"
    elif counts[HOLDS]:
        evidence = "fuzzed"
    return LawRow(law.name, law.kind, evidence, counts[HOLDS], counts[VACUOUS_COUNT], cases, saved, tolerated)


def reached_rows(laws: tuple[Law, ...], result: Result) -> tuple[ReachedRow, ...]:
    """The table of the states to reach."""
    return tuple(
        ReachedRow(law.name, law.name not in result.unobserved, result.tally.reached.get(law.name, 0))
        for law in laws
        if law.kind == "sometimes"
    )


def claimed_laws(system: System, dialect: str, only: tuple[str, ...]) -> tuple[Law, ...]:
    """The laws that a campaign asks."""
    return tuple(law for law in system.laws_in(system.dialect(dialect)) if not only or law.name in only)
