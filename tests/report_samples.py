"""Reports to render: real campaigns, with what a later engine records put in by hand, and one that means harm."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .cli_harness import in_a_process

HARM = (
    "<script>alert(1)</script> ]]> & \"'` | \x1b[31m \x00 \ud800 \u202e {{ 7 * 7 }} [x](javascript:alert(1)) @somebody "
)
ENVIRONMENT = {
    "brokerlaw": "0.1.0",
    "commit": "3f1c0ffee0ddba11ad0be5afe0ddf00d12345678",
    "dirty": True,
    "python": "3.11.7",
    "platform": "Linux-6.1.0-x86_64",
    "cores": 2,
    "spark": "",
    "java": "",
    "master": "",
}


@cache
def _recorded(*arguments: str) -> str:
    with TemporaryDirectory() as folder:
        ran = in_a_process("check", *arguments, "--quiet", "--out", folder)
        assert ran.returncode in (0, 1), ran.stderr
        return (Path(folder) / "report.json").read_text(encoding="utf-8").replace(folder, "brokerlaw-out")


def recorded(*arguments: str) -> dict[str, Any]:
    """What `brokerlaw check` writes today."""
    data: dict[str, Any] = json.loads(_recorded(*arguments))
    return data


def broken() -> dict[str, Any]:
    """A campaign that broke a law, with everything recorded that can be."""
    return full(recorded("cursor_ranks", "--mutant", "rank-counts-before", "--cases", "60", "--every-step"))


def clean() -> dict[str, Any]:
    """A campaign in which nothing broke, of the same system."""
    return full(recorded("cursor_ranks", "--cases", "60", "--every-step"))


def full(data: dict[str, Any]) -> dict[str, Any]:
    """A report with what version 2 adds."""
    more = copy.deepcopy(data)
    more["brokerlaw-report"] = 2
    more["made"] = {
        "engine": "check",
        "command": "brokerlaw check cursor_ranks --cases 60 --every-step --out brokerlaw-out",
        "when": "2026-11-18T10:50:00Z",
        "seconds": 1.5,
        "environment": dict(ENVIRONMENT),
        "policy": "Every law was asked at every step of every case.",
    }
    more["canaries"] = [
        {"system": "cursor_ranks", "mutant": "rank-counts-before", "law": "rank_counts_at_or_before"}
        | {"ranges": 4, "caught": 4, "cases": 100, "finding": None}
    ]
    for part in more["systems"]:
        part["identity"] = {
            "name": "mypkg.ranks:Ranks",
            "module": "mypkg.ranks",
            "file": "mypkg/ranks.py",
            "version": "1.2.0",
            "commit": "0123456789abcdef0123456789abcdef01234567",
            "dirty": True,
            "sha256": "ab" * 32,
        }
        part["effort"] = {"ranges": 4, "range_size": 15, "points": [_point(n) for n in range(2, 61, 2)]}
    return more


def _point(cases: int) -> dict[str, int]:
    return {
        "cases": cases,
        "steps": 90 * cases,
        "states": round(6_000 * (1 - 0.95**cases)),
        "pairs": min(210, 25 * cases),
        "findings": int(cases > 5),
    }


def untrusted(caught: int = 3, ranges: int = 4) -> dict[str, Any]:
    """A clean campaign whose canary was not caught wherever it went."""
    data = clean()
    data["canaries"][0] |= {"caught": caught, "ranges": ranges}
    data["exit_code"] = 1
    return data


def several() -> dict[str, Any]:
    """Two systems in one campaign."""
    data, other = broken(), recorded("entry_cache", "--cases", "3", "--every-step")
    data["systems"] += full(other)["systems"]
    return data


def harmful() -> dict[str, Any]:
    """A report whose every text from a subject tries to be something else, and is long."""
    data = broken()
    part = data["systems"][0]
    part["subject"] = part["identity"]["name"] = part["identity"]["file"] = HARM
    part["stopped"] = data["made"]["command"] = data["made"]["environment"]["platform"] = HARM
    for finding in part["findings"]:
        finding["subject"] = finding["replay"] = finding["file"] = HARM
        finding["breach"]["evidence"] = HARM * 100
    error = copy.deepcopy(part["findings"][0])
    error["breach"] |= {"kind": "error", "law": HARM}
    part["findings"].append(error)
    part["tally"]["coverage"]["Rank > " + HARM] = 1
    return data


def write(data: dict[str, Any], folder: Path) -> Path:
    """A folder as a campaign leaves it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").write_text(json.dumps(data), encoding="utf-8")
    return folder
