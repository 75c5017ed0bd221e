"""The verdict: a sentence that a reviewer can quote, what it leaves open, and what it can not mean."""

from __future__ import annotations

from ..cli.terminal import counted
from .content import Identity, Point, SystemPart, Verdict, Word

SHORT_HASH = 12
LIMITS = (
    "Subjects were run one command at a time. Threads are not modelled: the interleavings that were tried are those "
    "that commands express (the beginning and the end of what a broker does over time).",
    "A law that was fuzzed held wherever it was asked; that is no proof that it always holds.",
    "A law is as sharp as its sentence: what each one can not see is listed under limits.",
)


def named_subject(subject: str, identity: Identity) -> str:
    """A subject with everything that tells it from another version of itself."""
    known = []
    if identity.version:
        known.append(f"version {identity.version}")
    if identity.commit:
        state = {True: " with uncommitted changes", False: "", None: " (not known whether changed)"}[identity.dirty]
        known.append(f"commit {identity.commit[:SHORT_HASH]}{state}")
    if identity.sha256:
        known.append(f"sha256 {identity.sha256[:SHORT_HASH]}")
    return f"{subject} ({', '.join(known) or 'version, commit and hash not recorded'})"


def verdict_of(systems: tuple[SystemPart, ...]) -> Verdict:
    """The verdict over all systems of a campaign; one that broke something decides the word."""
    words = [_word(part) for part in systems]
    word: Word = "broken" if "broken" in words else "held" if "held" in words else "untested"
    sentences = [_sentence(part, each) for part, each in zip(systems, words, strict=True)]
    reservations = [text for part in systems for text in _reservations(part, len(systems) > 1)]
    return Verdict(word, " ".join(sentences), tuple(reservations), LIMITS)


def _word(part: SystemPart) -> Word:
    if any(not finding.tolerated for finding in part.findings):
        return "broken"
    return "held" if part.having("fuzzed") else "untested"


def _sentence(part: SystemPart, word: Word) -> str:
    effort = part.effort
    run = (
        f"In {effort.cases_run:,} of {counted(effort.cases_asked, 'case')} drawn from seed {part.seed} "
        f"({counted(effort.steps, 'step')}), {part.named}"
    )
    whose = f"{part.name}{f' ({part.proposal})' if part.proposal else ''}, dialect {part.dialect}"
    total = counted(len(part.laws), "law")
    if word == "broken":
        return f"{run} {_broken(part, whose)}."
    if word == "held":
        tolerated = " other than those tolerated" if part.findings else ""
        held = len(part.having("fuzzed"))
        return f"{run} broke no law{tolerated}: {held} of {total} of {whose}, were put to the test and held."
    return f"{run} broke nothing, but none of the {total} of {whose}, was put to the test: that shows little."


def _broken(part: SystemPart, whose: str) -> str:
    failing = [finding for finding in part.findings if not finding.tolerated]
    laws = list(dict.fromkeys(finding.law for finding in failing if finding.kind == "law"))
    others = list(dict.fromkeys(finding.headline for finding in failing if finding.kind != "law"))
    broke = f"broke {len(laws)} of {counted(len(part.laws), 'law')} ({', '.join(laws)}) of {whose}"
    if laws and others:
        return f"{broke}, and failed in {counted(len(others), 'other way')} ({'; '.join(others)})"
    if laws:
        return broke
    return f"failed in {counted(len(others), 'way')} that no law names ({'; '.join(others)}), under {whose}"


def _reservations(part: SystemPart, several: bool) -> list[str]:
    laws, states = counted(len(part.laws), "law"), counted(len(part.reached), "state")
    stated = sum(line.of_proposal for line in part.clauses)
    missed = sum(row.observed and not row.times for row in part.reached)
    effort = part.effort
    told = [
        (len(part.having("unknown")), f"of {laws} never put to the test"),
        (len(part.having("not observed")), f"of {laws} not observed in this subject"),
        (missed, f"of {states} to reach not reached"),
        (sum(finding.tolerated for finding in part.findings), f"of {counted(len(part.findings), 'finding')} tolerated"),
        (effort.cases_ended, f"of {counted(effort.cases_asked, 'case')} ended by a limit or a crash"),
        (len(part.uncovered), f"of {len(part.uncovered) + stated:,} clauses of the proposal covered by no law"),
    ]
    lead = f"{part.name}: " if several else ""
    lines = [f"{lead}{count:,} {text}." for count, text in told if count]
    if effort.stopped:
        lines.append(
            f"{lead}It was stopped early, after {effort.cases_run:,} of {effort.cases_asked:,} cases: {effort.stopped}."
        )
    if not part.at_hand:
        lines.append(f"{lead}The declaration of this system was not at hand: name it with --system MODULE:NAME.")
    return lines


def saturation_of(points: tuple[Point, ...], checked_cases: int) -> str:
    """Whether the campaign still found anything new in its last fifth."""
    if not points:
        return "How many states were new over time was not recorded."
    last = points[-1]
    before = [point for point in points if point.cases <= 0.8 * last.cases]
    if not before or not last.states:
        return "There are too few points to say whether new states were still being found."
    mark = before[-1]
    states, pairs = last.states - mark.states, last.pairs - mark.pairs
    share = 100 * states / last.states
    word = "New states were still being found" if share >= 5 else "Few new states were still being found"
    return (
        f"{word}: {states:,} of about {last.states:,} ({share:.1f}%) and {pairs:,} of {last.pairs:,} pairs of "
        f"consecutive commands came in the last {last.cases - mark.cases:,} of {last.cases:,} cases "
        f"(states and pairs are counted in checked cases, {checked_cases:,} of them)."
    )
