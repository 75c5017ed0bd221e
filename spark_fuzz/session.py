"""The session: a Spark that is quiet, has the right Python, and has our package on every executor.

Started by `brokerlaw fuzz` it is an embedded one, unless a master is named.  Started by `spark-submit` it is the one
that was submitted to.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
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
from .errors import sentence_of

DEFAULT_MASTER = "local[*,4]"  # all cores; a task may fail three times, as on a cluster
LEAST_JAVA = 17
ZIP = "brokerlaw.zip"
LAST_WORDS = 3  # lines of Spark's own log that are shown where its JVM does not start
SUBMITTED = "PYSPARK_GATEWAY_PORT" in os.environ  # by spark-submit, which has started a JVM for us

LEAN = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # the work is Python's; a JVM that optimizes itself takes from it

_SETTINGS = {
    "spark.app.name": "brokerlaw",
    "spark.executor.extraJavaOptions": LEAN,
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "8",  # totals are small
    "spark.sql.adaptive.enabled": "false",  # and few
    "spark.sql.parquet.compression.codec": "zstd",
    "mapreduce.fileoutputcommitter.algorithm.version": "1",  # what a task wrote appears when its wave is whole
}


_PATH = "spark.executorEnv.PYTHONPATH"


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
    check_ready()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with tempfile.TemporaryDirectory(prefix="brokerlaw-") as folder:
        log = Path(folder, "spark.log")
        with log.open("w+") as words:
            started = _start(master, verbose, settings or {}, words)
        context = started.context
        try:
            if not str(context.master).startswith("local") and not _is_sent(context):
                context.addPyFile(str(packed(Path(folder))))
            context.setLogLevel("INFO" if verbose else "ERROR")
            if not verbose:
                _hush(context)
            yield started
        finally:
            _stop()


def _hush(context: SparkContext) -> None:
    """Whatever talks to the JVM would print a stack trace when it is gone; we say that in a sentence."""
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    server: Any = context._accumulatorServer
    server.handle_error = lambda request, address: None


def check_ready() -> None:
    """Raises Usage where it is plain, before anything runs, that Spark can not start."""
    if SparkContext._active_spark_context is not None:
        raise Usage("a Spark session runs in this process already; stop it first")
    if not SUBMITTED:
        _check_java()


def _start(master: str | None, verbose: bool, settings: dict[str, str], words: IO[str]) -> Session:
    try:
        _start_gateway(settings, {} if verbose else {"stderr": words, "stdout": words})
        conf = SparkConf(_jvm=SparkContext._jvm)
        for name, value in settings.items():
            conf.set(name, value)
        if master is not None or not SUBMITTED:
            conf.setMaster(master or DEFAULT_MASTER)
        for name, value in _SETTINGS.items():
            conf.setIfMissing(name, value)
        if "spark.ui.showConsoleProgress" not in settings:  # its shell turns it on, and we show progress ourselves
            conf.set("spark.ui.showConsoleProgress", "false")
        here = conf.get("spark.master", "").startswith("local")
        if here:
            conf.setIfMissing("spark.driver.host", "127.0.0.1")  # nobody else has to find us
            conf.setIfMissing("spark.driver.bindAddress", "127.0.0.1")
        conf.set(_PATH, _path(here, conf.get(_PATH, "")))
        with _own_interrupts():
            context = SparkContext(conf=conf)
        return Session(SparkSession(context), str(_jvm(context).System.getProperty("java.version")))
    except Exception as error:
        why = _last(words) if SparkContext._jvm is None else sentence_of(error)  # the JVM is asked for its words
        if "stopped SparkContext" in why:  # a context starts even so, and is stopped when nobody has answered
            why = "its master does not answer, or refuses us"
        _stop()
        raise Usage(f"Spark did not start{f' at {master}' if master else ''}: {why}") from None


def _stop() -> None:
    """Stops what was started, as far as it was."""
    context = SparkContext._active_spark_context
    if context is not None:
        with suppress(Exception):  # a JVM that died can not be stopped
            context.stop()
    _end_gateway()


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Spark takes Ctrl-C for itself when it starts, and would give up everything; this gives it back."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def _start_gateway(settings: dict[str, str], popen: dict[str, Any]) -> None:
    """Starts a JVM, unless spark-submit did; the size of its memory is among the settings, so that it needs them."""
    if SUBMITTED:
        SparkContext._ensure_initialized()
        return
    conf = SparkConf(loadDefaults=False)
    for name, value in {"spark.driver.extraJavaOptions": LEAN, **settings}.items():
        conf.set(name, value)
    SparkContext._ensure_initialized(gateway=launch_gateway(conf, popen))  # type: ignore[no-untyped-call]


def _last(words: IO[str]) -> str:
    words.flush()
    words.seek(0)
    said = [line.strip() for line in words.readlines() if line.strip()]
    return " / ".join(said[-LAST_WORDS:]) or "its JVM ended without a word"


def _path(here: bool, given: str) -> str:
    """Where executors look for modules, beside what is sent to them: executors on this machine in our package as it
    stands, all of them in the folder that the user stands in (which they may share), and what was there before."""
    places = [str(_root()) if here else "", os.getcwd(), given]
    return os.pathsep.join(place for place in places if place)


def _root() -> Path:
    """The folder that our package stands in."""
    return Path(sys.modules[__name__.partition(".")[0]].__path__[0]).absolute().parent


def _is_sent(context: SparkContext) -> bool:
    """Whether executors get our package from --py-files; two files of one name would be at odds."""
    return any(Path(file).name == ZIP for file in context.getConf().get("spark.submit.pyFiles", "").split(","))


def packed(folder: Path) -> Path:
    """Our package as a zip, for executors that have other code or none."""
    path = folder / ZIP
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
