"""Profiles: how much the machines do.

`dev` is for coding, and what counts where no profile was chosen; `ci` is Hypothesis's own (the same examples in every
run, the blob of a failure printed); `nightly` does many.  They are Hypothesis's profiles: `--hypothesis-profile`,
`HYPOTHESIS_PROFILE` and `settings.load_profile` choose among them, and numbers that a user put into a profile of the
same name go before ours.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from attrs import frozen
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import InvalidArgument

VARIABLE = "HYPOTHESIS_PROFILE"


@frozen
class Effort:
    """How many runs a machine makes, and of how many commands."""

    examples: int
    commands: int


EFFORTS: Mapping[str, Effort] = {
    "default": Effort(100, 40),
    "dev": Effort(100, 40),
    "ci": Effort(400, 50),
    "nightly": Effort(3000, 60),
}
_UNTOUCHED = (100, 50)  # what Hypothesis's own profiles say: examples, and steps of a machine


def register() -> None:
    """Registers the profiles that are not there yet, and loads the one that the environment names."""
    for name, more in (("dev", {}), ("nightly", {"print_blob": True})):
        if not _is_registered(name):
            settings.register_profile(name, settings.get_profile("default"), **more)
    chosen = os.environ.get(VARIABLE)
    if chosen and _is_registered(chosen) and settings.get_current_profile_name() in ("default", "ci"):
        settings.load_profile(chosen)  # unless pytest's option or the user has chosen another one


def profile() -> str:
    """The name of the profile in force, without what Hypothesis's pytest options put behind it."""
    chosen = os.environ.get(VARIABLE)
    if chosen and not _is_registered(chosen):
        raise InvalidArgument(f"{VARIABLE}={chosen}: there is no such profile; ours are dev, ci and nightly")
    return settings.get_current_profile_name().partition("-with-")[0]


def machine_settings(own: settings | None = None) -> settings:
    """The settings of a machine: a user's own where they are given, else those of the profile in force.

    A machine needs its time and does not fit Hypothesis's deadline and health checks; and to explain a failure by the
    lines that ran costs minutes, and names lines of the checker.  So these are off, and one bug is told at a time,
    unless the user's own settings say something else than the profile does.
    """
    now = settings()
    chosen = own or now
    more: dict[str, object] = {}
    effort = EFFORTS.get(profile())
    if own is None and effort is not None and (now.max_examples, now.stateful_step_count) == _UNTOUCHED:
        more |= {"max_examples": effort.examples, "stateful_step_count": effort.commands}
    if chosen.deadline == now.deadline:
        more["deadline"] = None
    if chosen.phases == now.phases:
        more["phases"] = [phase for phase in chosen.phases if phase is not Phase.explain]
    if chosen.suppress_health_check == now.suppress_health_check:
        more["suppress_health_check"] = list(HealthCheck)
    if chosen.report_multiple_bugs == now.report_multiple_bugs:
        more["report_multiple_bugs"] = False
    return settings(chosen, **more)  # type: ignore[arg-type]


def _is_registered(name: str) -> bool:
    try:
        settings.get_profile(name)
    except InvalidArgument:
        return False
    return True
