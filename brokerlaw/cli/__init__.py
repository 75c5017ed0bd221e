"""The command line: one module a command; what they share is in `options`, `names`, `terminal` and `answer`."""

from __future__ import annotations

import sys


def entry() -> int:
    """Runs the command line; gives the exit code.  It imports the rest here, so that Ctrl-C is quiet from the start."""
    try:
        from . import main

        return main.entry()
    except KeyboardInterrupt:
        print("brokerlaw: interrupted", file=sys.stderr)
        return 130
