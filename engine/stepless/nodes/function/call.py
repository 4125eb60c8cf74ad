"""What a registered function is told about the attempt that it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from stepless.model.media import Media


@dataclass(slots=True)
class FunctionCall:
    """What a function may know about the attempt it is: annotate a parameter with it to be given it. Each attempt has its own.

    `token` is the same in every attempt and redelivery: send it along as an idempotency key. `deadline_ms` (since 1970 UTC)
    is when the engine gives up. `log` writes a line to the run's history, `delta` streams text, or media {type, url, mime}, to
    those who watch, `heartbeat` raises `NodeFailure` (attempt_over) once nobody waits for the function any more: the run was
    cancelled, or time is up. Nothing else stops a thread, so long work asks now and then. All three may be called from any thread
    until the function returns.
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
