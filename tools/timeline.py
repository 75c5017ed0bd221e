"""A case as a picture: one lane for each who acts, one line for each step, the broken law marked.

    python tools/timeline.py CASE.json --subject mutant:NAME > picture.svg

It knows no system: the lanes are `System.lanes`, the lines are what the checker saw.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from html import escape
from pathlib import Path
from textwrap import wrap

from brokerlaw.driver.checker import Row, Run, run
from brokerlaw.driver.subjects import find_entry, find_subject
from brokerlaw.reference.table import entry_named
from brokerlaw.spec.core import Law, System, read_case

LANE_ORDER = ("producer", "broker", "storage", "cursor", "reader", "clock")  # others behind them, in order of use
LEFT, LANE, TEXT_GAP, TOP, STEP, LETTER = 34, 84, 14, 52, 40, 7.2
WIDTH = 980
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


def timeline(system: System, done: Run) -> str:
    """The picture of a run, as SVG."""
    lanes = _lanes([system.lanes(row.command) for row in done.rows])
    text_x = LEFT + LANE * len(lanes) + TEXT_GAP
    shapes: list[str] = []
    y = TOP
    for row in done.rows:
        x = _middle(lanes, system.lanes(row.command))
        lines = _lines(system, row, int((WIDTH - text_x - 8) / LETTER))
        height = max(STEP, 16 * len(lines) + 10)
        shapes += _step(row, x, text_x, y, height, lines)
        y += height
    rails = [
        f'<line class="rail" x1="{_middle(lanes, lane)}" y1="{TOP - 12}" x2="{_middle(lanes, lane)}" y2="{y - 8}"/>'
        f'<text class="lane" x="{_middle(lanes, lane)}" y="{TOP - 22}">{escape(lane)}</text>'
        for lane in lanes
    ]
    title = escape(f"{system.name}: {_summary(done)}")
    marks = [shape for shape in shapes if 'class="mark"' in shape]
    others = [shape for shape in shapes if 'class="mark"' not in shape]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 6}" width="{WIDTH}" height="{y + 6}" '
        f'role="img" aria-label="{title}">'
    )
    body = [f"<title>{title}</title>", f"<style>{STYLE}\n  </style>"]
    paper = f'<rect class="paper" width="{WIDTH}" height="{y + 6}" rx="8"/>'
    return "\n  ".join([head, *body, paper, *marks, *rails, *others]) + "\n</svg>\n"


def _lanes(used: Iterable[str]) -> list[str]:
    found = list(dict.fromkeys(used))

    def place(lane: str) -> tuple[int, str]:
        kind = lane.partition(" ")[0]
        return (LANE_ORDER.index(kind), lane) if kind in LANE_ORDER else (len(LANE_ORDER), "")

    return sorted(found, key=place)


def _middle(lanes: list[str], lane: str) -> int:
    return LEFT + LANE * lanes.index(lane) + LANE // 2


def _lines(system: System, row: Row, letters: int) -> list[tuple[str, str]]:
    """What is written beside a step: (style, text), wrapped."""
    lines = [("", repr(row.command)), ("outcome", f"→ {row.outcome!r}")]
    for breach in row.breaches:
        law: Law | None = system.law_named.get(breach.law) if breach.kind == "law" else None
        if law is not None:
            lines += [("bad", f"✗ {law.name}"), ("bad", law.sentence)]
        elif breach.kind == "model":
            lines.append(("bad", f"✗ the model says {row.expected!r}"))
        else:
            lines.append(("bad", f"✗ {breach.kind}: {breach.law}"))
    return [(style, part) for style, text in lines for part in wrap(text, letters, subsequent_indent="  ")]


def _step(row: Row, x: int, text_x: int, y: int, height: int, lines: list[tuple[str, str]]) -> list[str]:
    bad = " bad" if row.breaches else ""
    shapes = [f'<rect class="mark" x="4" y="{y - 8}" width="{WIDTH - 8}" height="{height - 2}" rx="6"/>'] if bad else []
    shapes.append(f'<text class="number{bad}" x="{LEFT - 8}" y="{y + 10}">{row.step}</text>')
    shapes.append(f'<circle class="dot{bad}" cx="{x}" cy="{y + 6}" r="{7 if bad else 5}"/>')
    for number, (style, text) in enumerate(lines):
        shapes.append(f'<text class="{style}" x="{text_x}" y="{y + 10 + 16 * number}">{escape(text)}</text>')
    return shapes


def _summary(done: Run) -> str:
    breach = done.breach
    steps = f"{len(done.rows)} steps"
    return f"{steps}, nothing broke" if breach is None else f"{steps}, {breach.law} broken at step {breach.step}"


def drawn(path: Path, subject: str, laws: tuple[str, ...] = ()) -> str:
    """The picture of a saved case, run on a subject."""

    def system_named(name: str) -> System | None:
        entry = entry_named(name)
        return None if entry is None else entry.system

    case = read_case(path.read_bytes(), system_named, str(path))
    entry = find_entry(case.system)
    made = find_subject(entry, subject).make()
    return timeline(entry.system, run(entry.system, made, case, only=laws, model=not laws, keep_rows=True))


def main() -> int:
    parser = argparse.ArgumentParser(description="A case as a picture, SVG on standard output.")
    parser.add_argument("case", type=Path)
    parser.add_argument("--subject", default="reference")
    parser.add_argument("--law", action="append", default=[], help="ask these laws alone, without the model")
    given = parser.parse_args()
    sys.stdout.write(drawn(given.case, given.subject, tuple(given.law)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
