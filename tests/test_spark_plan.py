"""What a campaign on Spark consists of, without a Spark: plans, places, effort, sketches, identity."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, fields
from hypothesis import given
from hypothesis import strategies as st

from brokerlaw.driver import identity
from brokerlaw.driver.child import Limits
from brokerlaw.driver.effort import BUCKETS, Effort, bucket_of
from brokerlaw.driver.errors import Usage
from brokerlaw.driver.identity import code_version, identity_of, source_hash
from brokerlaw.driver.loop import Result
from brokerlaw.driver.sketch import BITS, KEPT, distinct, smallest, state_hash
from brokerlaw.driver.subjects import find_entry
from brokerlaw.driver.tally import Tally
from brokerlaw.spark_fuzz.errors import sentence_of
from brokerlaw.spark_fuzz.places import as_uri, is_address
from brokerlaw.spark_fuzz.plan import CANARY_CASES, CANARY_EVERY, Lane, Plan
from brokerlaw.spark_fuzz.session import packed
from brokerlaw.spark_fuzz.storage import Wave, missing

from .cli_subjects import TOY_ENTRY

A_PLAN = Plan(
    lanes=(Lane("toy", "reference"), Lane("my:SYSTEM", "my:Subject", "strict")),
    canaries=(Lane("toy", "mutant:maximum-plus-one", canary=True),),
    seed=3,
    cases=1_000,
    range_size=250,
    only=("a_law",),
    model=True,
    checked=None,
    max_steps=None,
    limits=Limits(),
    code="a" * 64,
    subjects=("b" * 64, "c" * 64),
)

# ---- Plans ----------------------------------------------------------------------------------------------------------


@given(
    cases=st.integers(0, 400),
    range_size=st.integers(1, 500),
    lanes=st.integers(1, 4),
    canaries=st.integers(0, 3),
)
def test_ranges_hold_every_case_of_every_lane_once(cases: int, range_size: int, lanes: int, canaries: int) -> None:
    plan = _plan_of(cases, range_size, lanes, canaries)
    ranges = [plan.range_at(index) for index in range(plan.ranges)]
    held = [(each.lane, number) for each in ranges for number in range(each.first, each.first + each.count)]
    assert len(held) == len(set(held))
    assert {pair for pair in held if pair[0] < lanes} == {
        (lane, case) for lane in range(lanes) for case in range(cases)
    }
    assert all(0 < each.count <= max(range_size, CANARY_CASES) for each in ranges)


@given(cases=st.integers(1, 3_000), lanes=st.integers(1, 3), canaries=st.integers(1, 3))
def test_the_first_range_is_a_canarys_and_so_is_one_of_every_few(cases: int, lanes: int, canaries: int) -> None:
    plan = _plan_of(cases, 10, lanes, canaries)
    of_canaries = [index for index in range(plan.ranges) if plan.range_at(index).lane >= lanes]
    assert of_canaries == list(range(0, plan.ranges, CANARY_EVERY))
    turns = [plan.range_at(index).lane - lanes for index in of_canaries]
    assert turns == [turn % canaries for turn in range(len(turns))]


def _plan_of(cases: int, range_size: int, lanes: int, canaries: int) -> Plan:
    lane = Lane("toy", "reference")
    return evolve(A_PLAN, lanes=(lane,) * lanes, canaries=(lane,) * canaries, cases=cases, range_size=range_size)


def test_a_plan_survives_json() -> None:
    assert Plan.from_json(json.loads(json.dumps(A_PLAN.to_json()))) == A_PLAN


SPOILED: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "another version": (lambda data: data.update(version=2), "version 2; this is version 1"),
    "a part that is missing": (lambda data: data.pop("seed"), "seed is missing"),
    "a part that is none": (lambda data: data.update(sed=3), "sed is no part of one"),
    "a number that is text": (lambda data: data.update(seed="3"), "'seed' must be <class 'int'>"),
    "a size of nothing": (lambda data: data.update(range_size=0), "'range_size' must be >= 1"),
    "no lanes": (lambda data: data.update(lanes=[]), "Length of 'lanes'"),
    "a lane with a strange part": (lambda data: data["lanes"][0].update(seat=3), "unexpected keyword argument 'seat'"),
    "a limit of nothing": (lambda data: data["limits"].update(case_seconds=0), "'case_seconds' must be > 0"),
}


@pytest.mark.parametrize("spoiled", SPOILED)
def test_what_is_no_plan_is_refused_with_what_is_wrong_in_it(spoiled: str) -> None:
    spoil, sentence = SPOILED[spoiled]
    data = json.loads(json.dumps(A_PLAN.to_json()))
    spoil(data)
    with pytest.raises((ValueError, TypeError)) as refused:
        Plan.from_json(data)
    assert sentence in refused.value.args[0]


@pytest.mark.parametrize("data", [None, [], "plan", 3])
def test_what_is_not_even_an_object_is_refused(data: object) -> None:
    with pytest.raises(ValueError, match="expected an object"):
        Plan.from_json(data)


OTHERS: dict[str, tuple[Any, str]] = {
    "lanes": (
        (Lane("toy", "legacy"),),
        "what is tested was toy reference (text), my:SYSTEM my:Subject (strict) and is",
    ),
    "canaries": ((), "the canary was toy mutant:maximum-plus-one (text) and is now none"),
    "seed": (4, "--seed was 3 and is now 4"),
    "cases": (9, "--cases was 1000 and is now 9"),
    "range_size": (500, "--range-size was 250 and is now 500"),
    "only": ((), "--law was a_law and is now none"),
    "model": (False, "the model was True and is now False"),
    "checked": (True, "--every-step was None and is now True"),
    "max_steps": (7, "--max-steps was None and is now 7"),
    "limits": (Limits(case_seconds=1.0), "what a case may cost was Limits(case_seconds=10.0"),
    "code": ("d" * 64, "brokerlaw's own code was aaaaaaaaaaaa and is now dddddddddddd"),
    "subjects": (
        ("b" * 64, "d" * 64),
        "the source of subject or system was bbbbbbbbbbbb, cccccccccccc and is now bbbbbbbbbbbb, d",
    ),
}


@pytest.mark.parametrize("name", [each.name for each in fields(Plan)])
def test_each_difference_of_two_plans_is_named(name: str) -> None:
    value, sentence = OTHERS[name]
    (difference,) = A_PLAN.differences(evolve(A_PLAN, **{name: value}))
    assert difference.startswith(sentence)
    assert A_PLAN.differences(A_PLAN) == []


# ---- Places, waves, errors ------------------------------------------------------------------------------------------


def test_a_place_without_a_scheme_is_a_folder_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert as_uri("runs/one") == f"file://{tmp_path}/runs/one"
    assert as_uri("/runs/a name, 100% odd #1") == "file:///runs/a name, 100% odd #1"
    assert as_uri("hdfs://host:9000/runs/") == "hdfs://host:9000/runs"
    assert [is_address(place) for place in ("runs", "/a:b", "./a:b", "s3a://bucket/x", "file:/x")] == [
        False,
        False,
        False,
        True,
        True,
    ]


@pytest.mark.parametrize("place", ["run[1]", "run*", "hdfs://host/{a}", "what?", "back\\slash"])
def test_a_place_that_spark_would_take_for_a_pattern_is_refused(place: str) -> None:
    with pytest.raises(Usage, match="part of a pattern"):
        as_uri(place)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 10)), max_size=8), st.integers(0, 50))
def test_what_is_missing_is_what_no_wave_holds(pieces: list[tuple[int, int]], ranges: int) -> None:
    waves = sorted((Wave(first, first + count) for first, count in pieces), key=lambda wave: wave.first)
    there = {index for wave in waves for index in range(wave.first, wave.stop)}
    gaps = missing(waves, ranges)
    asked = [index for gap in gaps for index in range(gap.first, gap.stop)]
    assert asked == sorted(asked)
    assert set(asked) & set(range(ranges)) == set(range(ranges)) - there
    assert all(index not in there for index in asked)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "An error occurred while calling o1.save.\n: org.apache.spark.SparkException: Job aborted.\n\tat a.b(C)\n"
            'Traceback (most recent call last):\n  File "x.py", line 1\nbrokerlaw.driver.errors.Usage: no such thing\n'
            "\n\tat d.e(F)\nCaused by: java.io.IOException: later",
            "no such thing",
        ),
        (
            "Job aborted: Traceback (most recent call last):\n  File \"x\"\nModuleNotFoundError: No module named 'x'\n",
            "No module named 'x'",
        ),
        (
            "An error occurred while calling o1.x.\n: org.apache.spark.SparkException: Could not parse it: 'a'\n",
            "Could not parse it: 'a'",
        ),
        ("[SOME_CLASS] a plain sentence\nJVM stacktrace:\n\tat a.b", "[SOME_CLASS] a plain sentence"),
        ("", "ValueError"),
    ],
)
def test_of_a_long_error_one_sentence_is_shown(text: str, sentence: str) -> None:
    assert sentence_of(ValueError(text)) == sentence


# ---- Effort and sketches --------------------------------------------------------------------------------------------

HASHES = st.lists(st.integers(0, 2**BITS - 1), max_size=600)


@given(HASHES, HASHES, HASHES)
def test_sketches_do_not_depend_on_how_things_were_grouped(one: list[int], two: list[int], three: list[int]) -> None:
    together = smallest([*one, *two, *three])
    assert smallest([*smallest([*one, *two]), *smallest(three)]) == together
    assert smallest([*smallest(one), *smallest([*three, *two])]) == together
    assert len(together) <= KEPT


@pytest.mark.parametrize("seed", range(5))
def test_a_sketch_tells_how_many_there_were(seed: int) -> None:
    chance = random.Random(seed)
    many = [state_hash((seed, chance.random())) for _ in range(100_000)]
    assert abs(distinct(smallest([*many, *many])) - 100_000) < 20_000
    assert distinct(smallest(many[:200] * 2)) == 200, "exact while all of them are kept"


@given(st.lists(st.tuples(st.integers(0, 999), st.integers(0, 99)), max_size=30), st.randoms())
def test_effort_does_not_depend_on_the_order_of_ranges(pieces: list[tuple[int, int]], chance: random.Random) -> None:
    results = [(first, _result(number)) for first, number in pieces]
    one, other = Effort(1_000, 250), Effort(1_000, 250)
    for first, result in results:
        one.add(first, result)
    chance.shuffle(results)
    for first, result in results:
        other.add(first, result)
    assert one.to_json() == other.to_json()
    points = one.points()
    assert len(points) <= BUCKETS
    assert [point.cases for point in points] == sorted(point.cases for point in points)
    if points:
        assert points[-1].cases == sum(result.tally.cases for _, result in results)
        assert points[-1].states == len({hashed for _, result in results for hashed in result.tally.states})


def _result(number: int) -> Result:
    tally = Tally(cases=number, steps=3 * number, states=[number, number + 1], pairs={number % 7})
    return Result(tally, broken={"law a": number % 2})


@given(st.integers(1, 10**9), st.data())
def test_every_case_has_a_bucket(cases: int, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, cases - 1))
    assert 0 <= bucket_of(first, cases) < BUCKETS


# ---- Identity -------------------------------------------------------------------------------------------------------

SOURCE = "from tests.toy import Turnstile\n\n\nclass Mine(Turnstile):\n    pass\n"


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of the user's with a subject, `own_package.gate:Mine`, and a module alone, `own_module:Mine`."""
    (tmp_path / "own_package").mkdir()
    for name in ("own_package/gate.py", "own_package/other.py", "own_module.py"):
        (tmp_path / name).write_text(SOURCE)
    (tmp_path / "own_package/__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    _forget()
    return tmp_path


def _forget() -> None:
    for name in [name for name in sys.modules if name.startswith("own_")]:
        del sys.modules[name]


def test_a_subjects_hash_changes_with_any_source_of_its_package(mine: Path) -> None:
    def hashes() -> list[str]:
        _forget()
        return [source_hash(TOY_ENTRY, "toy", name) for name in ("own_package.gate:Mine", "own_module:Mine")]

    package, module = hashes()
    assert hashes() == [package, module]
    (mine / "own_package/other.py").write_text(SOURCE + "# changed\n")
    assert hashes()[0] != package
    assert hashes()[1] == module
    (mine / "own_module.py").write_text(SOURCE + "# changed, too\n")
    assert hashes()[1] != module
    assert len({package, module}) == 2


def test_the_hash_changes_with_the_module_that_was_named_and_with_the_system(mine: Path) -> None:
    (mine / "own_alias.py").write_text("from brokerlaw.reference.cursor_ranks import CursorRanks as Mine\n")
    (mine / "own_spec.py").write_text("from tests.cli_subjects import TOY_ENTRY as SYSTEM\n")

    def hashed(system: str, subject: str) -> str:
        _forget()
        return source_hash(find_entry(system), system, subject)

    given = [("cursor_ranks", "own_alias:Mine"), ("own_spec:SYSTEM", "reference"), ("cursor_ranks", "reference")]
    before = [hashed(*names) for names in given]
    assert len(set(before)) == 3
    for changed in ("own_alias.py", "own_spec.py"):
        with (mine / changed).open("a") as file:
            file.write("# changed\n")
    assert [old == hashed(*names) for old, names in zip(before, given, strict=True)] == [False, False, True]


def test_a_subject_in_a_zip_has_the_hash_that_it_has_in_a_folder(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("own_package.gate:Mine", "own_module:Mine")
    in_folder = [identity_of(TOY_ENTRY, name).sha256 for name in names]
    zipped = mine.parent / f"{mine.name}.zip"
    subprocess.run([sys.executable, "-m", "zipfile", "-c", zipped, *mine.iterdir()], check=True, timeout=60)
    _forget()
    monkeypatch.setattr(sys, "path", [str(zipped), *[place for place in sys.path if place != str(mine)]])
    assert [identity_of(TOY_ENTRY, name).sha256 for name in names] == in_folder
    _forget()


def test_an_identity_names_commit_and_changes(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git = mine / "git"
    git.write_text('#!/bin/sh\ncase "$*" in *rev-parse*) echo abc123 ;; *) cat "$(dirname "$0")/status" ;; esac\n')
    git.chmod(0o755)
    monkeypatch.setenv("PATH", str(mine), prepend=":")
    for status, dirty in (("", False), (" M gate.py\n", True)):
        (mine / "status").write_text(status)
        identity._commit.cache_clear()
        found = identity_of(TOY_ENTRY, "own_package.gate:Mine")
        assert (found.commit, found.dirty, found.version) == ("abc123", dirty, "")
        assert (found.module, found.file) == ("own_package.gate", "own_package/gate.py")
    git.unlink()
    monkeypatch.setenv("PATH", str(mine))
    identity._commit.cache_clear()
    found = identity_of(TOY_ENTRY, "own_package.gate:Mine")
    assert (found.commit, found.dirty) == ("", None), "unknown is not clean"
    identity._commit.cache_clear()


def test_a_subject_of_an_installed_package_has_its_version(mine: Path) -> None:
    about = mine / "own_package_dist-2.5.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: own-package-dist\nVersion: 2.5\n")
    (about / "top_level.txt").write_text("own_package\n")
    assert identity_of(TOY_ENTRY, "own_package.gate:Mine").version == "2.5"


def test_our_own_code_has_the_same_hash_in_a_zip(tmp_path: Path) -> None:
    zipped = packed(tmp_path)
    asked = "from brokerlaw.driver import identity as it; print(it.__file__, it.code_version())"
    ran = subprocess.run(
        [sys.executable, "-c", asked],
        cwd=tmp_path,
        env={"PYTHONPATH": str(zipped)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    file, hashed = ran.stdout.split()
    assert file.startswith(str(zipped))
    assert hashed == code_version()
    assert packed(tmp_path).read_bytes() == zipped.read_bytes()


def test_an_executor_imports_no_engine_and_nothing_for_tables(root: Path) -> None:
    banned = ("hypothesis", "z3", "pandas", "numpy", "pyarrow", "matplotlib", "jinja2", "pytest")
    asked = f"import sys, brokerlaw.spark_fuzz.worker; print([name for name in {banned!r} if name in sys.modules])"
    ran = subprocess.run(
        [sys.executable, "-c", asked], cwd=root, capture_output=True, text=True, timeout=120, check=True
    )
    assert ran.stdout.strip() == "[]"
