"""entry_cache: PIP-430's broker cache, as a program.

One range cache for each topic, one removal queue over all of them; entries expect reads, and every extension of their
life is bounded.  Read in this order:

    part 1      words.py        settings.py, commands.py, seen.py: what can be set, what can happen, what is seen of it
    part 2      rules.py        the arithmetic: thresholds, expiry, entitlement, lifetimes
    part 3      naming.py       the names of the deviations, by which the model asks for them
    part 4      state.py        the model's state and what is seen of it
    part 5      passes.py       how entries leave: the time pass, the size pass, removal by other means
    part 6      counts.py       how expected reads move
    part 7      steps.py        publishing, cursors: one function a command
    part 8      reading.py      reading, deliveries: one function a command
    part 9      upkeep.py       forced removal, eviction, the clock, settings: one function a command
    part 10     model.py        the table of all commands, and when a careful caller sends them
    part 11     sight.py        what laws see in snapshots; history.py: what they remember of a run
    laws 1-6    accounting.py, eviction.py, lifetimes.py, counting.py, cursors.py, refusals.py: what must hold
    laws 7      reached.py      what a campaign must reach
    part 12     readings.py     where the text is vague, with readings_of_counts.py
    laws 8-11   instead_size.py, instead_passes.py, instead_counts.py, instead_loads.py: what must hold there instead
"""

from ..core import TEXT, System
from . import (
    accounting,
    counting,
    cursors,
    eviction,
    instead_counts,
    instead_loads,
    instead_passes,
    instead_size,
    lifetimes,
    reached,
    refusals,
)
from .history import History
from .model import MODEL
from .readings import DEVIATIONS, PULSAR_4
from .scopes import SCOPES
from .words import (
    COMMANDS,
    OUTCOMES,
    Append,
    ClockBack,
    Config,
    FailLoad,
    FinishLoad,
    RollLedger,
    Snapshot,
    Tick,
)


def lane(command: object) -> str:
    """Who does it, for the timeline."""
    if isinstance(command, Append | RollLedger):
        return "producer"
    if isinstance(command, Tick | ClockBack):
        return "clock"
    if isinstance(command, FinishLoad | FailLoad):
        return "storage"
    cursor = getattr(command, "cursor", None)
    return "broker" if cursor is None else f"cursor {cursor}"


ENTRY_CACHE = System(
    name="entry_cache",
    title="Broker cache: one removal queue, expected reads, bounded TTL extension",
    proposal="PIP-430",
    config=Config,
    commands=COMMANDS,
    outcomes=OUTCOMES,
    snapshot=Snapshot,
    model=MODEL,
    laws=(
        *accounting.LAWS,
        *eviction.LAWS,
        *lifetimes.LAWS,
        *counting.LAWS,
        *cursors.LAWS,
        *refusals.LAWS,
        *reached.LAWS,
        *instead_size.LAWS,
        *instead_passes.LAWS,
        *instead_counts.LAWS,
        *instead_loads.LAWS,
    ),
    deviations=DEVIATIONS,
    dialects={TEXT: (), "pulsar-4": PULSAR_4},
    history=History,
    history_reads=("queue", "settings", "now_ms", "cursors", "total_bytes"),
    lanes=lane,
    scopes=SCOPES,
    clauses=(
        ("Goals, Simplify RangeCache Implementation", "about type parameters of the Java class, not behaviour"),
        ("Goals, Improve Performance and Efficiency", "measured by the benchmark pip430, not stated as a law"),
        ("Detailed Design 1, MpscUnboundedArrayQueue", "subjects run one command at a time; threads are not modelled"),
        ("OpAddEntry, ShadowManagedLedgerImpl", "shadow topics add nothing to their own cache; not modelled"),
        ("Metrics & Monitoring", "existing metrics continue; only added and removed counters are laws"),
        (
            "brokerAdaptiveRecvByteBufAllocator… minimum and initial size",
            "only the maximum bounds what a slice retains",
        ),
        ("Geo-Replication, Compatibility", "no behaviour of the cache"),
    ),
)
