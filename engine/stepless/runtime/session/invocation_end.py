"""Lists the ways in which an invocation can leave its run."""

from __future__ import annotations

from enum import Enum


class InvocationEnd(Enum):
    """How an invocation left its run."""

    ENDED = "ended"
    PARKED = "parked"  # the run waits; no attempt is running
    CONTINUED = "continued"  # the budget was used up; another invocation continues the run
    BUSY = "busy"  # another process holds the lease; the hint was sent again
    FENCED = "fenced"  # another process took over during the invocation
    RESTS = "rests"  # the log cannot be read; the run is unchanged and is retried later
    GONE = "gone"  # the run does not exist, or had ended before
