"""Words that several formats use: marks that need no colour, counts with what they are counts of."""

from __future__ import annotations

from ..told import counted
from .content import Content, Effort, LawLine, SystemPart

MARKS = {"violated": "✗", "fuzzed": "✓", "unknown": "?", "not observed": "○", "not claimed": "–", "not asked": "–"}
VERDICT_WORDS = {
    "untrusted": "Not to be trusted",
    "broken": "Broken",
    "held": "Nothing broke",
    "partly": "Nothing broke, and not all was tested",
    "untested": "Nothing shown",
}
WHY = {
    "shipped": "what shipped differs from the text",
    "silent": "the text does not say",
    "contradiction": "the text says two things",
    "amendment": "the text is clear, and another rule is worth a look",
}
NOT_RECORDED = "not recorded"
EFFORT_HEAD = ("cases", "steps", "states (estimate)", "pairs", "cases that broke")
NAMED = {"commit": "brokerlaw’s commit", "dirty": "brokerlaw’s files were changed"}  # not the subject's
WITHOUT = {"brokerlaw": "not installed"}  # run from its sources
WHERE_USED = ("spark", "java", "master")


def evidence_of(law: LawLine) -> str:
    """The evidence in a word or two."""
    return f"{law.evidence}, tolerated" if law.tolerated and law.evidence == "violated" else law.evidence


def of(count: int, total: int) -> str:
    """`3 of 12`, with the share where that says more."""
    share = f" ({100 * count / total:.1f}%)" if total >= 100 else ""
    return f"{count:,} of {total:,}{share}"


def saved_of(effort: Effort) -> str:
    """` and 3 saved cases`, behind the drawn ones; empty where there are none."""
    return f" and {counted(effort.corpus_cases, 'saved case')}" if effort.corpus_cases else ""


def cases_of(effort: Effort) -> str:
    """The cases that were run: of the drawn ones how many, and the saved ones."""
    return f"{of(effort.cases_run, effort.cases_asked)} cases{saved_of(effort)}"


def broken_of(law: LawLine, effort: Effort) -> str:
    """In how many cases a law was broken, the saved ones apart."""
    saved = f"; saved: {of(law.broken_saved, effort.corpus_cases)}" if effort.corpus_cases else ""
    return f"{of(law.broken_cases, effort.cases_run)}{saved}"


def laws_caption(part: SystemPart) -> str:
    """What the numbers of the table of laws are counted in."""
    effort = part.effort
    return (
        f"What broke first, then what is not known. Held, vacuous and asked are counted in the "
        f"{effort.checked_steps:,} of {effort.steps:,} steps in which every law was asked; broken in all "
        f"{effort.cases_run:,} drawn cases{saved_of(effort)}."
    )


def made_rows(content: Content) -> list[tuple[str, str]]:
    """How the campaign was made, as rows of a table; what is empty was not recorded."""
    made = content.made
    seconds = "" if made.seconds is None else f"{made.seconds:,.1f} s"
    return [
        ("engine", made.engine),
        ("ended", made.when),
        ("took", seconds),
        ("digest", content.digest),
        *(
            (NAMED.get(name, name), value or WITHOUT.get(name, ""))
            for name, value in made.environment
            if value or name not in WHERE_USED
        ),
        ("which laws are asked when", made.policy),
    ]


def effort_rows(effort: Effort) -> list[tuple[str, str]]:
    """What was spent, each number with what it is a part of."""
    rate = f" ({effort.steps / effort.seconds:,.0f} a second)" if effort.seconds else ""
    saved = effort.corpus_cases
    others = max(effort.steps - effort.checked_steps, effort.observed_steps)
    rows = [
        ("cases run", of(effort.cases_run, effort.cases_asked)),
        ("cases ended by a limit or a crash", _ended(effort)),
        ("steps", f"{effort.steps:,} in {effort.seconds:,.1f} s{rate}"),
        ("cases with every law asked at every step", of(effort.checked_cases, effort.cases_run)),
        ("steps of those cases", of(effort.checked_steps, effort.steps)),
        ("steps of the others with the whole state compared", of(effort.observed_steps, others)),
        (
            "saved cases, run first, that broke",
            of(effort.corpus_broken, effort.corpus_cases) if saved else "none given",
        ),
    ]
    return [*rows, *([("stopped early", effort.stopped)] if effort.stopped else [])]


def _ended(effort: Effort) -> str:
    by = f": {', '.join(f'{count:,} by {name}' for name, count in effort.ended_by)}" if effort.ended_by else ""
    return f"{of(effort.cases_ended, effort.cases_asked)}{by}"
