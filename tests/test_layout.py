"""The layout holds: imports point one way, light things stay light, every module says what it is for.

The rules are plain functions from a module to sentences about what is wrong in it, so that the last tests here can
show each of them at work on a module that breaks it.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent

# Each folder, and the folders that it may import.  The front door, brokerlaw/ itself, may import them all.
_BELOW_ENGINES = frozenset({"spec", "reference", "driver"})
LAYERS: dict[str, frozenset[str]] = {
    "spec": frozenset(),
    "reference": frozenset({"spec"}),
    "driver": frozenset({"spec", "reference"}),
    "properties": _BELOW_ENGINES,
    "spark_fuzz": _BELOW_ENGINES,
    "conformance": _BELOW_ENGINES,
}
ENGINES = frozenset({"hypothesis", "z3", "pyspark"})
NOT_ON_IMPORT = ENGINES | {"numpy", "pandas", "pyarrow", "pytest"}
WITHOUT_ENGINES = ("spec", "reference", "driver")
TABLE = "brokerlaw.reference.table"  # it lists each system beside its reference, so it sees both
MAX_LINES = 400
IMPORT_NAME = {"z3-solver": "z3"}  # where a package is imported under another name than it is installed


class Import(NamedTuple):
    """One imported thing, by its full dotted name."""

    line: int
    target: str  # "brokerlaw.spec.core.Law", "attrs.frozen", "json"

    @property
    def top(self) -> str:
        return self.target.partition(".")[0]

    def within(self, package: str) -> bool:
        return self.target == package or self.target.startswith(package + ".")


class Module(NamedTuple):
    """A parsed module under the name by which it is imported."""

    name: str  # "brokerlaw.spec.core.law"; outside the package "tests.test_layout"
    is_package: bool
    source: str

    @property
    def folder(self) -> str:
        """The folder of LAYERS that it stands in; empty for the front door and for what is not part of the package."""
        head, _, rest = self.name.partition(".")
        folder = rest.partition(".")[0]
        return folder if head == "brokerlaw" and folder in LAYERS else ""

    def imports(self) -> Iterator[Import]:
        """Everything it imports, at the top, within functions and for type checkers alike."""
        for node in ast.walk(ast.parse(self.source)):
            if isinstance(node, ast.Import):
                yield from (Import(node.lineno, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = self._absolute(node.module, node.level)
                yield from (Import(node.lineno, f"{base}.{alias.name}") for alias in node.names)

    def _absolute(self, module: str | None, level: int) -> str:
        if level == 0:
            return module or ""
        parts = self.name.split(".")
        up = level - 1 if self.is_package else level
        return ".".join(parts[: len(parts) - up] + ([module] if module else []))


def _modules_under(folder: Path, name: str) -> Iterator[Module]:
    # Links are not followed: the package's own modules are those that stand in brokerlaw/ itself.
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(set(folders) - {"__pycache__"})
        for file in sorted(file for file in files if file.endswith(".py")):
            path = Path(here, file)
            parts = (name, *path.relative_to(folder).with_suffix("").parts)
            is_package = parts[-1] == "__init__"
            yield Module(".".join(parts[:-1] if is_package else parts), is_package, path.read_text(encoding="utf-8"))


PACKAGE = [
    *_modules_under(ROOT / "brokerlaw", "brokerlaw"),
    *(module for folder in LAYERS for module in _modules_under(ROOT / folder, f"brokerlaw.{folder}")),
]
BESIDE = [module for folder in ("tests", "benchmarks", "tools") for module in _modules_under(ROOT / folder, folder)]

Rule = Callable[[Module], list[str]]


def _each(modules: list[Module]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("module", modules, ids=lambda module: module.name)


def _assert_none(problems: list[str]) -> None:
    assert not problems, "\n".join(problems)


# ---- The rules ------------------------------------------------------------------------------------------------------


def upward_imports(module: Module) -> list[str]:
    """spec <- reference <- driver <- properties, spark_fuzz, conformance <- the front door."""
    if not module.folder:
        return []
    seen = {module.folder, *LAYERS[module.folder]}
    may = ", ".join(sorted(LAYERS[module.folder])) or "no other folder"
    return [
        f"line {found.line} imports {found.target}; {module.folder} may import {may}"
        for found in module.imports()
        if found.within("brokerlaw") and not any(found.within(f"brokerlaw.{folder}") for folder in seen)
    ]


def bare_folder_imports(module: Module) -> list[str]:
    """`import spec` would take a user's own spec/ for ours."""
    return [
        f"line {found.line} imports {found.target} by a bare name; it is brokerlaw.{found.target}"
        for found in module.imports()
        if found.top in LAYERS
    ]


def foreign_imports_of_spec(module: Module) -> list[str]:
    """The spec is read by people and run by every engine: attrs and the standard library are all it needs."""
    if module.folder != "spec":
        return []
    return [
        f"line {found.line} imports {found.target}; spec imports attrs and the standard library alone"
        for found in module.imports()
        if found.top not in {"attrs", "brokerlaw", *sys.stdlib_module_names}
    ]


def engine_imports(module: Module) -> list[str]:
    """What a user's own subject is run with stays free of the engines."""
    if module.folder not in WITHOUT_ENGINES:
        return []
    return [
        f"line {found.line} imports {found.target}; {module.folder} does without {', '.join(sorted(ENGINES))}"
        for found in module.imports()
        if found.top in ENGINES
    ]


def undeclared_imports(module: Module) -> list[str]:
    """What the package imports, pyproject.toml installs."""
    known = {"brokerlaw", *sys.stdlib_module_names, *_declared_imports()}
    return [
        f"line {found.line} imports {found.target}, which no dependency in pyproject.toml brings"
        for found in module.imports()
        if found.top not in known
    ]


def logic_taken_from_spec(module: Module) -> list[str]:
    """Model and reference agree on the words alone; a reference that shared the model's logic would share its bugs."""
    if module.folder != "reference" or module.name == TABLE:
        return []
    return [
        f"line {found.line} imports {found.target}; a reference takes spec.core and a system's words, no more"
        for found in module.imports()
        if found.within("brokerlaw.spec") and not _is_word(found.target)
    ]


def missing_docstring(module: Module) -> list[str]:
    """A module begins with what it is for."""
    return [] if ast.get_docstring(ast.parse(module.source)) else ["it has no docstring: say what it is for"]


def too_many_lines(module: Module) -> list[str]:
    """A module fits in a head."""
    lines = len(module.source.splitlines())
    return [f"it has {lines} lines, more than {MAX_LINES}: split it"] if lines > MAX_LINES else []


def _is_word(target: str) -> bool:
    """Whether `brokerlaw.spec.core.…`, `brokerlaw.spec.<system>.words.…`, or a word that the system passes on."""
    _, _, system, name, *_ = (*target.split("."), "", "")
    if system == "core" or name == "words":
        return True
    one_file, package = ROOT / "spec" / f"{system}.py", ROOT / "spec" / system / "__init__.py"
    if one_file.exists():
        return name in _words_of_one_file(one_file.read_text(encoding="utf-8"))
    return package.exists() and name in _words_passed_on(system, package.read_text(encoding="utf-8"))


def _words_passed_on(system: str, source: str) -> set[str]:
    """What the package of a system takes from its words, for others to take from it."""
    package = Module(f"brokerlaw.spec.{system}", is_package=True, source=source)
    words = f"{package.name}.words."
    return {found.target.removeprefix(words) for found in package.imports() if found.target.startswith(words)}


def _words_of_one_file(source: str) -> set[str]:
    """The classes and plain constants of a spec in one file, but for what its model and laws keep to themselves."""
    words = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef) and node.name not in {"State", "History"}:
            words.add(node.name)
        elif isinstance(node, ast.Assign) and not any(isinstance(part, ast.Call) for part in ast.walk(node.value)):
            words |= {name.id for name in node.targets if isinstance(name, ast.Name)}
    return words


def _project() -> dict[str, object]:
    project: dict[str, object] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project


def _requirements(*extras: str) -> list[Requirement]:
    """What pyproject.toml asks for, with these extras; brokerlaw's own extras by name are left out."""
    project = _project()
    listed, optional = project["dependencies"], project["optional-dependencies"]
    assert isinstance(listed, list)
    assert isinstance(optional, dict)
    asked = [Requirement(text) for text in [*listed, *(text for extra in extras for text in optional[extra])]]
    return [requirement for requirement in asked if requirement.name != "brokerlaw"]


def _declared_imports() -> set[str]:
    names = [requirement.name for requirement in _requirements("arrow")]
    return {IMPORT_NAME.get(name, name) for name in names}


# ---- The rules hold -------------------------------------------------------------------------------------------------


@_each(PACKAGE)
def test_imports_point_one_way(module: Module) -> None:
    _assert_none(upward_imports(module))


@_each(PACKAGE + BESIDE)
def test_no_folder_is_imported_by_its_bare_name(module: Module) -> None:
    _assert_none(bare_folder_imports(module))


@_each([module for module in PACKAGE if module.folder == "spec"])
def test_spec_imports_attrs_and_the_standard_library_alone(module: Module) -> None:
    _assert_none(foreign_imports_of_spec(module))


@_each([module for module in PACKAGE if module.folder in WITHOUT_ENGINES])
def test_no_engine_is_imported_below_the_engines(module: Module) -> None:
    _assert_none(engine_imports(module))


@_each(PACKAGE)
def test_every_import_is_a_declared_dependency(module: Module) -> None:
    _assert_none(undeclared_imports(module))


@_each([module for module in PACKAGE if module.folder == "reference"])
def test_a_reference_takes_only_words_from_the_spec(module: Module) -> None:
    _assert_none(logic_taken_from_spec(module))


@_each(PACKAGE + BESIDE)
def test_every_module_says_what_it_is_for(module: Module) -> None:
    _assert_none(missing_docstring(module))


@_each(PACKAGE + BESIDE)
def test_every_module_fits_in_a_head(module: Module) -> None:
    _assert_none(too_many_lines(module))


# ---- The folders and the package ------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", LAYERS)
def test_a_folder_with_modules_is_linked_into_the_package(folder: str) -> None:
    link = ROOT / "brokerlaw" / folder
    if any(_modules_under(ROOT / folder, folder)):
        assert link.is_symlink(), f"brokerlaw/{folder} is missing: ln -s ../{folder} brokerlaw/{folder}"
    if link.is_symlink():
        assert os.readlink(link) == f"../{folder}", "the link has to work in every clone"


@pytest.mark.parametrize("package", sorted({m.name.rpartition(".")[0] for m in PACKAGE if not m.is_package}))
def test_a_folder_of_modules_is_a_package(package: str) -> None:
    packages = {module.name for module in PACKAGE if module.is_package}
    assert package in packages, f"{package} has no __init__.py, so an installed brokerlaw would be without it"


@pytest.mark.parametrize("name", ["brokerlaw", "brokerlaw.spec", "brokerlaw.spec.core", "brokerlaw.driver"])
def test_importing_it_loads_no_engine(name: str) -> None:
    program = f"import sys, {name}; print(*sorted({set(NOT_ON_IMPORT)!r} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == []


def test_constraints_are_plain_pins_that_meet_every_requirement() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    _assert_none([f"{line}: not name==version" for line in pins if not re.fullmatch(r"[\w.-]+==[\w.]+", line)])
    pinned = {_normal(name): version for name, _, version in (pin.partition("==") for pin in pins)}
    asked = _requirements("arrow", "dev")
    _assert_none([f"{a.name} is not pinned" for a in asked if _normal(a.name) not in pinned])
    _assert_none(
        [f"{a} is pinned at {pinned[_normal(a.name)]}" for a in asked if pinned[_normal(a.name)] not in a.specifier]
    )


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


# ---- The rules can fail ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "name", "source"),
    [
        (upward_imports, "brokerlaw.spec.core.law", "from ...reference import table"),
        (upward_imports, "brokerlaw.reference.entry_cache", "from .. import driver"),
        (upward_imports, "brokerlaw.driver.loop", "def late():\n    from ..properties.machine import Machine"),
        (upward_imports, "brokerlaw.properties.diff", "from ..cli.main import entry"),
        (upward_imports, "brokerlaw.spark_fuzz.run", "import brokerlaw.conformance.pulsar"),
        (bare_folder_imports, "tests.test_case", "from spec.core import Case"),
        (bare_folder_imports, "brokerlaw.cli.main", "import reference.table as table"),
        (foreign_imports_of_spec, "brokerlaw.spec.core.law", "import sortedcontainers"),
        (engine_imports, "brokerlaw.driver.loop", "from z3 import Int"),
        (undeclared_imports, "brokerlaw.cli.main", "import click"),
        (logic_taken_from_spec, "brokerlaw.reference.entry_cache", "from ..spec.entry_cache.model import step"),
        (logic_taken_from_spec, "brokerlaw.reference.mutants.entry_cache", "from ...spec.entry_cache import laws"),
        (logic_taken_from_spec, "brokerlaw.reference.entry_cache", "from ..spec import entry_cache"),
        (missing_docstring, "brokerlaw.cli", "import json"),
        (too_many_lines, "brokerlaw.cli", "\n" * (MAX_LINES + 1)),
    ],
)
def test_a_rule_sees_the_module_that_breaks_it(rule: Rule, name: str, source: str) -> None:
    assert len(rule(Module(name, is_package=False, source=source))) == 1


@pytest.mark.parametrize(
    ("rule", "name", "source"),
    [
        (upward_imports, "brokerlaw.driver.loop", "from ..spec.core import Law\nfrom .tally import Tally"),
        (upward_imports, "brokerlaw.cli.main", "from ..properties.diff import diff"),
        (bare_folder_imports, "tests.test_case", "from brokerlaw.spec.core import Case"),
        (foreign_imports_of_spec, "brokerlaw.spec.core.law", "import re\nfrom attrs import frozen"),
        (logic_taken_from_spec, "brokerlaw.reference.entry_cache", "from ..spec.entry_cache.words import Config"),
        (logic_taken_from_spec, "brokerlaw.reference.entry_cache", "from ..spec.core import Dialect"),
        (logic_taken_from_spec, TABLE, "from ..spec.entry_cache import ENTRY_CACHE"),
    ],
)
def test_a_rule_leaves_a_good_module_alone(rule: Rule, name: str, source: str) -> None:
    assert rule(Module(name, is_package=False, source=source)) == []


def test_the_words_of_a_spec_in_one_file_are_its_classes_and_constants() -> None:
    source = "LIMIT = 3\nclass Add: ...\nCOMMANDS = (Add,)\nclass State: ...\ndef step(): ...\nMODEL = Model(step)\n"
    assert _words_of_one_file(source) == {"LIMIT", "Add", "COMMANDS"}


def test_the_words_that_a_package_passes_on_are_those_it_takes_from_its_words() -> None:
    source = "from .model import MODEL, State\nfrom .words import Add, Config\nfrom ..core import System\n"
    assert _words_passed_on("ack_limit", source) == {"Add", "Config"}
