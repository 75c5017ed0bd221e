"""What `check` and `fuzz` share: the options of a campaign, and what is kept of it."""

from __future__ import annotations

import os
import shlex
import sys
from argparse import Namespace
from collections.abc import Callable
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..driver import campaign
from ..driver.child import DEFAULT_LIMITS, Limits
from ..driver.errors import Usage
from ..driver.finding import Finding
from ..driver.report import Report
from ..driver.subjects import find_subject
from ..driver.swarm import CHECKED_RATE
from .findings import Filed, filed_data, replay_command
from .names import check_dialect, check_laws, entries_for, subject_name
from .options import Parser, add_dialect, add_seed, add_subject, add_systems, seconds, whole

DEFAULT_OUT = Path("brokerlaw-out")


def add_campaign(parser: Parser, cases: int) -> None:
    """The options of every campaign."""
    add_systems(parser, "check against this system; all of them where none is named")
    add_subject(parser)
    parser.add_argument("--mutant", metavar="NAME", help="the same as --subject mutant:NAME")
    add_dialect(parser)
    add_seed(parser)
    parser.add_argument(
        "--cases", type=whole(1), default=cases, metavar="N", help="cases for each system (%(default)s)"
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
        "--time-budget",
        type=seconds,
        metavar="S",
        help="end after so many seconds with what there is by then (fuzz: from when Spark is up, and what is under way "
        "may take 10 more)",
    )
    parser.add_argument("--max-steps", type=whole(1), metavar="N", help="cut every case after so many steps")
    parser.add_argument(
        "--case-seconds",
        type=seconds,
        default=DEFAULT_LIMITS.case_seconds,
        metavar="S",
        help="what one case may take before it is ended and listed as a hang (%(default)g)",
    )
    parser.add_argument(
        "--case-memory",
        type=whole(1),
        default=DEFAULT_LIMITS.memory_bytes // 2**20,
        metavar="MIB",
        help="memory that a subject may take before its case is ended and listed (%(default)s)",
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
    parser.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="name the laws that were never put to the test; with fuzz: show what Spark says, too",
    )


def _share(rate: float) -> str:
    share = Fraction(rate).limit_denominator(1_000)
    return f"{'one case' if share.numerator == 1 else f'{share.numerator} cases'} of {share.denominator}"


def options_from(args: Namespace, jobs: int) -> campaign.Options:
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
        jobs,
        Limits(case_seconds=args.case_seconds, memory_bytes=args.case_memory * 2**20),
        checked=True if args.every_step else None,
        model=not args.no_model,
        max_steps=args.max_steps,
    )


def names_of(args: Namespace, options: campaign.Options) -> tuple[str, ...]:
    """The systems by the names that they can be looked up by again: a user's own by MODULE:NAME."""
    given = list(dict.fromkeys([*args.systems, *args.own_systems]))
    return tuple(given) if given else tuple(entry.name for entry in options.entries)


def own_systems(args: Namespace, options: campaign.Options) -> dict[str, str]:
    """The name that each of the user's own systems was given by."""
    named = zip(names_of(args, options), options.entries, strict=True)
    return {entry.name: name for name, entry in named if ":" in name}


def check_apart(corpus: Path | None, out: Path | None) -> None:
    """A corpus is read whole, so that nothing else may be written into it."""
    if corpus is not None and out is not None and out.absolute().is_relative_to(corpus.absolute()):
        raise Usage(f"--out {out} is in --corpus {corpus}: name a folder beside it, since what is written is no case")


def check_folder(folder: Path) -> None:
    """Says so where nothing could be written into a folder."""
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    inside = "" if there == folder else f" can not be made, since {there}"
    if not there.is_dir():
        raise Usage(f"{folder}{inside} is not a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise Usage(f"{folder}{inside} is a folder that you can not write into")


def file_findings(
    report: Report, save: Callable[[Finding], Path], own_systems: dict[str, str], laws: tuple[str, ...]
) -> tuple[list[Filed], str]:
    """Saves what was found, as far as that can be done; and the first sentence that says why something could not."""
    filed: list[Filed] = []
    failure = ""
    for part in report.systems:
        for finding in (*part.findings, *part.ended):
            path = part.file_of(finding)
            try:
                path = path or save(finding)
            except Usage as unwritten:
                failure = failure or str(unwritten)
            replay = replay_command(path, finding.subject, own_systems.get(part.system), laws) if path else ""
            filed.append(Filed(finding, path, replay))
    return filed, failure


def report_data(report: Report, filed: list[Filed], made: dict[str, Any]) -> dict[str, Any]:
    """The report as JSON data, with each finding's case as an object and where it was saved."""
    data = report.to_json()
    drawn = [filed_data(each) for each in filed]
    for part in data["systems"]:
        for kind in ("findings", "ended"):
            part[kind], drawn = drawn[: len(part[kind])], drawn[len(part[kind]) :]
    return {**data, "made": made}


def made(engine: str, options: campaign.Options, elapsed_seconds: float, environment: dict[str, Any]) -> dict[str, Any]:
    """How a report was made: the command, when, on what, and which laws were asked when."""
    return {
        "engine": engine,
        "command": shlex.join(["brokerlaw", *sys.argv[1:]]),
        "when": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "seconds": elapsed_seconds,
        "environment": environment,
        "policy": _policy(options),
    }


def _policy(options: campaign.Options) -> str:
    if not options.model:
        return "every law at every step of every case; the model was set aside"
    if options.checked:
        return "every law at every step of every case, and every outcome and snapshot compared with the model"
    return (
        f"every law at every step in {_share(CHECKED_RATE)}, drawn by lot; in the others every outcome, and the "
        "snapshot now and then, compared with the model, and the whole case run again with every law where something "
        "differs"
    )
