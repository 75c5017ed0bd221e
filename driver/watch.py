"""Watching a child: does it still go on, and if it ended, how?"""

from __future__ import annotations

import os
import signal
import time
from typing import Any

from attrs import Factory, define, frozen

from .checker import BreachKind
from .child import Board, Child, Limits

GIBIBYTE = 1024**3


def processor_seconds(limits: Limits) -> float:
    """After how much processor time a case ends itself: well after its parent would have ended it."""
    return 2 * limits.case_seconds + 5


@frozen
class End:
    """How a child ended."""

    kind: BreachKind
    law: str
    sentence: str


@define
class Watch:
    """Sees to it that a child goes on: its beats must change in time."""

    child: Child
    limits: Limits
    beats: int = -1
    waited_seconds: float = 0.0
    looked_at: float = Factory(time.monotonic)
    gone: bool = False

    def look(self) -> tuple[list[dict[str, Any]], End | None]:
        """The child's messages, and how it ended if it did."""
        status = self.child.status()
        if status is not None:
            self.gone = True
        messages = list(self.child.messages())  # after its end is known: then these are all
        if any("done" in message for message in messages):
            return messages, None
        return messages, self._late() if status is None else _how(status, self.child.board, self.limits)

    def _late(self) -> End | None:
        """Adds up how long it stands still.  One look adds a second at most: when the machine slept or the terminal
        stopped the whole job, that time was not the child's."""
        now = time.monotonic()
        board = self.child.board
        if board.beats != self.beats:
            self.beats, self.waited_seconds = board.beats, 0.0
        else:
            self.waited_seconds += min(now - self.looked_at, 1.0)
        self.looked_at = now
        started = board.number is not None
        allowed = self.limits.case_seconds if started else self.limits.start_seconds
        if self.waited_seconds <= allowed:
            return None
        return End("hang", "time limit", f"it took longer than {allowed:g} s")

    def end(self) -> None:
        if not self.gone:
            self.child.kill()
            self.gone = True
        self.child.close()


def _how(status: int, board: Board, limits: Limits) -> End:
    """How a child ended, from what os.wait said of it."""
    if board.ran_out_of_memory:
        gibibytes = limits.memory_bytes / GIBIBYTE
        return End("memory", "MemoryError", f"it asked for more memory than the limit of {gibibytes:g} GiB")
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        name = signal.Signals(number).name
        if number == signal.SIGVTALRM:
            return End("hang", "time limit", f"it used more than {processor_seconds(limits):g} s of processor time")
        if number == signal.SIGKILL:
            known = "which brokerlaw did not send; the system sends it when memory runs out"
            return End("crash", name, f"its process was killed by SIGKILL, {known}")
        return End("crash", name, f"its process was ended by {name} ({signal.strsignal(number)})")
    code = os.WEXITSTATUS(status)
    return End("crash", f"exit code {code}", f"the subject ended the process with exit code {code}")
