"""How an invocation can leave its run."""

from __future__ import annotations

from enum import Enum


class InvocationEnd(Enum):
    """How an invocation left its run."""

    ENDED = "ended"
    PARKED = "parked"  # waits for somebody or something; nothing is under way
    CONTINUED = "continued"  # the budget was used up; a message continues it
    BUSY = "busy"  # somebody else holds the lease; the hint was sent again
    FENCED = "fenced"  # somebody else took over in the middle
    RESTS = "rests"  # its log cannot be read; it stands as it was, and is looked at again later
    GONE = "gone"  # no such run, or it had ended before
