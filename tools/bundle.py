"""Makes what a cluster needs that has nothing of ours: brokerlaw.zip, and environment.tar.gz with what it imports.

    python tools/bundle.py FOLDER

The packages are those of the environment that this runs in, file by file: the executors get what the tests ran with.
One of them has native parts, so that they need a Python of the same version on the same kind of machine.
"""

from __future__ import annotations

import gzip
import platform
import sys
import tarfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from brokerlaw.spark_fuzz.session import packed

NEEDED = ("attrs", "pyroaring", "sortedcontainers")  # what an executor imports; pyspark is there already


def environment(folder: Path) -> Path:
    """The packages as an archive; the same ones give the same file."""
    path = folder / "environment.tar.gz"
    with (
        path.open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) as squeezed,
        tarfile.open(fileobj=squeezed, mode="w") as archive,
    ):
        for name in NEEDED:
            for each in sorted(distribution(name).files or ()):
                if ".." not in each.parts and "__pycache__" not in each.parts:
                    archive.add(str(each.locate()), str(each), filter=_nobodys)
    return path


def _nobodys(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry


def main(arguments: list[str]) -> int:
    """Writes both files; 2 where that can not be done."""
    if len(arguments) != 1:
        print("usage: bundle.py FOLDER", file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        made = packed(folder), environment(folder)
    except (OSError, PackageNotFoundError) as problem:
        print(f"bundle: {problem}", file=sys.stderr)
        return 2
    python = f"Python {sys.version_info.major}.{sys.version_info.minor}, {sys.platform}, {platform.machine()}"
    print(f"{made[0]} and {made[1]} are for executors with {python}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
