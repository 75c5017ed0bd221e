"""What went wrong in Spark, in one sentence instead of two stack traces."""

from __future__ import annotations

import re

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException

SPARKS_OWN = (PySparkException, Py4JError, ConnectionError)  # the last one: nobody answers where the JVM was
SENTENCE = 600  # characters that are shown

_OURS = re.compile(r"brokerlaw\.driver\.errors\.\w+: ")
_CLASS = re.compile(r"^(Caused by: |: )?([\w$]+\.)*[\w$]*(Error|Exception|Usage|Failed)\b: ")
_FRAME = re.compile(r'^(at |\.\.\. \d+ more|File "|Traceback |During handling|The above exception|\s*$)')


def sentence_of(error: BaseException) -> str:
    """The line that tells the cause: ours where an executor raised one of our own errors, else that of the last Python
    error, else the first one of the JVM."""
    if isinstance(error, Py4JNetworkError | ConnectionError):
        return "Spark's JVM has ended; --resume goes on with what is whole"
    lines = [line.strip() for line in str(error).splitlines()]
    ours = [line for line in lines if _OURS.match(line)]
    python = [line for line in lines if re.match(r"([a-z_]\w*\.)*[A-Z]\w*(Error|Exception): ", line)]
    raised = [line for line in lines if _CLASS.match(line)]
    plain = [line for line in lines if not _FRAME.match(line)]
    line = next(iter((*ours[-1:], *python[-1:], *raised, *plain)), type(error).__name__)
    return _OURS.sub("", _CLASS.sub("", line) if line not in ours else line)[:SENTENCE]
