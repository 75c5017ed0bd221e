"""What every test shares: Hypothesis profiles, what is left out or skipped, the table of kills, where the repo is."""

from __future__ import annotations

import os
import subprocess
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis.errors import InvalidArgument
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from brokerlaw.properties import profiles

from .kill_table import KILL, kill_table

TOGETHER = {  # files whose tests share something that is dear to make, or go on with what others made
    "test_docs.py",
    "test_install_beside.py",
    "test_report_browser.py",
    "test_spark_campaign.py",
    "test_spark_robust.py",
}

ROOT = Path(__file__).resolve().parent.parent

# Here, and not in a hook: Hypothesis looks --hypothesis-profile up as soon as pytest is configured.
profiles.register()


def pytest_configure() -> None:
    """Says so at once where the environment names a profile that is not there."""
    try:
        profiles.profile()
    except InvalidArgument as unknown:
        raise pytest.UsageError(str(unknown)) from None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what takes minutes, but for the nightly profile and for those who name the marker themselves."""
    if profiles.profile() == "nightly" or "nightly" in config.getoption("markexpr"):
        return
    long = [item for item in items if item.get_closest_marker("nightly")]
    if long:
        items[:] = [item for item in items if item not in long]
        config.hook.pytest_deselected(items=long)


class TogetherOrAlone(LoadScopeScheduling):
    """Which tests go to one process, the large groups first: those of a file in `TOGETHER`, and else each alone."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return file if Path(file).name in TOGETHER else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> TogetherOrAlone:
    """How tests are spread over processes where there are several."""
    return TogetherOrAlone(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips what needs Spark where there is no Java for it, and says what to do about that."""
    if item.get_closest_marker("spark") and (lacking := _lacking_java()):
        pytest.skip(lacking)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Shows what killed each mutant, so that a log of the tests holds the whole table."""
    reports = [report for some in terminalreporter.stats.values() for report in some]
    rows = {value for report in reports for name, value in getattr(report, "user_properties", ()) if name == KILL}
    if rows:
        terminalreporter.section("kills")
        for line in kill_table(sorted(rows)):
            terminalreporter.line(line)


@lru_cache(maxsize=1)
def _lacking_java() -> str:
    looked = subprocess.run(
        [ROOT / "tools" / "java17"],
        env={**os.environ, "SETUP_SYSTEM": "0"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return looked.stderr.strip() if looked.returncode else ""


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the repo."""
    return ROOT
