"""entry_cache, part 11: what laws see in a snapshot, or in two.  Nothing here knows the model."""

from __future__ import annotations

from typing import Any

from .rules import bytes_to_free, entitled_by_access, entitled_by_reads, is_expired, laps
from .words import Config, CursorRow, DeliveryRow, Evicted, EvictionCheck, Item, SizePass, Snapshot

Log = tuple[tuple[int, int], ...]  # (ledger, number of entries), the open ledger last

# ---- Entries that come, stay and go ----------------------------------------------------------------------------------


def left(before: Snapshot, after: Snapshot) -> list[Item]:
    """The entries that were resident before and are not after."""
    if before.queue == after.queue:
        return []
    here = {item.serial for item in after.queue}
    return [item for item in before.queue if item.serial not in here]


def entered(before: Snapshot, after: Snapshot) -> list[Item]:
    """The entries that are resident after and were not before."""
    if before.queue == after.queue:
        return []
    there = {item.serial for item in before.queue}
    return [item for item in after.queue if item.serial not in there]


def stayed(before: Snapshot, after: Snapshot) -> list[tuple[Item, Item]]:
    """The entries that are resident before and after, as they were and as they are."""
    now = {item.serial: item for item in after.queue}
    return [(item, now[item.serial]) for item in before.queue if item.serial in now]


def moved_by_pass(before: Snapshot, after: Snapshot) -> bool:
    """Whether the entries that stayed stand in another order, or a new one does not stand behind them."""
    there = {item.serial for item in before.queue}
    here = {item.serial for item in after.queue}
    kept = [item.serial for item in before.queue if item.serial in here]
    return [item.serial for item in after.queue][: len(kept)] != kept or any(
        item.serial in there for item in after.queue[len(kept) :]
    )


# ---- Cursors, logs and deliveries ------------------------------------------------------------------------------------


def cursor_of(seen: Snapshot, command: Any) -> CursorRow | None:
    """The row of the cursor that a command names."""
    key = (command.topic, command.cursor)
    return next((row for row in seen.cursors if row[:2] == key), None)


def log_of(seen: Snapshot, topic: str) -> Log:
    """A topic's log."""
    return next(row.ledgers for row in seen.topics if row.topic == topic)


def next_in(log: Log, read: tuple[int, int]) -> tuple[int, int] | None:
    """The first entry of a log at or after a read position; none where a cursor there is caught up."""
    for ledger, count in log:
        entry = read[1] if ledger == read[0] else 0
        if ledger >= read[0] and entry < count:
            return ledger, entry
    return None


def ended(before: Snapshot, after: Snapshot) -> DeliveryRow | None:
    """The delivery that ended in this step."""
    if len(after.deliveries) >= len(before.deliveries):
        return None
    pairs = zip(before.deliveries, after.deliveries, strict=False)
    return next((was for was, now in pairs if was != now), before.deliveries[-1])


def entered_replay(before: Snapshot, after: Snapshot, command: Any) -> tuple[str, int, int] | None:
    """The key of what entered the replay queue of a command's cursor in this step."""
    position = (command.ledger, command.entry)
    was, now = cursor_of(before, command), cursor_of(after, command)
    waited, waits = (row is not None and position in row.replays for row in (was, now))
    return (command.topic, *position) if waits and not waited else None


# ---- Passes ----------------------------------------------------------------------------------------------------------


def entitled(item: Item, config: Config, settings: Config) -> bool:
    """Whether an entry has another round coming."""
    return entitled_by_access(settings.extend_accessed, item.accessed) or entitled_by_reads(
        config.by_expected_reads, item.reads, item.extensions, settings.max_extensions
    )


def laps_of(item: Item, config: Config, settings: Config) -> int:
    """How often a size pass comes round to an entry before it removes it."""
    return laps(
        settings.extend_accessed,
        item.accessed,
        config.by_expected_reads,
        item.reads,
        item.extensions,
        settings.max_extensions,
    )


def expired_prefix(before: Snapshot) -> int:
    """How many live entries, from the head, a time pass has to act on."""
    count = 0
    for item in before.queue:
        if not is_expired(item.ts_ms, before.now_ms, before.settings.ttl_ms):
            break
        count += 1
    return count


def time_pass_alone(config: Config, before: Snapshot, command: Any, outcome: Any) -> bool:
    """Whether a step was a time pass after which nothing had to be freed for size, so that all it did was by time."""
    if not isinstance(command, EvictionCheck) or not isinstance(outcome, Evicted) or outcome.evicted:
        return False
    settings = before.settings
    expired = before.queue[: expired_prefix(before)]
    freed = sum([item.size_bytes for item in expired if not entitled(item, config, settings)])
    total = sum([item.size_bytes for item in before.queue]) - freed
    return bytes_to_free(total, settings.max_size_bytes, settings.watermark_percent) == 0


def size_pass_start(config: Config, before: Snapshot, command: Any, outcome: Any) -> tuple[Item, ...] | None:
    """The queue as the size pass of a step met it: in a check, after what its time pass had to do.  None where the step
    had no size pass, or where its time pass did not report what it should: then it says nothing about the size pass."""
    return queue_met(config, before, command, outcome, expired_prefix(before))


def queue_met(
    config: Config, before: Snapshot, command: Any, outcome: Any, reach: int, access_is_free: bool = False
) -> tuple[Item, ...] | None:
    """The same, where a time pass acts on what is expired among the first so many entries, and where a requeue for an
    access may spend no extension."""
    if not isinstance(outcome, Evicted):
        return None
    if isinstance(command, SizePass):
        return before.queue
    now_ms, settings = before.now_ms, before.settings
    acted = [item for item in before.queue[:reach] if is_expired(item.ts_ms, now_ms, settings.ttl_ms)]
    kept = [item for item in acted if entitled(item, config, settings)]
    if outcome.expired != len(acted) - len(kept):
        return None
    serials, requeued = {item.serial for item in acted}, []
    for item in kept:
        free = access_is_free and entitled_by_access(settings.extend_accessed, item.accessed)
        extensions = item.extensions + (0 if free else 1)
        requeued.append(item._replace(ts_ms=now_ms, accessed=False, extensions=extensions))
    return (*[item for item in before.queue if item.serial not in serials], *requeued)


def need_of(start: tuple[Item, ...], settings: Config) -> int:
    """How many bytes a size pass that meets this queue has to free."""
    total = sum([item.size_bytes for item in start])
    return bytes_to_free(total, settings.max_size_bytes, settings.watermark_percent)


def missing(start: tuple[Item, ...], after: Snapshot) -> list[Item]:
    """The entries of a queue that are not resident afterwards."""
    here = {item.serial for item in after.queue}
    return [item for item in start if item.serial not in here]
