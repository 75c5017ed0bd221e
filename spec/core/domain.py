"""Domains: what a field of a config or a command may hold, declared once.

Every engine reads the same declaration: the seeded sampler and the Hypothesis strategy draw from it, the explorer
enumerates its small scope, the shrinker walks towards its simplest value, the case reader checks against it, and the
docs print it.  A field is declared where it stands:

    size_bytes: int = integer(0, 5_242_880, usual=(1, 40), edges=(0, 1), small=(1, 3))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs
from attrs import frozen

Random = Callable[[], float]
"""A source of floats in [0, 1): the only randomness a domain ever sees."""

_MISSING: Any = attrs.NOTHING
_DOMAIN = "brokerlaw.domain"


@frozen
class Shape:
    """How a case draws its values (part of its swarm): from how much of the usual range, and how often an edge."""

    width: float = 1.0  # share of the usual range that is used, above its low end
    edge_rate: float = 0.05  # how often an edge is taken instead
    full_rate: float = 0.01  # how often any value of the full range is taken instead


@frozen
class Integer:
    """Whole numbers from `low` to `high`; most draws come from `usual`."""

    low: int
    high: int
    usual: tuple[int, int]
    edges: tuple[int, ...]
    small: tuple[int, ...]

    def problem(self, value: object) -> str | None:
        if type(value) is not int:
            return f"expected a whole number, got {_named(value)}"
        if not self.low <= value <= self.high:
            return f"expected a whole number from {self.low} to {self.high}, got {value}"
        return None

    def sampler(self, random: Random, shape: Shape) -> Callable[[], int]:
        low, high = self.usual
        count = max(1, round((high - low + 1) * shape.width))
        edges, edge_rate = self.edges, shape.edge_rate if self.edges else 0.0
        full_low, full_count = self.low, self.high - self.low + 1
        plain_above = edge_rate + shape.full_rate

        def draw() -> int:
            luck = random()
            if luck >= plain_above:
                return low + int(random() * count)
            if luck < edge_rate:
                return edges[int(random() * len(edges))]
            return full_low + int(random() * full_count)

        return draw

    def simpler(self, value: int) -> Iterator[int]:
        """Values to try instead, simplest first: the least one, the small ones, then halfway down."""
        base = self.simplest
        if value == base:
            return
        yield base
        yield from (edge for edge in self.small if abs(edge - base) < abs(value - base) and edge != base)
        step = (value - base) // 2 if value > base else -((base - value) // 2)
        while step:
            yield value - step
            step = step // 2 if step > 0 else -(-step // 2)

    @property
    def simplest(self) -> int:
        return min(max(self.usual[0], self.low), self.high)

    def describe(self) -> str:
        return f"{self.low} to {self.high}"


@frozen
class Choice:
    """One of a few named values, such as the names of topics."""

    values: tuple[str, ...]
    small: tuple[str, ...]
    narrows: bool = True  # whether a narrow case draws from the first few alone
    edges: tuple[str, ...] = ()

    def problem(self, value: object) -> str | None:
        if value in self.values and isinstance(value, str):
            return None
        return f"expected one of {', '.join(self.values)}; got {_named(value)}"

    def sampler(self, random: Random, shape: Shape) -> Callable[[], str]:
        values = self.values[: max(1, round(len(self.values) * shape.width))] if self.narrows else self.values
        count = len(values)
        if count == 1:
            only = values[0]
            return lambda: only
        return lambda: values[int(random() * count)]

    def simpler(self, value: str) -> Iterator[str]:
        yield from self.values[: self.values.index(value)]

    @property
    def simplest(self) -> str:
        return self.values[0]

    def describe(self) -> str:
        return " | ".join(self.values)


@frozen
class Flag:
    """On or off."""

    simplest: bool
    small: tuple[bool, ...] = (False, True)
    rate: float = 0.5  # how often it is on
    edges: tuple[bool, ...] = ()

    def problem(self, value: object) -> str | None:
        return None if type(value) is bool else f"expected true or false, got {_named(value)}"

    def sampler(self, random: Random, shape: Shape) -> Callable[[], bool]:
        rate = self.rate
        return lambda: random() < rate

    def simpler(self, value: bool) -> Iterator[bool]:
        if value != self.simplest:
            yield self.simplest

    def describe(self) -> str:
        return "true | false"


@frozen
class Maybe:
    """A value of another domain, or none."""

    of: Integer | Choice
    none_rate: float
    small: tuple[Any, ...]
    edges: tuple[Any, ...] = ()

    def problem(self, value: object) -> str | None:
        return None if value is None else self.of.problem(value)

    def sampler(self, random: Random, shape: Shape) -> Callable[[], Any]:
        inner, none_rate = self.of.sampler(random, shape), self.none_rate
        return lambda: None if random() < none_rate else inner()

    def simpler(self, value: Any) -> Iterator[Any]:
        if value is not None:
            yield None
            yield from self.of.simpler(value)

    @property
    def simplest(self) -> None:
        return None

    def describe(self) -> str:
        return f"none | {self.of.describe()}"


Domain = Integer | Choice | Flag | Maybe


def integer(
    low: int,
    high: int,
    *,
    usual: tuple[int, int] | None = None,
    edges: Sequence[int] = (),
    small: Sequence[int] = (),
    default: int = _MISSING,
    doc: str = "",
) -> Any:
    """A whole number.  `usual` is where most draws fall; `small` is the explorer's scope (by default the low end)."""
    usual = usual or (low, high)
    return _field(Integer(low, high, usual, tuple(edges), tuple(small) or (usual[0],)), default, doc)


def choice(*values: str, small: int = 0, narrows: bool = True, default: str = _MISSING, doc: str = "") -> Any:
    """One of the named values; the first `small` of them are the explorer's scope (by default all).  `narrows`: some
    cases draw from the first few alone, so that they meet more often."""
    return _field(Choice(values, values[: small or len(values)], narrows), default, doc)


def flag(*, default: bool = _MISSING, rate: float = 0.5, small: Sequence[bool] = (False, True), doc: str = "") -> Any:
    """On or off; `rate` is how often it is drawn on.  The simplest value is the default where there is one."""
    return _field(Flag(False if default is _MISSING else default, tuple(small), rate), default, doc)


def maybe(of: Any, *, none_rate: float = 0.25, small: Sequence[Any] = (None,), default: Any = _MISSING) -> Any:
    """A field declared by `integer` or `choice`, or none."""
    inner = of.metadata[_DOMAIN]
    return _field(Maybe(inner, none_rate, tuple(small)), default, of.metadata["doc"])


def _field(domain: Domain, default: Any, doc: str) -> Any:
    return attrs.field(default=default, metadata={_DOMAIN: domain, "doc": doc})


@frozen
class Field:
    """A declared field: its name, its domain, its default (or REQUIRED), what its unit or source is."""

    name: str
    domain: Domain
    default: Any
    doc: str


REQUIRED: Any = attrs.NOTHING


def fields_of(declared: type) -> tuple[Field, ...]:
    """The declared fields of a config or command class, in order."""
    found = _FIELDS.get(declared)
    if found is None:
        found = tuple(
            Field(a.name, a.metadata[_DOMAIN], a.default, a.metadata["doc"])
            for a in attrs.fields(declared)
            if _DOMAIN in a.metadata
        )
        _FIELDS[declared] = found
    return found


_FIELDS: dict[type, tuple[Field, ...]] = {}


def _named(value: object) -> str:
    """A value as an error message shows it: short, whatever it is."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
