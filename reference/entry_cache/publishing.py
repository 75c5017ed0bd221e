"""Commands of producers and of cursors that come, go and move."""

from __future__ import annotations

from ...spec.entry_cache.words import (
    BAD_POSITION,
    CURSOR_OPEN,
    LEDGER_EMPTY,
    NO_CURSOR,
    Append,
    Appended,
    CheckBacklogs,
    CloseCursor,
    Done,
    MarkDelete,
    OpenCursor,
    Refused,
    RollLedger,
    Seek,
    SetActive,
)
from .broker import Broker
from .topic import START, Cursor, Topic

DONE = Done()
_NO_CURSOR = Refused(NO_CURSOR)
_CURSOR_OPEN = Refused(CURSOR_OPEN)
_BAD_POSITION = Refused(BAD_POSITION)
_LEDGER_EMPTY = Refused(LEDGER_EMPTY)


class Publishing(Broker):
    """Entries are written."""

    def append(self, command: Append) -> Appended:
        """O(log n) in the topic's cached entries."""
        topic, size_bytes = self.topic(command.topic), command.size_bytes
        position = topic.append(size_bytes)
        cached = self._caches_append(topic)
        buffer = self._append_buffer(size_bytes, cached)
        if cached:
            self.manager.insert(topic.name, position, size_bytes, self._append_reads(topic), buffer, self.now_ms)
        return Appended(*position, cached)

    def _caches_append(self, topic: Topic) -> bool:
        if self.manager.max_size_bytes == 0:
            return False
        return topic.active > 0 or (self.by_expected_reads and self._in_window(self.now_ms - topic.left_ms))

    def _in_window(self, since_ms: int) -> bool:
        return since_ms < self._window_ms()

    def _window_ms(self) -> int:
        window_ms = self.settings.continue_caching_ms
        return 2 * self.settings.ttl_ms if window_ms is None else window_ms

    def _append_reads(self, topic: Topic) -> int:
        return topic.active if self.by_expected_reads else 0

    def _append_buffer(self, size_bytes: int, cached: bool) -> tuple[int, int]:
        if self.settings.copy_entries:
            return self.buffers.fresh(size_bytes) if cached else (0, 0)
        return self.buffers.slice_of_receive(size_bytes)

    def roll_ledger(self, command: RollLedger) -> Done | Refused:
        topic = self.topic(command.topic)
        if not topic.log.ledgers[topic.log.open]:
            return _LEDGER_EMPTY
        topic.roll()
        return DONE


class Cursors(Broker):
    """Cursors come, go and move."""

    def open_cursor(self, command: OpenCursor) -> Done | Refused:
        topic = self.topic(command.topic)
        if command.cursor in topic.cursors:
            return _CURSOR_OPEN
        topic.open_cursor(self._new_cursor(topic, command))
        self._evict_behind_cursors(topic)
        return DONE

    def _new_cursor(self, topic: Topic, command: OpenCursor) -> Cursor:
        if command.at == "earliest":
            return Cursor(topic.name, command.cursor, topic.log.first, START)
        ledger, entry = topic.log.end
        return Cursor(topic.name, command.cursor, (ledger, entry), (ledger, entry - 1))

    def close_cursor(self, command: CloseCursor) -> Done | Refused:
        topic, cursor = self.topics[command.topic], self.cursor(command)
        if cursor is None:
            return _NO_CURSOR
        self._pay_back(cursor, forgets_replays=True)
        had_active = topic.active > 0
        topic.close_cursor(cursor)
        self._after_departure(topic, had_active)
        self._evict_behind_cursors(topic)
        return DONE

    def set_active(self, command: SetActive) -> Done | Refused:
        topic, cursor = self.topics[command.topic], self.cursor(command)
        if cursor is None:
            return _NO_CURSOR
        if not command.active:
            self._pay_back(cursor, forgets_replays=False)
        had_active = topic.active > 0
        topic.set_flags(cursor, command.active, cursor.caches_reads)
        self._after_departure(topic, had_active)
        self._evict_behind_cursors(topic)
        return DONE

    def seek(self, command: Seek) -> Done | Refused:
        topic, cursor = self.topics[command.topic], self.cursor(command)
        if cursor is None:
            return _NO_CURSOR
        self._pay_back(cursor, forgets_replays=True)
        cursor.jump(min((command.ledger, command.entry), topic.log.end))
        self._evict_behind_cursors(topic)
        return DONE

    def mark_delete(self, command: MarkDelete) -> Done | Refused:
        cursor, position = self.cursor(command), (command.ledger, command.entry)
        if cursor is None:
            return _NO_CURSOR
        if not cursor.acked < position < cursor.read:
            return _BAD_POSITION
        cursor.acknowledge(position)
        self._evict_behind_cursors(self.topics[command.topic])
        return DONE

    def check_backlogs(self, command: CheckBacklogs) -> Done:
        """O(cursors x (ledgers + cursors)) for each topic."""
        if not self.by_expected_reads:
            for topic in self.topics.values():
                self._check_backlogs_of(topic)
                self._evict_behind_cursors(topic)
        return DONE

    def _check_backlogs_of(self, topic: Topic) -> None:
        settings, had_active = self.settings, topic.active > 0
        backlogs = {name: topic.log.backlog(cursor.read) for name, cursor in topic.cursors.items()}
        for name, cursor in topic.cursors.items():
            active, caches = cursor.active, cursor.caches_reads
            if settings.backlogged_threshold > 0:
                active = self._keeps_up(backlogs[name])
            if settings.min_backlog_cursors > 0:
                others = [backlog for other, backlog in backlogs.items() if other != name]
                caches = self._shares_backlog(backlogs[name], others)
            topic.set_flags(cursor, active, caches)
        self._after_departure(topic, had_active)

    def _keeps_up(self, backlog: int) -> bool:
        return backlog < self.settings.backlogged_threshold

    def _shares_backlog(self, backlog: int, others: list[int]) -> bool:
        near = sum(abs(other - backlog) <= self.settings.max_backlog_between_cursors for other in others)
        return backlog >= self.settings.min_backlog_entries and near >= self.settings.min_backlog_cursors
