"""A campaign for `spark-submit`: the options are those of `brokerlaw fuzz`.

    spark-submit --master spark://host:7077 spark_fuzz/campaign.py cursor_ranks --cases 1000000 --out hdfs://host/run

It finds the package that it is part of by itself, sends it to the executors, and has them run the Python that it runs
on, unless PYSPARK_PYTHON names another one.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

LEAST_PYTHON = (3, 11)


def main() -> int:
    """Runs `brokerlaw fuzz` with the options that were given."""
    if sys.version_info < LEAST_PYTHON:
        return _give_up(f"is too old; brokerlaw needs {'.'.join(map(str, LEAST_PYTHON))} or newer")
    here = Path(__file__).resolve().parent
    root = here.parent if (here.parent / "brokerlaw").is_dir() else here.parent.parent  # a checkout, or installed
    sys.path[:] = [str(root), *[place for place in sys.path if Path(place or ".").resolve() != here]]
    sys.argv[1:1] = ["fuzz"]
    try:
        command_line = importlib.import_module("brokerlaw.cli.main")  # by name: this script stands above what it starts
    except ModuleNotFoundError as missing:
        return _give_up(f"has no package {missing.name!r}")
    code: int = command_line.entry()
    return code


def _give_up(what: str) -> int:
    python = f"{sys.executable} (Python {sys.version_info.major}.{sys.version_info.minor})"
    hint = "let PYSPARK_PYTHON name a Python that has what brokerlaw needs, such as .venv/bin/python"
    print(f"brokerlaw: {python} {what}: {hint}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
