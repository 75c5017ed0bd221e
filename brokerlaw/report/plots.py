"""Plots as SVG for a page: no fonts, no dates, no colours of their own; the same bytes for the same data."""

from __future__ import annotations

import re
from io import StringIO
from typing import Any

from .content import Effort, Point

INK, FAINT, FIRST, SECOND = (
    "#010203",
    "#040506",
    "#070809",
    "#0a0b0c",
)  # stand for the colours of the page's style sheet
COLOURS = {INK: "--ink", FAINT: "--line", FIRST: "--accent", SECOND: "--second"}
SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "brokerlaw",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.edgecolor": FAINT,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def effort_plot(effort: Effort, name: str) -> str:
    """States and pairs against cases; empty where there is nothing to draw.  `name` keeps its ids apart from others."""
    if len(effort.points) < 2:
        return ""
    import matplotlib  # here, for it takes half a second

    with matplotlib.rc_context(SETTINGS):
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
        from matplotlib.ticker import EngFormatter, MaxNLocator

        figure = Figure(figsize=(8.4, 2.7), layout="constrained")
        canvas: Any = FigureCanvasSVG(figure)
        for axes, (label, colour, marker, values) in zip(figure.subplots(1, 2), _series(effort.points), strict=True):
            axes.plot([point.cases for point in effort.points], values, color=colour, linewidth=1.8)
            axes.plot([effort.points[-1].cases], values[-1:], color=colour, marker=marker, markersize=6)
            axes.set_title(label, loc="left", fontsize=10, color=INK)
            axes.set_xlabel("cases")
            axes.set_xlim(0, effort.points[-1].cases * 1.04)
            axes.set_ylim(0, max(values) * 1.12 or 1)
            axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
            axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_formatter(EngFormatter(sep=""))
            axes.grid(axis="y", color=FAINT, linewidth=0.6)
            axes.set_axisbelow(True)
        written = StringIO()
        canvas.print_svg(written, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return _for_the_page(written.getvalue(), name, plot_text(effort))


def _series(points: tuple[Point, ...]) -> list[tuple[str, str, str, list[int]]]:
    return [
        ("distinct states (estimate)", FIRST, "o", [point.states for point in points]),
        ("pairs of consecutive commands", SECOND, "s", [point.pairs for point in points]),
    ]


def plot_text(effort: Effort) -> str:
    """The plot in words."""
    last = effort.points[-1]
    halfway = next(point for point in effort.points if point.cases * 2 >= last.cases)
    return (
        f"Distinct states and pairs of consecutive commands against cases: {halfway.states:,} states and "
        f"{halfway.pairs:,} pairs after {halfway.cases:,} cases; {last.states:,} and {last.pairs:,} after "
        f"{last.cases:,}."
    )


def _for_the_page(svg: str, name: str, text: str) -> str:
    """An SVG file made part of a page: no head, ids of its own, the colours of the style sheet."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r"\s*<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r'(id="|href="#|url\(#)', lambda found: f"{found[1]}{name}-", body)
    body = re.sub(r'width="[\d.]+pt" height="[\d.]+pt"', f'class="plot" role="img" aria-label="{text}"', body, count=1)
    for colour, variable in COLOURS.items():
        body = body.replace(colour, f"var({variable})")
    return body
