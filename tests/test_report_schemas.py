"""What CI reads is as its format says: JUnit XML and SARIF, held against every schema in tests/schemas."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import xmlschema

from brokerlaw.report.build import content_from
from brokerlaw.report.junit import junit_of
from brokerlaw.report.sarif import sarif_of

from . import report_samples as samples
from .published_schemas import junit_schema, sarif_schema

SCHEMAS = Path(__file__).parent / "schemas"
SAMPLES: dict[str, Callable[[], dict[str, Any]]] = {
    "broken": samples.broken,
    "clean": samples.clean,
    "several": samples.several,
    "harmful": samples.harmful,
    "version 1": lambda: samples.recorded("cursor_ranks", "--cases", "60", "--every-step"),
}


def _schemas(ending: str) -> list[Path]:
    return sorted(SCHEMAS.glob(f"*.{ending}"))


@pytest.mark.parametrize("schema", _schemas("xsd"), ids=lambda path: path.stem)
@pytest.mark.parametrize("name", SAMPLES)
def test_junit_is_as_its_schema_says(name: str, schema: Path) -> None:
    xmlschema.XMLSchema(schema).validate(junit_of(content_from(SAMPLES[name]())))


@pytest.mark.parametrize("schema", _schemas("json"), ids=lambda path: path.stem)
@pytest.mark.parametrize("name", SAMPLES)
def test_sarif_is_as_its_schema_says(name: str, schema: Path) -> None:
    rules = json.loads(schema.read_text(encoding="utf-8"))
    check = jsonschema.validators.validator_for(rules)
    check.check_schema(rules)
    check(rules).validate(json.loads(sarif_of(content_from(SAMPLES[name]()))))


@pytest.mark.parametrize("name", SAMPLES)
def test_junit_is_as_its_published_schema_says(name: str) -> None:
    xmlschema.XMLSchema(junit_schema()).validate(junit_of(content_from(SAMPLES[name]())))


@pytest.mark.parametrize("name", SAMPLES)
def test_sarif_is_as_its_published_schema_says(name: str) -> None:
    rules = json.loads(sarif_schema().read_text(encoding="utf-8"))
    check = jsonschema.validators.validator_for(rules)
    check(rules).validate(json.loads(sarif_of(content_from(SAMPLES[name]()))))


def test_the_schemas_can_fail() -> None:
    content = content_from(samples.broken())
    xsd = xmlschema.XMLSchema(SCHEMAS / "junit-as-written.xsd")
    assert not xsd.is_valid(junit_of(content).replace("<testcase ", "<test ", 1).replace("</testcase>", "</test>", 1))
    rules = json.loads((SCHEMAS / "sarif-as-written.schema.json").read_text(encoding="utf-8"))
    log = json.loads(sarif_of(content))
    log["runs"][0]["results"][0]["level"] = "fatal"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(log, rules)


def test_every_sarif_result_points_at_its_rule() -> None:
    run = json.loads(sarif_of(content_from(samples.harmful())))["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert [rules[result["ruleIndex"]]["id"] for result in run["results"]] == [
        each["ruleId"] for each in run["results"]
    ]


def test_the_same_bug_found_again_has_the_same_fingerprint() -> None:
    one, two = samples.broken(), samples.broken()
    two["systems"][0]["findings"][0] |= {"seed": 9, "number": 9}
    prints = [
        json.loads(sarif_of(content_from(data)))["runs"][0]["results"][0]["partialFingerprints"] for data in (one, two)
    ]
    assert prints[0] == prints[1]
