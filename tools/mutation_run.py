"""Breaks the references one token at a time with cosmic-ray, and says which mutations the laws do not notice.

    tools/mutation [--system entry_cache|cursor_ranks] [--out FOLDER]

It works on a copy of the tree.  Exit code 0: every survivor is on the list of judged ones (mutation_survivors.toml),
1: one is not, 2: it could not be run.  The sessions of cosmic-ray are left in FOLDER, for cr-report and cr-html.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from mutation_judged import BadList, Key, outdated, read_judged, unjudged
from mutation_session import MODULES, BadSession, Mutant, execute, judged_clean, read, start

ROOT = Path(__file__).resolve().parent.parent
SURVIVORS = ROOT / "tools" / "mutation_survivors.toml"
COPIED = ("brokerlaw", "spec", "reference", "driver", "properties", "tools")
KINDS = {
    "law": "a law broke",
    "model": "the model alone differed",
    "examination": "an examination of clones, resets and fingerprints failed",
    "exception": "it raised, and no law broke",
    "hang": "it did not end",
    "nothing": "nothing noticed: survivors",
}


def main(arguments: list[str]) -> int:
    """Runs the mutations and prints the figures."""
    parser = argparse.ArgumentParser(prog="tools/mutation", description="Do the laws notice a broken reference?")
    parser.add_argument("--system", choices=sorted(MODULES), help="one of the references (default: both)")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "mutation", help="where the sessions are left")
    options = parser.parse_args(arguments)
    systems = [options.system] if options.system else sorted(MODULES)
    try:
        judged = read_judged(SURVIVORS)
        options.out.mkdir(parents=True, exist_ok=True)
        mutants = [mutant for system in systems for mutant in run(system, options.out.resolve())]
    except (OSError, BadList, BadSession) as problem:
        print(f"mutation: {problem}", file=sys.stderr)
        return 2
    print(figures(mutants))
    survivors = [mutant for mutant in mutants if mutant.by == "nothing"]
    fresh = unjudged(survivors, judged)
    print(f"{len(survivors) - len(fresh)} of {len(survivors)} survivors are judged in {SURVIVORS.relative_to(ROOT)}.")
    for mutant in fresh:
        print(shown(mutant))
    for key in outdated(mutants, judged, {mutant.file for mutant in mutants}):
        print(told_outdated(key))
    return 1 if fresh else 0


def run(system: str, out: Path) -> list[Mutant]:
    """Every mutation of one reference, and what noticed it."""
    session = out / f"{system}.sqlite"
    with tempfile.TemporaryDirectory(prefix="brokerlaw-mutation-") as scratch:
        tree = Path(scratch) / "tree"
        copy(ROOT, tree)
        noticed = judged_clean(system, tree)
        if noticed:
            raise BadSession(f"{system} does not pass as it is, so that mutations of it would tell nothing: {noticed}")
        left_out = start(system, tree, session)
        total = sum(left_out.values())
        print(f"{system}: {total} mutations are left out, in {told(left_out)}", flush=True)
        execute(system, tree, session, lambda done, every: print(f"{system}: {done} of {every} mutants", flush=True))
    return read(session)


def copy(root: Path, tree: Path) -> None:
    """Copies what a judgement needs; the package reaches the folders by links, which stay links."""
    ignored = shutil.ignore_patterns("__pycache__", ".*")
    for name in COPIED:
        shutil.copytree(root / name, tree / name, symlinks=True, ignore=ignored)


def figures(mutants: list[Mutant]) -> str:
    """How many mutants fell to what, for each file; then which laws did it."""
    files = sorted({mutant.file for mutant in mutants})
    rows = [["", "mutants", *[kind if kind != "nothing" else "survived" for kind in KINDS]]]
    for name, group in [*[(f, [m for m in mutants if m.file == f]) for f in files], ("all", mutants)]:
        by = Counter(mutant.by for mutant in group)
        rows.append([name, str(len(group)), *[str(by[kind]) for kind in KINDS]])
    laws = Counter(mutant.what for mutant in mutants if mutant.by == "law")
    named = [f"{count:6} {law}" for law, count in sorted(laws.items(), key=lambda row: (-row[1], row[0]))]
    meaning = [f"  {'survived' if kind == 'nothing' else kind}: {words}" for kind, words in KINDS.items()]
    return "\n".join([*table(rows), *meaning, f"{len(laws)} laws were the first to break:", *named])


def table(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join([row[0].ljust(widths[0]), *[cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True)]])
        for row in rows
    ]


def told(counts: dict[str, int]) -> str:
    return ", ".join(f"{why} ({count})" for why, count in sorted(counts.items()))


def indented(sign: str, lines: Iterable[str]) -> list[str]:
    return [f"  {sign} {line}" for line in lines]


def shown(mutant: Mutant) -> str:
    """A survivor that nobody judged."""
    where = f"NOT JUDGED {mutant.file}, line {mutant.line}, in {mutant.within or 'the module'} ({mutant.operator})"
    return "\n".join([where, *indented("-", mutant.before.splitlines()), *indented("+", mutant.after.splitlines())])


def told_outdated(key: Key) -> str:
    file, within, before, after = key
    return f"judged, and no longer a survivor: {file}, in {within or 'the module'}: {before!r} -> {after!r}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
