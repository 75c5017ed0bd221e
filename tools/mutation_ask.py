"""Asks a judge that serves a socket; prints its line, and exits as the judge itself would.

python mutation_ask.py SOCKET
"""

from __future__ import annotations

import json
import socket
import sys

ENDED = '{"by": "hang", "what": "ended by force"}'  # a child that ran into a hard limit, or took the interpreter down


def main(path: str) -> int:
    """1: something noticed, 0: nothing did."""
    with socket.socket(socket.AF_UNIX) as judge:
        judge.connect(path)
        answer = b"".join(iter(lambda: judge.recv(4096), b"")).decode()
    verdict = json.loads(answer or ENDED)
    print(json.dumps(verdict))
    return 0 if verdict["by"] == "nothing" else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
