"""What changed between two campaigns: laws, states, findings, effort, environment."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve

from ..cli.terminal import counted
from .content import Change, Changes, Content, FindingPart, LawLine, SystemPart
from .words import NOT_RECORDED, evidence_of

GONE, NEW = "not in that campaign", "not in this campaign"
RANK = {"violated": 0, "not observed": 1, "unknown": 1, "fuzzed": 2}  # evidence from worst to best


def with_changes(now: Content, before: Content, folder: str) -> Content:
    """The content of a report, with what changed since another."""
    return evolve(now, changes=changes_between(before, now, folder))


def changes_between(before: Content, now: Content, folder: str) -> Changes:
    """Groups of changes; a group without any is left out."""
    pairs = _pairs(before, now)
    groups = {
        "Laws": [change for old, new in pairs for change in _laws(old, new)],
        "States to reach": [change for old, new in pairs for change in _reached(old, new)],
        "Findings": [change for old, new in pairs for change in _findings(old, new)],
        "Effort": [*_systems(before, now), *(change for old, new in pairs for change in _effort(old, new))],
        "Environment": _environment(before, now),
    }
    kept = tuple((name, tuple(group)) for name, group in groups.items() if group)
    return Changes(folder, _sentence(pairs, before, now), kept)


def _pairs(before: Content, now: Content) -> list[tuple[SystemPart, SystemPart]]:
    """Systems of both campaigns, those of the same name together."""
    old = {part.name: part for part in before.systems}
    return [(old[part.name], part) for part in now.systems if part.name in old]


def _sentence(pairs: list[tuple[SystemPart, SystemPart]], before: Content, now: Content) -> str:
    broken = sum(_newly(new.laws, old.laws) for old, new in pairs)
    mended = sum(_newly(old.laws, new.laws) for old, new in pairs)
    fresh = sum(len(_shapes(new) - _shapes(old)) for old, new in pairs)
    gone = sum(len(_shapes(old) - _shapes(new)) for old, new in pairs)
    same = sum(len(_shapes(old) & _shapes(new)) for old, new in pairs)
    digest = "the digest is the same" if before.digest == now.digest else "the digest differs"
    return (
        f"{counted(broken, 'law')} newly violated, {mended:,} no longer; {counted(fresh, 'finding')} new, "
        f"{gone:,} gone, {same:,} the same by shape; {digest}."
    )


def _newly(now: Iterable[LawLine], before: Iterable[LawLine]) -> int:
    """How many laws are violated now that were not before."""
    old = {law.law for law in before if law.evidence == "violated"}
    return sum(law.evidence == "violated" and law.law not in old for law in now)


def _laws(old: SystemPart, new: SystemPart) -> list[Change]:
    was, now = {law.law: law for law in old.laws}, {law.law: law for law in new.laws}
    changes = []
    for name in {**was, **now}:
        one, two = was.get(name), now.get(name)
        if one is None or two is None:
            told = (GONE, evidence_of(two)) if two is not None else (evidence_of(one) if one else "", NEW)
            changes.append(Change(name, *told, two.evidence == "violated" or None if two else None))
        elif one.evidence != two.evidence:
            better = RANK[two.evidence] - RANK[one.evidence]
            changes.append(Change(name, _held(one), _held(two), better < 0 if better else None))
    return sorted(changes, key=lambda change: change.worse is not True)


def _held(law: LawLine) -> str:
    return f"{evidence_of(law)} (held {law.held:,} of {law.asked:,})"


def _reached(old: SystemPart, new: SystemPart) -> list[Change]:
    was, now = ({row.law: row.times for row in part.reached} for part in (old, new))
    return [
        Change(name, f"{was[name]:,} times", f"{times:,} times", worse=not times)
        for name, times in now.items()
        if name in was and bool(was[name]) != bool(times)
    ]


def _findings(old: SystemPart, new: SystemPart) -> list[Change]:
    was, now = ({finding.shape: finding for finding in part.findings} for part in (old, new))
    changes = [Change(_shown(found), "", "new", worse=True) for shape, found in now.items() if shape not in was]
    changes += [Change(_shown(found), "there", "gone", worse=False) for shape, found in was.items() if shape not in now]
    return changes + [Change(_shown(found), "there", "the same") for shape, found in now.items() if shape in was]


def _shapes(part: SystemPart) -> set[object]:
    return {finding.shape for finding in part.findings}


def _shown(finding: FindingPart) -> str:
    return f"{finding.headline}: {', '.join(finding.commands[:12])}{', …' if len(finding.commands) > 12 else ''}"


def _systems(before: Content, now: Content) -> list[Change]:
    was, are = ({part.name for part in content.systems} for content in (before, now))
    gone = [Change(f"system {name}", "checked", NEW) for name in sorted(was - are)]
    return gone + [Change(f"system {name}", GONE, "checked") for name in sorted(are - was)]


def _effort(old: SystemPart, new: SystemPart) -> list[Change]:
    rows = [
        ("subject", old.named, new.named),
        ("dialect", old.dialect, new.dialect),
        ("seed", str(old.seed), str(new.seed)),
        ("cases run", f"{old.effort.cases_run:,}", f"{new.effort.cases_run:,}"),
        ("steps", f"{old.effort.steps:,}", f"{new.effort.steps:,}"),
        ("digest", old.digest, new.digest),
    ]
    return [Change(f"{new.name}: {what}", was, now) for what, was, now in rows if was != now]


def _environment(before: Content, now: Content) -> list[Change]:
    was, are = dict(before.made.environment), dict(now.made.environment)
    rows = [("command", before.made.command, now.made.command)]
    rows += [(name, was.get(name, ""), are.get(name, "")) for name in {**was, **are}]
    return [Change(name, one or NOT_RECORDED, two or NOT_RECORDED) for name, one, two in rows if one != two]
