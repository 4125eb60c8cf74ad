"""Defines the ports that make a process check a run: queues, timers and calendars. A lost hint costs time, never correctness."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol


class Message(NamedTuple):
    """A hint that a run needs attention. A lost, duplicate or late hint costs time, never correctness. `spent` is an encoded
    tally of what its sender used for the run. `epoch` is that of the lease that its sender has passed on, 0 if none; `unsaved`
    then says that the run had no snapshot at that time."""

    run_id: str
    reason: str  # start, continue, signal, timer, sweep, child, fenced
    hops: int = 0
    spent: bytes = b""
    epoch: int = 0
    unsaved: bool = False


class Queue(Protocol):
    """Delivers messages at least once, in any order."""

    def send(self, message: Message, delay_ms: int = 0) -> None: ...

    def send_all(self, messages: Sequence[Message]) -> None:
        """Sends messages without delay, in as few requests as possible. After an error, some of them may have been sent."""
        ...


class Inbound(Protocol):
    """A queue that this process also receives from."""

    def listen(self, on_send: Callable[[], None]) -> None:
        """Calls `on_send` from now on after each send, in the sender's thread."""
        ...

    def receive(self, now_ms: int) -> Message | None:
        """Removes and returns the next message that is visible at `now_ms`, or None."""
        ...

    def next_ms(self) -> int | None:
        """Returns the instant at which the next message becomes visible, possibly in the past; None without messages."""
        ...


class Timers(Protocol):
    """Wakes a run at or after an instant. A firing is only a hint."""

    def arm(self, run_id: str, at_ms: int) -> None:
        """Idempotent. A later call for an earlier instant adds a timer and never replaces one."""
        ...

    def disarm(self, run_id: str) -> None:
        """Removes the timers of a run. Best effort."""
        ...


class Firing(Protocol):
    """Timers that this process also fires."""

    def due(self, now_ms: int) -> Sequence[str]:
        """Removes the due timers and returns their runs: each once, in order of instant, then run id."""
        ...

    def next_ms(self) -> int | None:
        """Returns the earliest armed instant, possibly in the past; None without timers."""
        ...


class Rhythm(NamedTuple):
    """When the schedule `node` fires: by `cron` (five or six fields, see `model.triggers.cron`) in `timezone`, or every `rate_ms`
    (whole minutes). Exactly one of the two is set."""

    node: str
    cron: str | None = None
    rate_ms: int | None = None
    timezone: str = "UTC"


class Calendar(Protocol):
    """Fires the schedules of published workflows, at least once per instant."""

    def keep(self, workflow_id: str, rhythms: Sequence[Rhythm]) -> None:
        """Replaces the workflow's schedules with exactly these. Idempotent; the next call completes an interrupted one.

        Raises `ConfigError` (schedule_refused) with the node whose rhythm is rejected, after all others were set.
        """
        ...
