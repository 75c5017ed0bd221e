"""`brokerlaw report`: what a campaign showed, as a document that others can read."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from ..driver.errors import Usage
from ..driver.subjects import find_entry
from ..report.against import with_changes
from ..report.build import content_of
from ..report.content import Changes, Content, SystemPart, content_data
from ..report.findings import Known, known_systems
from ..report.reader import read_report
from ..report.words import VERDICT_WORDS
from ..report.write import FILES, FORMATS, write_formats
from ..spark_fuzz.places import is_address
from ..told import counted, plain
from .answer import Answer
from .options import Parser
from .terminal import Meter, Style, wrapped

SUMMARY = "make a document of what a campaign showed"
DESCRIPTION = """
    Reads DIR/report.json, which `fuzz --out DIR` and `check --out DIR` write, and makes the invariant report of it: a
    page, the same as Markdown and as JSON, and JUnit XML and SARIF for CI.  Without an option for a format it writes
    report.html, report.md, report.junit.xml and report.sarif into DIR.

    F is a file; `-` is standard output.  --json alone is --json -, as in every command.  A subject is never imported
    or run unless it comes with brokerlaw: the picture of a case is then drawn from the case itself.

      brokerlaw report brokerlaw-out                                the page and the rest, in that folder
      brokerlaw report brokerlaw-out --markdown - | less
      brokerlaw report tonight --against last-night                 what changed between two campaigns
      brokerlaw report out --system mypackage.spec:MY_SYSTEM        a system of your own

    Exit code 1: the campaign broke something that is not tolerated, or missed its canary and can not be trusted.
"""
STDOUT = "-"
MAX_SHOWN = 12  # changes of one group on the terminal; the page has them all


def add_arguments(parser: Parser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR", help="the folder of a campaign, with its report.json")
    for name, what in (
        ("html", "one page with everything in it"),
        ("markdown", "the same as Markdown"),
        ("junit", "JUnit XML, a test case for each law"),
        ("sarif", "SARIF 2.1.0, a result for each finding"),
    ):
        parser.add_argument(f"--{name}", metavar="F", help=what)
    parser.add_argument(
        "--json",
        nargs="?",
        const=STDOUT,
        metavar="F",
        help="the content as one JSON object, on stdout where F is left out",
    )
    parser.add_argument("--against", type=Path, metavar="DIR", help="the folder of another campaign: say what changed")
    parser.add_argument(
        "--system",
        dest="own_systems",
        action="append",
        default=[],
        metavar="MODULE:NAME",
        help="a system of your own that the campaign was on; can be given again",
    )


def run(args: Namespace, style: Style, meter: Meter) -> Answer:
    places = _places(args)
    known = known_systems({name: find_entry(name) for name in args.own_systems})
    content = _content(args.folder, known)
    if args.against is not None:
        content = with_changes(content, _content(args.against, known), str(args.against))
    files = {name: Path(place) for name, place in places.items() if place != STDOUT}
    written = write_formats(content, files)
    data = {**content_data(content), "written": [str(path) for path in written]}
    printed = [name for name, place in places.items() if place == STDOUT and name != "json"]
    if printed:
        return Answer(data, [FORMATS[printed[0]](content).rstrip("\n")], _code(content))
    return Answer(data, [*_lines(content, style), "", *_told(written, style)], _code(content))


def _places(args: Namespace) -> dict[str, str]:
    """Where each format goes that was asked for; into the campaign's folder where none was."""
    asked = {name: getattr(args, name) for name in FORMATS if getattr(args, name) is not None}
    on_stdout = [f"--{name}" for name, place in asked.items() if place == STDOUT]
    if len(on_stdout) > 1:
        raise Usage(f"{' and '.join(on_stdout)}: only one format can go to standard output")
    empty = next((name for name, place in asked.items() if not place), None)
    if empty is not None:
        raise Usage(f"--{empty}: expected the name of a file, or - for standard output")
    same = [place for place in asked.values() if list(asked.values()).count(place) > 1]
    if same:
        raise Usage(f"{same[0]}: two formats can not go to the same file")
    folders = [place for place in asked.values() if place != STDOUT and Path(place).is_dir()]
    if folders:
        raise Usage(f"{folders[0]}: this is a folder; expected the name of a file, or - for standard output")
    return asked or {name: str(args.folder / file) for name, file in FILES.items()}


def _content(folder: Path, known: Known) -> Content:
    if is_address(str(folder)):
        raise Usage(f"{folder}: expected a folder of this machine; copy its report.json into one first")
    return content_of(read_report(folder), known)


def _code(content: Content) -> int:
    """The campaign's own, but that what was seen here counts too, where somebody edited the file."""
    return 1 if content.exit_code == 1 or content.verdict.word in ("untrusted", "broken") else 0


# ---- As text --------------------------------------------------------------------------------------------------------


def _lines(content: Content, style: Style) -> list[str]:
    verdict = content.verdict
    colour = {"untrusted": style.bad, "broken": style.bad, "held": style.good}.get(verdict.word, style.doubtful)
    lines = [colour(f"{VERDICT_WORDS[verdict.word]}."), *wrapped(verdict.sentence, style.width, "  ")]
    for text in verdict.reservations:
        lines += [style.doubtful(line) for line in wrapped(text, style.width, "    ", "  ")]
    for part in content.systems:
        lines += ["", *_system(part, style)]
    if content.changes is not None:
        lines += ["", *_changes(content.changes, style)]
    return lines


def _system(part: SystemPart, style: Style) -> list[str]:
    counts = [(name, len(part.having(name))) for name in ("violated", "unknown", "not observed", "fuzzed")]
    told = ", ".join(f"{count} {name}" for name, count in counts if count)
    lines = [style.bold(f"{part.name}: {plain(part.named)}, dialect {part.dialect}")]
    lines.append(f"  of {counted(len(part.laws), 'law')} {told}")
    for finding in part.findings:
        word = style.doubtful("TOLERATED") if finding.tolerated else style.bad("BROKEN")
        lines.append(f"  {word}  {plain(finding.headline)}")
        lines += [f"          {plain(finding.replay)}"] if finding.replay else []
    return lines


def _changes(changes: Changes, style: Style) -> list[str]:
    lines = [style.bold(f"Against {plain(changes.before)}"), *wrapped(changes.sentence, style.width, "  ")]
    for name, group in changes.groups:
        lines.append(f"  {name}")
        for change in group[:MAX_SHOWN]:
            text = f"{change.what}: {change.before or 'not there'} -> {change.after}"
            colour = {True: style.bad, False: style.good, None: style.dim}[change.worse]
            sign = {True: "-", False: "+", None: "~"}[change.worse]
            lines += [colour(line) for line in wrapped(text, style.width, " " * 8, f"    {sign} ")]
        if len(group) > MAX_SHOWN:
            lines.append(f"    ... and {len(group) - MAX_SHOWN} more")
    return lines


def _told(written: tuple[Path, ...], style: Style) -> list[str]:
    if not written:
        return []
    lines = [f"wrote {', '.join(plain(path) for path in written)}"]
    page = next((path for path in written if path.suffix == ".html"), None)
    return [*lines, f"open  {style.bold(plain(page))}"] if page is not None else lines
