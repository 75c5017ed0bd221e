"""`brokerlaw check`: a campaign on a subject, and what it showed."""

from __future__ import annotations

import json
import time
from argparse import Namespace
from pathlib import Path
from typing import Any

from attrs import frozen

from ..driver import campaign
from ..driver.corpus import add_to_corpus
from ..driver.errors import Usage
from ..driver.finding import Finding
from ..driver.identity import environment
from ..files import write_whole
from ..told import counted
from .answer import VERSION, Answer
from .campaigns import (
    DEFAULT_OUT,
    add_campaign,
    check_apart,
    check_folder,
    file_findings,
    made,
    options_from,
    own_systems,
    report_data,
)
from .check_text import report_lines
from .interrupts import Interrupts
from .options import Parser, whole
from .terminal import Meter, Style

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


def add_arguments(parser: Parser) -> None:
    add_campaign(parser, campaign.CASES)
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help=f"a folder for the cases of findings ({DEFAULT_OUT}, made when there is one) and, where this option is "
        "given, for report.json, which `brokerlaw report` makes a document of",
    )
    parser.add_argument(
        "--jobs",
        type=whole(1),
        default=campaign.default_jobs(),
        metavar="N",
        help="processes side by side (%(default)s)",
    )


def run(args: Namespace, style: Style, meter: Meter) -> Answer:
    options = options_from(args, args.jobs)
    folders = Folders(options.corpus, args.out)
    folders.check()
    began, ran_on = time.monotonic(), environment()
    with Interrupts() as interrupts:
        report = campaign.check(options, lambda progress: meter.show(_told(progress)), interrupts.came)
    meter.clear()
    filed, failure = file_findings(report, folders.save, own_systems(args, options), options.only)
    data = report_data(report, filed, made("check", options, time.monotonic() - began, ran_on))
    try:
        folders.write_report(data)
    except Usage as unwritten:
        failure = failure or str(unwritten)
    systems = {entry.name: entry.system for entry in options.entries}
    lines = report_lines(report, systems, filed, style, options.model, args.verbose)
    return Answer(data, lines, report.exit_code, failure)


def _told(progress: campaign.Progress) -> str:
    found = f", {counted(progress.findings, 'finding')}" if progress.findings else ""
    return (
        f"{progress.system}, {progress.subject}: {progress.cases:,} of {progress.cases_asked:,} cases, "
        f"{progress.steps:,} steps{found}, {progress.seconds:.0f} s"
    )


@frozen
class Folders:
    """Where cases are saved."""

    corpus: Path | None
    out: Path | None

    def check(self) -> None:
        """Says so, before anything runs, where nothing could be saved."""
        for folder in (self.corpus, self.out or DEFAULT_OUT):
            if folder is not None:
                check_folder(folder)
        check_apart(self.corpus, self.out)

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
        text = json.dumps({"brokerlaw": "check", "version": VERSION, **data}, indent=1)
        write_whole(self.out / "report.json", text + "\n")
