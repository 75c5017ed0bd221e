"""Ctrl-C as a request to end soon, for a command that has something to show by then."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

from attrs import define


@define
class Interrupts:
    """While this is entered the first Ctrl-C is noted; a second one interrupts like any other."""

    noted: bool = False
    before: Any = None

    def came(self) -> bool:
        return self.noted

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():  # others are not told of signals
            self.before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.noted:
            raise KeyboardInterrupt
        self.noted = True
