"""Ends the process of `stepless dev`, or replaces it by a new one, while code that does not return still runs in its threads.

The listening socket is handed to the new process, so that no request is refused in between.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import Final, NoReturn

_LISTENER: Final = "STEPLESS_DEV_LISTENER"  # the file descriptor of the listening socket, from the process before


def handed_listener() -> socket.socket | None:
    """Returns the socket on which the process before this one was listening; None if there was none."""
    number = os.environ.pop(_LISTENER, "")
    if not number.isdecimal():
        return None
    os.set_inheritable(int(number), False)
    return socket.socket(fileno=int(number))


def kept_listener(listener: socket.socket) -> int:
    """Returns a file descriptor of a listening socket that stays open when the server closes its own."""
    return os.dup(listener.fileno())


def start_again(listener: int) -> NoReturn:
    """Replaces this process by a new one with the same command, and with it everything that runs in its threads."""
    os.set_inheritable(listener, True)
    os.environ[_LISTENER] = str(listener)
    _flush()
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def end_now(status: int) -> NoReturn:
    """Ends this process without waiting for its threads."""
    _flush()
    os._exit(status)


def _flush() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
