"""The invariant report: what a campaign showed, as a page, as Markdown, as JSON, and for the machines of CI.

`reader` reads report.json, `build` makes the one `Content` of it, and every format is a function of that content alone:
so all of them say the same.  `write_all(report_data, folder)` writes them all into a folder of this machine.
"""

from .write import write_all

__all__ = ["write_all"]
