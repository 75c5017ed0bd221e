"""Places: where a campaign's results go, as Spark and Hadoop name it."""

from __future__ import annotations

import re
from pathlib import Path

from ..driver.errors import Usage

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_PATTERN = re.compile(r"[*?\[\]{}\\]")


def is_address(place: str) -> bool:
    """Whether this is an address (hdfs://…, s3a://…, file:…), and not a folder of this machine."""
    return _SCHEME.match(place) is not None


def as_uri(place: str) -> str:
    """A place as an address.  One without a scheme is a folder of this machine, whatever Spark's default is.

    Spaces and the like stay as they are: Hadoop takes %20 for three letters of a name.
    """
    uri = place.rstrip("/") if is_address(place) else f"file://{Path(place).absolute()}"
    if found := _PATTERN.search(uri):
        raise Usage(f"--out {place}: Spark takes {found[0]!r} for part of a pattern; name a folder without it")
    return uri
