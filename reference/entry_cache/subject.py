"""The subject: commands in, outcomes and snapshots out."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from ...spec.entry_cache.words import (
    Append,
    BeginRemoval,
    CheckBacklogs,
    ClockBack,
    CloseCursor,
    Counters,
    EvictionCheck,
    FailDelivery,
    FailLoad,
    FinishLoad,
    FinishRemoval,
    Get,
    MarkDelete,
    OpenCursor,
    Read,
    Redeliver,
    Release,
    Replay,
    RollLedger,
    Seek,
    SetActive,
    SetExtendAccessed,
    SetMaxExtensions,
    SetMaxSize,
    SetTtl,
    SetWatermark,
    SizePass,
    Snapshot,
    Tick,
)
from .check import check
from .copying import copied, fingerprint_of
from .manager import Parts
from .publishing import Cursors, Publishing
from .reading import Delivering, Reading
from .removing import Evicting, Removing


class EntryCache(Publishing, Cursors, Reading, Delivering, Removing, Evicting):
    """A broker's entry cache as PIP-430 has it, with the broker's topics and cursors around it."""

    def __init__(self, parts: Parts | None = None) -> None:
        super().__init__(parts)
        self._do: dict[type, Callable[[Any], Any]] = {
            Append: self.append,
            RollLedger: self.roll_ledger,
            OpenCursor: self.open_cursor,
            CloseCursor: self.close_cursor,
            SetActive: self.set_active,
            Seek: self.seek,
            MarkDelete: self.mark_delete,
            Read: self.read,
            FinishLoad: self.finish_load,
            FailLoad: self.fail_load,
            Get: self.get,
            Release: self.release,
            FailDelivery: self.fail_delivery,
            Redeliver: self.redeliver,
            Replay: self.replay,
            BeginRemoval: self.begin_removal,
            FinishRemoval: self.finish_removal,
            EvictionCheck: self.eviction_check,
            SizePass: self.size_pass,
            CheckBacklogs: self.check_backlogs,
            Tick: self.tick,
            ClockBack: self.clock_back,
            SetMaxSize: self.set_max_size,
            SetWatermark: self.set_watermark,
            SetTtl: self.set_ttl,
            SetMaxExtensions: self.set_max_extensions,
            SetExtendAccessed: self.set_extend_accessed,
        }

    def apply(self, command: Any) -> Any:
        """Carries out one command; what its caller saw."""
        return self._do[type(command)](command)

    def snapshot(self) -> Snapshot:
        """Everything an observer sees; O(queue + cursors), rows that did not change are used again."""
        manager, shown = self.manager, self.shown
        queue = manager.queue
        return Snapshot(
            self.now_ms,
            self.next_check_ms,
            self.settings,
            tuple([node.item or node.row(node.value) for node in queue.nodes if node.value is not None]),
            queue.tombstones,
            tuple([cache.kept or cache.row() for _, cache in shown]),
            manager.total_bytes,
            Counters(manager.added, manager.added_bytes, manager.removed, manager.removed_bytes),
            manager.size_pass_due,
            queue.visits,
            manager.holdings.rows(),
            tuple([cursor.kept or cursor.row() for topic, _ in shown for cursor in topic.cursors.values()]),
            self.deliveries.rows(),
            tuple([removal.row for removal in self.removals.values()]),
            tuple([topic.kept or topic.row() for topic, _ in shown]),
        )

    def clone(self) -> EntryCache:
        """A copy that shares nothing that changes; O(state)."""
        return copied(self, type(self)(self.parts))

    def fingerprint(self) -> Hashable:
        """Equal for states that behave alike from now on; O(state log state)."""
        return fingerprint_of(self)

    def _check(self) -> None:
        """Raises AssertionError, with the whole state, where a structural invariant does not hold."""
        check(self)
