"""What every test shares: the Hypothesis profiles, and the root of the repo."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis.errors import InvalidArgument

from brokerlaw.properties import profiles

# Here, and not in a hook: Hypothesis looks --hypothesis-profile up as soon as pytest is configured.
profiles.register()


def pytest_configure() -> None:
    """Says so at once where the environment names a profile that is not there."""
    try:
        profiles.profile()
    except InvalidArgument as unknown:
        raise pytest.UsageError(str(unknown)) from None


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the repo."""
    return Path(__file__).resolve().parent.parent
