"""Moves the clock of the functions of a local deployment: ahead of the machine's by as many seconds as the file says.

The interpreter imports this module by its name at its start.
"""

import os
import time

_FILE = os.environ.get("MOVED_CLOCK", "")
_time_ns = time.time_ns  # noqa: TID251 - what the Clock port reads


def _moved() -> int:
    try:
        with open(_FILE) as file:
            return _time_ns() + int(file.read()) * 1_000_000_000
    except FileNotFoundError:
        return _time_ns()


time.time_ns = _moved  # noqa: TID251 - as above
