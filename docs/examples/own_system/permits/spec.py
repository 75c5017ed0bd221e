"""permits: a consumer grants permits; the broker dispatches one message for each, and takes back what is not used.

Config, commands, outcomes, snapshot, model, laws, and the system that holds them together.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

from attrs import frozen

from brokerlaw import VACUOUS, Action, Broken, Dialect, Model, System, Verdict, always, integer, sometimes, step

# ---- What can be set, what can happen -------------------------------------------------------------------------------


@frozen
class Config:
    """What the broker's owner sets."""

    max_permits: int = integer(1, 1_000, usual=(1, 12), edges=(1,), small=(1, 3), default=1_000)


@frozen
class Flow:
    """The consumer grants more permits; what goes over the maximum is lost."""

    permits: int = integer(1, 1_000, usual=(1, 6), edges=(1, 1_000), small=(1, 2))


@frozen
class Publish:
    """Messages arrive for the consumer."""

    messages: int = integer(1, 1_000, usual=(1, 6), small=(1, 2))


@frozen
class Dispatch:
    """The broker sends what it has and may."""


@frozen
class Reconnect:
    """The consumer comes back: its permits are gone, and what it had was acknowledged."""


# ---- What its caller sees, what an observer sees --------------------------------------------------------------------


@frozen
class Done:
    """It was carried out."""


@frozen
class Sent:
    messages: int


class Snapshot(NamedTuple):
    permits: int
    backlog: int


# ---- What is the case -----------------------------------------------------------------------------------------------

State = Snapshot  # here everything can be seen; most systems have something to hide


def flow(config: Config, state: State, command: Flow, dialect: Dialect) -> tuple[State, Done]:
    return state._replace(permits=min(state.permits + command.permits, config.max_permits)), Done()


def publish(config: Config, state: State, command: Publish, dialect: Dialect) -> tuple[State, Done]:
    return state._replace(backlog=state.backlog + command.messages), Done()


def dispatch(config: Config, state: State, command: Dispatch, dialect: Dialect) -> tuple[State, Sent]:
    sent = min(state.permits, state.backlog)
    return State(state.permits - sent, state.backlog - sent), Sent(sent)


def reconnect(config: Config, state: State, command: Reconnect, dialect: Dialect) -> tuple[State, Done]:
    return state._replace(permits=0), Done()


def canonical(state: State) -> Hashable:
    return state


def drain(config: Config, state: State) -> None:
    """No law waits for anything."""


MODEL = Model(
    start=lambda config: State(0, 0),
    actions=(
        Action(Flow, flow),
        Action(Publish, publish),
        Action(Dispatch, dispatch, when=lambda config, state: min(state) > 0),
        Action(Reconnect, reconnect, weight=1),
    ),
    view=lambda state: state,
    canonical=canonical,
    drain=drain,
)

# ---- What must hold -------------------------------------------------------------------------------------------------


@always("our handbook, Flow control, 1", reads=("permits",))
def permits_stay_within_bounds(config: Config, now: Snapshot) -> Verdict:
    """Permits are never negative, and never more than the maximum."""
    return 0 <= now.permits <= config.max_permits or Broken(f"{now.permits} permits of {config.max_permits}")


@step("our handbook, Flow control, 2", on=(Dispatch,), reads=("permits", "backlog"))
def every_message_costs_a_permit(
    config: Config, before: Snapshot, command: Dispatch, outcome: Any, after: Snapshot
) -> Verdict:
    """A dispatch sends as many messages as there are permits and messages for, and each costs one permit."""
    if not min(before):
        return VACUOUS
    sent, paid = min(before), before.permits - after.permits
    if isinstance(outcome, Sent) and outcome.messages == sent == paid:
        return True
    return Broken(f"{outcome} for {paid} permits; there were {before.permits} permits and {before.backlog} messages")


@step("our handbook, Flow control, 3", on=(Reconnect,), reads=("permits",))
def permits_do_not_outlive_a_connection(
    config: Config, before: Snapshot, command: Reconnect, outcome: Any, after: Snapshot
) -> Verdict:
    """A consumer that comes back has no permits until it grants new ones."""
    return after.permits == 0 or Broken(f"{after.permits} permits after a reconnect")


@sometimes("our handbook, Flow control, 2", on=(Dispatch,), reads=("permits", "backlog"))
def permits_run_out_before_messages(
    past: Any, config: Config, before: Snapshot, command: Dispatch, outcome: Any, after: Snapshot
) -> bool:
    """A dispatch used the last permit while messages were left."""
    return before.permits > 0 == after.permits and after.backlog > 0


PERMITS = System(
    "permits",
    title="How a broker spends a consumer's flow permits",
    proposal="our handbook",
    config=Config,
    commands=(Flow, Publish, Dispatch, Reconnect),
    outcomes=(Done, Sent),
    snapshot=Snapshot,
    model=MODEL,
    laws=(
        permits_stay_within_bounds,
        every_message_costs_a_permit,
        permits_do_not_outlive_a_connection,
        permits_run_out_before_messages,
    ),
)
