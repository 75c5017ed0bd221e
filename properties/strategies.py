"""Strategies: what Hypothesis draws, derived from the declared domains.

Each strategy shrinks towards the simplest value of its domain; a config's fields shrink towards their defaults, so that
those which do not matter vanish from a counterexample.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from ..spec.core import Case, System, fields_of
from ..spec.core.domain import REQUIRED, Choice, Domain, Field, Flag, Integer, Maybe

UNUSUAL_SHARE = 12  # one draw in so many goes beyond the usual values of a domain, where there is anything beyond
DEFAULT_SHARE = 8  # one field of a config in so many keeps its default
MAX_TABLE = 4096  # combinations of usual values that are laid out in a table


def values_of(domain: Domain) -> st.SearchStrategy[Any]:
    """The values of a domain: mostly the usual ones, the simplest first; now and then an edge, or any value at all."""
    usual, beyond = _usual(domain), _beyond(domain)
    if not usual:
        return beyond
    return st.sampled_from(usual) if beyond.is_empty else _mostly(usual, beyond)


def configs_of(declared: type) -> st.SearchStrategy[Any]:
    """Configs: every field from its domain, now and then its default."""
    fields = {f.name: values_of(f.domain) if f.default is REQUIRED else _or_default(f) for f in fields_of(declared)}
    return st.fixed_dictionaries(fields).map(lambda values: declared(**values))


def arguments_of(fields: Sequence[Field], choices: int = 2) -> st.SearchStrategy[tuple[Any, ...]]:
    """The values of several fields, mostly in so many choices.

    Hypothesis deletes a step of a machine well only where it took few choices.  So where there are more fields, the
    first ones together take one: a row of the table of their usual values, in which simple ones come first.
    """
    together = len(fields) - choices + 1
    if together < 2:
        return st.tuples(*[values_of(f.domain) for f in fields])
    apart = [values_of(f.domain).map(lambda value: (value,)) for f in fields[together:]]
    return st.tuples(_table_of(fields[:together]), *apart).map(lambda parts: tuple(itertools.chain(*parts)))


def _table_of(fields: Sequence[Field]) -> st.SearchStrategy[tuple[Any, ...]]:
    apart = st.tuples(*[values_of(f.domain) for f in fields])
    usual = [_usual(f.domain) for f in fields]
    if not 0 < math.prod(map(len, usual)) <= MAX_TABLE:
        return apart
    places = sorted(itertools.product(*[range(len(values)) for values in usual]), key=lambda at: (sum(at), at))
    table = [tuple(values[place] for values, place in zip(usual, at, strict=True)) for at in places]
    return st.sampled_from(table) if all(_beyond(f.domain).is_empty for f in fields) else _mostly(table, apart)


def commands_of(declared: type) -> st.SearchStrategy[Any]:
    """Commands of one class, whether they make sense at the moment or not."""
    return arguments_of(fields_of(declared)).map(lambda values: declared(*values))


def cases_of(system: System, max_commands: int = 12) -> st.SearchStrategy[Case]:
    """Cases of a system: any config, any commands, any dialect."""
    return st.builds(
        Case,
        system=st.just(system.name),
        config=configs_of(system.config),
        commands=st.lists(st.one_of([commands_of(command) for command in system.commands]), max_size=max_commands),
        dialect=st.sampled_from([*system.dialects, *(f"text+{deviation.name}" for deviation in system.deviations)]),
        note=st.text(max_size=20),
        observe=st.sampled_from((1, 4, 0)),
    )


def _usual(domain: Domain) -> list[Any]:
    """The usual values of a domain, the simplest first; none where they are too many to list."""
    match domain:
        case Integer(usual=(first, last)):
            return list(range(first, last + 1)) if last - first < MAX_TABLE else []
        case Choice():
            return list(domain.values)
        case Flag():
            return [domain.simplest, not domain.simplest]
        case Maybe():
            return [None, *_usual(domain.of)]


def _beyond(domain: Domain) -> st.SearchStrategy[Any]:
    """What is not usual: the edges and the full range of an integer.  Empty where every value is usual."""
    if isinstance(domain, Maybe):
        return _beyond(domain.of)
    if not isinstance(domain, Integer) or (domain.usual == (domain.low, domain.high) and not domain.edges):
        return st.nothing()
    count, above = domain.high - domain.low + 1, domain.simplest - domain.low
    full = st.integers(0, count - 1).map(lambda steps: domain.low + (above + steps) % count)  # 0: the simplest
    return full | st.sampled_from(domain.edges) if domain.edges else full


def _mostly(usual: Sequence[Any], beyond: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    share = max(1, len(usual) // (UNUSUAL_SHARE - 1))
    return _usual_or(st.integers(0, len(usual) + share - 1), usual, beyond)


@st.composite
def _usual_or(
    draw: st.DrawFn, places: st.SearchStrategy[int], usual: Sequence[Any], beyond: st.SearchStrategy[Any]
) -> Any:
    """One choice for a usual value; more only for the others."""
    place = draw(places)
    return usual[place] if place < len(usual) else draw(beyond)


def _or_default(field: Field) -> st.SearchStrategy[Any]:
    return _default_or(field.default, values_of(field.domain))


@st.composite
def _default_or(draw: st.DrawFn, default: Any, values: st.SearchStrategy[Any]) -> Any:
    return default if draw(_DEFAULT) == 0 else draw(values)


_DEFAULT = st.integers(0, DEFAULT_SHARE - 1)
