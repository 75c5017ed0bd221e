"""Storage: the folder of a campaign, on any file system that Spark can write.

campaign.json              the plan
ranges/0000000-0000064/    a wave: what these ranges gave, as Parquet; whole once it has a file _SUCCESS
report.html, report.json   what it all came to, written by whoever ran it
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from attrs import frozen
from py4j.protocol import Py4JJavaError

from ..driver.errors import Usage
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


def as_uri(place: str) -> str:
    """A place as an address; one without a scheme is a folder of this machine, whatever Spark's default is."""
    return place.rstrip("/") if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", place) else Path(place).absolute().as_uri()


class Folder:
    """A campaign's folder, through Hadoop's file systems."""

    def __init__(self, session: Session, place: str) -> None:
        self.uri = as_uri(place)
        self._jvm: Any = session.context._jvm
        try:
            context: Any = session.context._jsc
            self._files: Any = self._path("").getFileSystem(context.hadoopConfiguration())
        except Py4JJavaError as error:
            raise Usage(f"--out {place}: Spark can not write there: {_said(error)}") from None

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(f"{self.uri}/{name}" if name else self.uri)

    def uri_of(self, name: str) -> str:
        return f"{self.uri}/{name}"

    def read(self, name: str) -> str | None:
        """The text of a file; none where there is no such file."""
        path = self._path(name)
        if not self._files.exists(path):
            return None
        stream = self._files.open(path)
        try:
            return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream)).decode()
        finally:
            stream.close()

    def write(self, name: str, text: str) -> None:
        """Writes a file: whole or not at all, over one that is there."""
        path, beside = self._path(name), self._path(f".{name}.new")
        try:
            self._files.mkdirs(path.getParent())
            stream = self._files.create(beside, True)
            stream.write(bytearray(text.encode()))
            stream.close()
            self._files.delete(path, False)
            if not self._files.rename(beside, path):
                raise Usage(f"{self.uri_of(name)}: can not be written")
        except Py4JJavaError as error:
            raise Usage(f"{self.uri_of(name)}: can not be written: {_said(error)}") from None

    def waves(self) -> list[Wave]:
        """The waves that are whole, in order."""
        parent = self._path("ranges")
        if not self._files.exists(parent):
            return []
        found = []
        for status in self._files.listStatus(parent):
            name = _WAVE.fullmatch(status.getPath().getName())
            if name is None:
                continue
            wave = Wave(int(name[1]), int(name[2]))
            if self._files.exists(self._path(f"{wave.name}/_SUCCESS")):
                found.append(wave)
        return sorted(found, key=lambda wave: wave.first)

    def plan(self) -> Plan | None:
        """The plan of the campaign that is here."""
        text = self.read(PLAN)
        if text is None:
            return None
        try:
            return Plan.from_json(json.loads(text))
        except (ValueError, KeyError, TypeError) as error:
            raise Usage(f"{self.uri_of(PLAN)}: this is no plan of a campaign: {error}") from None

    def write_plan(self, plan: Plan) -> None:
        self.write(PLAN, json.dumps(plan.to_json(), indent=1) + "\n")


def _said(error: Py4JJavaError) -> str:
    """The first line of what went wrong in the JVM."""
    return str(error.java_exception).splitlines()[0][:300]


def missing(waves: list[Wave], ranges: int) -> list[Wave]:
    """What is not done yet, in as few stretches as possible."""
    gaps, position = [], 0
    for wave in waves:
        if wave.first > position:
            gaps.append(Wave(position, wave.first))
        position = max(position, wave.stop)
    return [*gaps, Wave(position, ranges)] if position < ranges else gaps
