"""An installed brokerlaw gets along with a user's repo that has a `spec/` and a `reference/` of its own.

Everything is built from a copy of the checkout, without fetching anything, and tried in an interpreter that sees the
running environment's packages but not its brokerlaw.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

LINKED = ("spec", "reference", "driver", "properties", "spark_fuzz", "conformance")
BUILD = "from setuptools import build_meta; import sys; print(build_meta.{hook}(sys.argv[1]))"
OURS = "import brokerlaw.spec.core"
THEIRS = "import spec, reference.table"
SHOW = "print(spec.OWNER, reference.table.OWNER); print(brokerlaw.spec.core.__file__)"


@pytest.fixture(scope="session")
def checkout(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what a build reads, links as links, so that a build leaves nothing in the repo."""
    copy = tmp_path_factory.mktemp("checkout")
    for file in ("pyproject.toml", "LICENSE", "README.md"):
        if (root / file).exists():
            shutil.copy(root / file, copy)
    for folder in ("brokerlaw", *LINKED):
        if (root / folder).exists():
            shutil.copytree(root / folder, copy / folder, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def _build(hook: str, checkout: Path, into: Path) -> Path:
    ran = _run([sys.executable, "-c", BUILD.format(hook=hook), str(into)], checkout)
    return into / ran.splitlines()[-1]


def _run(command: list[str], where: Path, **environment: str) -> str:
    ran = subprocess.run(
        command, cwd=where, env=os.environ | environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 0, f"{' '.join(command)} failed:\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


@pytest.fixture(scope="session")
def wheel(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a checkout."""
    return _build("build_wheel", checkout, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def wheel_of_sdist(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the sdist of a checkout."""
    unpacked = tmp_path_factory.mktemp("sdist")
    shutil.unpack_archive(_build("build_sdist", checkout, unpacked), unpacked, filter="data")
    (folder,) = (path for path in unpacked.iterdir() if path.is_dir())
    return _build("build_wheel", folder, tmp_path_factory.mktemp("wheel_of_sdist"))


@pytest.fixture(scope="session")
def editable(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that an editable install of a checkout puts in place."""
    return _build("build_editable", checkout, tmp_path_factory.mktemp("editable"))


@pytest.fixture
def their_repo(tmp_path: Path) -> Path:
    """A user's repo whose folders are called like ours."""
    repo = tmp_path / "their_repo"
    for package in ("spec", "reference"):
        (repo / package).mkdir(parents=True)
        (repo / package / "__init__.py").write_text("OWNER = 'user'\n")
    (repo / "reference" / "table.py").write_text("OWNER = 'user'\n")
    (repo / "test_both.py").write_text(
        "import reference.table\nimport spec\n\nfrom brokerlaw.spec.core import Law\n\n\n"
        "def test_both() -> None:\n"
        "    assert spec.OWNER == reference.table.OWNER == 'user'\n"
        "    assert Law.__module__ == 'brokerlaw.spec.core.law'\n"
    )
    return repo


def _install(wheel: Path, target: Path) -> Path:
    _run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), str(wheel)],
        target.parent,
    )
    return target


def _beside(their_repo: Path, installed: Path, *arguments: str) -> str:
    """Runs Python in a user's repo.  Without `site` the running environment's links to this checkout are not read."""
    path = os.pathsep.join([str(installed), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    return _run([sys.executable, "-S", *arguments], their_repo, PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1")


def _names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_a_wheel_puts_one_name_into_an_environment(wheel: Path, wheel_of_sdist: Path) -> None:
    for built in (wheel, wheel_of_sdist):
        version = built.name.split("-")[1]
        assert {name.partition("/")[0] for name in _names(built)} == {"brokerlaw", f"brokerlaw-{version}.dist-info"}


def test_a_wheel_holds_every_module_of_the_checkout(checkout: Path, wheel: Path, wheel_of_sdist: Path) -> None:
    expected = {"brokerlaw/py.typed"}
    for here, _, files in os.walk(checkout / "brokerlaw", followlinks=True):
        expected |= {str(Path(here, file).relative_to(checkout)) for file in files if file.endswith(".py")}
    assert "brokerlaw/spec/core/law.py" in expected
    for built in (wheel, wheel_of_sdist):
        assert sorted(expected - _names(built)) == [], f"missing in {built}"


@pytest.mark.parametrize("imports", [(OURS, THEIRS), (THEIRS, OURS)], ids=["ours first", "theirs first"])
def test_both_specs_can_be_imported(wheel: Path, their_repo: Path, tmp_path: Path, imports: tuple[str, str]) -> None:
    installed = _install(wheel, tmp_path / "installed")
    owners, ours = _beside(their_repo, installed, "-c", "; ".join([*imports, SHOW])).splitlines()
    assert owners == "user user"
    assert Path(ours) == installed / "brokerlaw" / "spec" / "core" / "__init__.py"


def test_their_tests_run_beside_an_installed_brokerlaw(wheel: Path, their_repo: Path, tmp_path: Path) -> None:
    installed = _install(wheel, tmp_path / "installed")
    assert "1 passed" in _beside(their_repo, installed, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", ".")


@pytest.mark.parametrize("imports", [(OURS, THEIRS), (THEIRS, OURS)], ids=["ours first", "theirs first"])
def test_an_editable_install_shows_one_name_of_the_checkout(
    checkout: Path, editable: Path, their_repo: Path, tmp_path: Path, imports: tuple[str, str]
) -> None:
    installed = _install(editable, tmp_path / "installed")
    linked = f"import site; site.addsitedir({str(installed)!r})"
    owners, ours = _beside(their_repo, installed, "-c", "; ".join([linked, *imports, SHOW])).splitlines()
    assert owners == "user user"
    assert Path(ours) == checkout / "brokerlaw" / "spec" / "core" / "__init__.py"
    hidden = "import importlib.util as u; print([n for n in ('spec', 'driver', 'tests') if u.find_spec(n)])"
    assert _beside(tmp_path, installed, "-c", f"{linked}; {hidden}").strip() == "[]"
