"""The verdict: a sentence that a reviewer can quote, what it leaves open, and what it can not mean."""

from __future__ import annotations

from ..told import counted
from .content import CanaryPart, Identity, Point, SystemPart, Verdict, Word
from .words import saved_of

SHORT_HASH = 12
LIMITS = (
    "Subjects were run one command at a time. Threads are not modelled: the interleavings that were tried are those "
    "that commands express (the beginning and the end of what a broker does over time).",
    "A law that was fuzzed held wherever it was asked; that is no proof that it always holds.",
    "A law is as sharp as its sentence: what each one can not see is listed below.",
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


def verdict_of(systems: tuple[SystemPart, ...], canaries: tuple[CanaryPart, ...]) -> Verdict:
    """The verdict over all systems of a campaign."""
    words = [_word(part) for part in systems]
    mute = [each for each in canaries if each.mute]
    word = _word_of_all(words, bool(mute))
    sentences = [_sentence(part, each) for part, each in zip(systems, words, strict=True)]
    if mute:
        sentences.insert(0, _untrusted(mute))
    elif word == "partly":
        held = f"{words.count('held')} of {len(words)} systems"
        sentences.insert(0, f"{held} held; in the others no law was seen to hold.")
    reservations = [text for part in systems for text in _reservations(part, len(systems) > 1)]
    return Verdict(word, " ".join(sentences), tuple(reservations), LIMITS)


def _word_of_all(words: list[Word], mute: bool) -> Word:
    """A campaign that misses a bug put in on purpose says nothing; else one system that broke something decides."""
    if mute:
        return "untrusted"
    if "broken" in words:
        return "broken"
    return words[0] if len(set(words)) == 1 else "partly"


def _untrusted(mute: list[CanaryPart]) -> str:
    told = [
        f"{each.mutant} of {each.system}, "
        + (f"caught in {each.caught:,} of {counted(each.ranges, 'range')}" if each.ranges else "never run")
        for each in mute
    ]
    return f"This campaign can not be trusted: it missed a bug that it must find wherever it goes ({'; '.join(told)})."


def _word(part: SystemPart) -> Word:
    if any(not finding.tolerated for finding in part.findings):
        return "broken"
    return "held" if part.having("fuzzed") else "untested"


def _sentence(part: SystemPart, word: Word) -> str:
    effort = part.effort
    run = (
        f"In {effort.cases_run:,} of {counted(effort.cases_asked, 'case')} drawn from seed {part.seed} "
        f"({counted(effort.steps, 'step')}){saved_of(effort)}, {part.named}"
    )
    whose = f"{part.name}{f' ({part.proposal})' if part.proposal else ''}, dialect {part.dialect}"
    total = counted(len(part.laws), "law")
    if word == "broken":
        return f"{run} {_broken(part, whose)}."
    tolerated = " other than what is tolerated" if part.findings else ""
    if word == "held":
        held = len(part.having("fuzzed"))
        return f"{run} broke no law{tolerated}: {held} of {total} of {whose}, were put to the test and held."
    return f"{run} broke nothing{tolerated}, but no law of {whose}, was seen to hold (0 of {total}): that shows little."


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
    missed = sum(row.observed and not row.times for row in part.reached)
    effort = part.effort
    told = [
        (len(part.having("unknown")), f"of {laws} never put to the test"),
        (len(part.having("not observed")), f"of {laws} not observed in this subject"),
        (missed, f"of {states} to reach not reached"),
        (sum(finding.tolerated for finding in part.findings), f"of {counted(len(part.findings), 'finding')} tolerated"),
        (effort.cases_ended, f"of {counted(effort.cases_asked, 'case')} ended by a limit or a crash"),
    ]
    lead = f"{part.name}: " if several else ""
    lines = [f"{lead}{count:,} {text}." for count, text in told if count]
    if part.uncovered:
        named = counted(len(part.uncovered), "clause that the spec names is", "clauses that the spec names are")
        lines.append(f"{lead}{named} covered by no law.")
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
