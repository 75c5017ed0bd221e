"""The content of an invariant report: one structure of plain values, from which every format is made.

Whatever the page shows is here, so that Markdown, JSON, JUnit and SARIF can not say anything else.  Text that was not
recorded is empty, a flag None; renderers then say "not recorded".  Counts stand beside what they are counts of.
"""

from __future__ import annotations

from typing import Any, Literal

from attrs import asdict, frozen

VERSION = 1  # of the content as JSON

GRAVITY = ("violated", "unknown", "not observed", "fuzzed")

Word = Literal["untrusted", "broken", "held", "partly", "untested"]


@frozen
class Verdict:
    """The campaign in one sentence that can be quoted, what it leaves open, and what it can not mean."""

    word: Word
    sentence: str
    details: tuple[str, ...]  # a sentence for each system, where the first one is not of a single system
    reservations: tuple[str, ...]
    limits: tuple[str, ...]


@frozen
class Made:
    """How and where the campaign was run."""

    engine: str = ""
    command: str = ""
    when: str = ""
    seconds: float | None = None
    environment: tuple[tuple[str, str], ...] = ()
    policy: str = ""


@frozen
class Identity:
    """What exactly was under test."""

    name: str = ""
    module: str = ""
    file: str = ""
    version: str = ""
    commit: str = ""
    dirty: bool | None = None
    sha256: str = ""


@frozen
class Point:
    """How far a campaign was, and what it had seen by then; cumulative."""

    cases: int
    steps: int
    states: int
    pairs: int
    findings: int


@frozen
class Effort:
    """What a campaign spent, and whether it still found anything new."""

    cases_asked: int
    cases_run: int
    cases_ended: int
    ended_by: tuple[tuple[str, int], ...]
    stopped: str
    steps: int
    checked_cases: int
    checked_steps: int
    observed_steps: int
    seconds: float
    corpus_cases: int
    corpus_broken: int
    points: tuple[Point, ...]
    saturation: str  # a sentence


@frozen
class LawLine:
    """What a campaign showed of one law; asked = held + vacuous + broken."""

    law: str
    kind: str
    sentence: str
    source: str
    evidence: str  # fuzzed, violated, unknown, not observed; not claimed and not asked where the campaign left it out
    held: int
    vacuous: int
    broken: int
    broken_cases: int  # of the drawn ones
    broken_saved: int  # of the saved ones
    tolerated: bool
    blind: str
    reason: str  # why there is no evidence, where there is none

    @property
    def asked(self) -> int:
        return self.held + self.vacuous + self.broken


@frozen
class ReachedLine:
    """A state that a campaign should come to."""

    law: str
    sentence: str
    source: str
    observed: bool
    times: int


@frozen
class ClauseLine:
    """A clause of a proposal, or another source, and the laws that state it."""

    clause: str
    of_proposal: bool
    laws: tuple[str, ...]


@frozen
class OutcomeCount:
    outcome: str
    times: int


@frozen
class CommandLine:
    """A command, how often it was sent, and what it was answered."""

    command: str
    times: int
    outcomes: tuple[OutcomeCount, ...]


@frozen
class Coverage:
    """Command by outcome, over all steps."""

    steps: int
    commands: tuple[CommandLine, ...]
    never_sent: tuple[str, ...]


@frozen
class Mark:
    """What broke at a step: its name, and the lines that explain it."""

    name: str
    lines: tuple[str, ...]


@frozen
class Step:
    """One step of a picture."""

    number: int
    lane: str
    command: str
    outcome: str  # empty where it is not known
    marks: tuple[Mark, ...] = ()


@frozen
class Picture:
    """A run as lanes and steps."""

    title: str
    lanes: tuple[str, ...]
    steps: tuple[Step, ...]
    left_out: int = 0  # steps before the first one that is drawn
    note: str = ""  # where the outcomes come from, if not from the subject


@frozen
class FindingPart:
    """One counterexample."""

    anchor: str
    headline: str
    kind: str
    law: str
    step: int
    evidence: str
    sentence: str
    source: str
    tolerated: bool
    about: str  # size, settings, dialect, seed: a sentence
    commands: tuple[str, ...]  # the names of the commands: with kind and law the shape of the finding
    picture: Picture | None
    python: str
    replay: str
    file: str

    @property
    def shape(self) -> tuple[str, str, tuple[str, ...]]:
        return self.kind, "" if self.kind == "model" else self.law, self.commands


@frozen
class DeviationPart:
    """Another way to read the text, and the case on which the readings part."""

    name: str
    origin: str
    says: str
    here: str
    source: str
    in_force: bool
    replaces: tuple[str, ...]
    settings: str
    commands: tuple[str, ...]
    parts_at: int
    differs: tuple[str, ...]  # what it is in the text -> what it is here


@frozen
class CanaryPart:
    """A bug that was put in on purpose, and whether the campaign reported it."""

    system: str
    mutant: str
    law: str
    caught: int
    ranges: int
    cases: int

    @property
    def mute(self) -> bool:
        """Whether it was not caught wherever it went: what the campaign does not report then means little."""
        return self.caught < self.ranges


@frozen
class SystemPart:
    """What a campaign showed of one system."""

    anchor: str
    name: str
    title: str
    proposal: str
    at_hand: bool  # whether the declaration was there to take sentences, sources and clauses from
    subject: str
    named: str  # the subject with everything that identifies it
    identity: Identity
    dialect: str
    seed: int
    digest: str
    effort: Effort
    laws: tuple[LawLine, ...]
    left_out: tuple[LawLine, ...]  # laws of the system that the campaign did not ask
    reached: tuple[ReachedLine, ...]
    clauses: tuple[ClauseLine, ...]
    uncovered: tuple[tuple[str, str], ...]
    coverage: Coverage
    findings: tuple[FindingPart, ...]
    deviations: tuple[DeviationPart, ...]

    @property
    def by_gravity(self) -> tuple[LawLine, ...]:
        """The laws, what is broken first, then what is not known; else in the order of the spec."""
        return tuple(sorted(self.laws, key=lambda law: GRAVITY.index(law.evidence)))

    def having(self, *evidence: str) -> tuple[LawLine, ...]:
        """The laws with this evidence."""
        return tuple(law for law in self.laws if law.evidence in evidence)


@frozen
class Change:
    """One thing that is not as it was; `worse` is None where it is neither better nor worse."""

    what: str
    before: str
    after: str
    worse: bool | None = None


@frozen
class Changes:
    """What changed since another campaign."""

    before: str  # the folder of the other campaign
    sentence: str
    groups: tuple[tuple[str, tuple[Change, ...]], ...]


@frozen
class Content:
    """Everything that a report says."""

    title: str
    verdict: Verdict
    exit_code: int
    digest: str
    made: Made
    systems: tuple[SystemPart, ...]
    canaries: tuple[CanaryPart, ...]
    mutants: str  # what is known of the mutants: a sentence
    changes: Changes | None = None

    @property
    def findings(self) -> tuple[FindingPart, ...]:
        return tuple(finding for part in self.systems for finding in part.findings)


def content_data(content: Content) -> dict[str, Any]:
    """The content as plain JSON data."""
    return {"brokerlaw-report-content": VERSION, **asdict(content)}
