"""cursor_ranks, part 6: where the text is vague, and what of it no law covers."""

from __future__ import annotations

from typing import Any

from ..core import Case, Deviation
from .model import RANK_LEAVES_ITSELF_OUT, RE_ADD_KEEPS_OLD_CURSOR, UNTRACKED_KEEPS_POSITION
from .words import Add, Config, Move, Rank


def _case(*commands: Any) -> Case:
    return Case("cursor_ranks", Config(), commands)


DEVIATIONS = (
    Deviation(
        RE_ADD_KEEPS_OLD_CURSOR,
        says="Silent: what becomes of a cursor when another is added under its name?",
        here="text: the new cursor takes its place. Here: the old cursor stays and moves to the new position; the Add "
        "answers the old one's number, and its own number is used up.",
        origin="shipped",
        case=_case(Add("c0", None, 0), Add("c0", None, 0)),
        replaces=("find_gives_the_newest",),
        source="shipped: ActiveManagedCursorContainerImpl.add, 4.2.4: a present name keeps its node, cursor included",
    ),
    Deviation(
        UNTRACKED_KEEPS_POSITION,
        says="Silent: does a cursor that moved to no position still count?",
        here="text: it counts for Size alone. Here: the Move changes nothing, the cursor is tracked where it was. "
        "Shipped code does so in part: it forgets a position that was pending, and keeps one that an answer had "
        "applied (hence the first Rank of the case): the cursor's own rank stays, while the others' counts "
        "leave it out until a rebuild brings it back.",
        origin="silent",
        case=_case(Add("c0", 0, 0), Rank("c0"), Move("c0", None, 0), Rank("c0")),
        replaces=("untracking_forgets_the_position",),
        source="shipped: ActiveManagedCursorContainerImpl.updateCursor, 4.2.4; mended by apache/pulsar#26629",
    ),
    Deviation(
        RANK_LEAVES_ITSELF_OUT,
        says='"The number of active cursors at or before a given position": does the cursor that asks count?',
        here="text: it counts, since it too will read the entry. Here: it does not.",
        origin="silent",
        case=_case(Add("c0", 0, 0), Rank("c0")),
        replaces=("rank_counts_at_or_before",),
        source="PIP-430, Detailed Design 3, 1st sentence; the shipped interface says that it counts",
    ),
)

DIALECTS: dict[str, tuple[str, ...]] = {"text": (), "pulsar-4": (RE_ADD_KEEPS_OLD_CURSOR,)}

CLAUSES = (
    ("Detailed Design 3: implemented with a sorted linked list", "a means; any structure that keeps the laws will do"),
    (
        "Detailed Design 3: O(1) access to the number of cursors at a given position",
        "bounded for a cursor's own position (settled_query_is_constant); for any other position (RankAt) the shipped "
        "container has no call, and no law bounds its cost",
    ),
    ("Detailed Design 3: more efficient than ManagedCursorContainerImpl in JMH", "speed: measured, not a law"),
    (
        "Detailed Design 3: used only when cacheEvictionByExpectedReadCount is enabled",
        "the broker's choice between containers; nothing that this one does",
    ),
    ("Detailed Design 3: ManagedCursorContainer becomes ManagedCursorContainerImpl", "a name"),
    (
        "Configuration: cacheEvictionByMarkDeletedPosition",
        "whether a cursor's position is where it reads or what it has marked deleted is its caller's choice; the "
        "container takes the position that it is given",
    ),
    ("High Level Design 2: the count becomes an entry's expectedReadCount", "a law matter of entry_cache"),
)
