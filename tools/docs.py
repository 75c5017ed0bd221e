"""The docs that are generated: tables from the declarations, cases as files, the picture in the README.

    python tools/docs.py            says what is out of date; exit code 1 if something is
    python tools/docs.py --write    writes it anew

In a page, `<!-- generated: NAME ARGUMENT -->` and `<!-- end -->` hold what the generator NAME gives; everything else
on the page is written by hand.  Nothing that a program can know is written by hand twice.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from attrs import evolve
from parting import first_parting
from worked import lifetime_rows

from brokerlaw.cli.findings import Filed, draw
from brokerlaw.cli.terminal import Style
from brokerlaw.driver.checker import run
from brokerlaw.driver.finding import Finding
from brokerlaw.driver.subjects import find_entry, find_subject
from brokerlaw.reference.table import TABLE, Entry, entry_named
from brokerlaw.report.timeline import drawn
from brokerlaw.spec.core import Case, Deviation, System, read_case, write_case
from brokerlaw.told import settings

ROOT = Path(__file__).resolve().parent.parent
CASES = Path("cases/pip-430")
SHOWN = CASES / "bugs" / "removes-another.json"
SHOWN_LAW = "expired_entry_is_requeued_iff_entitled"
PICTURE = Path("docs/img/removes-another.svg")
BLOCK = re.compile(r"(<!-- generated: (\S+)(?: (\S+))? -->\n).*?(<!-- end -->)", re.DOTALL)
WHY = {
    "shipped": "what shipped differs from the text",
    "silent": "the text does not say",
    "contradiction": "the text says two things",
    "amendment": "the text is clear, and another rule is worth a look",
}


# ---- Cases ----------------------------------------------------------------------------------------------------------


def deviation_file(system: System, deviation: Deviation) -> tuple[Path, str]:
    """Where the case of a deviation stands, and what is in it."""
    case = evolve(deviation.case, note=f"{deviation.name}: {deviation.here}")
    return CASES / system.name / f"{deviation.name}.json", write_case(case)


def saved(path: str | Path) -> Case:
    """A committed case."""

    def system_named(name: str) -> System | None:
        entry = entry_named(name)
        return None if entry is None else entry.system

    return read_case((ROOT / path).read_bytes(), system_named, str(path))


def commands(case: Case) -> list[str]:
    return [f"{number}. `{command!r}`" for number, command in enumerate(case.commands, 1)]


# ---- Generators: an argument in, Markdown lines out -----------------------------------------------------------------


def systems(_: str) -> list[str]:
    """What there is, without counts: those would be out of date with every law."""
    rows = [f"| `{entry.name}` | {entry.system.proposal} | {entry.system.title} |" for entry in TABLE]
    return ["| system | proposal | what it is |", "|---|---|---|", *rows]


def readings(name: str) -> list[str]:
    """All deviations of a system, one line each."""
    lines = ["| deviation | why it exists | in `pulsar-4` | replaces |", "|---|---|---|---|"]
    system = _entry(name).system
    for deviation in system.deviations:
        shipped = "yes" if deviation.name in system.dialects.get("pulsar-4", ()) else ""
        count = f"{len(deviation.replaces)} law{'s' if len(deviation.replaces) != 1 else ''}"
        lines.append(f"| [`{deviation.name}`](#{deviation.name}) | {WHY[deviation.origin]} | {shipped} | {count} |")
    return lines


def deviations(name: str) -> list[str]:
    """All deviations of a system, a section each."""
    system = _entry(name).system
    lines: list[str] = []
    for deviation in system.deviations:
        lines += ["", *_deviation(system, deviation)]
    return lines[1:]


def _deviation(system: System, deviation: Deviation) -> list[str]:
    path, _ = deviation_file(system, deviation)
    parted = first_parting(system, deviation)
    rows = [f"| {what} | {text} | {other} |" for what, text, other in parted.rows]
    replaced = ", ".join(f"`{law}`" for law in deviation.replaces)
    return [
        f"### {deviation.name}",
        "",
        f"{deviation.says} *({deviation.source}.)*",
        "",
        *(f"- {reading}" for reading in _both(deviation.here)),
        "",
        f"[The case](../{path.as_posix()}), {settings(deviation.case)}:",
        "",
        *commands(deviation.case),
        "",
        f"| after step {parted.step} | `text` | `{deviation.name}` |",
        "|---|---|---|",
        *rows,
        "",
        f"Not claimed under it: {replaced or 'nothing; every law holds in both readings'}.",
    ]


def _both(here: str) -> list[str]:
    """`text: … other: …` as two sentences."""
    found = re.fullmatch(r"(text): (.*?) ([A-Z]?[a-z-]+): (.*)", here, re.DOTALL)
    if found is None:
        return [here]
    other = "the deviation" if found[3] == "Here" else found[3]
    return [f"**text**: {found[2]}", f"**{other}**: {found[4]}"]


def lifetimes(_: str) -> list[str]:
    lines = ["| an entry that | bound | at ttl 10, δ 3, M 2 | seen in the model |", "|---|---|---|---|"]
    return lines + [f"| {row.which} | {row.formula} | {row.value} | {row.seen} |" for row in lifetime_rows()]


def limits(name: str) -> list[str]:
    """What the laws of a system can not see, as they say themselves."""
    laws = [law for law in _entry(name).system.laws if law.blind]
    return [f"- `{law.name}`: {law.blind}" for law in laws] or ["No law names a limit of its own."]


def clauses(name: str) -> list[str]:
    """Clauses of the proposal that no law covers."""
    rows = [f"| {clause} | {reason} |" for clause, reason in _entry(name).system.clauses]
    return ["| clause | why no law covers it |", "|---|---|", *rows]


def case(path: str) -> list[str]:
    """A committed case as a list."""
    shown = saved(path)
    return [f"[The case](../{path}), {settings(shown)}:", "", *commands(shown)]


def finding(_: str) -> list[str]:
    """What `brokerlaw check` prints of the committed finding."""
    shown = saved(SHOWN)
    entry, subject = _entry(shown.system), f"mutant:{SHOWN.stem}"
    done = run(entry.system, find_subject(entry, subject).make(), shown, only=(SHOWN_LAW,), model=False)
    assert done.breach is not None, f"{SHOWN} does not break {SHOWN_LAW} any more"
    found = Finding(shown.system, subject, done.breach, shown)
    replay = f"brokerlaw replay {SHOWN.as_posix()} --subject {subject}"
    return ["```text", *draw([Filed(found, SHOWN, replay)], entry.system, Style()), "```"]


def _entry(name: str) -> Entry:
    return find_entry(name)


GENERATORS: dict[str, Callable[[str], list[str]]] = {
    maker.__name__: maker for maker in (systems, readings, deviations, lifetimes, limits, clauses, case, finding)
}


# ---- Files ----------------------------------------------------------------------------------------------------------


def page(text: str) -> str:
    """A page with everything between markers made anew."""
    begun, ended = text.count("<!-- generated: "), text.count("<!-- end -->")
    if not begun == ended == len(BLOCK.findall(text)):
        raise SystemExit(f"a page has {begun} markers that begin and {ended} that end; expected them in pairs")

    def made(found: re.Match[str]) -> str:
        lines = GENERATORS[found[2]](found[3] or "")
        return "".join([found[1], *(f"{line}\n" for line in lines), found[4]])

    return BLOCK.sub(made, text)


def files() -> Iterator[tuple[Path, str]]:
    """Every file that is generated, in part or whole, as it should be."""
    for entry in TABLE:
        for deviation in entry.system.deviations:
            yield deviation_file(entry.system, deviation)
    yield PICTURE, drawn(ROOT / SHOWN, f"mutant:{SHOWN.stem}", (SHOWN_LAW,))
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = path.read_text(encoding="utf-8")
        if "<!-- generated: " in text:
            yield path.relative_to(ROOT), page(text)


def main() -> int:
    parser = argparse.ArgumentParser(description="Generates what the docs say of the declarations.")
    parser.add_argument("--write", action="store_true", help="write what is out of date")
    write = parser.parse_args().write
    stale = 0
    for path, text in files():
        place = ROOT / path
        if place.exists() and place.read_text(encoding="utf-8") == text:
            continue
        stale += 1
        if write:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        print(f"{path}: {'written' if write else 'out of date; run: python tools/docs.py --write'}")
    return int(bool(stale) and not write)


if __name__ == "__main__":
    raise SystemExit(main())
