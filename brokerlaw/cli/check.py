"""`brokerlaw check`: a campaign on a subject, and what it showed."""

from __future__ import annotations

import json
import os
import tempfile
from argparse import Namespace
from fractions import Fraction
from pathlib import Path
from typing import Any

from attrs import frozen

from ..driver import campaign
from ..driver.corpus import add_to_corpus
from ..driver.errors import Usage
from ..driver.finding import Finding
from ..driver.report import Report
from ..driver.subjects import find_subject
from ..driver.swarm import CHECKED_RATE
from ..reference.table import Entry
from .answer import VERSION, Answer
from .check_text import report_lines
from .findings import Filed, filed_data, replay_command
from .interrupts import Interrupts
from .names import check_dialect, check_laws, entries_for, subject_name
from .options import Parser, add_dialect, add_seed, add_subject, add_systems, seconds, whole
from .terminal import Meter, Style, counted

SUMMARY = "run cases on a subject, with the laws and the model on"
DESCRIPTION = """
    Runs cases drawn from a seed, asks the laws, compares with the model, and shrinks what breaks.  The same seed gives
    the same cases, the same findings and the same digest, which is the last line.

    The case of each finding is saved, in --corpus where that is given, else in --out; `brokerlaw replay` shows it step
    by step.  Exit code 1: something broke that is not tolerated.  Ctrl-C ends it with what there is by then, and with
    exit code 130; a second one ends it at once.

      brokerlaw check                                        the references of all systems
      brokerlaw check cursor_ranks --cases 1000 --seed 7
      brokerlaw check cursor_ranks --subject mypackage.ranks:Ranks
      brokerlaw check --mutant leaving-lowers-none           a bug put back in: see it caught
      brokerlaw check entry_cache --dialect text+one-lap     the proposal, read in another way
      brokerlaw check --system mypackage.spec:MY_SYSTEM      a system of your own
      brokerlaw check entry_cache --corpus cases/ --tolerate first_put_wins
"""
DEFAULT_OUT = Path("brokerlaw-out")


def add_arguments(parser: Parser) -> None:
    add_systems(parser, "check against this system; all of them where none is named")
    add_subject(parser)
    parser.add_argument("--mutant", metavar="NAME", help="the same as --subject mutant:NAME")
    add_dialect(parser)
    add_seed(parser)
    parser.add_argument(
        "--cases", type=whole(1), default=campaign.CASES, metavar="N", help="cases for each system (%(default)s)"
    )
    parser.add_argument(
        "--law",
        action="extend",
        nargs="+",
        default=[],
        metavar="NAME",
        help="ask these laws alone (the model compares all the same)",
    )
    parser.add_argument(
        "--tolerate",
        action="extend",
        nargs="+",
        default=[],
        metavar="LAW",
        help="laws that are known to be broken: their findings are listed and do not fail the run; beside laws "
        f"{', '.join(campaign.ENDINGS)}",
    )
    parser.add_argument(
        "--corpus", type=Path, metavar="DIR", help="a folder of saved cases: run first; new findings are added to it"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help=f"a folder for the cases of findings ({DEFAULT_OUT}, made when there is one) and, where this option is "
        "given, for report.json",
    )
    parser.add_argument(
        "--time-budget", type=seconds, metavar="S", help="end after so many seconds with what there is by then"
    )
    parser.add_argument(
        "--jobs",
        type=whole(1),
        default=campaign.default_jobs(),
        metavar="N",
        help="processes side by side (%(default)s)",
    )
    parser.add_argument(
        "--every-step",
        action="store_true",
        help=f"ask every law at every step of every case; without it that is done in {_share(CHECKED_RATE)}, drawn "
        "by lot, and the others are compared with the model first",
    )
    parser.add_argument(
        "--no-model", action="store_true", help="set the model aside: the laws alone judge, at every step"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="name the laws that were never put to the test")


def _share(rate: float) -> str:
    share = Fraction(rate).limit_denominator(1_000)
    return f"{'one case' if share.numerator == 1 else f'{share.numerator} cases'} of {share.denominator}"


def run(args: Namespace, style: Style, meter: Meter) -> Answer:
    options = options_from(args)
    folders = Folders(options.corpus, args.out)
    folders.check()
    with Interrupts() as interrupts:
        report = campaign.check(options, lambda progress: meter.show(_told(progress)), interrupts.came)
    meter.clear()
    own = {entry.name: name for name, entry in _own_systems(args, options).items()}
    filed, failure = _file(report, folders, own, options.only)
    data = report_data(report, filed)
    try:
        folders.write_report(data)
    except Usage as unwritten:
        failure = failure or str(unwritten)
    systems = {entry.name: entry.system for entry in options.entries}
    lines = report_lines(report, systems, filed, style, options.model, args.verbose)
    return Answer(data, lines, report.exit_code, failure)


def _file(
    report: Report, folders: Folders, own_systems: dict[str, str], laws: tuple[str, ...]
) -> tuple[list[Filed], str]:
    """Saves what was found, as far as that can be done; and the first sentence that says why something could not."""
    filed: list[Filed] = []
    failure = ""
    for part in report.systems:
        for finding in (*part.findings, *part.ended):
            path = part.file_of(finding)
            try:
                path = path or folders.save(finding)
            except Usage as unwritten:
                failure = failure or str(unwritten)
            replay = replay_command(path, finding.subject, own_systems.get(part.system), laws) if path else ""
            filed.append(Filed(finding, path, replay))
    return filed, failure


def options_from(args: Namespace) -> campaign.Options:
    """The campaign that was asked for; every name is looked up here, before anything runs."""
    subject = subject_name(args)
    entries = entries_for(args, subject)
    check_dialect(args.dialect, entries)
    check_laws("--law", args.law, entries)
    check_laws("--tolerate", args.tolerate, entries, endings=True)
    for entry in entries:
        find_subject(entry, subject)
    return campaign.Options(
        entries,
        subject,
        args.dialect,
        args.seed,
        args.cases,
        tuple(dict.fromkeys(args.law)),
        tuple(args.tolerate),
        args.corpus,
        args.time_budget,
        args.jobs,
        checked=True if args.every_step else None,
        model=not args.no_model,
    )


def _own_systems(args: Namespace, options: campaign.Options) -> dict[str, Entry]:
    """The user's own systems, by the names that they were given by."""
    names = list(dict.fromkeys([*args.systems, *args.own_systems]))
    return {name: entry for name, entry in zip(names, options.entries, strict=False) if ":" in name}


def _told(progress: campaign.Progress) -> str:
    found = f", {counted(progress.findings, 'finding')}" if progress.findings else ""
    return (
        f"{progress.system}, {progress.subject}: {progress.cases:,} of {progress.cases_asked:,} cases, "
        f"{progress.steps:,} steps{found}, {progress.seconds:.0f} s"
    )


def report_data(report: Report, filed: list[Filed]) -> dict[str, Any]:
    """The report as JSON data, with each finding's case as an object and where it was saved."""
    data = report.to_json()
    drawn = [filed_data(each) for each in filed]
    for part in data["systems"]:
        for kind in ("findings", "ended"):
            part[kind], drawn = drawn[: len(part[kind])], drawn[len(part[kind]) :]
    return data


@frozen
class Folders:
    """Where cases are saved."""

    corpus: Path | None
    out: Path | None

    def check(self) -> None:
        """Says so, before anything runs, where nothing could be saved."""
        for folder in (self.corpus, self.out or DEFAULT_OUT):
            if folder is not None:
                _check_folder(folder)

    def save(self, finding: Finding) -> Path:
        """A new finding goes into the corpus; one that is tolerated, or has no corpus to go to, goes into the other
        folder, as does every one where that was asked for."""
        if self.corpus is None or finding.tolerated:
            return add_to_corpus(self.out or DEFAULT_OUT, finding)
        if self.out is not None:
            add_to_corpus(self.out, finding)
        return add_to_corpus(self.corpus, finding)

    def write_report(self, data: dict[str, Any]) -> None:
        """report.json, whole or not at all."""
        if self.out is None:
            return
        path = self.out / "report.json"
        text = json.dumps({"brokerlaw": "check", "version": VERSION, **data}, indent=1)
        try:
            self.out.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=self.out, prefix=".report.", delete=False) as file:
                file.write(text + "\n")
            os.chmod(file.name, 0o644)
            os.replace(file.name, path)
        except OSError as error:
            raise Usage(f"{path}: can not be written: {error.strerror}") from None


def _check_folder(folder: Path) -> None:
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise Usage(f"{folder}: {there} is not a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise Usage(f"{folder}: nothing can be written in {there}")
