"""Declares what a call asks of the network and of the clock, as values: a call is a generator that yields such a step and
receives its outcome.

The two clients differ only in how they perform a step. What a call sends, how often it is tried, and what it returns is written
once.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar
from urllib.parse import quote

T = TypeVar("T")


class Request(NamedTuple):
    """One HTTP request. `path` are the segments, unquoted. `wait_s` is how long the server may take for its answer by
    intent."""

    method: str
    path: tuple[str, ...]
    query: Mapping[str, Any] | None = None
    body: Any = None
    headers: Mapping[str, str] | None = None
    wait_s: float = 0

    @property
    def target(self) -> str:
        return "/" + "/".join(quote(segment, safe="") for segment in self.path)


class Send(NamedTuple):
    """Sends a request and reads the whole response. The outcome is a `Reply` or `Lost`."""

    request: Request


class Open(NamedTuple):
    """Sends a request whose response is a stream. The outcome is `Opened`, after which `Read` has its chunks; or, if the
    response is no stream, a `Reply`; or `Lost`."""

    request: Request


class Read(NamedTuple):
    """Reads the next chunk of the open stream. The outcome is bytes, None at the end of the stream, or `Lost`."""


class Pause(NamedTuple):
    """Lets time pass. The outcome is None."""

    seconds: float


class Emit(NamedTuple, Generic[T]):
    """Hands an item to the caller of an iterator. The outcome is None."""

    item: T


class Reply(NamedTuple):
    """A response. The names of the headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Opened(NamedTuple):
    """The response is a stream, and `Read` has its chunks."""


class Lost(NamedTuple):
    """There is no response, or it broke off. `received`: whether the server may have received the request."""

    why: str
    received: bool


Step: TypeAlias = Send | Open | Read | Pause
Steps: TypeAlias = Generator[Step, Any, T]
"""A call with one result."""
Items: TypeAlias = Generator[Step | Emit[T], Any, None]
"""A call with many results, each in an `Emit`."""


class Progress(Generic[T]):
    """A call under way. `step` is to be performed while `advance` returns true; then `result` is there."""

    result: T
    step: Step | Emit[Any]

    def __init__(self, steps: Generator[Step | Emit[Any], Any, T]) -> None:
        self._steps = steps

    def advance(self, outcome: Any) -> bool:
        """Goes on with the outcome of the last step, None at first. Raises the error of the call."""
        try:
            self.step = self._steps.send(outcome)
        except StopIteration as end:
            self.result = end.value
            return False
        return True
