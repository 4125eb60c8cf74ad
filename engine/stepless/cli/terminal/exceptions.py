"""Formats exceptions of author code for the terminal: the line that raised them, and the traceback."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

MOST: Final = 3  # tracebacks shown at once


class Raised(NamedTuple):
    """The error of a node or of the run, with the exception behind it."""

    instance: str
    error: Mapping[str, Any]
    exception: Mapping[str, Any] | None


def place(exception: Mapping[str, Any] | None) -> str:
    """Returns ` at functions.py:12`, the line of the author's code; empty if the line is not known."""
    return f" at {plain(exception['file'])}:{exception['line']}" if exception and exception.get("file") else ""


def failure_lines(raised: Iterable[Raised]) -> Iterator[str]:
    """Yields each failure on a line of its own with its traceback below, at most MOST of them."""
    shown = list(raised)
    for failure in shown[:MOST]:
        error = failure.error
        yield f"{error.get('node') or failure.instance}: {plain(error['message'])} [{error['code']}]"
        yield from source_line(error)
        yield from traceback(failure.exception)
    if len(shown) > MOST:
        yield f"{len(shown) - MOST} more nodes raised exceptions: `stepless runs show RUN --node NODE`"


def source_line(error: Mapping[str, Any]) -> Iterator[str]:
    """Yields the line of a workflow in Python at which the node stands, indented: `refund.py:27: receipt = await
    pay(order.id)`."""
    if error.get("source"):
        yield f"    {plain(error['source'])}"


def traceback(exception: Mapping[str, Any] | None) -> Iterator[str]:
    """Yields the lines of the traceback, indented."""
    for line in str(exception["traceback"]).split("\n") if exception and exception.get("traceback") else ():
        yield f"    {plain(line)}".rstrip()


def plain(text: object) -> str:
    """Returns the text with control characters as spaces: it must not move the cursor."""
    return "".join(letter if letter.isprintable() else " " for letter in str(text))
