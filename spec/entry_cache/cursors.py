"""entry_cache, laws 5: cursors, what they read, and the eviction that follows them; settings and the clock."""

from __future__ import annotations

from typing import Any

from ..core import VACUOUS, Broken, Verdict, step
from .sight import cursor_of, left, log_of, next_in
from .words import (
    PASSES,
    SETTINGS,
    Append,
    Appended,
    BeginRemoval,
    CheckBacklogs,
    ClockBack,
    CloseCursor,
    Config,
    CursorRow,
    Delivered,
    Evicted,
    EvictionCheck,
    FailDelivery,
    FailLoad,
    FinishLoad,
    FinishRemoval,
    Loading,
    MarkDelete,
    OpenCursor,
    Read,
    Redeliver,
    Refused,
    Replay,
    RollLedger,
    Seek,
    SetActive,
    Snapshot,
    Tick,
)

FOLLOWED = (OpenCursor, CloseCursor, SetActive, Seek, MarkDelete, Read, FinishLoad, CheckBacklogs)


@step(
    "PIP-430, Background, Cursor-based eviction; Modified Behavior, cacheEvictionByMarkDeletedPosition",
    reads=("queue", "cursors"),
    on=FOLLOWED,
)
def eviction_follows_the_slowest_cursor(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """Where expected reads are not the strategy, whenever a topic's cursors move, the entries that the slowest active
    cursor is past (by read position, or by mark-delete where so configured) go, and no others; with no active cursor
    all of them go."""
    if config.by_expected_reads or isinstance(outcome, Refused | Loading):
        return VACUOUS
    topics = [command.topic] if not isinstance(command, CheckBacklogs) else sorted({i.topic for i in before.queue})
    asked = False
    for topic in topics:
        active = [row for row in after.cursors if row.topic == topic and row.active]
        passed = _passed(config, active)
        stale = [item for item in after.queue if item.topic == topic and passed(item.position)]
        if stale:
            return Broken(f"{topic}: every active cursor is past {stale}")
        gone = [item for item in left(before, after) if item.topic == topic]
        early = [item for item in gone if not passed(item.position)]
        if early:
            return Broken(f"{topic}: a cursor has yet to read {early}")
        asked = asked or bool(gone)
    return asked or VACUOUS


def _passed(config: Config, active: list[CursorRow]) -> Any:
    """Whether every active cursor is past a position."""
    if not active:
        return lambda position: True
    if config.by_mark_delete:
        acked = min(row.acked for row in active)
        return lambda position: position <= acked
    slowest = min(row.read for row in active)
    return lambda position: position < slowest


@step("PIP-430, Background, Cursor-based eviction", reads=("queue",))
def cursor_eviction_waits_for_cursors(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """Without the strategy too, a command that is neither a pass, nor the end of a forced removal, nor about the
    topic's cursors removes nothing."""
    if config.by_expected_reads or not before.queue:
        return VACUOUS
    if isinstance(command, (*FOLLOWED, *PASSES, FinishRemoval)):
        return VACUOUS
    return not left(before, after) or Broken(f"{command} removed {left(before, after)}")


@step("ours: how a cursor reads", reads=("cursors", "queue", "topics"), on=(Read, FinishLoad))
def cursor_reads_on_without_gap_or_repeat(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A read hands out, or begins to load, the longest run of entries that it can, from the cursor's next entry; it is
    served from the cache iff that entry is resident; what is handed out moves the cursor just behind it."""
    was, now = cursor_of(before, command), cursor_of(after, command)
    if was is None or not isinstance(outcome, Delivered | Loading):
        return VACUOUS
    if isinstance(outcome, Loading):
        first, count = outcome.first, outcome.count
    else:
        first, count = outcome.entries[0] if outcome.entries else -1, len(outcome.entries)
        if count == 0 or outcome.entries != tuple(range(first, first + count)):
            return Broken(f"handed out {outcome.entries}")
    if isinstance(command, Read):
        log = log_of(before, command.topic)
        if (outcome.ledger, first) != next_in(log, was.read):
            return Broken(f"at {was.read} it read {(outcome.ledger, first)} of {log}")
        resident = {item.key for item in before.queue}
        run = [(command.topic, outcome.ledger, entry) in resident for entry in range(first, first + count)]
        served = isinstance(outcome, Delivered)
        if run != [served] * count or count > command.count:
            return Broken(f"from the cache: {served}, resident: {run}, asked for: {command.count}")
        end = (outcome.ledger, first + count)
        if count < command.count and end == next_in(log, end) and ((command.topic, *end) in resident) == served:
            return Broken(f"it stopped before {end}, and {command.count} were asked for")
    expected = was.read if isinstance(outcome, Loading) else (outcome.ledger, first + count)
    return (now is not None and now.read == expected) or Broken(f"it is {now}, and should read at {expected}")


@step("ours: what each command says of its cursor", reads=("cursors", "topics"))
def cursors_change_only_as_told(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A command changes no cursor but its own, and that one exactly as it says.  (Where a read or a load leaves the
    read position, and what a look at backlogs does, other laws say.)"""
    if isinstance(command, CheckBacklogs):
        return VACUOUS
    if isinstance(command, BeginRemoval):
        closes = command.what == "topic" and not isinstance(outcome, Refused)
        expected = tuple([row for row in before.cursors if not (closes and row.topic == command.topic)])
        if not before.cursors:
            return VACUOUS
        return after.cursors == expected or Broken(f"{command}: {before.cursors} became {after.cursors}")
    key = (getattr(command, "topic", ""), getattr(command, "cursor", ""))
    if [row for row in before.cursors if row[:2] != key] != [row for row in after.cursors if row[:2] != key]:
        return Broken(f"{command}: another cursor changed: {before.cursors} became {after.cursors}")
    was = next((row for row in before.cursors if row[:2] == key), None)
    now = next((row for row in after.cursors if row[:2] == key), None)
    if was is None and now is None:
        return VACUOUS
    told = _as_told(before, command, outcome, was)
    if isinstance(command, Read | FinishLoad) and now is not None and told is not None:
        told = told._replace(read=now.read)
    return now == told or Broken(f"{command}: {was} became {now}, and should be {told}")


def _as_told(before: Snapshot, command: Any, outcome: Any, was: CursorRow | None) -> CursorRow | None:
    """A cursor's row after a command, by what the command says; none where it is closed."""
    if isinstance(command, OpenCursor) and was is None:
        log = log_of(before, command.topic)
        read, acked = (log[0][0], 0), (0, -1)
        if command.at == "latest":
            read = log[-1]
            acked = (read[0], read[1] - 1)
        return CursorRow(command.topic, command.cursor, True, read, acked, False, None, ())
    if was is None or isinstance(command, CloseCursor):
        return None
    position = (getattr(command, "ledger", 0), getattr(command, "entry", 0))
    if isinstance(command, FinishLoad | FailLoad):
        return was._replace(loading=None)
    if isinstance(command, Replay):
        return was._replace(replays=tuple([each for each in was.replays if each != position]))
    if isinstance(outcome, Refused):
        return was
    if isinstance(outcome, Loading):
        return was._replace(loading=(outcome.ledger, outcome.first, outcome.count))
    if isinstance(command, SetActive):
        return was._replace(active=command.active)
    if isinstance(command, Seek):
        read = min(position, log_of(before, command.topic)[-1])
        return was._replace(read=read, acked=(read[0], read[1] - 1), loading=None, replays=())
    if isinstance(command, MarkDelete):
        return was._replace(acked=position, replays=tuple([each for each in was.replays if each > position]))
    if isinstance(command, Redeliver | FailDelivery) and _can_replay(before, was, position):
        return was._replace(replays=tuple(sorted({*was.replays, position})))
    return was


def _can_replay(before: Snapshot, row: CursorRow, position: tuple[int, int]) -> bool:
    """Whether a position may wait in a cursor's replay queue: the log holds it, it was read and not acknowledged."""
    counts = dict(log_of(before, row.topic))
    return row.acked < position < row.read and position[1] < counts.get(position[0], 0)


@step("ours: the log that caches are about", reads=("topics",))
def log_changes_only_as_told(config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot) -> Verdict:
    """An append adds one entry to the topic's open ledger, at the position that it answers; a roll begins the next
    ledger; a ledger that is deleted is gone at once; nothing else changes a log."""
    logs = {row.topic: row.ledgers for row in before.topics}
    if isinstance(command, Append) and isinstance(outcome, Appended):
        ledger, count = logs[command.topic][-1]
        if (outcome.ledger, outcome.entry) != (ledger, count):
            return Broken(f"{outcome}, though {(ledger, count)} was next")
        logs[command.topic] = (*logs[command.topic][:-1], (ledger, count + 1))
    elif isinstance(command, RollLedger) and not isinstance(outcome, Refused):
        logs[command.topic] = (*logs[command.topic], (logs[command.topic][-1][0] + 1, 0))
    elif isinstance(command, BeginRemoval) and command.what == "ledger" and not isinstance(outcome, Refused):
        logs[command.topic] = tuple([each for each in logs[command.topic] if each[0] != command.ledger])
    elif before.topics == after.topics:
        return VACUOUS
    seen = {row.topic: row.ledgers for row in after.topics}
    return seen == logs or Broken(f"{command}: the logs are {seen}, and should be {logs}")


@step(
    "PIP-430, Configuration, managedLedgerContinueCaching…",
    reads=("cursors", "topics", "now_ms"),
    on=(CloseCursor, SetActive, CheckBacklogs, BeginRemoval),
)
def departure_of_the_last_active_cursor_is_noted(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """The time from which appends are still cached for a while is when the topic's last active cursor left, or when the
    topic was loaded, and nothing else moves it."""
    asked = False
    for was, now in zip(before.topics, after.topics, strict=True):
        had, has = (any(row.active and row.topic == was.topic for row in s.cursors) for s in (before, after))
        loaded = isinstance(command, BeginRemoval) and command.what == "topic" and command.topic == was.topic
        leaves = (had and not has) or (loaded and not isinstance(outcome, Refused))
        expected = after.now_ms if leaves else was.left_ms
        if now.left_ms != expected:
            return Broken(f"{was.topic}: left at {now.left_ms}, not at {expected}")
        asked = asked or leaves
    return asked or VACUOUS


@step(
    "PIP-430, Modified Behavior, …CursorBackloggedThreshold; shipped: checkCursorsToCacheEntries, 4.2.4",
    reads=("cursors", "topics"),
    on=(CheckBacklogs,),
)
def backlogs_decide_only_without_the_strategy(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """Under the expected-read strategy the backlog settings do nothing.  Without it a cursor with fewer entries behind
    its read position than the threshold is active, others are not, and it caches its reads iff enough cursors of its
    topic lag about as far."""
    if not before.cursors:
        return VACUOUS
    if config.by_expected_reads:
        return before.cursors == after.cursors or Broken(f"{before.cursors} became {after.cursors}")
    ledgers = {row.topic: row.ledgers for row in before.topics}
    backlogs = {row[:2]: _backlog(ledgers[row.topic], row.read) for row in before.cursors}
    for was, now in zip(before.cursors, after.cursors, strict=True):
        backlog = backlogs[was[:2]]
        active, caches = was.active, was.caches_reads
        if config.backlogged_threshold > 0:
            active = backlog < config.backlogged_threshold
        if config.min_backlog_cursors > 0:
            others = [b for key, b in backlogs.items() if key[0] == was.topic and key != was[:2]]
            near = sum([abs(backlog - other) <= config.max_backlog_between_cursors for other in others])
            caches = backlog >= config.min_backlog_entries and near >= config.min_backlog_cursors
        if (now.active, now.caches_reads) != (active, caches):
            return Broken(f"backlogs {backlogs}: {now}; active should be {active}, caching reads {caches}")
    return True


def _backlog(ledgers: tuple[tuple[int, int], ...], read: tuple[int, int]) -> int:
    return sum(
        [max(0, count - (read[1] if ledger == read[0] else 0)) for ledger, count in ledgers if ledger >= read[0]]
    )


@step(
    "shipped: RangeEntryCacheManagerImpl.update…, 4.2.4; PIP-430 is silent on change at run time",
    reads=("queue", "settings"),
    on=(*SETTINGS, Tick, ClockBack),
)
def settings_and_time_rewrite_nothing(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A setting that changes, or time that passes, rewrites no entry: it holds from the next pass on.  The setting in
    force is the one that was set."""
    if isinstance(command, SETTINGS):
        name = next(iter(command.__attrs_attrs__)).name
        if getattr(after.settings, name) != getattr(command, name):
            return Broken(f"{command}, but in force is {getattr(after.settings, name)}")
    if not before.queue:
        return VACUOUS if not isinstance(command, SETTINGS) else True
    return before.queue == after.queue or Broken(f"{command}: {before.queue} became {after.queue}")


@step(
    "PIP-430, High Level Design 1, Timestamp-Based Eviction: a single, periodic task",
    reads=("now_ms", "next_check_ms"),
    on=(EvictionCheck, Tick, ClockBack),
)
def checks_come_at_their_interval(
    config: Config, before: Snapshot, command: Any, outcome: Any, after: Snapshot
) -> Verdict:
    """A check makes the next one due one interval later; time passes as it is told, and stops for a check."""
    due = before.now_ms >= before.next_check_ms
    if isinstance(command, ClockBack):
        expected = before.now_ms - command.ms
        return after.now_ms == expected or Broken(f"it is {after.now_ms}, not {expected}")
    if isinstance(command, Tick):
        expected = before.now_ms if due else min(before.now_ms + command.ms, before.next_check_ms)
        return after.now_ms == expected or Broken(f"{outcome}: it is {after.now_ms}, and should be {expected}")
    if not due or not isinstance(outcome, Evicted):
        return VACUOUS
    following = max(before.next_check_ms, before.now_ms) + config.check_interval_ms
    return after.next_check_ms == following or Broken(
        f"the next check is due at {after.next_check_ms}, not {following}"
    )


LAWS = (
    eviction_follows_the_slowest_cursor,
    cursor_eviction_waits_for_cursors,
    cursor_reads_on_without_gap_or_repeat,
    cursors_change_only_as_told,
    log_changes_only_as_told,
    departure_of_the_last_active_cursor_is_noted,
    backlogs_decide_only_without_the_strategy,
    settings_and_time_rewrite_nothing,
    checks_come_at_their_interval,
)
