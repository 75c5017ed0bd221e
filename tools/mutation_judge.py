"""Judges the reference of one system as it stands in this tree: does anything notice that it is broken?

    PYTHONPATH=TREE python TREE/tools/mutation_judge.py SYSTEM [--effort N] [--serve SOCKET]

Seeded cases with the laws and the model on, a few first and then more, in every dialect; then the doctor's examinations
and, for the explorer's sake, fingerprints against the model's own idea of equal states.  Prints one line of JSON: what
noticed, or "nothing".  Exit code 1: something noticed, 0: nothing did, 2: it can not be judged.

Where the first thing to notice is not a law, the laws alone are asked too, the model set aside: a kill is the model's
alone only where no law spoke in any of their cases.

Cases and what the model says of them are the same for every mutant.  With --serve they are worked out once; then each
connection to the socket is answered by a forked child that imports the reference as it stands by then.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from attrs import asdict, evolve, frozen

import brokerlaw
from brokerlaw.driver.checker import Breach, plan_for
from brokerlaw.driver.doctor import examine
from brokerlaw.driver.loop import Job, Runner, drawn_case
from brokerlaw.spec.core import System
from brokerlaw.spec.cursor_ranks import CURSOR_RANKS
from brokerlaw.spec.entry_cache import ENTRY_CACHE
from brokerlaw.spec.entry_cache import words as w

SEED = 1
CASE_LIMIT_S = 5  # of processor time for one case; the slowest sound one takes a twentieth of it
EXAMINATION_LIMIT_S = 30
HARD_LIMIT_S = 60  # for a step that no alarm interrupts, such as a power of large numbers
MEMORY_LIMIT_BYTES = 2 << 30
KINDS = {"law": "law", "model": "model", "error": "exception", "checker": "exception", "memory": "hang"}

Make = Callable[[], Any]


@frozen
class Verdict:
    """What noticed first: a law, the model alone, an exception, a hang, an examination; or nothing."""

    by: str
    what: str = ""  # the law, the part that differed, the exception, the examination
    dialect: str = "text"
    case: int = -1


@frozen
class Bench:
    """A system, how to make the reference under judgement, and how far its fingerprints go."""

    system: System
    make: Make
    alone: int  # cases in which the laws alone are asked
    exact: bool  # whether states that the model can not tell apart have one fingerprint
    effort: int  # how many times the usual number of cases
    openings: tuple[tuple[Any, ...], ...] = ((),)  # commands before a case that leave equal states at different times


@frozen
class Stage:
    """Some cases of one dialect; `checked` asks every law at every step."""

    dialect: str
    numbers: range
    checked: bool = False


@frozen
class Recorded:
    """A case as the model has it: its commands, their outcomes, and what there is to see wherever the case looks."""

    config: Any
    steps: tuple[tuple[Any, Any, Any], ...]


def bench_of(name: str, effort: int) -> Bench:
    """The bench of a system.  The reference is imported here and not above: a broken one may not even do that."""
    if name == ENTRY_CACHE.name:
        from brokerlaw.reference.entry_cache import EntryCache

        openings = (earlier_life(1, 2), earlier_life(3, 5))
        return Bench(ENTRY_CACHE, EntryCache, alone=60, exact=True, effort=effort, openings=openings)
    from brokerlaw.reference.cursor_ranks import CursorRanks

    # Its fingerprint also tells what is pending, which the model knows nothing of.
    return Bench(CURSOR_RANKS, CursorRanks, alone=400, exact=False, effort=effort)


def earlier_life(loads: int, checks: int) -> tuple[Any, ...]:
    """Commands after which a broker is as good as new but for the time, and the serials and buffers it gave away."""
    load = (w.Seek("t0", "c0", 0, 0), w.Read("t0", "c0", 1), w.FinishLoad("t0", "c0"), w.Release("t0", "c0", 0, 0))
    empty = (w.BeginRemoval("all", "t0", 0, 0), w.FinishRemoval("all", "t0", 0, 0))
    visits = [(w.OpenCursor(topic, "c0", "latest"), w.CloseCursor(topic, "c0")) for topic in w.TOPICS]
    return (
        *(w.OpenCursor("t0", "c0", "latest"), w.Append("t0", 5), *empty, *((*load, *empty) * loads)),
        *(w.CloseCursor("t0", "c0"), *((w.Tick(2**40), w.EvictionCheck()) * checks)),
        *(command for visit in visits for command in visit),
    )


def stages(system: System, effort: int) -> Iterator[Stage]:
    """The cases, those that kill most at the least price first."""
    named = [f"text+{deviation.name}" for deviation in system.deviations]
    others = [name for name in system.dialects if name != "text"] + named
    yield Stage("text", range(40))
    yield Stage("text", range(10), checked=True)
    yield from (Stage(dialect, range(12)) for dialect in others)
    yield Stage("text", range(40, 2_000 * effort))
    yield from (Stage(dialect, range(12, 120 * effort)) for dialect in others)
    yield Stage("text", range(10, 50 * effort), checked=True)
    yield Stage(others[0], range(5 * effort), checked=True)


def judge(bench: Bench) -> Verdict:
    """What notices that the reference is broken."""
    for stage in stages(bench.system, bench.effort):
        job = Job(bench.system, bench.make, "reference", SEED, stage.dialect, checked=stage.checked or None)
        suspects = stage.numbers if stage.checked else differing(job, stage.numbers)
        found = first_breach(job, suspects)
        if found is not None:
            number, breach = found
            if breach.kind == "law":
                return Verdict("law", breach.law, stage.dialect, number)
            return laws_alone(bench, job, number) or Verdict(KINDS[breach.kind], breach.law, stage.dialect, number)
    limit(EXAMINATION_LIMIT_S * bench.effort, Verdict("hang", "examination"))
    return examined(bench) or fingerprinted(bench) or Verdict("nothing")


def differing(job: Job, numbers: range) -> Iterator[int]:
    """The cases in which an outcome or a look differs from the model's: all that the driver's fast path compares."""
    dialect, subject = job.system.dialect(job.dialect), job.make_subject()
    parts = plan_for(job.system, dialect, subject).compared
    for number in numbers:
        limit(CASE_LIMIT_S, Verdict("hang", "", job.dialect, number))
        case = recorded(job.system, job.dialect, number)
        try:
            subject.reset(case.config, dialect)
            same = all(
                subject.apply(command) == outcome and (view is None or _looks_like(view, subject.snapshot(), parts))
                for command, outcome, view in case.steps
            )
        except Exception:
            same = False
        if not same:
            yield number
            subject = job.make_subject()


def _looks_like(view: Any, seen: Any, parts: tuple[int, ...]) -> bool:
    return all(view[part] == seen[part] for part in parts)


@cache
def recorded(system: System, dialect_name: str, number: int) -> Recorded:
    """A case by its number, with what the model says of it."""
    dialect, model = system.dialect(dialect_name), system.model
    case = drawn_case(Job(system, _nobody, "model", SEED, dialect_name), number)
    state, steps = model.start(case.config), []
    for at, command in enumerate(case.commands, 1):
        state, outcome = model.step(case.config, state, command, dialect)
        looks = at == len(case.commands) or (case.observe and at % case.observe == 0)
        steps.append((command, outcome, model.view(state) if looks else None))
    return Recorded(case.config, tuple(steps))


def _nobody() -> Any:
    raise AssertionError("a case is drawn from the model alone")


def first_breach(job: Job, numbers: Iterable[int], kinds: Collection[str] = KINDS) -> tuple[int, Breach] | None:
    """The first case that breaks something of these kinds, and what."""
    runner = Runner(job, lambda found: found)
    for number in numbers:
        limit(CASE_LIMIT_S, Verdict("hang", "", job.dialect, number))
        runner.run(number)
        for found in runner.take().findings:
            if found.breach.kind in kinds:
                return number, found.breach
    return None


def laws_alone(bench: Bench, job: Job, number: int) -> Verdict | None:
    """Whether a law speaks where no model does: in the case that something else was found in, or in any other."""
    found = first_breach(evolve(job, model=False), [number, *range(bench.alone)], ("law",))
    return None if found is None else Verdict("law", found[1].law, job.dialect, found[0])


def examined(bench: Bench) -> Verdict | None:
    """What the doctor finds: resets, looks and clones."""
    for diagnosis in examine(bench.system, bench.make, SEED, cases=6 * bench.effort):
        if diagnosis.ok is False:
            return Verdict("examination", diagnosis.name)
    return None


def fingerprinted(bench: Bench) -> Verdict | None:
    """Whether fingerprints tell states apart as the model does, over cases that share one config and so meet often."""
    system, dialect, config = bench.system, bench.system.dialect("text"), bench.system.config()
    job = Job(system, bench.make, "reference", SEED)
    states: dict[object, object] = {}
    marks: dict[object, object] = {}
    for number, opening in product(range(40 * bench.effort), bench.openings):
        subject, state = bench.make(), system.model.start(config)
        subject.reset(config, dialect)
        for command in (*opening, *drawn_case(job, number).commands[:80]):
            subject.apply(command)
            state, _ = system.model.step(config, state, command, dialect)
            mark, canonical = subject.fingerprint(), system.model.canonical(state)
            if states.setdefault(mark, canonical) != canonical:
                return Verdict("examination", "one fingerprint, two states", "text", number)
            if marks.setdefault(canonical, mark) != mark and bench.exact:
                return Verdict("examination", "one state, two fingerprints", "text", number)
    return None


def limit(seconds: int, verdict: Verdict) -> None:
    """From now on this many seconds of processor time end the judgement with a verdict."""
    signal.signal(signal.SIGVTALRM, lambda *_: tell(verdict))
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)


def tell(verdict: Verdict) -> None:
    """Prints the verdict and ends the process at once: what was judged may catch every exception."""
    print(json.dumps(asdict(verdict)), flush=True)
    os._exit(0 if verdict.by == "nothing" else 1)


def judge_and_tell(name: str, effort: int) -> None:
    """Judges, within limits, and tells."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (HARD_LIMIT_S * effort, HARD_LIMIT_S * effort))
    limit(CASE_LIMIT_S, Verdict("hang", "import"))
    try:
        tell(judge(bench_of(name, effort)))
    except MemoryError:
        tell(Verdict("hang", "memory"))
    except Exception as error:
        tell(Verdict("exception", type(error).__name__))


def serve(path: str, system: System, effort: int) -> None:
    """Answers each connection with a judgement, one at a time, until it is ended."""
    for stage in stages(system, effort):
        for number in stage.numbers if not stage.checked else ():
            recorded(system, stage.dialect, number)
    loaded = [name for name in sys.modules if name.startswith("brokerlaw.reference")]
    assert not loaded, f"{loaded} were imported before there was anything to judge"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        while True:
            asked, _ = listener.accept()
            child = os.fork()
            if child == 0:
                os.dup2(asked.fileno(), sys.stdout.fileno())
                judge_and_tell(system.name, effort)
            asked.close()
            os.waitpid(child, 0)


def main(arguments: list[str]) -> None:
    """Judges the reference of the system named."""
    parser = argparse.ArgumentParser(prog="mutation_judge", description="Does anything notice a broken reference?")
    parser.add_argument("system", choices=(CURSOR_RANKS.name, ENTRY_CACHE.name))
    parser.add_argument("--effort", type=int, default=1, help="how many times the usual number of cases")
    parser.add_argument("--serve", metavar="SOCKET", help="answer connections to this socket instead")
    options = parser.parse_args(arguments)
    tree = Path(__file__).resolve().parent.parent
    if Path(brokerlaw.__file__).resolve().parent.parent != tree:
        parser.error(f"brokerlaw comes from {brokerlaw.__file__}, not from {tree}; set PYTHONPATH={tree}")
    if options.serve:
        serve(options.serve, CURSOR_RANKS if options.system == CURSOR_RANKS.name else ENTRY_CACHE, options.effort)
    judge_and_tell(options.system, options.effort)


if __name__ == "__main__":
    main(sys.argv[1:])
