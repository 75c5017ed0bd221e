"""Storage: the folder of a campaign, on any file system that Spark can write.

campaign.json              the plan
ranges/0000000-0000064/    a wave: what these ranges gave, as Parquet; whole once it has a file _SUCCESS
report.html, report.json   what it all came to, written by whoever ran it
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from attrs import frozen

from ..driver.errors import Usage
from .errors import SPARKS_OWN, sentence_of
from .places import as_uri
from .plan import Plan
from .session import Session

PLAN = "campaign.json"
_WAVE = re.compile(r"(\d+)-(\d+)")


@frozen
class Wave:
    """Ranges that are written together."""

    first: int
    stop: int

    @property
    def name(self) -> str:
        return f"ranges/{self.first:07d}-{self.stop:07d}"


class Folder:
    """A campaign's folder, through Hadoop's file systems."""

    def __init__(self, session: Session, place: str) -> None:
        self.uri = as_uri(place)
        self._jvm: Any = session.context._jvm
        with _told(f"--out {place}: Spark can not write there"):
            context: Any = session.context._jsc
            self._files: Any = self._path("").getFileSystem(context.hadoopConfiguration())
            self._files.setWriteChecksum(False)  # or a report that somebody edits could not be read any more

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(f"{self.uri}/{name}" if name else self.uri)

    def uri_of(self, name: str) -> str:
        return f"{self.uri}/{name}"

    def read(self, name: str) -> str | None:
        """The text of a file; none where there is no such file."""
        path = self._path(name)
        with _told(f"{self.uri_of(name)}: can not be read"):
            if not self._files.exists(path):
                return None
            stream = self._files.open(path)
            try:
                data = bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
            finally:
                stream.close()
        return data.decode("utf-8", "replace")

    def write(self, name: str, text: str) -> None:
        """Writes a file, over one that is there, and never half of it.  One killed meanwhile may leave `.NAME.new`."""
        path = self._path(name)
        beside = self._jvm.org.apache.hadoop.fs.Path(path.getParent(), f".{path.getName()}.new")
        with _told(f"{self.uri_of(name)}: can not be written"):
            self._files.mkdirs(path.getParent())
            stream = self._files.create(beside, True)
            stream.write(bytearray(text.encode()))
            stream.close()
            self._files.delete(path, False)
            if not self._files.rename(beside, path):
                raise Usage(f"{self.uri_of(name)}: can not be written")

    def waves(self) -> list[Wave]:
        """The waves that are whole, in order."""
        parent = self._path("ranges")
        with _told(f"{self.uri_of('ranges')}: can not be read"):
            if not self._files.exists(parent):
                return []
            names = [_WAVE.fullmatch(status.getPath().getName()) for status in self._files.listStatus(parent)]
            waves = [Wave(int(name[1]), int(name[2])) for name in names if name is not None]
            whole = [wave for wave in waves if self._files.exists(self._path(f"{wave.name}/_SUCCESS"))]
        return sorted(whole, key=lambda wave: wave.first)

    def plan(self) -> Plan | None:
        """The plan of the campaign that is here."""
        text = self.read(PLAN)
        if text is None:
            return None
        try:
            return Plan.from_json(json.loads(text))
        except (ValueError, TypeError) as error:
            raise Usage(f"{self.uri_of(PLAN)}: this is no plan of a campaign: {error.args[0]}") from None

    def write_plan(self, plan: Plan) -> None:
        self.write(PLAN, json.dumps(plan.to_json(), indent=1) + "\n")


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Makes a sentence of what goes wrong in the JVM meanwhile."""
    try:
        yield
    except SPARKS_OWN as error:
        raise Usage(f"{what}: {sentence_of(error)}") from None


def missing(waves: list[Wave], ranges: int) -> list[Wave]:
    """What is not done yet, in as few stretches as possible."""
    gaps, position = [], 0
    for wave in waves:
        if wave.first > position:
            gaps.append(Wave(position, wave.first))
        position = max(position, wave.stop)
    return [*gaps, Wave(position, ranges)] if position < ranges else gaps
