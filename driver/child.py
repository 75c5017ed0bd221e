"""The child process: runs cases, and tells its parent where it is.

A fork, not a spawn: the child starts in a few milliseconds with the job as it stands, so that no subject has to be
importable by name or to survive pickling.  A fork copies the calling thread alone, so the parent must have no other
ones; ours has none, and starts none.  That holds on Linux and on macOS alike, where what breaks forked children is
system frameworks with threads of their own, and neither parent nor child touches any.

Where the child is (case number, step, what it does) stands on the board: a few words of memory that both share.
Writing there costs some 50 ns, and it is readable when the child is gone.  What the child found goes over a pipe, one
line of JSON a message; a line counts when it is whole.
"""

from __future__ import annotations

import gc
import json
import mmap
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Iterable
from typing import Any

from attrs import define, field, frozen, validators

SENTENCE = 500  # characters of an exception that are shown

RUNNING, SHRINKING = 1, 2  # what the child does
_NUMBER, _BEATS, _STEP, _DOING, _OUT_OF_MEMORY, _WORDS = 0, 1, 2, 3, 4, 5


@frozen
class Limits:
    """What a case may cost.  The memory limit needs an address-space limit that the system enforces: Linux does."""

    case_seconds: float = field(default=10.0, validator=validators.gt(0))
    memory_bytes: int = field(default=2 * 1024**3, validator=validators.gt(0))  # above what is mapped at the start
    start_seconds: float = field(default=60.0, validator=validators.gt(0))  # to make the subject, before its first case
    max_hangs: int = field(default=10, validator=validators.ge(1))  # in one range, before the rest of it is given up
    shrink_attempts: int = field(default=1_000, validator=validators.ge(1))  # for one finding


DEFAULT_LIMITS = Limits()


class Board:
    """Where the child is, in memory that it shares with its parent."""

    def __init__(self) -> None:
        self._words = memoryview(mmap.mmap(-1, 8 * _WORDS)).cast("Q")

    def starts(self, number: int) -> None:
        words = self._words
        words[_STEP] = 0
        words[_NUMBER] = number + 1
        words[_DOING] = RUNNING
        words[_BEATS] += 1

    def beat(self, doing: int) -> None:
        self._words[_DOING] = doing
        self._words[_BEATS] += 1

    def step(self, number: int) -> None:
        self._words[_STEP] = number

    def out_of_memory(self) -> None:
        self._words[_OUT_OF_MEMORY] = 1

    @property
    def number(self) -> int | None:
        """The case that runs, or ran last."""
        return self._words[_NUMBER] - 1 if self._words[_NUMBER] else None

    @property
    def beats(self) -> int:
        return self._words[_BEATS]

    @property
    def at_step(self) -> int:
        return self._words[_STEP]

    @property
    def doing(self) -> int:
        return self._words[_DOING]

    @property
    def ran_out_of_memory(self) -> bool:
        return self._words[_OUT_OF_MEMORY] == 1


@define
class Child:
    """A child process, as its parent holds it."""

    pid: int
    pipe: int  # its messages are read here
    board: Board
    unread: bytes = b""

    def messages(self) -> Iterable[dict[str, Any]]:
        """The messages that have arrived, without waiting for more."""
        while chunk := self._read():
            self.unread += chunk
        *lines, self.unread = self.unread.split(b"\n")
        return [json.loads(line) for line in lines]

    def _read(self) -> bytes:
        try:
            return os.read(self.pipe, 1 << 16)
        except BlockingIOError:
            return b""

    def status(self) -> int | None:
        """How it ended (as os.wait says it), or none while it runs.  After that the child is not to be asked again."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        return status if pid else None

    def kill(self) -> None:
        """Ends it, and waits until it is gone."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def close(self) -> None:
        os.close(self.pipe)


Body = Callable[[Board, Callable[[dict[str, Any]], None]], None]
"""What a child does: it is given the board, and a way to send a message."""


def fork(body: Body, limits: Limits) -> Child:
    """Starts a child."""
    board = Board()
    reading, writing = os.pipe()
    flush_printed()  # or the child would print it again
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _be_child(body, board, writing, limits, parent)
    os.close(writing)
    os.set_blocking(reading, False)
    return Child(pid, reading, board)


def _be_child(body: Body, board: Board, pipe: int, limits: Limits, parent: int) -> None:
    """Runs a body to its end, and never returns: what the parent had to do at exit is not the child's to do."""
    code = 1

    def send(message: dict[str, Any]) -> None:
        if os.getppid() != parent:
            os._exit(0)  # nobody reads any more
        data = json.dumps(message).encode() + b"\n"
        while data:
            data = data[os.write(pipe, data) :]

    try:
        gc.freeze()  # leave the parent's objects alone: collecting among them would copy their pages
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and ends its children
        signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
        _keep_off_the_terminal()
        _limit_memory(limits.memory_bytes)
        body(board, send)
        code = 0
    except MemoryError:
        board.out_of_memory()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
    except BaseException as error:
        send({"error": type(error).__name__, "evidence": _told(error)})
    finally:
        flush_printed()
        os._exit(code & 0xFF)


def _keep_off_the_terminal() -> None:
    """What a subject prints goes to stderr: stdout is for reports.  What it reads is nothing."""
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


def _limit_memory(more_bytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash is reported; a core file of it would only fill the disk
    mapped = mapped_bytes()
    if mapped is None:
        return
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    wanted = mapped + more_bytes
    resource.setrlimit(resource.RLIMIT_AS, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def mapped_bytes() -> int | None:
    """The address space of this process; none where the system does not tell, and then it would not limit it either."""
    try:
        with open("/proc/self/statm", "rb") as statm:
            return int(statm.read().split()[0]) * resource.getpagesize()
    except OSError:
        return None


def limit_processor(seconds: float) -> None:
    """Ends this process once it has used that much processor time from now on: for a child whose parent is gone, and
    can not end it any more."""
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)


def _told(error: BaseException) -> str:
    shown = f"{type(error).__name__}: {error}"[:SENTENCE]
    frames = traceback.extract_tb(error.__traceback__)
    return f"{shown} ({frames[-1].name}, line {frames[-1].lineno} of {os.path.basename(frames[-1].filename)})"


def flush_printed() -> None:
    """Passes on what was printed and still waits in a buffer."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # the subject closed it
            continue
