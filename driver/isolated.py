"""The doctor's examination in a child process: a subject that hangs, dies or eats memory is a diagnosis too."""

from __future__ import annotations

import select
from collections.abc import Callable
from typing import Any

from attrs import evolve

from ..spec.core import Cloneable, read_case, unsupported_by, write_case
from .child import DEFAULT_LIMITS, Board, Limits, flush_printed, fork, limit_processor
from .doctor import Diagnosis, Doctor
from .errors import SubjectFailed
from .examinations import CALLS, EXAMINATIONS, EXAMINATIONS_OF_CLONES
from .supervisor import POLL_SECONDS
from .watch import End, Watch, processor_seconds


def examine_isolated(doctor: Doctor, limits: Limits = DEFAULT_LIMITS) -> list[Diagnosis]:
    """What the doctor says, and, where the subject ended the examination, how: what comes after is not examined."""
    watch = Watch(fork(_body(doctor, limits), limits), limits)
    about: dict[str, Any] = {"unsupported": [], "cloneable": False}
    found: list[Diagnosis] = []
    try:
        while True:
            select.select([watch.child.pipe], [], [], POLL_SECONDS)
            messages, end = watch.look()
            for message in messages:
                about |= message.get("about", {})
                if "diagnosis" in message:
                    found.append(_diagnosis_from(message["diagnosis"], doctor))
                if "error" in message:
                    end = End("error", message["error"], message["evidence"])
            if any("done" in message for message in messages):
                return found
            if end is not None:
                return [*found, *_ended(doctor, watch.child.board, end, about, found)]
    finally:
        watch.end()


def _ended(doctor: Doctor, board: Board, end: End, about: dict[str, Any], found: list[Diagnosis]) -> list[Diagnosis]:
    """The examination in which the child ended, with its case up to there; and those that it did not come to."""
    if board.number is None:
        raise SubjectFailed(f"the subject can not be made: {end.sentence}")
    names = [name for name, _, _ in (*EXAMINATIONS, *(EXAMINATIONS_OF_CLONES if about["cloneable"] else ()))]
    name, *others = names[len(found) :] or ["end"]
    case = doctor.case(board.number, frozenset(about["unsupported"]))
    step, call = divmod(board.at_step, len(CALLS))
    at = f"step {step}, {case.commands[step - 1]!r}" if step else "reset()"
    where = at if CALLS[call] in ("reset", "apply") else f"{CALLS[call]}() after {at}"
    shown = Diagnosis(name, False, f"{end.sentence}, in {where}", case.with_commands(case.commands[:step]))
    return [shown, *(Diagnosis(other, None, "not examined: the examination ended before it") for other in others)]


def _diagnosis_from(data: dict[str, Any], doctor: Doctor) -> Diagnosis:
    text = data["case"]
    case = None if text is None else read_case(text, lambda name: doctor.system)
    return Diagnosis(data["name"], data["ok"], data["sentence"], case)


def _body(doctor: Doctor, limits: Limits) -> Callable[[Board, Callable[[dict[str, Any]], None]], None]:
    """What the child does."""

    def run(board: Board, send: Callable[[dict[str, Any]], None]) -> None:
        def starting(number: int) -> None:
            board.starts(number)
            limit_processor(processor_seconds(limits))

        def tell(step: int, call: str) -> None:
            board.step(step * len(CALLS) + CALLS.index(call))

        subject = doctor.make_subject()
        cloneable = isinstance(subject, Cloneable)
        send({"about": {"unsupported": sorted(unsupported_by(subject)), "cloneable": cloneable}})
        for each in evolve(doctor, starting=starting, tell=tell).diagnoses():
            case = None if each.case is None else write_case(each.case)
            send({"diagnosis": {"name": each.name, "ok": each.ok, "sentence": each.sentence, "case": case}})
        flush_printed()
        send({"done": True})

    return run
