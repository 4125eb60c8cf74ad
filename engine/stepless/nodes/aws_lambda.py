"""`lambda`: invokes a Lambda function, and waits for its answer, or until it calls back."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Literal, TypeAlias

from pydantic import Field

from stepless.limits import LINK_LIFE_MS, MAX_ERROR_CHARACTERS, MAX_FUNCTION_NAME_CHARACTERS
from stepless.model.durations import parse_duration_ms
from stepless.model.findings import Finding
from stepless.model.json import JSON
from stepless.model.kind import SOURCE, Kind, Nature, Part, Pause
from stepless.model.work import NodeFailure, Result
from stepless.nodes.json_value import as_text
from stepless.nodes.params import Duration, Params, params_of
from stepless.ports import Aws, Call

Invite: TypeAlias = Callable[[str, str, int], Mapping[str, str]]
"""From run, pause and the instant at which it expires to {token, url}: what entitles to answer that pause."""


class LambdaParams(Params):
    """Which function is invoked, and whether it is waited for."""

    function: str = Field(min_length=1, max_length=MAX_FUNCTION_NAME_CHARACTERS)
    """The function's name or ARN."""
    payload: JSON = None
    """What it is given."""
    mode: Literal["sync", "callback"] = "sync"
    """`sync` waits for its answer. `callback` gives it {input, resume: {token, url}} and goes on with what is posted to the
    url."""
    timeout: Duration | None = None
    """With `mode: callback`: how long to wait for that."""


def exits(params: LambdaParams) -> tuple[str, ...]:
    return (SOURCE, "timeout") if params.mode == "callback" else (SOURCE,)


def check(params: LambdaParams, path: str) -> list[Finding]:
    if params.timeout is None or params.mode == "callback":
        return []
    return [Finding("contradiction", f"{path}.timeout", "it bounds the wait for a callback, and the mode is `sync`",
                    "Use the node's `timeout_ms`, or `mode: callback`.")]


KIND = Kind(
    "lambda", Nature.EFFECT, LambdaParams, "invokes a Lambda function; puts out its answer, or what it calls back with",
    exits=exits, parts={"mode": Part.LITERAL, "timeout": Part.LITERAL}, check=check, is_tool=True,
)


def caller(aws: Aws, invite: Invite) -> Callable[[Call], Awaitable[Result | Pause]]:
    """The code of the `lambda` kind."""

    async def run(call: Call) -> Result | Pause:
        """Puts out the function's answer, or suspends the instance until the function calls back. The function may be invoked
        again after a crash, with the same token. Raises `NodeFailure` as `Aws.call` does; provider_error (`lambda_failed`)
        for a function that failed."""
        params = params_of(LambdaParams, call, check=check)
        timeout_ms = call.deadline_ms - call.started_ms
        if params.mode == "sync":
            given = {"FunctionName": params.function, "Payload": _encoded(params.payload)}
            response = await aws.call("lambda", "Invoke", given, token=call.token, timeout_ms=timeout_ms)
            return Result(_answer(params.function, response))
        wait_ms = LINK_LIFE_MS if params.timeout is None else parse_duration_ms(params.timeout)
        until_ms = call.started_ms + wait_ms
        event = {"input": params.payload, "resume": dict(invite(call.run_id, call.instance, until_ms))}
        given = {"FunctionName": params.function, "InvocationType": "Event", "Payload": _encoded(event)}
        await aws.call("lambda", "Invoke", given, token=call.token, timeout_ms=timeout_ms)
        deadline_ms = until_ms if params.timeout is not None else None
        return Pause("callback", deadline_ms=deadline_ms, details={"function": params.function})

    return run


def _encoded(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _answer(function: str, response: JSON) -> JSON:
    payload = response.get("Payload") or "null"
    try:
        answer = json.loads(payload)
    except (ValueError, TypeError, RecursionError) as error:
        raise NodeFailure("execution", "result_not_json", f"{function} answered what is not JSON", retryable=False) from error
    if response.get("FunctionError"):
        told = answer if isinstance(answer, dict) else {}
        message = f"{function}: {told.get('errorType', response['FunctionError'])}: {as_text(told.get('errorMessage', answer))}"
        raise NodeFailure("provider_error", "lambda_failed", message[:MAX_ERROR_CHARACTERS])
    return answer
