"""Plans: what a campaign does, as plain data that driver, executors and a later resume all read.

A campaign is cut into *ranges* of cases, and a range is one task.  Ranges of all systems take turns, so that a campaign
that ends early has done its part of each.  Every so often one range is a *canary*: the cases of a mutant, which travel
through the same executors, the same files and the same counts, and must be found broken wherever they went.
"""

from __future__ import annotations

from math import ceil
from typing import Any

from attrs import asdict, field, fields, frozen, validators

from ..driver.child import Limits

VERSION = 1
CANARY_EVERY = 32  # one range in so many is a canary's, the first one among them
CANARY_CASES = 25  # in a canary's range; each canary of ours breaks a law in the first few


@frozen
class Lane:
    """One subject of one system, by names that an executor can look up."""

    system: str  # in the table, or MODULE:NAME
    subject: str
    dialect: str = "text"
    canary: bool = False


@frozen
class Range:
    """A stretch of the cases of a lane."""

    lane: int
    first: int
    count: int


_WHOLE = validators.and_(validators.instance_of(int), validators.ge(0))


@frozen
class Plan:
    """A campaign.  Two with the same plan give the same results, wherever and in how many pieces they run."""

    lanes: tuple[Lane, ...] = field(validator=validators.min_len(1))
    canaries: tuple[Lane, ...]
    seed: int = field(validator=_WHOLE)
    cases: int = field(validator=_WHOLE)  # of each lane
    range_size: int = field(validator=(_WHOLE, validators.ge(1)))
    only: tuple[str, ...]
    model: bool = field(validator=validators.instance_of(bool))
    checked: bool | None = field(validator=validators.optional(validators.instance_of(bool)))
    max_steps: int | None = field(validator=validators.optional(_WHOLE))
    limits: Limits
    code: str = field(validator=validators.instance_of(str))  # a hash over our sources
    subjects: tuple[str, ...]  # for each lane a hash over the sources of its subject and system

    @property
    def everyone(self) -> tuple[Lane, ...]:
        """All lanes; a range names one by its place here."""
        return (*self.lanes, *self.canaries)

    @property
    def ranges(self) -> int:
        """How many ranges there are, the canaries' included."""
        ordinary = ceil(self.cases / self.range_size) * len(self.lanes)
        return ordinary + ceil(ordinary / (CANARY_EVERY - 1)) if self.canaries else ordinary

    def range_at(self, index: int) -> Range:
        """The range with this index."""
        if self.canaries:
            turn, place = divmod(index, CANARY_EVERY)
            if place == 0:
                canary, again = turn % len(self.canaries), turn // len(self.canaries)
                return Range(len(self.lanes) + canary, again * CANARY_CASES, CANARY_CASES)
            index -= turn + 1
        lane, first = index % len(self.lanes), index // len(self.lanes) * self.range_size
        return Range(lane, first, min(self.range_size, self.cases - first))

    def to_json(self) -> dict[str, Any]:
        return {"version": VERSION, **asdict(self)}

    @classmethod
    def from_json(cls, data: Any) -> Plan:
        """Raises ValueError or TypeError where this is not a plan of ours."""
        if not isinstance(data, dict):
            raise ValueError("expected an object")
        if data.get("version") != VERSION:
            raise ValueError(f"version {data.get('version')!r}; this is version {VERSION}")
        names = {each.name for each in fields(cls)}
        if wrong := (data.keys() ^ names) - {"version"}:
            raise ValueError(f"{min(wrong)} is {'missing' if min(wrong) in names else 'no part of one'}")
        given = {name: data[name] for name in names}
        for name in ("lanes", "canaries"):
            given[name] = tuple(Lane(**lane) for lane in given[name])
        for name in ("only", "subjects"):
            given[name] = tuple(given[name])
        return cls(**{**given, "limits": Limits(**given["limits"])})

    def differences(self, other: Plan) -> list[str]:
        """What another plan has that this one has not, a sentence each."""
        return [
            f"{_NAMES.get(each.name, each.name)} was {_shown(getattr(self, each.name))} and is now "
            f"{_shown(getattr(other, each.name))}"
            for each in fields(Plan)
            if getattr(self, each.name) != getattr(other, each.name)
        ]


_NAMES = {
    "lanes": "what is tested",
    "canaries": "the canary",
    "seed": "--seed",
    "cases": "--cases",
    "range_size": "--range-size",
    "only": "--law",
    "model": "the model",
    "checked": "--every-step",
    "max_steps": "--max-steps",
    "limits": "what a case may cost",
    "code": "brokerlaw's own code",
    "subjects": "the source of subject or system",
}


def _shown(value: Any) -> str:
    if isinstance(value, tuple) and value and isinstance(value[0], Lane):
        return ", ".join(f"{lane.system} {lane.subject} ({lane.dialect})" for lane in value)
    if isinstance(value, tuple):
        return ", ".join(_shown(each) for each in value) or "none"
    text = str(value)
    return text[:12] if len(text) == _HASH else text


_HASH = 64  # letters of a hash; its beginning is enough to tell two apart
