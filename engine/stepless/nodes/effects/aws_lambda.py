"""Defines the kind `lambda`, which invokes a Lambda function, and waits for its response or for its callback."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Awaitable, Callable, Mapping
from typing import Literal, TypeAlias

from pydantic import Field

from stepless.limits import LINK_LIFE_MS, MAX_ERROR_CHARACTERS, MAX_FUNCTION_NAME_CHARACTERS
from stepless.model.findings import Finding
from stepless.model.json import JSON
from stepless.model.kind import SOURCE, Kind, Nature, Part, Pause
from stepless.model.runs.span import CLIENT
from stepless.model.texts.durations import parse_duration_ms
from stepless.model.work import NodeFailure, Result
from stepless.nodes.json_value import as_text
from stepless.nodes.params import Duration, Params, params_of
from stepless.ports import Aws, Call

Invite: TypeAlias = Callable[[str, str, int], Mapping[str, str]]
"""Creates {token, url}, which authorize an answer to a pause, from the run, the pause and the instant at which they expire."""


class LambdaParams(Params):
    """The function, its payload, and how to wait for its result."""

    function: str = Field(min_length=1, max_length=MAX_FUNCTION_NAME_CHARACTERS)
    """The function's name or ARN."""
    payload: JSON = None
    """The function's input."""
    mode: Literal["sync", "callback"] = "sync"
    """`sync` waits for the function's response. `callback` passes it {input, resume: {token, url}} and continues with what is
    posted to the url."""
    timeout: Duration | None = None
    """With `mode: callback`: how long to wait for the callback."""


def exits(params: LambdaParams) -> tuple[str, ...]:
    return (SOURCE, "timeout") if params.mode == "callback" else (SOURCE,)


def check(params: LambdaParams, path: str) -> list[Finding]:
    if params.timeout is None or params.mode == "callback":
        return []
    return [Finding("contradiction", f"{path}.timeout", "`timeout` limits the wait for a callback, but the mode is `sync`",
                    "Use the node's `timeout_ms`, or `mode: callback`.")]


KIND = Kind(
    "lambda", Nature.EFFECT, LambdaParams, "invokes a Lambda function; returns its response, or the body of its callback",
    exits=exits, parts={"mode": Part.LITERAL, "timeout": Part.LITERAL}, check=check, is_tool=True,
    is_answered=lambda written: written.get("mode") == "callback",
    brief=("function",), span=CLIENT,
    icon="M4 2.8h2l5 10.4h1.6M7 6.2l-3.6 7",
)


def caller(aws: Aws, invite: Invite) -> Callable[[Call], Awaitable[Result | Pause]]:
    """Returns the code of the `lambda` kind."""

    async def run(call: Call) -> Result | Pause:
        """Puts out the function's response, or suspends the instance until the function calls back. After a crash, the function
        may be invoked again with the same token. Raises `NodeFailure` as `Aws.call` does, and provider_error (`lambda_failed`)
        if the function fails."""
        params = params_of(LambdaParams, call, check=check)
        timeout_ms = call.deadline_ms - call.started_ms
        if params.mode == "sync":
            request = {"FunctionName": params.function, "Payload": _encoded(params.payload), **_client_context(call)}
            response = await aws.call("lambda", "Invoke", request, token=call.token, timeout_ms=timeout_ms)
            return Result(_answer(params.function, response))
        wait_ms = LINK_LIFE_MS if params.timeout is None else parse_duration_ms(params.timeout)
        until_ms = call.started_ms + wait_ms
        event = {"input": params.payload, "resume": dict(invite(call.run_id, call.instance, until_ms)), **call.trace_headers}
        request = {"FunctionName": params.function, "InvocationType": "Event", "Payload": _encoded(event)}
        await aws.call("lambda", "Invoke", request, token=call.token, timeout_ms=timeout_ms)
        deadline_ms = until_ms if params.timeout is not None else None
        return Pause("callback", deadline_ms=deadline_ms, details={"function": params.function})

    return run


def _client_context(call: Call) -> dict[str, str]:
    """The trace context as the invocation's client context, where the function finds it in `context.client_context.custom`.
    Lambda passes it on with synchronous invocations only."""
    headers = call.trace_headers
    return {"ClientContext": b64encode(_encoded({"custom": dict(headers)}).encode()).decode()} if headers else {}


def _encoded(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _answer(function: str, response: JSON) -> JSON:
    payload = response.get("Payload") or "null"
    try:
        answer = json.loads(payload)
    except (ValueError, TypeError, RecursionError) as error:
        raise NodeFailure("execution", "result_not_json", f"the response of {function} is not JSON", retryable=False) from error
    if response.get("FunctionError"):
        fault = answer if isinstance(answer, dict) else {}
        message = f"{function}: {fault.get('errorType', response['FunctionError'])}: {as_text(fault.get('errorMessage', answer))}"
        raise NodeFailure("provider_error", "lambda_failed", message[:MAX_ERROR_CHARACTERS])
    return answer
