"""The report as one page: no network, no script that it needs, the style sheet and every picture within."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from .content import Content, FindingPart, LawLine, SystemPart
from .plots import effort_plot, plot_text
from .timeline import draw
from .words import (
    EFFORT_HEAD,
    MARKS,
    NOT_RECORDED,
    VERDICT_WORDS,
    WHY,
    broken_of,
    cases_of,
    effort_rows,
    evidence_of,
    laws_caption,
    made_rows,
    of,
)

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = files(f"{__package__}.templates")
LONG = 700  # characters of evidence that are shown at once
SECTIONS = (
    ("verdict", "Verdict"),
    ("changes", "What changed"),
    ("clauses", "Clause, law, evidence"),
    ("made", "Environment and command"),
    ("effort", "Effort and saturation"),
    ("laws", "Laws"),
    ("reached", "States to reach"),
    ("coverage", "Commands and outcomes"),
    ("findings", "Counterexamples"),
    ("deviations", "Readings of the text"),
    ("self-test", "The checker’s self-test"),
    ("limits", "Limits"),
)


def html_of(content: Content) -> str:
    """The page.  The template escapes everything but what it calls safe: pictures and sentences, which were escaped by
    those who made them, and the style sheet."""
    sections = [(anchor, title) for anchor, title in SECTIONS if anchor != "changes" or content.changes is not None]
    page = _environment().get_template("report.html.j2")
    return page.render(content=content, sections=sections, css=_text("report.css"))


@cache
def _environment() -> Environment:
    from jinja2 import BaseLoader, Environment, StrictUndefined  # here, so that the command line starts without it

    class Beside(BaseLoader):
        """Templates from the package's own files, zipped or not."""

        def get_source(self, environment: Environment, template: str) -> tuple[str, None, None]:
            return _text(template), None, None

    made = Environment(
        loader=Beside(),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(
        marks=MARKS,
        not_recorded=NOT_RECORDED,
        verdict_words=VERDICT_WORDS,
        why=WHY,
        of=of,
        effort_head=EFFORT_HEAD,
        effort_rows=effort_rows,
        broken_of=broken_of,
        cases_of=cases_of,
        laws_caption=laws_caption,
        made_rows=made_rows,
        evidence_of=evidence_of,
        plot=_plot,
        plot_text=plot_text,
        timeline=_timeline,
        laws_by_name=_laws_by_name,
        heat=_heat,
        long=LONG,
    )
    made.filters["n"] = lambda number: f"{number:,}"
    made.filters["prose"] = _prose
    return made


def _text(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _prose(text: str) -> str:
    """A sentence of a declaration, escaped: what stands between backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _plot(part: SystemPart) -> str:
    return effort_plot(part.effort, f"plot-{part.anchor}")


def _timeline(finding: FindingPart) -> str:
    return draw(finding.picture, inline=True) if finding.picture is not None else ""


def _laws_by_name(part: SystemPart) -> dict[str, LawLine]:
    return {law.law: law for law in part.laws}


def _heat(times: int, total: int) -> int:
    """How dark a cell is, 1 to 5; a share of one in a thousand is still seen."""
    share = times / total if total else 0.0
    return 1 + sum(share >= step for step in (0.01, 0.1, 0.5, 0.9))
