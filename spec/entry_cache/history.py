"""entry_cache, part 11, continued: what laws remember of a run: the life of each resident entry,
and what happened to all of them.
"""

from __future__ import annotations

from typing import Any

from attrs import define

from .rules import bytes_to_free
from .sight import cursor_of, entered, stayed
from .words import (
    PASSES,
    SETTINGS,
    Append,
    BeginRemoval,
    ClockBack,
    CloseCursor,
    Config,
    Delivered,
    Evicted,
    FinishLoad,
    MarkDelete,
    OpenCursor,
    Read,
    Replay,
    Seek,
    SetActive,
    SetMaxExtensions,
    Snapshot,
)


@define
class Life:
    """What is known of an entry since it came."""

    serial: int
    born_ms: int
    largest_max: int  # the largest maximum of extensions in force
    came_without_reads: bool  # none were expected when it came
    by_reads: int = 0  # extensions for expected reads alone
    was_accessed: bool = False
    accessed_ms: int = 0  # the last access that changed something: the first since it came or was requeued
    extensions_then: int = 0  # spent when it was last accessed
    expected_since: bool = False  # reads were expected at some time since the last access (or since it came)
    expected_ever: bool = False
    expected_always: bool = True
    size_pass: bool = False  # a size pass had something to free while it was there
    exact: bool = True  # nothing has happened that the count of expected reads does not follow


class History:
    """Feeds on every step of a run.  `steady`: no setting has changed and the clock has not stepped back so far."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.steps = 0  # this one included
        self.lives: dict[int, Life] = {}
        self.ended: dict[int, Life] = {}  # of the entries that left in the last step
        self.steady = True
        self.clock_stepped_back = False
        self.buffers = 0  # begun so far
        self.receive = (0, 0)  # the broker's receive buffer: its number and its bytes
        self.received_bytes = 0  # in that one
        self.slices: list[tuple[int, int]] = []  # the buffer, likewise, of each entry that came in the last step

    def record(self, before: Snapshot, command: Any, outcome: Any, after: Snapshot) -> None:
        """Takes in one step."""
        self.steps += 1
        if isinstance(command, ClockBack):
            self.clock_stepped_back, self.steady = True, False
        if isinstance(command, SETTINGS):
            self.steady = False
        self._buffers(before, command, outcome, after)
        self._deaths(after)
        self._births(before, command, after)
        if isinstance(command, PASSES) and isinstance(outcome, Evicted):
            self._passes(before, command, after)
        if isinstance(command, SetMaxExtensions):
            for life in self.lives.values():
                life.largest_max = max(life.largest_max, after.settings.max_extensions)
        self._accesses_and_reads(before, after)
        self._disturbances(before, command, after)

    def _buffers(self, before: Snapshot, command: Any, outcome: Any, after: Snapshot) -> None:
        """With copying, the n-th entry has the n-th buffer; else every load begins one, and an append that does not fit
        the receive buffer, cached or not."""
        new = entered(before, after)
        self.slices = []
        if self.config.copy_entries:
            self.slices = [(item.serial, item.size_bytes) for item in new]
        elif isinstance(command, Append):
            self._receive(command.size_bytes)
            self.slices = [self.receive] * len(new)
        elif isinstance(command, FinishLoad) and isinstance(outcome, Delivered):
            self.buffers += 1
            self.slices = [(self.buffers, sum([content[2] for content in outcome.contents]))] * len(new)

    def _receive(self, size_bytes: int) -> None:
        capacity_bytes = self.config.receive_buffer_bytes
        if not 0 < self.received_bytes <= capacity_bytes - size_bytes:
            self.buffers += 1
            self.receive, self.received_bytes = (self.buffers, max(capacity_bytes, size_bytes)), 0
        self.received_bytes += size_bytes

    def _deaths(self, after: Snapshot) -> None:
        here = {item.serial for item in after.queue}
        self.ended = {serial: life for serial, life in self.lives.items() if serial not in here}
        for serial in self.ended:
            del self.lives[serial]

    def _births(self, before: Snapshot, command: Any, after: Snapshot) -> None:
        for item in entered(before, after):
            replays_wait = any(row.topic == item.topic and item.position in row.replays for row in before.cursors)
            self.lives[item.serial] = Life(
                item.serial,
                after.now_ms,
                after.settings.max_extensions,
                came_without_reads=item.reads == 0,
                exact=isinstance(command, Append) or not replays_wait,
            )

    def _passes(self, before: Snapshot, command: Any, after: Snapshot) -> None:
        settings = before.settings
        for was, now in stayed(before, after):
            life = self.lives[was.serial]
            by_access = 1 if settings.extend_accessed and was.accessed else 0
            life.by_reads += max(0, now.extensions - was.extensions - by_access)
        if bytes_to_free(before.total_bytes, settings.max_size_bytes, settings.watermark_percent):
            for life in (*self.lives.values(), *self.ended.values()):
                life.size_pass = True

    def _accesses_and_reads(self, before: Snapshot, after: Snapshot) -> None:
        accessed_before = {item.serial for item in before.queue if item.accessed}
        for item in after.queue:
            life = self.lives[item.serial]
            if item.accessed and item.serial not in accessed_before:
                life.was_accessed = True
                life.accessed_ms, life.extensions_then = after.now_ms, item.extensions
                life.expected_since = False
            if item.reads >= 1:
                life.expected_since = life.expected_ever = True
            else:
                life.expected_always = False

    def _disturbances(self, before: Snapshot, command: Any, after: Snapshot) -> None:
        """A cursor that leaves, jumps, turns inactive, opens late, reads though inactive or forgets a replay: from then
        on the counts of its topic's entries no longer follow."""
        if not _disturbs(before, command):
            return
        for item in after.queue:
            if item.topic == command.topic:
                self.lives[item.serial].exact = False

    def check_gap_ms(self) -> int:
        """The gap between two checks."""
        return self.config.check_interval_ms


def _disturbs(before: Snapshot, command: Any) -> bool:
    """Whether a command makes reads happen, or not happen, that nobody counted."""
    if isinstance(command, SetActive | CloseCursor | Seek):
        return True
    if isinstance(command, OpenCursor):
        return command.at == "earliest"
    if isinstance(command, BeginRemoval):
        return command.what in ("topic", "ledger")
    if not isinstance(command, Read | FinishLoad | Replay | MarkDelete):
        return False
    row = cursor_of(before, command)
    if row is None:
        return False
    if isinstance(command, FinishLoad) and before.settings.max_size_bytes == 0:
        return True  # it passes by a cache that is off, and takes no read from what is resident there
    return bool(row.replays) if isinstance(command, MarkDelete) else not row.active
