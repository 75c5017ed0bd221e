"""A real standalone cluster: a master and two workers that have nothing of ours get all of it with spark-submit."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark
import pytest

from brokerlaw.spark_fuzz.session import LEAN

from .spark_harness import ROOT, WAIT_SECONDS, environment, ran, report_in, words_of

pytestmark = [pytest.mark.spark, pytest.mark.nightly]

SPARK = Path(pyspark.__file__).parent
DEPLOY = "org.apache.spark.deploy"
CASES = ("cursor_ranks", "--cases", "700", "--seed", "6", "--json")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    """The address of a cluster with two workers of one core each, every one in a folder of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"spark://127.0.0.1:{port}"
    with ExitStack() as processes:
        log = processes.enter_context(_node(tmp_path / "master", f"{DEPLOY}.master.Master", "--port", str(port)))
        _wait_for(log, "New state: ALIVE", 1)
        for number in (1, 2):
            words = (f"{DEPLOY}.worker.Worker", "--cores", "1", "--memory", "1g", address)
            processes.enter_context(_node(tmp_path / f"worker{number}", *words))
        _wait_for(log, "Registering worker", 2)
        yield address


@contextmanager
def _node(folder: Path, *words: str) -> Iterator[Path]:
    folder.mkdir()
    log = folder / "log"
    own = {"SPARK_HOME": str(SPARK), "PYTHONPATH": "", "SPARK_WORKER_DIR": str(folder), "SPARK_DAEMON_JAVA_OPTS": LEAN}
    command = [str(SPARK / "bin" / "spark-class"), words[0], "--host", "127.0.0.1", "--webui-port", "0", *words[1:]]
    with (
        log.open("w") as file,
        subprocess.Popen(command, cwd=folder, env=environment(**own), stdout=file, stderr=file) as node,
    ):
        try:
            yield log
        finally:
            node.terminate()
            node.wait(timeout=WAIT_SECONDS)


def _wait_for(log: Path, what: str, times: int) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while log.read_text().count(what) < times:
        assert time.monotonic() < deadline, log.read_text()[-3000:]
        time.sleep(0.1)


def test_a_cluster_that_has_nothing_of_ours_gives_the_same_digest(cluster: str, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True, timeout=120)
    assert ran(str(bare / "bin" / "python"), "-c", "import attrs", PYTHONPATH="").code == 1
    assert ran(sys.executable, str(ROOT / "tools" / "bundle.py"), str(tmp_path / "dist")).code == 0
    done = ran(
        str(SPARK / "bin" / "spark-submit"),
        *("--master", cluster, "--executor-memory", "512m", "--conf", "spark.driver.host=127.0.0.1"),
        *("--driver-java-options", LEAN),
        *("--py-files", "dist/brokerlaw.zip", "--archives", "dist/environment.tar.gz#environment"),
        *("--conf", "spark.executorEnv.PYTHONPATH=environment"),
        *(str(ROOT / "spark_fuzz" / "campaign.py"), *CASES, "--range-size", "250", "--out", "out", "--quiet"),
        cwd=tmp_path,
        PYTHONPATH="",
        PYSPARK_DRIVER_PYTHON=sys.executable,
        PYSPARK_PYTHON=str(bare / "bin" / "python"),
    )
    assert done.code == 0, done.err[-3000:]
    checked = ran(*words_of("check", *CASES))
    report = report_in(tmp_path / "out")
    assert report["digest"] == checked.data["digest"]
    assert report["made"]["environment"]["master"] == cluster
    executors = {path.parent for path in tmp_path.glob("worker*/app-*/*/environment")}
    assert len(executors) == 2, "both workers got the packages"
    assert [(canary["caught"], canary["ranges"]) for canary in report["canaries"]] == [(1, 1)]
