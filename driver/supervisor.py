"""The supervisor: runs ranges of cases in child processes, so that a subject that hangs, dies or eats memory costs its
own case and no other.

One child runs one range.  It sends what its cases gave a few times a second; whatever it sent whole is kept.  When it
dies or is killed in case k, the cases since its last message (at most some tenths of a second of them) and those
behind k run in a new child, without k: nothing is lost, and nothing counted twice, since a message counts wholly or not
at all.  (To run the whole beginning of the range again instead would cost more with each case that dies.)

Case k itself is run once more, alone, to see in which step it ends.  It is listed, and stands outside all counts and
outside the digest: how long a case may take and how much memory there is belong to a machine, not to a campaign.
"""

from __future__ import annotations

import select
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import Any

from attrs import Factory, define, field, frozen

from .checker import Breach
from .child import DEFAULT_LIMITS, RUNNING, SHRINKING, Board, Limits, flush_printed, fork, limit_processor
from .errors import SubjectFailed
from .finding import Finding, fewest
from .loop import Job, Result
from .shrink import shrink
from .watch import End, Watch, processor_seconds
from .work import Drawn, Work

RANGE_SIZE = 250  # cases; a new child costs about as much as five
COMMIT_SECONDS = 0.1  # how often a child sends what it has
POLL_SECONDS = 0.05
BUDGET_ENDED = "the time budget ended"
INTERRUPTED = "interrupted"  # why a campaign stopped that its user stopped
PROBES = 3  # cases of a range that are run again to see in which step they end


@frozen
class Counts:
    """How far a campaign is."""

    cases: int
    steps: int
    findings: int


Progress = Callable[[Counts], None]


def supervise(
    job: Job, first: int, count: int, limits: Limits = DEFAULT_LIMITS, starting: Callable[[int], None] | None = None
) -> Result:
    """Runs the cases first .. first+count-1 in a child.  `starting` is told, as often as the parent looks, which case
    runs."""
    whole = _Range(Drawn(job), limits, first, first + count)

    def looked(active: list[_Range]) -> None:
        if starting is not None and whole.number is not None:
            starting(whole.number)

    ((_, done),) = _run_ranges(iter([whole]), 1, lambda: False, looked)
    return done


def supervise_many(
    job: Job | Work,
    count: int,
    *,
    jobs: int = 1,
    range_size: int = RANGE_SIZE,
    limits: Limits = DEFAULT_LIMITS,
    time_budget_seconds: float | None = None,
    progress: Progress | None = None,
    interrupted: Callable[[], bool] = lambda: False,
    done_with: Callable[[int, Result], None] = lambda first, result: None,
) -> Result:
    """Runs the cases 0 .. count-1, several ranges side by side.  A time budget ends it with what it has, and so does
    `interrupted`, which is asked as often as the parent looks at its children.  `done_with` is told the first case of
    each range, and what the range gave."""
    work = Drawn(job) if isinstance(job, Job) else job
    deadline = None if time_budget_seconds is None else time.monotonic() + time_budget_seconds
    total = Result()

    def ranges() -> Iterator[_Range]:
        for first in range(0, count, range_size):
            if total.stopped or interrupted() or hangs(total) >= limits.max_hangs:
                return
            yield _Range(work, limits, first, min(first + range_size, count))

    def looked(active: list[_Range]) -> None:
        if progress is not None:
            progress(_counts([total, *[each.result for each in active]]))

    def is_over() -> bool:
        return interrupted() or (deadline is not None and time.monotonic() >= deadline)

    with closing(_run_ranges(ranges(), jobs, is_over, looked)) as results:
        for first, done in results:
            done_with(first, done)
            total.add(done)
            total.findings = fewest(total.findings, work.job.max_findings)
            total.ended = fewest(total.ended, work.job.max_findings)
    if total.tally.cases + sum(total.ended_count.values()) < count and not total.stopped:
        total.stopped = INTERRUPTED if interrupted() else why_stopped(total, limits, time_budget_seconds)
    return total


def why_stopped(result: Result, limits: Limits, time_budget_seconds: float | None = None) -> str:
    """Why not all cases were run, where nobody interrupted."""
    if time_budget_seconds is None or hangs(result) >= limits.max_hangs:
        return f"{hangs(result)} cases took longer than {limits.case_seconds:g} s each"
    return BUDGET_ENDED


def _counts(results: list[Result]) -> Counts:
    return Counts(
        sum(result.tally.cases + sum(result.ended_count.values()) for result in results),
        sum(result.tally.steps for result in results),
        sum(len(result.findings) + len(result.ended) for result in results),
    )


def _run_ranges(
    ranges: Iterator[_Range], jobs: int, is_over: Callable[[], bool], looked: Callable[[list[_Range]], None]
) -> Generator[tuple[int, Result], None, None]:
    """Runs ranges, `jobs` of them side by side, and gives where each began and its result as it ends; once it is over
    those of the ones that still run, as far as they are.  `looked` is called as often as the parent looks at them."""
    active: list[_Range] = []
    try:
        while True:
            while len(active) < jobs and (fresh := next(ranges, None)) is not None:
                active.append(fresh)
                fresh.begin()
            if not active:
                return
            select.select([each.pipe for each in active], [], [], POLL_SECONDS)
            for each in list(active):
                if each.poll():
                    active.remove(each)
                    yield each.first, each.result
            looked(active)
            if is_over():
                yield from [(each.first, each.result) for each in active]
                return
    finally:
        for each in active:
            each.abandon()


@define
class _Range:
    """A range of cases, and the child that runs it now."""

    work: Work
    limits: Limits
    first: int
    stop: int
    position: int = field(init=False)  # cases before it are settled
    result: Result = Factory(Result)
    skipped: set[int] = Factory(set)  # cases that ended a child
    unshrinkable: set[int] = Factory(set)  # cases whose finding ended a child while it was shrunk
    shrunk: set[tuple[str, str]] = Factory(set)  # what broke and was shrunk already, one for each key
    unsupported: frozenset[str] = frozenset()
    watch: Watch | None = None
    suspect: tuple[int, End] | None = None  # a case that ended a child, while it is run again

    def __attrs_post_init__(self) -> None:
        self.position = self.first

    @property
    def pipe(self) -> int:
        assert self.watch is not None
        return self.watch.child.pipe

    @property
    def number(self) -> int | None:
        """The case that runs now."""
        return self.watch.child.board.number if self.watch else None

    def begin(self) -> None:
        """Starts a child for what is not settled yet."""
        self.watch = Watch(fork(self._run, self.limits), self.limits)

    def abandon(self) -> None:
        """Ends the child; what it sent stays."""
        if self.watch is not None:
            self.watch.end()
            self.watch = None

    def poll(self) -> bool:
        """Looks at the child once; whether the range is done."""
        assert self.watch is not None
        watch = self.watch
        messages, end = watch.look()
        done = False
        for message in messages:
            if "result" in message:
                self._settle(message)
            elif "error" in message:
                end = End("error", message["error"], f"the run could not be judged: {message['evidence']}")
            done = done or "done" in message
            self.unsupported = frozenset(message.get("unsupported", self.unsupported))
        if end is None and not done:
            return False
        self.abandon()
        if self.suspect is not None:
            self._close_suspect(watch.child.board, end)
        elif end is not None:
            self._suspect(watch.child.board, end)
        return self._go_on()

    def _settle(self, message: dict[str, Any]) -> None:
        got = Result.from_json(message["result"], self.work.job.system)
        self.position = message["upto"] + 1
        self.shrunk |= {finding.breach.key for finding in got.findings}
        self.result.add(got)

    def _suspect(self, board: Board, end: End) -> None:
        """A child ended: whose doing was it?"""
        if board.number is None:
            raise SubjectFailed(f"{self.work.job.subject_name} can not be made: {end.sentence}")
        number = board.number if board.number >= self.position else self._next()
        if number is None:
            return  # every case was settled: nobody waits for it
        if board.doing == SHRINKING:
            self.unshrinkable.add(number)
        else:
            self.suspect = number, end

    def _go_on(self) -> bool:
        """Starts the next child; whether there is nothing left for it to do."""
        if self.suspect is not None:
            number = self.suspect[0]
            if len(self.skipped) < PROBES:
                self.watch = Watch(fork(lambda board, send: self._probe(number, board, send), self.limits), self.limits)
                return False
            self._close_suspect(None, None)
        if hangs(self.result) >= self.limits.max_hangs:
            self.result.stopped = why_stopped(self.result, self.limits, None)
            return True
        if self._next() is None:
            return True
        self.begin()
        return False

    def _next(self) -> int | None:
        return next((number for number in range(self.position, self.stop) if number not in self.skipped), None)

    def _close_suspect(self, board: Board | None, again: End | None) -> None:
        """Notes the case that ended a child; `board` is where it came to when it was run again, if it was."""
        assert self.suspect is not None
        (number, end), self.suspect = self.suspect, None
        self.skipped.add(number)
        case, step, sentence = self.work.case(number, self.unsupported), 0, end.sentence
        if again is not None and board is not None:
            step = board.at_step
            case = case.with_commands(case.commands[:step])
            where = repr(case.commands[-1]) if step else "reset"
            sentence += f"; run again alone it ended in step {step}, {where}"
        elif board is not None:
            sentence += "; run again alone it did not"
        key = f"{end.kind} {end.law}"
        count = self.result.ended_count[key] = self.result.ended_count.get(key, 0) + 1
        if count <= self.work.job.max_findings:
            self.result.ended.append(self.work.told(number, Breach(end.kind, end.law, step, sentence), case))

    # What follows runs in the child.

    def _run(self, board: Board, send: Callable[[dict[str, Any]], None]) -> None:
        job, backstop = self.work.job, processor_seconds(self.limits)

        def beat() -> None:
            board.beat(SHRINKING)
            limit_processor(backstop)

        def keep(found: Finding) -> Finding | None:
            if found.breach.key in self.shrunk:
                return None
            self.shrunk.add(found.breach.key)
            if found.number in self.unshrinkable:
                return found
            attempts = self.limits.shrink_attempts
            small = shrink(
                job.system,
                job.make_subject,
                found,
                only=job.only,
                model=job.model,
                max_attempts=attempts,
                on_attempt=beat,
            )
            board.beat(RUNNING)
            return small

        worker = self.work.start(keep)
        send({"unsupported": sorted(worker.unsupported)})
        sent_at = time.monotonic()
        for number in range(self.position, self.stop):
            if number in self.skipped:
                continue
            board.starts(number)
            limit_processor(backstop)
            worker.run(number)
            if time.monotonic() - sent_at >= COMMIT_SECONDS:
                send({"upto": number, "result": worker.take().to_json()})
                sent_at = time.monotonic()
        flush_printed()
        send({"upto": self.stop - 1, "result": worker.take().to_json(), "done": True})

    def _probe(self, number: int, board: Board, send: Callable[[dict[str, Any]], None]) -> None:
        """Runs one case alone, with its steps on the board."""
        worker = self.work.watched(board.step).start(lambda found: None)
        board.starts(number)
        limit_processor(processor_seconds(self.limits))
        worker.run(number)
        send({"done": True})


def hangs(result: Result) -> int:
    """How many cases were ended for the time they took."""
    return sum(count for key, count in result.ended_count.items() if key.startswith("hang "))
