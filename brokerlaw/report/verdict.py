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
    ran = any(part.effort.cases_run or part.effort.cases_ended for part in systems)
    doubt = _doubt(canaries) if ran else ""
    word = _word_of_all(words, bool(doubt))
    sentences = [_sentence(part, each) for part, each in zip(systems, words, strict=True)]
    details = tuple(sentences) if len(sentences) > 1 or doubt else ()
    sentence = f"This campaign can not be trusted: {doubt}." if doubt else _of_several(systems, words)
    reservations = [text for part in systems for text in _reservations(part, len(systems) > 1)]
    return Verdict(word, sentence if details else sentences[0], details, tuple(reservations), LIMITS)


def _word_of_all(words: list[Word], doubtful: bool) -> Word:
    """A campaign that misses a bug put in on purpose says nothing; else one system that broke something decides."""
    if doubtful:
        return "untrusted"
    if "broken" in words:
        return "broken"
    return words[0] if len(set(words)) == 1 else "partly"


def _of_several(systems: tuple[SystemPart, ...], words: list[Word]) -> str:
    """Systems that were tested in one campaign, in one sentence."""
    efforts = [part.effort for part in systems]
    run, asked = sum(each.cases_run for each in efforts), sum(each.cases_asked for each in efforts)
    steps = counted(sum(each.steps for each in efforts), "step")
    tested = sum(len(part.having("fuzzed")) for part in systems)
    laws = counted(sum(len(part.laws) for part in systems), "law")
    broke = [part for part, word in zip(systems, words, strict=True) if word == "broken"]
    where = f"in {run:,} of {counted(asked, 'case')} ({steps})"
    if broke:
        names = ", ".join(f"{part.subject} of {part.name}" for part in broke)
        count = sum(bool(law.evidence == "violated" and not law.tolerated) for part in broke for law in part.laws)
        what = counted(count, "law") if count else "no law, but failed otherwise"
        return f"{len(broke)} of {counted(len(systems), 'system')} failed {where}: {names} broke {what}."
    if not run:
        return f"No case of {counted(asked, 'case')} was run to its end."
    held = f"{words.count('held')} of {counted(len(systems), 'system')} held"
    rest = "" if words.count("held") == len(words) else "; in the others no law was seen to hold"
    return f"{held} {where}: {tested} of {laws} were put to the test, and none broke{rest}."


def _doubt(canaries: tuple[CanaryPart, ...]) -> str:
    """Why the silence of a campaign means nothing; empty where it means something."""
    missed = [
        f"{each.mutant} of {each.system}, caught in {each.caught:,} of {counted(each.ranges, 'range')}"
        for each in canaries
        if each.mute
    ]
    if missed:
        return f"it missed a bug that it must find wherever it goes ({'; '.join(missed)})"
    if canaries and not any(each.ranges for each in canaries):
        return "it was too short for its canary, so that nothing shows that it would see a bug"
    return ""


def _word(part: SystemPart) -> Word:
    if any(not finding.tolerated for finding in part.findings):
        return "broken"
    return "held" if part.having("fuzzed") else "untested"


def _sentence(part: SystemPart, word: Word) -> str:
    effort = part.effort
    if not effort.cases_run + effort.cases_ended + effort.corpus_cases:
        why = effort.stopped or "none was asked for"
        return f"No case of {counted(effort.cases_asked, 'case')} was run to its end on {part.named}: {why}."
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
