"""Errors that are the user's to mend: each is one sentence, shown without a traceback, and ends with exit code 2."""

from __future__ import annotations


class Usage(Exception):
    """What was given can not be used; the message names it and says what was expected."""


class SubjectFailed(Usage):
    """A subject could not even be made, so that no case of it can run."""
