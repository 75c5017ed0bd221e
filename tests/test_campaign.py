"""Campaigns, their reports, the corpus, subjects by name, and the kill table."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from brokerlaw.driver.campaign import Options, Progress, check
from brokerlaw.driver.child import Limits
from brokerlaw.driver.corpus import add_to_corpus, corpus_name, read_corpus
from brokerlaw.driver.errors import Usage
from brokerlaw.driver.finding import Finding
from brokerlaw.driver.kills import kill_table, matrix, sole_killers
from brokerlaw.driver.loop import Job, run_cases
from brokerlaw.driver.report import LawRow, SystemReport
from brokerlaw.driver.subjects import find_entry, find_subject
from brokerlaw.reference.mutant import Mutant
from brokerlaw.reference.table import TABLE, Entry
from brokerlaw.spec.core import NOT_OBSERVED, Case, write_case

from .toy import MUTANTS, TOY, Config, Insert, LastCoinIsFree, Push, Snapshot, Tick, Turnstile

ENTRY = Entry(TOY, Turnstile, {"legacy": LastCoinIsFree}, MUTANTS)
HERE = __name__
CASES = 300


def _options(subject: str = "reference", **more: Any) -> Options:
    return Options(**{"entries": (ENTRY,), "subject": subject, "seed": 5, "cases": CASES, "jobs": 2, **more})


def _check(subject: str = "reference", **more: Any) -> SystemReport:
    (only,) = check(_options(subject, **more)).systems
    return only


def _row(report: SystemReport, law: str) -> LawRow:
    return next(row for row in report.laws if row.law == law)


# ---- Campaigns ------------------------------------------------------------------------------------------------------


def test_the_reference_passes_with_evidence_for_each_law() -> None:
    report = check(_options())
    (toy,) = report.systems
    assert report.exit_code == 0
    assert report.digest == run_cases(Job(TOY, Turnstile, "toy", 5), range(CASES)).tally.digest_hex()
    assert (toy.cases_run, toy.cases_asked, toy.stopped) == (CASES, CASES, "")
    assert {row.evidence for row in toy.laws} == {"fuzzed"}
    assert toy.not_reached == ()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_fails_with_a_shrunk_finding_named_by_its_law(mutant: Mutant) -> None:
    report = check(_options(f"mutant:{mutant.name}"))
    (toy,) = report.systems
    assert report.exit_code == 1
    assert _row(toy, mutant.breaks).evidence == "violated"
    assert {finding.breach.law for finding in toy.findings} == {mutant.breaks}
    assert all(finding.shrunk for finding in toy.findings)
    assert len({finding.shape for finding in toy.findings}) == len(toy.findings)


def test_a_tolerated_law_is_shown_and_does_not_fail_the_run() -> None:
    law = "a_pass_costs_exactly_its_price"
    report = check(_options("legacy", tolerated=(law,)))
    (toy,) = report.systems
    assert report.exit_code == 0
    assert _row(toy, law).evidence == "violated"
    assert _row(toy, law).tolerated
    assert toy.findings
    assert all(finding.tolerated for finding in toy.findings)


def test_a_law_that_was_never_put_to_the_test_is_unknown() -> None:
    report = _check(cases=0)
    assert report.cases_run == 0
    assert {row.evidence for row in report.laws} == {"unknown"}


class Blind(Turnstile):
    unobserved = frozenset({"credits"})

    def snapshot(self) -> Snapshot:
        return super().snapshot()._replace(credits=NOT_OBSERVED)


def test_a_law_over_something_that_the_subject_does_not_show_is_not_observed() -> None:
    report = _check(f"{HERE}:Blind")
    assert {row.evidence for row in report.laws} == {"not observed"}
    assert {row.law: row.observed for row in report.reached} == {
        "a_coin_comes_back": True,
        "somebody_passes_while_another_waits": False,
    }


def test_only_the_named_laws_are_asked() -> None:
    law = "idle_credit_comes_back"
    report = _check(only=(law,), checked=True)
    assert [row.law for row in report.laws] == [law]
    assert list(report.tally.laws) == [law]
    assert report.tally.checked_cases == CASES


def test_laws_alone_find_what_the_model_would_have_found() -> None:
    report = _check("mutant:only-first-purse-ages", model=False)
    assert _row(report, "idle_credit_comes_back").evidence == "violated"


class ExitsAtSeven(Turnstile):
    def apply(self, command: Any) -> Any:
        if self.purses.get("bob", [0])[0] == 7 and self.config.price_coins == 2:
            os._exit(3)
        return super().apply(command)


def test_cases_that_ended_their_process_are_listed_and_fail_the_run() -> None:
    report = check(_options(f"{HERE}:ExitsAtSeven"))
    (toy,) = report.systems
    assert report.exit_code == 1
    assert toy.cases_run + toy.cases_ended == CASES
    assert toy.ended_count == {"crash exit code 3": toy.cases_ended}
    assert check(_options(f"{HERE}:ExitsAtSeven", tolerated=("crash",))).exit_code == 0


class Slow(Turnstile):
    def apply(self, command: Any) -> Any:
        time.sleep(0.001)
        return super().apply(command)


def test_a_time_budget_says_how_many_of_how_many_cases_ran() -> None:
    told: list[Progress] = []
    report = check(_options(f"{HERE}:Slow", cases=10_000, time_budget_seconds=1.0), told.append)
    (toy,) = report.systems
    assert 0 < toy.cases_run < toy.cases_asked == 10_000
    assert "time budget" in toy.stopped
    assert told
    assert {(each.system, each.cases_asked) for each in told} == {("toy", 10_000)}


def test_the_digest_of_several_systems_does_not_depend_on_their_order() -> None:
    twin = Entry(evolve(TOY, name="twin"), Turnstile)
    one, other = (check(_options(entries=entries, cases=50)) for entries in ((ENTRY, twin), (twin, ENTRY)))
    assert one.digest == other.digest
    assert one.digest not in {system.tally.digest_hex() for system in one.systems}
    assert check(_options(entries=(ENTRY, twin), cases=51)).digest != one.digest


def test_a_report_is_plain_json_and_the_same_but_for_seconds() -> None:
    one, other = (check(_options("legacy", jobs=jobs)).to_json() for jobs in (1, 2))
    for data in (one, other):
        assert json.loads(json.dumps(data)) == data
        assert data["brokerlaw-report"] == 2
        assert data["systems"][0].pop("seconds") >= 0
    assert one == other


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"dialect": "pulsar"}, "toy has no dialect 'pulsar'; it has text, strict"),
        ({"only": ("nothing_holds",)}, "there is no law 'nothing_holds' in toy"),
        ({"tolerated": ("nothing_holds",)}, "there is no law 'nothing_holds' in toy to tolerate"),
        ({"corpus": Path("no/such/folder")}, "corpus no/such/folder does not exist"),
        ({"subject": "referense"}, r"toy has no subject 'referense' \(did you mean reference\?\)"),
    ],
)
def test_an_option_that_can_not_be_used_is_refused_before_anything_runs(more: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Usage, match=sentence):
        check(_options(**more), lambda progress: pytest.fail("something ran"))


def test_the_dialect_is_the_one_that_was_asked_for() -> None:
    assert check(_options(dialect="strict")).exit_code == 0
    assert _check(dialect="strict").tally.digest != _check().tally.digest


# ---- The corpus -----------------------------------------------------------------------------------------------------


def _finding() -> Finding:
    return _check("legacy").findings[0]


def test_a_saved_finding_is_replayed_first_and_found_again(tmp_path: Path) -> None:
    path = add_to_corpus(tmp_path, _finding())
    (saved,) = read_corpus(tmp_path, {"toy": TOY}.get).cases
    assert saved.case.commands == _finding().case.commands
    broken = _check("legacy", corpus=tmp_path, cases=0)
    assert (broken.corpus.cases, broken.corpus.broken) == (1, 1)
    assert [finding.number for finding in broken.findings] == [None]
    row = _row(broken, "a_pass_costs_exactly_its_price")
    assert (row.evidence, row.broken_cases, row.broken_saved) == ("violated", 0, 1)
    mended = _check(corpus=tmp_path, cases=0)
    assert (mended.corpus.cases, mended.corpus.broken) == (1, 0)
    assert path.name == corpus_name(_finding())
    assert path.name.startswith("toy-a_pass_costs_exactly_its_price-")


def test_a_corpus_is_read_with_its_subfolders_and_without_the_cases_of_other_systems(tmp_path: Path) -> None:
    path = add_to_corpus(tmp_path / "deep" / "er", _finding())
    for number in range(3):
        (tmp_path / f"{number}.json").write_text('{"brokerlaw-case": 1, "system": "other", "commands": []}')
    report = check(_options("legacy", corpus=tmp_path, cases=0))
    (toy,) = report.systems
    assert (toy.corpus.cases, report.skipped) == (1, 3)
    assert [toy.file_of(finding) for finding in toy.findings] == [path]


def test_an_interrupt_ends_every_system_with_what_there_is() -> None:
    twin = Entry(evolve(TOY, name="twin"), Slow)
    options = _options(entries=(evolve(ENTRY, reference=Slow), twin), cases=10_000)
    told: list[Progress] = []
    report = check(options, told.append, interrupted=lambda: any(progress.cases for progress in told))
    first, second = report.systems
    assert (first.stopped, second.stopped) == ("interrupted", "interrupted")
    assert 0 < first.cases_run < 10_000
    assert second.cases_run == 0
    assert report.exit_code == 130


def test_a_saved_case_that_hangs_costs_itself_only(tmp_path: Path) -> None:
    cases: dict[str, list[Any]] = {"a": [Insert("ann", 1), Push("ann")], "b": [Insert("bob", 1), Tick()], "c": [Tick()]}
    for name, commands in cases.items():
        (tmp_path / f"{name}.json").write_text(write_case(Case("toy", Config(), commands)))
    report = _check(f"{HERE}:HangsForBob", corpus=tmp_path, cases=0, limits=Limits(case_seconds=0.3))
    assert (report.corpus.cases, report.corpus.ended) == (2, 1)
    (ended,) = report.ended
    assert ended.breach.kind == "hang"
    assert ended.case.note == "b.json"
    assert report.file_of(ended) == tmp_path / "b.json"


def test_a_time_budget_bounds_the_saved_cases_too(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.json").write_text(write_case(Case("toy", Config(), [Insert("bob", 1), Tick()])))
    began = time.monotonic()
    report = _check(f"{HERE}:HangsForBob", corpus=tmp_path, cases=5, time_budget_seconds=0.5)
    assert time.monotonic() - began < 10
    assert (report.corpus.cases, report.cases_run, report.stopped) == (0, 0, "the time budget ended")


class HangsForBob(Turnstile):
    def apply(self, command: Any) -> Any:
        while command == Insert("bob", 1):
            time.sleep(1)
        return super().apply(command)


def test_a_finding_is_saved_once_and_never_over_another_file(tmp_path: Path) -> None:
    path = add_to_corpus(tmp_path, _finding())
    text = path.read_text()
    assert add_to_corpus(tmp_path, _finding()) == path
    assert path.read_text() == text
    path.write_text("something else")
    with pytest.raises(Usage, match="is there already with another case; it was not overwritten"):
        add_to_corpus(tmp_path, _finding())
    assert path.read_text() == "something else"
    assert list(tmp_path.iterdir()) == [path]


def test_a_bad_file_of_a_corpus_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"brokerlaw-case": 1, "system": "toy", "commands": [{"do": "Jump"}]}')
    with pytest.raises(Usage, match=r"bad\.json, command 1: toy has no command 'Jump'"):
        check(_options(corpus=tmp_path))


# ---- Subjects and systems by name -----------------------------------------------------------------------------------

SUBJECT = Turnstile()
NUMBER = 4


def needs_arguments(host: str, port: int, timeout: float = 1.0) -> Turnstile:
    return Turnstile()


def raises() -> Turnstile:
    raise OSError("no route to the broker")


def gives_a_number() -> int:
    return 4


class HasNoSnapshot:
    def reset(self, config: Any, dialect: Any) -> None: ...

    def apply(self, command: Any) -> None: ...


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("nonsense", "toy has no subject 'nonsense'; expected reference, legacy, mutant:NAME, or MODULE:FACTORY"),
        ("mutant:last-coin-is-fre", r"toy has no mutant 'last-coin-is-fre' \(did you mean last-coin-is-free\?\)"),
        ("exec:./broker", "subject 'exec:./broker': programs in other languages come with the conformance kit"),
        ("no.such.module:Thing", "there is no module 'no' here"),
        ("not a module:Thing", "'not a module' is not the name of a module"),
        (f"{HERE}:Turnstil", r"has no 'Turnstil' \(did you mean Turnstile"),
        (f"{HERE}:", "has no ''"),
        (f"{HERE}:NUMBER", "expected a class or function that gives a subject, got an object of class int"),
        (f"{HERE}:SUBJECT", "it has the methods of a subject: name its class instead"),
        (f"{HERE}:needs_arguments", r"it needs arguments \(host, port\)"),
        (f"{HERE}:raises", "calling it raised OSError: no route to the broker"),
        (f"{HERE}:gives_a_number", "gives an object of class int, which is not a subject: it has no method reset"),
        (f"{HERE}:HasNoSnapshot", r"it has no method snapshot\(\)"),
        (f"{HERE}:TOY", "this is a system; expected a subject"),
    ],
)
def test_a_subject_that_can_not_be_used_is_refused_in_a_sentence(name: str, sentence: str) -> None:
    with pytest.raises(Usage, match=sentence):
        find_subject(ENTRY, name)


def test_an_import_error_inside_the_users_module_is_the_one_that_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_broker.py").write_text("import no_such_library\n")
    (tmp_path / "worse_broker.py").write_text("1 / 0\n")
    (tmp_path / "my_broker.py").write_text("from tests.toy import Turnstile as Broker\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    with pytest.raises(Usage, match="importing broken_broker failed: No module named 'no_such_library'"):
        find_subject(ENTRY, "broken_broker:Broker")
    with pytest.raises(Usage, match="importing worse_broker failed: ZeroDivisionError"):
        find_subject(ENTRY, "worse_broker:Broker")
    assert isinstance(find_subject(ENTRY, "my_broker:Broker").make(), Turnstile)


def test_systems_are_found_by_name_and_in_the_users_modules() -> None:
    assert find_entry(TABLE[0].name) is TABLE[0]
    assert find_entry(f"{HERE}:ENTRY") is ENTRY
    own = find_entry(f"{HERE}:TOY")
    assert own.system is TOY
    with pytest.raises(Usage, match="toy has no reference of its own; name a subject, or load an Entry with one"):
        find_subject(own, "reference")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("entry_cash", r"there is no system 'entry_cash' \(did you mean entry_cache\?\)"),
        (f"{HERE}:Turnstile", "this is a subject; expected a System"),
        (f"{HERE}:NUMBER", "expected a System or an Entry, got an object of class int"),
    ],
)
def test_a_system_that_can_not_be_used_is_refused_in_a_sentence(name: str, sentence: str) -> None:
    with pytest.raises(Usage, match=sentence):
        find_entry(name)


# ---- Kills ----------------------------------------------------------------------------------------------------------


def test_every_toy_mutant_is_killed_by_the_law_it_names() -> None:
    for kill in kill_table(TOY, MUTANTS):
        assert (kill.by, kill.law) == ("law", kill.expected)


def test_a_mutant_that_nothing_can_tell_from_the_reference_survives() -> None:
    twin = Mutant("twin", "first-order", "Nothing is changed.", Turnstile, breaks="")
    (kill,) = kill_table(TOY, [twin], max_steps=2_000)
    assert not kill.killed
    assert kill.steps >= 2_000


def test_a_difference_that_no_law_sees_is_a_kill_by_the_model_alone() -> None:
    class PassesTwice(Turnstile):
        def snapshot(self) -> Snapshot:
            return super().snapshot()._replace(passed=2 * self.passed)

    (kill,) = kill_table(TOY, [Mutant("passes-twice", "first-order", "Counts double.", PassesTwice, breaks="")])
    assert (kill.by, kill.law) == ("model", "passed")


def test_each_law_of_the_toy_has_a_mutant_that_no_other_law_kills() -> None:
    rows = matrix(TOY, MUTANTS, steps=4_000)
    assert sole_killers(rows, [mutant.breaks for mutant in MUTANTS]) == {
        mutant.breaks: (mutant.name,) for mutant in MUTANTS
    }
