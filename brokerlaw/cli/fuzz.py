"""`brokerlaw fuzz`: a campaign on Spark, and the report that ends it."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve

from ..driver.campaign import default_jobs
from ..driver.corpus import add_to_corpus, corpus_name
from ..driver.errors import Usage
from ..driver.finding import Finding
from ..spark_fuzz.places import as_uri, is_address
from ..spec.core import write_case
from ..told import counted
from .answer import VERSION, Answer
from .campaigns import (
    DEFAULT_OUT,
    add_campaign,
    check_apart,
    check_folder,
    file_findings,
    made,
    names_of,
    options_from,
    own_systems,
    report_data,
)
from .check_text import report_lines
from .interrupts import Interrupts
from .options import Parser, whole
from .terminal import Meter, Style

if TYPE_CHECKING:
    from ..reference.table import Entry
    from ..spark_fuzz.engine import Done, FuzzOptions, Progress

SUMMARY = "run a campaign of any size on Spark; it ends with a report to open"
DESCRIPTION = """
    Runs the cases of `brokerlaw check` on Spark: the same seed gives the same digest and (with ranges of a multiple of
    250 cases) the same findings, on one core or on a cluster.  What is done is written to --out in waves, as Parquet; a
    campaign that was ended goes on with --resume.  A canary, a mutant that must be caught, travels along: where it is
    not, the campaign fails.

    Without --master it runs on an embedded Spark on all cores.  To run on a cluster, give its address, or use
    `spark-submit spark_fuzz/campaign.py` with the same options; docs/spark.md says how.

      brokerlaw fuzz --out tonight                            the references of all systems
      brokerlaw fuzz cursor_ranks --cases 1_000_000 --seed 7 --out tonight
      brokerlaw fuzz --out tonight --resume                   go on where it was ended, with the same options
      brokerlaw fuzz entry_cache --subject my:Cache --out hdfs://host/runs/1 --master spark://host:7077
      brokerlaw fuzz --time-budget 3600 --cases 100_000_000 --out tonight
"""
CASES = 25_000
FIRST = "report.html"


def add_arguments(parser: Parser) -> None:
    add_campaign(parser, CASES)
    parser.add_argument(
        "--out", required=True, metavar="DIR", help="a folder, or an address that Spark can write: hdfs://…, s3a://…"
    )
    parser.add_argument(
        "--master",
        metavar="URL",
        help="where Spark runs: local[2], local-cluster[2,1,1024], spark://host:7077, yarn, …",
    )
    parser.add_argument(
        "--range-size",
        type=whole(1),
        metavar="K",
        help="cases in a task, best a multiple of 250: then the findings kept are those of `check` (the digest always "
        "is); chosen by a short trial where it is not given",
    )
    parser.add_argument("--resume", action="store_true", help="go on with the campaign that is in --out")
    parser.add_argument(
        "--spark-conf",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting for Spark; can be given again",
    )


def run(args: Namespace, style: Style, meter: Meter) -> Answer:
    options = _options(args)
    from ..spark_fuzz.engine import fuzz  # only here: importing pyspark takes a second

    with Interrupts() as interrupts:
        try:
            with fuzz(options, lambda progress: meter.show(told(progress)), interrupts.came) as done:
                meter.clear()
                return _answer(args, options, done, style)
        except Usage:
            if interrupts.came():  # a JVM that Ctrl-C ended while it started is no news
                raise KeyboardInterrupt from None
            raise


def _options(args: Namespace) -> FuzzOptions:
    campaign = options_from(args, default_jobs())
    as_uri(args.out)  # says so where it can not be one
    if campaign.corpus is not None:
        check_folder(campaign.corpus)
    if not is_address(args.out):
        check_folder(Path(args.out))
        check_apart(campaign.corpus, Path(args.out))
    from ..spark_fuzz.engine import FuzzOptions

    return FuzzOptions(
        campaign,
        names_of(args, campaign),
        args.out,
        args.master,
        args.range_size,
        args.resume,
        args.verbose,
        dict(_setting(text) for text in args.spark_conf),
    )


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.startswith("spark."):
        raise Usage(f"--spark-conf {text}: expected spark.NAME=VALUE")
    return name, value


def _answer(args: Namespace, options: FuzzOptions, done: Done, style: Style) -> Answer:
    campaign, report = options.campaign, done.report
    given = own_systems(args, campaign)
    filed, failure = file_findings(report, lambda finding: _save(finding, options, done), given, campaign.only)
    how = made("spark", campaign, done.seconds, done.environment)
    data = report_data(report, filed, how)
    own = {given[entry.name]: entry for entry in campaign.entries if entry.name in given}
    try:
        done.folder.write("report.json", _json(data))  # first: the others can be made of it
        for name, text in _documents(data, own).items():
            done.folder.write(name, text)
    except Usage as unwritten:
        failure = failure or str(unwritten)
    systems = {entry.name: entry.system for entry in campaign.entries}
    *lines, digest = report_lines(report, systems, filed, style, campaign.model, args.verbose)
    opened = done.folder.uri_of(FIRST) if is_address(args.out) else str(Path(args.out, FIRST))
    return Answer(data, [*lines, *_beside(done, style), f"report {opened}", digest], report.exit_code, failure)


def _json(data: dict[str, Any]) -> str:
    return json.dumps({"brokerlaw": "fuzz", "version": VERSION, **data}, indent=1) + "\n"


def _documents(data: dict[str, Any], own: dict[str, Entry]) -> dict[str, str]:
    """The report in every format, by the names of its files."""
    from ..report.build import content_from
    from ..report.write import FILES, FORMATS

    content = content_from(data, own)
    return {file: FORMATS[name](content) for name, file in FILES.items()}


def _save(finding: Finding, options: FuzzOptions, done: Done) -> Path:
    """Saves the case of a finding with the campaign, and in a folder of this machine, where it can be replayed: the
    corpus, if there is one."""
    corpus, here = options.campaign.corpus, Path(options.out, "cases")
    if is_address(options.out):
        text = write_case(evolve(finding.case, note=finding.breach.evidence[:200]))
        done.folder.write(f"cases/{corpus_name(finding)}", text)
        here = DEFAULT_OUT
    if corpus is None or finding.tolerated:
        return add_to_corpus(here, finding)
    if here != DEFAULT_OUT:
        add_to_corpus(here, finding)
    return add_to_corpus(corpus, finding)


def _beside(done: Done, style: Style) -> list[str]:
    """What only a campaign on Spark has to say."""
    lines = []
    for canary in done.report.canaries:
        caught = f"caught in {canary.caught} of {counted(canary.ranges, 'range')}" if canary.ranges else "never run"
        what = f"canary {canary.mutant} of {canary.system}: {caught}"
        lines.append(style.bad(f"NOT CAUGHT: {what}") if canary in done.report.mute else what)
    if done.report.mute:
        lines.append(style.bad("The campaign can not be trusted: a bug that it must find was not found."))
    elif done.report.unheard and not done.report.nothing_ran:
        lines.append(style.bad("The campaign was too short for its canary: nothing shows that it would see a bug."))
    if done.resumed_ranges:
        lines.append(f"there already, and not run again: {counted(done.resumed_ranges, 'range')}")
    if done.given_up_ranges:
        lines.append(
            f"under way when it was ended, and not counted: {counted(done.given_up_ranges, 'range')} of "
            f"{counted(done.range_size, 'case')} (--resume runs them again)"
        )
    if done.retried_ranges:
        lines.append(f"run more than once, and counted once: {counted(done.retried_ranges, 'range')}")
    if done.peak_kib:
        lines.append(f"a worker held {done.peak_kib / 1024:,.0f} MiB at most")
    return lines


def told(progress: Progress) -> str:
    """A line of progress."""
    if progress.doing:
        return f"{progress.doing} …"
    rate = progress.steps / progress.seconds if progress.seconds else 0.0
    found = f", {counted(progress.findings, 'finding')}" if progress.findings else ""
    left = "" if progress.seconds_left is None else f", {_time(progress.seconds_left)} left"
    return (
        f"{progress.cases:,} of {progress.cases_asked:,} cases, {rate:,.0f} steps/s{found}, "
        f"{progress.ranges:,} of {progress.ranges_asked:,} ranges, {_time(progress.seconds)}{left}"
    )


def _time(seconds: float) -> str:
    whole_seconds = round(seconds)
    if whole_seconds < 90:
        return f"{whole_seconds} s"
    minutes, rest = divmod(whole_seconds, 60)
    return f"{minutes} min {rest:02d} s" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"
