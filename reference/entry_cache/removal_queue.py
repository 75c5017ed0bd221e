"""The removal queue: every cached entry of every topic in one deque, and the two passes over it.

A pass looks at the head and decides: REMOVE it, REQUEUE it, STOP here, or drop it because its entry is MISSING; then
it acts.  Each node handled costs O(1), plus O(log n) where an entry leaves its range cache.  A time pass handles only
the nodes that were there when it began; a size pass handles a node at most once for each extension that it may still
get, and once more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from ...spec.entry_cache.words import Config
from .switches import Switches
from .wrapper import Pool, Wrapper

REMOVE: Final = 0
REQUEUE: Final = 1
STOP: Final = 2
MISSING: Final = 3

Freed = tuple[int, int]  # entries, bytes


class RemovalQueue:
    """Nodes in order of insertion, the head first."""

    def __init__(self, pool: Pool, switches: Switches, evict: Callable[[Wrapper], int]) -> None:
        self.nodes: deque[Wrapper] = deque()
        self.tombstones = 0
        self.visits = 0
        self.pool = pool
        self._evict = evict  # removes a node's entry from its cache; its size
        self.switches = switches
        # The pass under way.
        self.now_ms = 0
        self.need_bytes = 0
        self.freed_entries = 0
        self.freed_bytes = 0
        self.first_lap = 0  # nodes that were there when the pass began and are still to be met

    def configure(self, settings: Config) -> None:
        """Takes over the settings in force; they hold from the next pass on."""
        self.ttl_ms = settings.ttl_ms
        self.max_extensions = settings.max_extensions
        self.extend_accessed = settings.extend_accessed
        self.extend_expected = settings.by_expected_reads or self.switches.reads_without_strategy

    def append(self, node: Wrapper) -> None:
        self.nodes.append(node)

    def leave_tombstone(self) -> None:
        """A node's entry was removed by other means: a pass that meets the node will drop it."""
        self.tombstones += 1

    def take_out(self, nodes: list[Wrapper]) -> None:
        """Takes nodes out from wherever they stand; O(queue), however few they are."""
        if nodes:
            out = set(nodes)
            self.nodes = deque([node for node in self.nodes if node not in out])
            for node in nodes:
                self.pool.recycle(node)

    # ---- The passes

    def time_pass(self, now_ms: int) -> Freed:
        """Acts on the expired nodes at the head, each at most once; says what it removed."""
        self._begin(now_ms, 0)
        if self.switches.scan_past_unexpired:
            return self._scan_whole_queue()
        return self._run(self._decide_by_time, len(self.nodes))

    def size_pass(self, now_ms: int, need_bytes: int) -> Freed:
        """Frees at least this many bytes from the head, if it can; says what it removed."""
        self._begin(now_ms, need_bytes)
        # An entry is requeued at most once for its access and once for each extension, then removed.  The limit is
        # never what ends a sound pass: it keeps a wrong entitlement from turning for ever.
        laps = 1 if self.switches.stash else self.max_extensions + 2
        return self._run(self._decide_by_size, len(self.nodes) * laps)

    def _begin(self, now_ms: int, need_bytes: int) -> None:
        self.now_ms = now_ms
        self.need_bytes = need_bytes
        self.freed_entries = self.freed_bytes = 0
        self.first_lap = len(self.nodes)

    def _run(self, decide: Callable[[Wrapper], int], limit: int) -> Freed:
        nodes = self.nodes
        while nodes and limit > 0:
            node = nodes[0]
            decision = decide(node)
            if decision == STOP:
                break
            nodes.popleft()
            self._act(node, decision)
            self.first_lap -= 1
            limit -= 1
        return self.freed_entries, self.freed_bytes

    def _scan_whole_queue(self) -> Freed:
        nodes, stay = self.nodes, []
        for _ in range(self.first_lap):
            node = nodes.popleft()
            decision = self._decide_by_time(node)
            if decision == STOP:
                stay.append(node)
            else:
                self._act(node, decision)
        nodes.extendleft(reversed(stay))
        return self.freed_entries, self.freed_bytes

    # ---- Decisions

    def _decide_by_time(self, node: Wrapper) -> int:
        if node.value is None:
            return MISSING
        if not self._expired(node):
            return STOP
        return REQUEUE if self._entitled(node) else REMOVE

    def _decide_by_size(self, node: Wrapper) -> int:
        if self._enough():
            return STOP
        if node.value is None:
            return MISSING
        return REQUEUE if self._spared(node) else REMOVE

    def _expired(self, node: Wrapper) -> bool:
        return node.ts_ms < self.now_ms - self.ttl_ms

    def _enough(self) -> bool:
        return self.freed_bytes >= self.need_bytes

    def _spared(self, node: Wrapper) -> bool:
        """Whether a size pass requeues it."""
        if self.switches.one_lap and self.first_lap <= 0:
            return False
        if self.switches.size_pass_honours_expiry and self._expired(node):
            return self._by_access(node)
        return self._entitled(node)

    def _entitled(self, node: Wrapper) -> bool:
        return self._by_access(node) or self._by_expected_reads(node)

    def _by_access(self, node: Wrapper) -> bool:
        return self.extend_accessed and node.accessed

    def _by_expected_reads(self, node: Wrapper) -> bool:
        return self.extend_expected and self._reads_left(node) and self._extensions_left(node)

    def _reads_left(self, node: Wrapper) -> bool:
        return node.value is not None and node.value.reads >= 1

    def _extensions_left(self, node: Wrapper) -> bool:
        return node.extensions < self.max_extensions

    # ---- Acting

    def _act(self, node: Wrapper, decision: int) -> None:
        self.visits += 1
        if decision == REMOVE:
            self._remove(node)
        elif decision == REQUEUE:
            self._requeue(node)
        else:
            self._drop_tombstone(node)

    def _remove(self, node: Wrapper) -> None:
        self._count_freed(self._evict(node))
        self.pool.recycle(node)

    def _count_freed(self, size_bytes: int) -> None:
        self.freed_entries += 1
        self.freed_bytes += size_bytes

    def _requeue(self, node: Wrapper) -> None:
        node.renew(self._renewed_ts(node), node.extensions + self._extension_cost(node))
        self._back_into_queue(node)

    def _back_into_queue(self, node: Wrapper) -> None:
        self.nodes.append(node)

    def _renewed_ts(self, node: Wrapper) -> int:
        return node.ts_ms + self.ttl_ms if self.switches.ttl_added else self.now_ms

    def _extension_cost(self, node: Wrapper) -> int:
        return 0 if self.switches.separate_budgets and self._by_access(node) else 1

    def _drop_tombstone(self, node: Wrapper) -> None:
        self.tombstones -= 1
        self.pool.recycle(node)
