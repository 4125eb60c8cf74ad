"""Defines the kind `http`: sends one request per attempt."""

from __future__ import annotations

from stepless.model.effects.exchange import HttpRequest
from stepless.model.kind import Kind, Nature
from stepless.model.runs.span import CLIENT
from stepless.model.runs.traceparent import TRACEPARENT
from stepless.model.work import Result
from stepless.nodes.http.request import HttpParams, prepare
from stepless.nodes.http.response import output_of
from stepless.nodes.params import params_of
from stepless.ports import Call

KIND = Kind(
    "http", Nature.EFFECT, HttpParams, "sends an HTTP request; returns status, headers and body", is_tool=True,
    output_fields=lambda written: ("status", "headers", "body", "encoding"),
    brief=("method", "url"), span=CLIENT,
    icon="M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM2 8h12M8 2c2.2 2 2.2 10 0 12M8 2c-2.2 2-2.2 10 0 12",
)


async def run(call: Call) -> Result:
    """Sends the request and returns {status, headers, body}. Raises `NodeFailure` as `Http.send` does, and config for invalid
    parameters. The expected statuses are `expect_status`; `retry_statuses` are those that may be retried. Where tracing is on,
    the request carries the attempt's trace context, unless the author sets `traceparent`."""
    params = params_of(HttpParams, call)
    prepared = prepare(params, call.token)
    timeout_ms = max(call.deadline_ms - call.started_ms, 0)
    headers = prepared.headers if TRACEPARENT in prepared.headers else {**call.trace_headers, **prepared.headers}
    return Result(output_of(await call.http.send(HttpRequest(
        params.method, params.url, headers, prepared.query, prepared.content, timeout_ms, params.expects,
        None if params.retry_statuses is None else params.retries,
    ))))
