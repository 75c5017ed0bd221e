"""What changed between two campaigns: laws, states, findings, effort, environment."""

from __future__ import annotations

from attrs import evolve

from ..told import counted
from .content import Change, Changes, Content, FindingPart, LawLine, SystemPart
from .words import NOT_RECORDED, evidence_of

NOT_BEFORE, NOT_NOW = "not in that campaign", "not in this campaign"
NOT_KNOWN, NOT_AGAIN = "not known any more", "not seen again"


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
    broken = sum(len(_violated(new) - _violated(old)) for old, new in pairs)
    mended = sum(len(_violated(old) & _fuzzed(new)) for old, new in pairs)
    lost = sum(len(_violated(old) - _violated(new) - _fuzzed(new)) for old, new in pairs)
    fresh = sum(len(_shapes(new) - _shapes(old)) for old, new in pairs)
    missed = [found for old, new in pairs for found in _not_again(old, new)]
    gone = sum(better for _, better in missed)
    same = sum(len(_shapes(old) & _shapes(new)) for old, new in pairs)
    digest = "the digest is the same" if before.digest == now.digest else "the digest differs"
    return (
        f"{counted(broken, 'law')} newly violated, {mended:,} mended, {lost:,} {NOT_KNOWN}; "
        f"{counted(fresh, 'finding')} new, {gone:,} gone, {len(missed) - gone:,} {NOT_AGAIN}, {same:,} the same by "
        f"shape; {digest}."
    )


def _violated(part: SystemPart) -> set[str]:
    return {law.law for law in part.having("violated")}


def _fuzzed(part: SystemPart) -> set[str]:
    return {law.law for law in part.having("fuzzed")}


def _laws(old: SystemPart, new: SystemPart) -> list[Change]:
    was, now = {law.law: law for law in old.laws}, {law.law: law for law in new.laws}
    changes = []
    for name in {**was, **now}:
        one, two = was.get(name), now.get(name)
        if one is not None and two is not None:
            changes += [_of_law(one, two)] if one.evidence != two.evidence else []
        elif two is not None:
            changes.append(Change(name, NOT_BEFORE, evidence_of(two), worse=two.evidence == "violated" or None))
        elif one is not None:
            changes.append(Change(name, evidence_of(one), NOT_NOW))
    return sorted(changes, key=lambda change: change.worse is not True)


def _of_law(was: LawLine, now: LawLine) -> Change:
    """A law whose evidence is another now.  Better is only what held where it was put to the test: a law that was
    violated, and of which nothing is known now, may be broken still."""
    before, after = _held(was), _held(now)
    if now.evidence == "fuzzed":
        return Change(was.law, before, after, worse=False)
    if now.evidence == "violated":
        return Change(was.law, before, after, worse=True)
    if was.evidence == "violated":
        return Change(was.law, before, f"{after}: {NOT_KNOWN}")
    return Change(was.law, before, after, worse=was.evidence == "fuzzed" or None)


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
    changes += [
        Change(_shown(found), "there", "gone", worse=False) if better else Change(_shown(found), "there", NOT_AGAIN)
        for found, better in _not_again(old, new)
    ]
    return changes + [Change(_shown(found), "there", "the same") for shape, found in now.items() if shape in was]


def _not_again(old: SystemPart, new: SystemPart) -> list[tuple[FindingPart, bool]]:
    """Findings that there are no more, each with whether that is better: only where its law holds now."""
    shapes, held = _shapes(new), _fuzzed(new)
    missed = {found.shape: found for found in old.findings if found.shape not in shapes}
    return [(found, found.kind == "law" and found.law in held) for found in missed.values()]


def _shapes(part: SystemPart) -> set[object]:
    return {finding.shape for finding in part.findings}


def _shown(finding: FindingPart) -> str:
    return f"{finding.headline}: {', '.join(finding.commands[:12])}{', …' if len(finding.commands) > 12 else ''}"


def _systems(before: Content, now: Content) -> list[Change]:
    was, are = ({part.name for part in content.systems} for content in (before, now))
    gone = [Change(f"system {name}", "checked", NOT_NOW) for name in sorted(was - are)]
    return gone + [Change(f"system {name}", NOT_BEFORE, "checked") for name in sorted(are - was)]


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
