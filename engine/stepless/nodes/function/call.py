"""Defines `FunctionCall`, which gives a registered function the facts of its attempt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from stepless.model.effects.media import Media


@dataclass(slots=True)
class FunctionCall:
    """One attempt of a function. To receive it, annotate a parameter of the function with this type. Each attempt has its own.

    `token` is the same in every attempt and redelivery: send it along as an idempotency key. `deadline_ms` (since 1970 UTC) is
    the instant of the attempt's timeout. `log` writes a line to the run's history. `delta` streams text, or media {type, url,
    mime}, to clients that follow the run. `heartbeat` raises `NodeFailure` (attempt_over) after the run was cancelled or the
    attempt timed out. The engine cannot stop a thread, so long work should call `heartbeat` regularly. All three may be called
    from any thread until the function returns. `traceparent` and `tracestate` are the W3C trace context of the attempt, for
    requests that the function sends itself; empty where tracing is off.
    """

    run_id: str
    workflow_id: str
    instance: str
    attempt: int
    token: str
    deadline_ms: int
    log: Callable[[str], None] = field(repr=False)
    delta: Callable[[str | Media], None] = field(repr=False)
    heartbeat: Callable[[], None] = field(default=lambda: None, repr=False)
    traceparent: str = ""
    tracestate: str = ""
