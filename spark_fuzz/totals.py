"""Totals: what a campaign's rows come to.  Spark adds them up; what reaches the driver does not grow with the cases.

Each range counts once, whatever is in the files: rows are told apart by the index of their range.
"""

from __future__ import annotations

import json
from typing import Any

from attrs import Factory, define
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - its name everywhere

from ..driver.effort import BUCKETS, Effort
from ..driver.errors import Usage
from ..driver.finding import finding_from_json
from ..driver.loop import Result
from ..driver.sketch import KEPT
from ..driver.tally import MAX_PAIRS
from ..spec.core import System
from .errors import SPARKS_OWN, sentence_of
from .plan import Plan
from .rows import SCHEMA
from .session import Session
from .storage import Folder

MOST_KEYS = 10_000  # of one kind of count that reach the driver: a subject may give any reason for a refusal
_SUMS = ("cases", "steps", "checked_cases", "checked_steps", "observed_steps", "digest")
_TALLIED, _LISTED = ("reached", "coverage"), ("broken", "ended_count")
_LAWS = ("held", "vacuous", "law_broken")


@define
class LaneTotals:
    """What the ranges of one lane came to."""

    effort: Effort
    result: Result = Factory(Result)
    ranges: int = 0
    caught: int = 0  # ranges in which something broke
    retried: int = 0  # ranges that a second attempt, or a later one, ran
    seconds: float = 0.0  # that its ranges took, added up
    peak_kib: int = 0  # the most memory that a worker or one of its children held


def totals(
    session: Session, folder: Folder, plan: Plan, systems: tuple[System, ...], max_findings: int
) -> list[LaneTotals]:
    """The totals of each lane, in order.  Raises Usage where the files can not be read."""
    lanes = [LaneTotals(Effort(plan.cases, plan.range_size)) for _ in systems]
    files = [folder.uri_of(wave.name) for wave in folder.waves()]
    if not files:
        return lanes
    rows = session.spark.read.schema(SCHEMA).parquet(*files).dropDuplicates(["range"]).persist()
    try:
        _add_counts(lanes, rows)
        _add_findings(lanes, rows, systems, max_findings)
        _add_efforts(lanes, rows, plan)
    except SPARKS_OWN as error:
        raise Usage(f"{folder.uri_of('ranges')}: can not be added up: {sentence_of(error)}") from None
    except (ValueError, TypeError, LookupError, AttributeError) as error:  # somebody else wrote in our files
        raise Usage(f"{folder.uri_of('ranges')}: a row is not as it should be: {error}") from None
    finally:
        rows.unpersist()
    return lanes


# ---- Counts: one long table of (lane, what, key, number), added up in one go ----------------------------------------


def _add_counts(lanes: list[LaneTotals], rows: DataFrame) -> None:
    entries = [_entry("sum", F.lit(name), F.col(name)) for name in _SUMS]
    entries += [
        _entry("ranges", F.lit(""), F.lit(1)),
        _entry("caught", F.lit(""), (F.size("broken") > 0).cast("int")),
        _entry("retried", F.lit(""), (F.col("attempt") > 0).cast("int")),
        _entry("peak", F.lit(""), F.col("peak_kib")),
        _entry("stopped", F.col("stopped"), F.lit(1)),
    ]
    maps = [_entries(name, name) for name in (*_TALLIED, *_LISTED)]
    laws = [_entries(name, "laws", place) for place, name in enumerate(_LAWS)]
    unobserved = F.transform("unobserved", lambda law: _entry("unobserved", law, F.lit(1)))
    table = rows.select("lane", F.explode(F.concat(F.array(*entries), *maps, *laws, unobserved)).alias("each"))
    table = (
        table.select("lane", "each.*")
        .groupBy("lane", "what", "key")
        .agg(F.sum("n").alias("n"), F.max("n").alias("most"))
    )
    alike = Window.partitionBy("lane", "what").orderBy("key")
    few = table.withColumn("place", F.row_number().over(alike)).where(F.col("place") <= MOST_KEYS)
    for row in few.orderBy("lane", "what", "key").collect():
        _count(lanes[row.lane], row.what, row.key, int(row.n), int(row.most))


def _entries(what: str, column: str, place: int | None = None) -> Column:
    """A map as entries; of one whose values are arrays, the number at a place."""

    def entry(each: Column) -> Column:
        return _entry(what, each["key"], each["value"] if place is None else each["value"][place])

    return F.transform(F.map_entries(column), entry)


def _entry(what: str, key: Column, number: Column) -> Column:
    return F.struct(F.lit(what).alias("what"), key.alias("key"), number.cast("decimal(20, 0)").alias("n"))


def _count(lane: LaneTotals, what: str, key: str, n: int, most: int) -> None:
    """Puts one line of the table where it belongs."""
    tally = lane.result.tally
    match what:
        case "sum" if key == "digest":
            tally.digest = n % 2**64
        case "sum":
            setattr(tally, key, n)
        case "ranges" | "caught" | "retried":
            setattr(lane, what, n)
        case "peak":
            lane.peak_kib = most
        case "stopped":
            lane.result.stopped = lane.result.stopped or key
        case "unobserved":
            lane.result.unobserved += (key,)
        case _ if what in _LAWS:
            tally.law(key)[_LAWS.index(what)] = n
        case _:
            counts: dict[str, int] = getattr(tally if what in _TALLIED else lane.result, what)
            counts[key] = n


# ---- Findings -------------------------------------------------------------------------------------------------------


def _add_findings(lanes: list[LaneTotals], rows: DataFrame, systems: tuple[System, ...], max_findings: int) -> None:
    """One finding of each shape, that of the lowest case number; of each thing that breaks the first few shapes."""
    listed = [rows.select("lane", F.lit(name).alias("list"), F.inline(name)) for name in ("findings", "ended")]
    same = Window.partitionBy("lane", "list", "kind", "law", "shape").orderBy("number")
    alike = Window.partitionBy("lane", "list", "kind", "law").orderBy("number")
    firsts = listed[0].union(listed[1]).withColumn("place", F.row_number().over(same)).where("place = 1")
    few = firsts.withColumn("place", F.row_number().over(alike)).where(F.col("place") <= max_findings)
    for row in few.orderBy("lane", "number").collect():
        finding = finding_from_json(json.loads(row.finding), systems[row.lane])
        getattr(lanes[row.lane].result, row.list).append(finding)


# ---- Effort ---------------------------------------------------------------------------------------------------------


def _add_efforts(lanes: list[LaneTotals], rows: DataFrame, plan: Plan) -> None:
    """How each lane went on: sums and sketches for each stretch of its cases."""
    placed = rows.withColumn("bucket", F.expr(f"cast(first * {BUCKETS} div {max(1, plan.cases)} as int)"))
    broken = F.aggregate(F.map_values("broken"), F.lit(0).cast("bigint"), lambda so_far, n: so_far + n)
    sums = (("cases", "cases"), ("steps", "steps"), ("seconds", "seconds"), ("findings", broken))
    counts = [F.sum(what).alias(name) for name, what in sums]
    for row in placed.groupBy("lane", "bucket").agg(F.count("*").alias("ranges"), *counts).collect():
        effort = lanes[row.lane].effort
        effort.ranges += row.ranges
        lanes[row.lane].seconds += row.seconds
        bucket = effort.bucket(row.bucket)
        bucket.cases, bucket.steps, bucket.findings = row.cases, row.steps, row.findings
    hashes = [
        placed.select("lane", "bucket", F.lit(name).alias("of"), F.explode(name).alias("hash"))
        for name in ("states", "pairs")
    ]
    smallest = Window.partitionBy("lane", "bucket", "of").orderBy("hash")
    ranked = hashes[0].union(hashes[1]).distinct().withColumn("place", F.row_number().over(smallest))
    kept = ranked.where(F.col("place") <= F.when(F.col("of") == "pairs", MAX_PAIRS).otherwise(KEPT))
    grouped: list[Any] = kept.groupBy("lane", "bucket", "of").agg(F.collect_list("hash").alias("hashes")).collect()
    for row in grouped:
        bucket = lanes[row.lane].effort.bucket(row.bucket)
        if row.of == "states":
            bucket.states = sorted(row.hashes)
        else:
            bucket.pairs = set(row.hashes)
