"""Slips in how a broker starts."""

from __future__ import annotations

from ....spec.core import Dialect
from ....spec.entry_cache.words import Config
from ...entry_cache import EntryCache


class FirstCheckAtOnce(EntryCache):
    """The first check is due when the broker starts."""

    def reset(self, config: Config, dialect: Dialect) -> None:
        super().reset(config, dialect)
        self.next_check_ms = self.now_ms


class ClockStartsLate(EntryCache):
    """The clock of a new broker stands at 1."""

    def reset(self, config: Config, dialect: Dialect) -> None:
        super().reset(config, dialect)
        self.now_ms += 1


class TopicsLoadedLongAgo(EntryCache):
    """The topics of a new broker count as loaded a millisecond before it started."""

    def reset(self, config: Config, dialect: Dialect) -> None:
        super().reset(config, dialect)
        for topic in self.topics.values():
            topic.left(-1)


class StartsWithATombstone(EntryCache):
    """The removal queue of a new broker holds a node that carries no entry."""

    def reset(self, config: Config, dialect: Dialect) -> None:
        super().reset(config, dialect)
        self.manager.queue.append(self.manager.queue.pool.take())
        self.manager.queue.leave_tombstone()


class StartsWithSizePassDue(EntryCache):
    """A new broker has a size pass to run."""

    def reset(self, config: Config, dialect: Dialect) -> None:
        super().reset(config, dialect)
        self.manager.size_pass_due = True
