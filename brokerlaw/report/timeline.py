"""A case as a picture: one lane for each who acts, one line for each step, the broken law marked.

It knows no system: the lanes are `System.lanes`, the lines are what the checker saw, or, where the subject is not at
hand, what the model says; the picture then says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import Any

from ..driver.checker import Breach, Row, Run, run
from ..driver.subjects import find_entry, find_subject
from ..reference.table import entry_named
from ..spec.core import Case, System, read_case
from .content import Mark, Picture, Step
from .reader import printable

LANE_ORDER = ("producer", "broker", "storage", "cursor", "reader", "clock")  # others behind them, in order of use
LEFT, LANE, TEXT_GAP, TOP, STEP, LETTER = 34, 84, 14, 52, 40, 7.2
WIDTH = 980
MAX_STEPS = 60  # drawn: the last ones, up to where it broke
MAX_TEXT = 600  # characters of one text in a picture
TIMELINE_CLASS = ' class="timeline"'
FROM_THE_MODEL = "The subject was not run again for this picture: the outcomes before the marked step are the model's."
STYLE = """
    text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #1f2328 }
    .lane { font-weight: 600; text-anchor: middle } .number { text-anchor: end; fill: #656d76 }
    .outcome { fill: #656d76 } .bad { fill: #b42318; font-weight: 600 }
    .rail { stroke: #d0d7de; stroke-width: 2 } .dot { fill: #2563eb } .dot.bad { fill: #b42318 }
    .paper { fill: #ffffff } .mark { fill: #fdecea }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 } .number, .outcome { fill: #9198a1 } .bad { fill: #ff8a80 } .dot.bad { fill: #ff8a80 }
      .rail { stroke: #3d444d } .dot { fill: #6ea8fe } .paper { fill: #0d1117 } .mark { fill: #3b1a1a }
    }"""


# ---- What is drawn --------------------------------------------------------------------------------------------------


def picture_of_run(system: System, done: Run) -> Picture:
    """The picture of a run that was seen."""
    steps = [
        Step(row.step, system.lanes(row.command), repr(row.command), repr(row.outcome), _marks(system, row))
        for row in done.rows
    ]
    breach = done.breach
    return _picture(system, steps, len(done.rows), breach)


def picture_of_case(system: System, case: Case, breach: Breach) -> Picture:
    """The picture of a case whose subject is not at hand: outcomes from the model, what broke from the breach."""
    state, dialect = system.model.start(case.config), system.dialect(case.dialect)
    steps = []
    for number, command in enumerate(case.commands, 1):
        state, outcome = system.model.step(case.config, state, command, dialect)
        broke = number == breach.step
        told = "" if number >= breach.step > 0 else repr(outcome)
        steps.append(Step(number, system.lanes(command), repr(command), told, _told(system, breach) if broke else ()))
    return _picture(system, steps, len(case.commands), breach, FROM_THE_MODEL)


def _picture(system: System, steps: list[Step], total: int, breach: Breach | None, note: str = "") -> Picture:
    if breach is not None and breach.step == 0:
        steps = [Step(0, "broker", "the state before the first command", "", _told(system, breach)), *steps]
    last = breach.step if breach is not None and breach.step else total
    first = max(0, last - MAX_STEPS)
    kept = tuple(steps[first : first + MAX_STEPS])
    broken = "nothing broke" if breach is None else f"{breach.law} broken at step {breach.step}"
    lanes = tuple(_lanes(step.lane for step in kept))
    return Picture(printable(f"{system.name}: {total} steps, {broken}"), lanes, kept, first, note)


def _marks(system: System, row: Row) -> tuple[Mark, ...]:
    return tuple(_seen(system, breach, row) for breach in row.breaches)


def _seen(system: System, breach: Breach, row: Row) -> Mark:
    """What broke at a step that was seen; where a part of the state differs, the outcomes need not."""
    if breach.kind == "model" and breach.law == "outcome":
        return Mark(f"the model says {row.expected!r}", ())
    mark = _mark(system, breach)
    return Mark(mark.name, (breach.evidence,)) if breach.kind == "model" else mark


def _told(system: System, breach: Breach) -> tuple[Mark, ...]:
    """What a breach says by itself."""
    mark = _mark(system, breach)
    return (Mark(mark.name, (*mark.lines, breach.evidence)),)


def _mark(system: System, breach: Breach) -> Mark:
    law = system.law_named.get(breach.law) if breach.kind == "law" else None
    if law is not None:
        return Mark(law.name, (law.sentence,))
    name = f"differs from the model: {breach.law}" if breach.kind == "model" else f"{breach.kind}: {breach.law}"
    return Mark(name, ())


def _lanes(used: Iterable[str]) -> list[str]:
    found = list(dict.fromkeys(used))

    def place(lane: str) -> tuple[int, str]:
        kind = lane.partition(" ")[0]
        return (LANE_ORDER.index(kind), lane) if kind in LANE_ORDER else (len(LANE_ORDER), "")

    return sorted(found, key=place)


# ---- How it is drawn ------------------------------------------------------------------------------------------------


def draw(picture: Picture, inline: bool = False) -> str:
    """A picture as SVG: a file of its own, or part of a page, whose style sheet then has the colours."""
    lanes = picture.lanes
    text_x = LEFT + LANE * len(lanes) + TEXT_GAP
    width = max(WIDTH, text_x + 360)
    shapes: list[str] = []
    y = TOP
    for step in picture.steps:
        lines = _lines(step, int((width - text_x - 8) / LETTER))
        height = max(STEP, 16 * len(lines) + 10)
        shapes += _step(step, _middle(lanes, step.lane), text_x, y, width, height, lines)
        y += height
    rails = [
        f'<line class="rail" x1="{_middle(lanes, lane)}" y1="{TOP - 12}" x2="{_middle(lanes, lane)}" y2="{y - 8}"/>'
        f'<text class="lane" x="{_middle(lanes, lane)}" y="{TOP - 22}">{escape(lane)}</text>'
        for lane in lanes
    ]
    title = escape(picture.title)
    marks = [shape for shape in shapes if 'class="mark"' in shape]
    others = [shape for shape in shapes if 'class="mark"' not in shape]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y + 6}" width="{width}" height="{y + 6}" '
        f'role="img" aria-label="{title}"{TIMELINE_CLASS if inline else ""}>'
    )
    body = [f"<title>{title}</title>", *([] if inline else [f"<style>{STYLE}\n  </style>"])]
    paper = f'<rect class="paper" width="{width}" height="{y + 6}" rx="8"/>'
    return "\n  ".join([head, *body, paper, *marks, *rails, *others]) + "\n</svg>\n"


def _middle(lanes: tuple[str, ...], lane: str) -> int:
    return LEFT + LANE * lanes.index(lane) + LANE // 2


def _lines(step: Step, letters: int) -> list[tuple[str, str]]:
    """What is written beside a step: (style, text), wrapped."""
    lines = [("", step.command), *([("outcome", f"→ {step.outcome}")] if step.outcome else [])]
    for mark in step.marks:
        lines += [("bad", f"✗ {mark.name}"), *(("bad", line) for line in mark.lines)]
    return [(style, part) for style, text in lines for part in wrap(_bounded(text), letters, subsequent_indent="  ")]


def _bounded(text: str) -> str:
    shown = printable(text)
    return shown if len(shown) <= MAX_TEXT else f"{shown[: MAX_TEXT - 1]}…"


def _step(step: Step, x: int, text_x: int, y: int, width: int, height: int, lines: list[tuple[str, str]]) -> list[str]:
    bad = " bad" if step.marks else ""
    shapes = [f'<rect class="mark" x="4" y="{y - 8}" width="{width - 8}" height="{height - 2}" rx="6"/>'] if bad else []
    shapes.append(f'<text class="number{bad}" x="{LEFT - 8}" y="{y + 10}">{step.number}</text>')
    shapes.append(f'<circle class="dot{bad}" cx="{x}" cy="{y + 6}" r="{7 if bad else 5}"/>')
    for number, (style, text) in enumerate(lines):
        shapes.append(f'<text class="{style}" x="{text_x}" y="{y + 10 + 16 * number}">{escape(text)}</text>')
    return shapes


def drawn(path: Path, subject: str, laws: tuple[str, ...] = ()) -> str:
    """The picture of a saved case, run on a subject."""

    def system_named(name: str) -> System | None:
        entry = entry_named(name)
        return None if entry is None else entry.system

    case = read_case(path.read_bytes(), system_named, str(path))
    entry = find_entry(case.system)
    made: Any = find_subject(entry, subject).make()
    done = run(entry.system, made, case, only=laws, model=not laws, keep_rows=True)
    return draw(picture_of_run(entry.system, done))
