"""A case as a picture on standard output.

python tools/timeline.py CASE.json --subject mutant:NAME > picture.svg
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from brokerlaw.report.timeline import drawn


def main() -> int:
    parser = argparse.ArgumentParser(description="A case as a picture, SVG on standard output.")
    parser.add_argument("case", type=Path)
    parser.add_argument("--subject", default="reference")
    parser.add_argument("--law", action="append", default=[], help="ask these laws alone, without the model")
    given = parser.parse_args()
    sys.stdout.write(drawn(given.case, given.subject, tuple(given.law)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
