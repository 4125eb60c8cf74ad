"""Defines what the code of an effectful kind receives: one attempt, and the tools that it may run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from stepless.model.effects.exchange import Http, NoHttp
from stepless.model.effects.media import Media
from stepless.model.json import JSON
from stepless.model.runs.traceparent import TRACE, RunTrace


class Tooled(Protocol):
    """A node of the workflow that an attempt of another node runs as a tool."""

    @property
    def label(self) -> str: ...

    async def run(self, arguments: Mapping[str, JSON], token: str) -> JSON:
        """Returns the tool's output for these arguments, within its own `timeout_ms` and contracts. `token` is its idempotency
        token. Raises `NodeFailure`."""
        ...


def token_of(run_id: str, instance: str, ended: int = 0) -> str:
    """Returns the idempotency token of the attempts of an instance. `ended` is the number of the last attempt whose child run has
    ended (0: none): the attempts after it are new work."""
    return f"{run_id}:{instance}:{ended + 1}" if ended else f"{run_id}:{instance}"


@dataclass(slots=True)
class Call:
    """One attempt of an effectful node, as its kind sees it.

    `params` are the rendered parameters, `inputs` the merged inputs by param. `token` is stable across redeliveries and
    retries of one instance, until a child run that it called has ended: send it as an idempotency key. `deadline_ms` is the
    instant at which the engine ends the attempt, `started_ms` when it began, by the same clock (0: unknown). `log`, `delta` and
    `heartbeat` may be called from any thread until the attempt ends. `heartbeat` raises `NodeFailure` (attempt_over) once the
    engine no longer waits for the attempt. `http` sends requests to public addresses. `tools` are the nodes of the workflow that
    this node runs itself, by id.
    """

    run_id: str
    workflow_id: str
    instance: str
    node: str
    kind: str
    attempt: int
    params: Mapping[str, JSON]
    literals: Mapping[str, JSON]
    inputs: Mapping[str, JSON]
    token: str
    deadline_ms: int
    started_ms: int = 0
    log: Callable[[str], None] = field(default=lambda text: None)
    delta: Callable[[str | Media], None] = field(default=lambda piece: None)
    heartbeat: Callable[[], None] = field(default=lambda: None)
    facts: Mapping[str, Any] = field(default_factory=dict)
    http: Http = field(default_factory=NoHttp)
    tools: Mapping[str, Tooled] = field(default_factory=dict)

    @property
    def trace(self) -> RunTrace | None:
        """The trace of the run; None where tracing is off."""
        return self.facts.get(TRACE)

    @property
    def trace_headers(self) -> Mapping[str, str]:
        """`traceparent` and `tracestate` for requests of this attempt; empty where tracing is off."""
        trace = self.trace
        return {} if trace is None else trace.headers(self.instance, self.attempt)
