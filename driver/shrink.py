"""Shrinking: from a case that breaks something to a small one that breaks the same thing.

Commands behind the breach are cut first, then chunks of commands, half as large each time, down to one by one; then
commands whose absence moves what later ones name (without the first append, the second one's entry is number 0), with
the numbers of those behind counted down, and pairs of commands whose amounts add up in one; then each field of each
command and of the config takes the simplest value that its domain offers.  The passes go round until nothing changes,
so that where the attempts suffice no single command can be left out, and no single field made simpler.  Commands are
total: every list of them is a legal run, and nothing ever has to be repaired.

The same finding always shrinks in the same way, and the work is bounded by attempts, not by seconds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from typing import Any

from attrs import Factory, define, evolve

from ..spec.core import Case, System, fields_of, unsupported_by
from ..spec.core.domain import REQUIRED, Integer
from .checker import Breach, run
from .finding import Finding
from .loop import MakeSubject

MAX_ATTEMPTS = 2_000
ENDED_KINDS = ("hang", "crash", "memory")  # each attempt would cost a process, or a time limit

StillBreaks = Callable[[Case], Breach | None]
"""The breach that a case still shows, or none."""


def shrink(
    system: System,
    make_subject: MakeSubject,
    finding: Finding,
    *,
    only: Collection[str] = (),
    model: bool = True,
    max_attempts: int = MAX_ATTEMPTS,
    on_attempt: Callable[[], None] = lambda: None,
) -> Finding:
    """The finding with a smaller case that breaks the same thing.  `on_attempt` is called before each run.

    A finding that does not repeat comes back as it was, and so does one that ended its process, but for the commands
    behind the step at which it ended.
    """
    case, key = finding.case, finding.breach.key
    before = finding.commands_before or len(case.commands)
    if finding.breach.kind in ENDED_KINDS:
        kept = case.commands[: finding.breach.step or None]
        return evolve(finding, case=case.with_commands(kept), commands_before=before)

    def breaks(attempt: Case) -> Breach | None:
        on_attempt()
        seen = run(system, make_subject(), attempt, only=only, model=model, stop_at=key).breaches
        return next((breach for breach in seen if breach.key == key), None)

    sent = _without(case, unsupported_by(make_subject()))
    small, breach = shrink_case(sent, breaks, max_attempts)
    if breach is None:
        return finding
    return evolve(finding, case=small, breach=breach, commands_before=before, shrunk=True)


def _without(case: Case, unsupported: frozenset[str]) -> Case:
    """The case as the subject gets it: steps are counted without the commands that it does not take."""
    return case.with_commands(command for command in case.commands if type(command).__name__ not in unsupported)


def shrink_case(case: Case, breaks: StillBreaks, max_attempts: int = MAX_ATTEMPTS) -> tuple[Case, Breach | None]:
    """The smallest case found that still breaks, with its breach; none where the case itself does not."""
    search = _Search(case, breaks, max_attempts)
    if not search.accepts(case):
        return case, None
    settled = None
    while settled != search.case and search.attempts_left:
        settled = search.case
        search.drop_chunks()
        search.drop_and_count_down()
        search.merge_pairs()
        search.simplify_config()
        search.simplify_together()
        search.simplify_commands()
    return search.case, search.breach


def _counted_down(command: Any, name: str, by: int) -> Any:
    """The command with the number in a field lowered, where it has that field and the number allows it."""
    for f in fields_of(type(command)):
        if f.name == name and isinstance(f.domain, Integer):
            value = getattr(command, name) - by
            return evolve(command, **{name: value}) if value >= f.domain.low else command
    return command


def _merged(first: Any, second: Any) -> Any | None:
    """One command with the sum of two that differ in one number at most; none where they are not such a pair."""
    if type(first) is not type(second):
        return None
    fields = fields_of(type(first))
    numbers = [f for f in fields if isinstance(f.domain, Integer)]
    others = [f.name for f in fields if not isinstance(f.domain, Integer)]
    if len(numbers) != 1 or any(getattr(first, name) != getattr(second, name) for name in others):
        return None
    (number,) = numbers
    total = getattr(first, number.name) + getattr(second, number.name)
    return None if number.domain.problem(total) else evolve(second, **{number.name: total})


def _replaced(command: Any, name: str, value: Any, domain: Any, offer: Any) -> Any:
    """The command with another value in a field, where it has that field, of that domain, with that value."""
    fits = any(f.name == name and f.domain == domain for f in fields_of(type(command)))
    return evolve(command, **{name: offer}) if fits and getattr(command, name) == value else command


@define
class _Search:
    """The best case so far, and how many attempts are left."""

    case: Case
    breaks: StillBreaks
    attempts_left: int
    breach: Breach | None = None
    refused: set[Case] = Factory(set)  # tried before, to no avail

    def accepts(self, attempt: Case) -> bool:
        """Tries a case, and takes it where it still breaks, without the commands behind the breach."""
        if attempt in self.refused or not self.attempts_left:
            return False
        self.attempts_left -= 1
        breach = self.breaks(attempt)
        if breach is None:
            self.refused.add(attempt)
            return False
        self.case, self.breach = attempt, breach
        self._cut_behind(breach.step)
        return True

    def _cut_behind(self, step: int) -> None:
        """A case that looks after its last command, or after every n-th, may need those behind the breach."""
        shorter = self.case.with_commands(self.case.commands[:step])
        if len(shorter.commands) == len(self.case.commands):
            return
        if shorter.observe == 1:
            self.case = shorter
        else:
            self.accepts(shorter)

    def drop_chunks(self) -> None:
        """Leaves out chunks of commands, half as large each time; goes from the end, where less depends on them."""
        size = max(1, len(self.case.commands) // 2)
        while True:
            dropped = self._drop_chunks_of(size)
            if size == 1 and not dropped:
                return
            size = max(1, size // 2)

    def _drop_chunks_of(self, size: int) -> bool:
        dropped = False
        end = len(self.case.commands)
        while end > 0:
            commands = self.case.commands
            start = max(0, end - size)
            if self.accepts(self.case.with_commands(commands[:start] + commands[end:])):
                dropped = True
            end = min(start, len(self.case.commands))
        return dropped

    def drop_and_count_down(self) -> None:
        """Leaves out commands together with what they moved: numbers that later commands name count down by one, or by
        as many as were left out."""
        for size in (8, 4, 2, 1):
            end = len(self.case.commands)
            while end > 0:
                start = max(0, end - size)
                self._drop_counting_down(start, end)
                end = min(start, len(self.case.commands))

    def merge_pairs(self) -> None:
        """Makes one of two commands that differ in an amount alone: the later one, with the sum of both."""
        later = len(self.case.commands) - 1
        while later > 0:
            for earlier in range(later - 1, -1, -1):
                commands = self.case.commands
                merged = _merged(commands[earlier], commands[later])
                if merged is not None:
                    together = (*commands[:later], merged, *commands[later + 1 :])
                    self._drop_counting_down(earlier, earlier + 1, together)
                    break
            later = min(later, len(self.case.commands)) - 1

    def _drop_counting_down(self, start: int, end: int, among: tuple[Any, ...] | None = None) -> None:
        """Leaves out some of the commands (or of those given), as they are or with a number behind them lowered."""
        commands = self.case.commands if among is None else among
        kept, behind = commands[:start], commands[end:]
        if self.accepts(self.case.with_commands(kept + behind)):
            return
        named = {f.name: None for c in behind for f in fields_of(type(c)) if isinstance(f.domain, Integer)}
        for name in named:
            for by in sorted({1, end - start}):
                lowered = tuple(_counted_down(command, name, by) for command in behind)
                if lowered != behind and self.accepts(self.case.with_commands(kept + lowered)):
                    return

    def simplify_config(self) -> None:
        """Brings each setting to its default, or else to something simpler."""
        for f in fields_of(type(self.case.config)):
            value = getattr(self.case.config, f.name)
            if f.default is REQUIRED:
                offers = list(f.domain.simpler(value))
            elif value == f.default:
                continue
            else:
                offers = [f.default, *f.domain.simpler(value)]
            self._first_accepted(
                evolve(self.case, config=evolve(self.case.config, **{f.name: offer})) for offer in offers
            )

    def simplify_together(self) -> None:
        """Brings a value that several commands share (a name, most often) to something simpler in all of them."""
        for name, value, domain in self._shared():
            for offer in domain.simpler(value):
                together = [_replaced(command, name, value, domain, offer) for command in self.case.commands]
                if self.accepts(self.case.with_commands(together)):
                    break

    def _shared(self) -> list[tuple[str, Any, Any]]:
        """Fields by name and domain, with the values that more than one command has there."""
        seen = Counter(
            (f.name, getattr(command, f.name), f.domain)
            for command in self.case.commands
            for f in fields_of(type(command))
        )
        return [key for key, count in seen.items() if count > 1]

    def simplify_commands(self) -> None:
        """Brings each field of each command to something simpler."""
        index = 0
        while index < len(self.case.commands):
            for f in fields_of(type(self.case.commands[index])):
                if index < len(self.case.commands):  # it was not cut meanwhile
                    self._simplify_field(index, f.name, f.domain)
            index += 1

    def _simplify_field(self, index: int, name: str, domain: Any) -> None:
        commands = self.case.commands
        for offer in domain.simpler(getattr(commands[index], name)):
            simpler = evolve(commands[index], **{name: offer})
            if self.accepts(self.case.with_commands((*commands[:index], simpler, *commands[index + 1 :]))):
                return

    def _first_accepted(self, attempts: Any) -> None:
        for attempt in attempts:
            if self.accepts(attempt):
                return
