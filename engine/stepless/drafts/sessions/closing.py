"""Defines why a WebSocket of a draft session is closed: a code, and a reason."""

from __future__ import annotations

import logging
from secrets import token_hex
from typing import Final

from stepless.errors import CallerError, NotFound, TransientError

DONE: Final = 1000
FAULT: Final = 1011
LATER: Final = 1013
MALFORMED: Final = 4400
LOGIN_OVER: Final = 4401
ROLE_LOST: Final = 4403
REPLACED: Final = 4409
TOO_LARGE: Final = 4413
TOO_MUCH: Final = 4429

OVER: Final = "the draft was replaced or discarded"

_log = logging.getLogger(__name__)


class Closing(Exception):
    """The socket is closed with a code, after a message that says why."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(code, why)
        self.code = code
        self.why = why


def closing_of(error: Exception) -> Closing:
    """Returns the reason to close a socket for an error. An error that is no one's but ours is logged, under an id that the
    client receives."""
    if isinstance(error, Closing):
        return error
    if isinstance(error, NotFound):
        return Closing(REPLACED, OVER)
    if isinstance(error, CallerError):
        return Closing(MALFORMED, error.message)
    if isinstance(error, TransientError):
        return Closing(LATER, "the store is out of reach: connect again")
    report = token_hex(8)
    _log.error("report %s: a socket was closed: %s", report, error, exc_info=error)
    return Closing(FAULT, f"an internal error occurred: give the operator the id {report}")
