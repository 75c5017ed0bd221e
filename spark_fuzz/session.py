"""The session: a Spark that is quiet, has the right Python, and has our package on every executor.

Started by `brokerlaw fuzz` it is an embedded one, unless a master is named.  Started by `spark-submit` it is the one
that was submitted to.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from attrs import frozen
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from ..driver.errors import Usage

DEFAULT_MASTER = "local[*,4]"  # all cores; a task may fail three times, as on a cluster
LEAST_JAVA = 17
LAST_WORDS = 15  # lines of Spark's own log that are shown where it does not start
SUBMITTED = "PYSPARK_GATEWAY_PORT" in os.environ  # by spark-submit, which has started a JVM for us

_SETTINGS = {
    "spark.app.name": "brokerlaw",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "8",  # totals are small
    "spark.sql.adaptive.enabled": "false",  # and few
    "spark.sql.execution.pythonUDF.arrow.enabled": "false",
    "spark.sql.parquet.compression.codec": "zstd",
    "mapreduce.fileoutputcommitter.algorithm.version": "1",  # what a task wrote appears when its wave is whole
}


@frozen
class Session:
    """A running Spark, and what it is."""

    spark: SparkSession
    java: str

    @property
    def context(self) -> SparkContext:
        return self.spark.sparkContext

    @property
    def slots(self) -> int:
        """Tasks that run side by side, as far as it is known now."""
        return max(1, int(self.context.defaultParallelism))


@contextmanager
def session(
    master: str | None = None, verbose: bool = False, settings: dict[str, str] | None = None
) -> Iterator[Session]:
    """Starts Spark, and stops it at the end.  Raises Usage, with what is missing, where it can not start."""
    if SparkContext._active_spark_context is not None:
        raise Usage("a Spark session runs in this process already; stop it first")
    if not SUBMITTED:
        _check_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with tempfile.TemporaryDirectory(prefix="brokerlaw-") as folder:
        log = Path(folder, "spark.log")
        with log.open("w+") as words:
            context = _start(master, verbose, settings or {}, words)
        try:
            if not str(context.master).startswith("local["):
                context.addPyFile(str(packed(Path(folder))))
            context.setLogLevel("INFO" if verbose else "ERROR")
            spark = SparkSession(context)
            yield Session(spark, str(_jvm(context).System.getProperty("java.version")))
        finally:
            with suppress(Exception):  # a JVM that died can not be stopped
                context.stop()
            _end_gateway()


def _start(master: str | None, verbose: bool, settings: dict[str, str], words: IO[str]) -> SparkContext:
    try:
        if not SUBMITTED:
            quiet: dict[str, Any] = {} if verbose else {"stderr": words, "stdout": words}
            SparkContext._ensure_initialized(gateway=launch_gateway(popen_kwargs=quiet))  # type: ignore[no-untyped-call]
        else:
            SparkContext._ensure_initialized()
        conf = SparkConf(_jvm=SparkContext._jvm)
        for name, value in (*_SETTINGS.items(), *_paths(conf).items()):
            conf.setIfMissing(name, value)
        for name, value in settings.items():
            conf.set(name, value)
        if master is not None or not SUBMITTED:
            conf.setMaster(master or DEFAULT_MASTER)
        if conf.get("spark.master", "").startswith("local"):
            conf.setIfMissing("spark.driver.host", "127.0.0.1")  # nobody else has to find us
            conf.setIfMissing("spark.driver.bindAddress", "127.0.0.1")
        return SparkContext(conf=conf)
    except Exception as error:
        _end_gateway()
        words.flush()
        words.seek(0)
        said = [line.rstrip() for line in words.readlines()[-LAST_WORDS:]]
        what = re.sub(r"\s+", " ", str(error)).strip()[:500]
        where = f" at {master}" if master else ""
        raise Usage("\n".join([f"Spark did not start{where}: {what}", *said])) from None


def _paths(conf: SparkConf) -> dict[str, str]:
    """Where executors on this machine look for modules: our package, the user's, and what was there before."""
    places = [str(_root()), os.getcwd(), conf.get("spark.executorEnv.PYTHONPATH", "")]
    return {"spark.executorEnv.PYTHONPATH": os.pathsep.join(place for place in places if place)}


def _root() -> Path:
    """The folder that our package stands in."""
    return Path(sys.modules[__name__.partition(".")[0]].__path__[0]).absolute().parent


def packed(folder: Path) -> Path:
    """Our package as a zip, for executors that have other code or none."""
    path = folder / "brokerlaw.zip"
    package = _root() / "brokerlaw"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for here, folders, files in os.walk(package, followlinks=True):
            folders[:] = sorted(set(folders) - {"__pycache__"})
            for name in sorted(files):
                if not name.endswith((".pyc", ".pyo")):
                    file = Path(here, name)
                    entry = zipfile.ZipInfo(str(file.relative_to(package.parent)))  # no dates: same code, same file
                    archive.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)
    return path


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    need = f"Spark needs Java {LEAST_JAVA} or newer"
    if java is None:
        raise Usage(f"{need}, and there is none: install one, or let JAVA_HOME name it")
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Usage(f"{need}; {java} can not be run: {error}") from None
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    if found is None or int(found[1]) < LEAST_JAVA:
        raise Usage(f"{need}; {java} is {said.splitlines()[0] if said else 'none that tells its version'}")


def _jvm(context: SparkContext) -> Any:
    return context._jvm


def _end_gateway() -> None:
    """Ends the JVM that we started, so that a process can start another one later."""
    gateway: Any = SparkContext._gateway
    if gateway is None or SUBMITTED:
        return
    with suppress(Exception):
        gateway.shutdown()
    process = getattr(gateway, "proc", None)
    if process is not None:
        process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=30)
        process.kill()
    SparkContext._gateway = SparkContext._jvm = None
