"""The report says what the campaign showed, the same in every format, each number beside what it is a number of."""

from __future__ import annotations

import copy
import io
import json
import re
from contextlib import redirect_stdout
from html import unescape
from xml.etree import ElementTree

import pytest

from brokerlaw.driver.checker import Breach, Row, Run
from brokerlaw.driver.tally import Tally
from brokerlaw.reference.table import entry_named
from brokerlaw.report.build import content_from
from brokerlaw.report.content import Content
from brokerlaw.report.html import html_of
from brokerlaw.report.junit import junit_of
from brokerlaw.report.markdown import block, code, escaped, markdown_of
from brokerlaw.report.plots import effort_plot
from brokerlaw.report.sarif import sarif_of
from brokerlaw.report.timeline import MAX_STEPS, draw, picture_of_case, picture_of_run
from brokerlaw.report.write import json_of

from . import report_samples as samples
from .cli_subjects import TOY_ENTRY

LAW = "rank_counts_at_or_before"


@pytest.fixture(scope="module")
def broken() -> Content:
    return content_from(samples.broken())


# ---- The verdict ----------------------------------------------------------------------------------------------------


def test_the_verdict_names_the_subject_exactly_and_has_denominators(broken: Content) -> None:
    said = broken.verdict.sentence
    assert broken.verdict.word == "broken"
    assert "mutant:rank-counts-before (version 1.2.0, commit 0123456789ab with uncommitted changes, sha256 abab" in said
    assert re.search(rf"In 60 of 60 cases .* broke 1 of \d+ laws \({LAW}\) of cursor_ranks \(PIP-430\)", said)
    assert "one command at a time" in broken.verdict.limits[0]


def test_a_clean_campaign_says_how_many_laws_were_tested() -> None:
    verdict = content_from(samples.clean()).verdict
    assert verdict.word == "held"
    assert re.search(r"broke no law: \d+ of \d+ laws of cursor_ranks", verdict.sentence)


def test_no_law_put_to_the_test_is_no_pass() -> None:
    data = samples.clean()
    for law in data["systems"][0]["laws"]:
        law |= {"evidence": "unknown", "held": 0}
    content = content_from(data)
    assert content.verdict.word == "untested"
    assert "shows little" in content.verdict.sentence
    suite = ElementTree.fromstring(junit_of(content))[0]
    passed = {case.get("name") for case in suite.iter("testcase") if len(case) == 0}
    assert passed.isdisjoint(law.law for law in content.systems[0].laws)


@pytest.mark.parametrize(("caught", "ranges"), [(3, 4), (0, 4)])
def test_a_campaign_that_misses_its_canary_is_not_to_be_trusted(caught: int, ranges: int) -> None:
    content = content_from(samples.untrusted(caught, ranges))
    assert content.verdict.word == "untrusted"
    assert content.verdict.sentence.startswith("This campaign can not be trusted: it missed a bug that it must find")
    assert "caught 0 of 1 canary" in content.mutants
    assert [each.tag for each in _test_case(content, "canary rank-counts-before of cursor_ranks")] == ["error"]
    assert ElementTree.fromstring(junit_of(content)).get("errors") == "1"
    (invocation,) = json.loads(sarif_of(content))["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    assert invocation["toolExecutionNotifications"][0]["message"]["text"] == content.verdict.sentence
    assert 'class="verdict untrusted"' in html_of(content)
    assert "**Not to be trusted.**" in markdown_of(content)


def test_a_campaign_that_was_too_short_for_its_canary_is_not_accused_of_missing_it() -> None:
    content = content_from(samples.untrusted(0, 0))
    assert content.verdict.word == "untrusted"
    assert content.verdict.sentence.startswith("This campaign can not be trusted: it was too short for its canary")
    assert [each.tag for each in _test_case(content, "canary rank-counts-before of cursor_ranks")] == ["skipped"]
    assert content.mutants.startswith("The campaign ended before its canary ran")


def test_a_campaign_that_ended_before_anything_was_run_says_just_that() -> None:
    data = samples.untrusted(0, 0)
    (system,) = data["systems"]
    system |= {"cases": {"asked": 100, "run": 0, "ended": 0}, "stopped": "the time budget ended", "steps": 0}
    for law in system["laws"]:
        law |= {"evidence": "unknown", "held": 0}
    verdict = content_from(data).verdict
    assert verdict.word == "untested"
    assert re.fullmatch(r"No case of 100 cases was run to its end on .*: the time budget ended\.", verdict.sentence)


def test_several_systems_are_told_in_one_sentence_and_then_each_in_its_own() -> None:
    verdict = content_from(samples.several()).verdict
    assert re.fullmatch(
        r"1 of 2 systems failed in .* cases \(.* steps\): .* of cursor_ranks broke .*\.", verdict.sentence
    )
    assert [text.partition(" drawn ")[0].startswith("In ") for text in verdict.details] == [True, True]
    assert "**Broken.** 1 of 2 systems failed in " in markdown_of(content_from(samples.several()))


def test_a_missed_canary_goes_before_what_broke() -> None:
    data = samples.broken()
    assert [len(each) for each in _self_test(content_from(data))] == [0]
    data["canaries"][0]["caught"] = 1
    assert content_from(data).verdict.word == "untrusted"


def test_a_system_that_held_does_not_speak_for_one_that_was_not_tested() -> None:
    data = samples.clean()
    other = copy.deepcopy(data["systems"][0])
    for law in other["laws"]:
        law |= {"evidence": "unknown", "held": 0}
    data["systems"].append(other)
    verdict = content_from(data).verdict
    assert verdict.word == "partly"
    assert verdict.sentence.startswith("1 of 2 systems held in ")
    assert verdict.sentence.endswith("; in the others no law was seen to hold.")


def test_saved_cases_are_counted_apart_from_drawn_ones() -> None:
    data = samples.clean()
    part = data["systems"][0]
    part["corpus"] |= {"cases": 2, "broken": 1}
    next(law for law in part["laws"] if law["law"] == LAW).update(evidence="violated", broken_saved=1)
    content = content_from(data)
    assert " steps) and 2 saved cases, " in content.verdict.sentence
    assert "0 of 60; saved: 1 of 2" in markdown_of(content)
    assert "0 of 60; saved: 1 of 2" in html_of(content)
    (failure,) = _test_case(content, LAW)
    assert (failure.get("message") or "").startswith("broken in 0 of 60 cases and 1 of 2 saved cases: ")


def test_clauses_that_no_law_covers_are_counted_whatever_was_asked() -> None:
    entry = entry_named("cursor_ranks")
    assert entry is not None
    few = samples.clean()
    few["systems"][0]["laws"] = few["systems"][0]["laws"][:1]
    told = f"{len(entry.system.clauses)} clauses that the spec names are covered by no law."
    for data in (few, samples.clean()):
        assert told in content_from(data).verdict.reservations


def test_a_system_of_the_users_own_has_its_sentences() -> None:
    data = samples.recorded("--system", "tests.cli_subjects:TOY_ENTRY", "--cases", "5")
    (bare,), (named,) = (content_from(data, own).systems for own in ({}, {"tests.cli_subjects:TOY_ENTRY": TOY_ENTRY}))
    assert (bare.at_hand, named.at_hand) == (False, True)
    assert all(law.sentence for law in named.laws)


def test_brokerlaw_from_its_sources_is_not_installed() -> None:
    data = samples.clean()
    data["made"]["environment"]["brokerlaw"] = ""
    assert "| brokerlaw | not installed |" in markdown_of(content_from(data))


def test_a_tolerated_finding_does_not_break_the_verdict() -> None:
    data = samples.broken()
    part = data["systems"][0]
    part["findings"][0]["tolerated"] = True
    next(law for law in part["laws"] if law["law"] == LAW)["tolerated"] = True
    content = content_from(data)
    assert content.verdict.word == "held"
    assert "1 of 1 finding tolerated." in content.verdict.reservations
    case = _test_case(content, LAW)
    assert [(each.tag, (each.get("message") or "").startswith("tolerated")) for each in case] == [("skipped", True)]
    result = json.loads(sarif_of(content))["runs"][0]["results"][0]
    assert (result["level"], len(result["suppressions"])) == ("note", 1)


def test_a_failure_that_no_law_names_is_a_failure() -> None:
    data = samples.broken()
    data["systems"][0]["findings"][0]["breach"] |= {"kind": "error", "law": "KeyError"}
    content = content_from(data)
    assert "failed in 1 way that no law names (raised KeyError)" in content.verdict.sentence
    assert [each.tag for each in _test_case(content, "raised KeyError")] == ["error"]


# ---- All formats say the same ---------------------------------------------------------------------------------------


def _test_case(content: Content, name: str) -> ElementTree.Element:
    suites = ElementTree.fromstring(junit_of(content))
    return next(case for case in suites.iter("testcase") if case.get("name") == name)


def _self_test(content: Content) -> list[ElementTree.Element]:
    suites = ElementTree.fromstring(junit_of(content))
    return [case for case in suites.iter("testcase") if case.get("classname") == "brokerlaw.self-test"]


def test_every_law_state_and_finding_is_in_every_format(broken: Content) -> None:
    part = broken.systems[0]
    page, plain, data = html_of(broken), markdown_of(broken), json.loads(json_of(broken))
    shown = unescape(re.sub(r"</?code>", "", page))
    rules = {
        rule["name"] for rule in json.loads(sarif_of(broken))["runs"][0]["tool"]["driver"]["rules"] if "name" in rule
    }
    cases = {case.get("name") for case in ElementTree.fromstring(junit_of(broken)).iter("testcase")}
    for law in (*part.laws, *part.left_out):
        assert law.law in page
        assert f"`{law.law}`" in plain
        assert law.law in rules & cases
    for row in part.reached:
        assert row.law in page
        assert f"`{row.law}`" in plain
        assert row.law in cases
    assert data["brokerlaw-report-content"] == 1
    assert [finding["replay"] for finding in data["systems"][0]["findings"]] == [part.findings[0].replay]
    for text in (broken.verdict.sentence, *broken.verdict.limits, *(reason for _, reason in part.uncovered)):
        assert text in shown
        assert escaped(text)[:40] in plain


def test_the_law_table_has_what_broke_first_and_counts_add_up(broken: Content) -> None:
    part = broken.systems[0]
    assert part.by_gravity[0].law == LAW
    assert [law.evidence for law in part.by_gravity][1:] == sorted(law.evidence for law in part.by_gravity[1:])
    worst = part.by_gravity[0]
    assert worst.asked == worst.held + worst.vacuous + worst.broken
    assert worst.broken == worst.broken_cases > 0
    assert f"{worst.held:,} of {worst.asked:,}" in html_of(broken)


def test_clauses_name_their_laws_and_those_that_no_law_covers(broken: Content) -> None:
    part, entry = broken.systems[0], entry_named("cursor_ranks")
    assert entry is not None
    assert sorted(name for line in part.clauses for name in line.laws) == sorted(law.law for law in part.laws)
    assert part.uncovered == entry.system.clauses
    first = [line.of_proposal for line in part.clauses]
    assert first == sorted(first, reverse=True)


def test_deviations_show_where_the_readings_part(broken: Content) -> None:
    parts = {part.name: part for part in broken.systems[0].deviations}
    shown = parts["re-add-keeps-old-cursor"]
    assert (shown.parts_at, shown.in_force) == (2, False)
    assert shown.differs[0] == "it answers Added(number=2) -> Added(number=1)"


def test_laws_that_the_dialect_leaves_out_are_listed_with_the_reason() -> None:
    data = samples.recorded(
        "cursor_ranks", "--cases", "5", "--dialect", "pulsar-4", "--law", "size_counts_every_cursor"
    )
    left = {law.law: law.reason for law in content_from(data).systems[0].left_out}
    assert left["find_gives_the_newest"] == "a deviation of this dialect gives it up"
    assert left["absent_is_said"] == "the campaign was told to ask other laws alone"


# ---- Counterexamples ------------------------------------------------------------------------------------------------


def test_a_finding_runs_as_python(broken: Content) -> None:
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(broken.findings[0].python, "case.py", "exec"), {})
    assert f"step 2: law {LAW}" in printed.getvalue()


def test_a_finding_of_our_own_subject_is_drawn_from_its_run(broken: Content) -> None:
    picture = broken.findings[0].picture
    assert picture is not None
    assert picture.note == ""
    assert [step.outcome for step in picture.steps] == ["Added(number=1)", "Count(value=0)"]
    assert [mark.name for mark in picture.steps[-1].marks] == ["the model says Count(value=1)", LAW]


def test_a_finding_of_an_unknown_subject_is_drawn_by_the_model_and_says_so() -> None:
    data = samples.broken()
    data["systems"][0]["findings"][0]["subject"] = "somebody:Elses"
    picture = content_from(data).findings[0].picture
    assert picture is not None
    assert "the model's" in picture.note
    assert [step.outcome for step in picture.steps] == ["Added(number=1)", ""], "what it answered is not known"
    assert picture.steps[-1].marks[0].name == LAW
    assert "Rank(cursor='c0') answered Count(value=0)" in picture.steps[-1].marks[0].lines[-1]


def test_a_run_that_no_longer_breaks_is_not_drawn_as_if_it_did() -> None:
    data = samples.broken()
    data["systems"][0]["findings"][0]["subject"] = "reference"
    picture = content_from(data).findings[0].picture
    assert picture is not None
    assert "the model's" in picture.note


def test_a_part_that_differs_is_shown_as_such_where_the_outcomes_are_the_same() -> None:
    entry = entry_named("cursor_ranks")
    assert entry is not None
    case = entry.system.deviations[0].case
    seen = (Breach("model", "outcome", 1, "other"), Breach("model", "cursors", 1, "cursors is 1; the model says 0"))
    row = Row(1, case.commands[0], "this", "that", None, seen)
    marks = picture_of_run(entry.system, Run(case, (row,), seen, Tally())).steps[0].marks
    assert [mark.name for mark in marks] == ["the model says 'that'", "differs from the model: cursors"]
    assert marks[1].lines == ("cursors is 1; the model says 0",)


def test_a_picture_of_a_long_case_shows_the_steps_up_to_the_breach(broken: Content) -> None:
    entry = entry_named("cursor_ranks")
    assert entry is not None
    case = entry.system.deviations[0].case
    long = case.with_commands(case.commands * 200)
    picture = picture_of_case(entry.system, long, Breach("law", LAW, 300, "x" * 10_000))
    assert (picture.left_out, len(picture.steps), picture.steps[-1].number) == (300 - MAX_STEPS, MAX_STEPS, 300)
    svg = ElementTree.fromstring(draw(picture))
    assert len([shape for shape in svg.iter() if shape.get("class") == "mark"]) == 1
    start = picture_of_case(entry.system, case, Breach("law", LAW, 0, "wrong from the start"))
    assert (start.steps[0].number, start.steps[0].marks[0].name) == (0, LAW)


# ---- Text from a subject --------------------------------------------------------------------------------------------


def test_text_from_a_subject_is_only_ever_text() -> None:
    content = content_from(samples.harmful())
    page, plain = html_of(content), markdown_of(content)
    assert "<script" not in page
    assert "{{ 7 * 7 }}" in page
    for text in (page, plain, junit_of(content), sarif_of(content), json_of(content)):
        text.encode("utf-8")
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e\ud800-\udfff]", text)
    outside = re.sub(r"(?ms)^(`{3,})\w*\n.*?^\1$", "", plain)  # blocks
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", outside)  # spans
    assert "<script" not in outside.replace(r"\<", "")
    ElementTree.fromstring(junit_of(content))
    assert "<br>" not in escaped("<br>")
    assert "@somebody" not in outside, "nobody is called by it"


def test_long_evidence_is_cut_and_can_be_opened() -> None:
    page = html_of(content_from(samples.harmful()))
    assert "characters of it</summary>" in page


@pytest.mark.parametrize("text", ["`", "``a`", "a|b", "```\nfence", "x` <b> `y"])
def test_code_in_markdown_can_not_be_left(text: str) -> None:
    span = code(text)
    fence = re.match(r"`+", span)
    assert fence is not None
    assert span.endswith(fence[0])
    assert fence[0] not in re.findall(r"`+", span[len(fence[0]) : -len(fence[0])])
    lines = block(text, "text")
    assert lines[-1] not in lines[1:-1]


# ---- The plot -------------------------------------------------------------------------------------------------------


def test_the_plot_is_the_same_every_time_and_has_words(broken: Content) -> None:
    effort = broken.systems[0].effort
    one = effort_plot(effort, "a")
    assert one == effort_plot(effort, "a")
    assert one.replace('"a-', '"b-').replace("#a-", "#b-") == effort_plot(effort, "b")
    assert 'aria-label="Distinct states' in one
    assert not re.search(r"#0[147a]0", one), "every colour is the style sheet's"
    assert "<dc:date>" not in one
    ElementTree.fromstring(one)


def test_saturation_is_said_in_numbers(broken: Content) -> None:
    assert re.search(r"[\d,]+ of about [\d,]+ \([\d.]+%\) and 0 of 210 pairs", broken.systems[0].effort.saturation)
