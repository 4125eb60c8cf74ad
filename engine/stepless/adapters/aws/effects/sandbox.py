"""Runs author code in a separate Lambda function, whose role grants no permissions.

The function answers `request_of`'s object with {value, printed} or {error: {code, message, line, exception}}, as
`adapters/process` does. It should run each program in its own process, so that a program leaves no state in a warm environment.
"""

from __future__ import annotations

import asyncio
import json
from functools import cache
from typing import Any, Final

import boto3
from botocore import exceptions as boto
from botocore.config import Config

from stepless.adapters.programs import failure, ran_of, request_of
from stepless.limits import MAX_CODE_OUTPUT_BYTES, MAX_MODEL_CALLS, MODEL_CONNECT_S, PREVIEW_CHARACTERS
from stepless.model.effects.program import Program, Ran
from stepless.model.work import NodeFailure
from stepless.thread_calls import CountedPool

_LONGEST_S: Final = 900  # the longest timeout of a Lambda function
CONFIG: Final = Config(
    retries={"mode": "standard", "total_max_attempts": 1},
    connect_timeout=MODEL_CONNECT_S,
    read_timeout=_LONGEST_S,
    max_pool_connections=MAX_MODEL_CALLS,
    tcp_keepalive=True,
)
_BUSY: Final = frozenset({"TooManyRequestsException", "ThrottlingException", "EC2ThrottledException", "ENILimitReachedException"})
_OVER: Final = (("Task timed out", "code_timeout"), ("Runtime.OutOfMemory", "code_memory"), ("signal: killed", "code_memory"))


class LambdaSandbox:
    """Invokes `function` and waits for it. An abandoned program runs until the function's own timeout."""

    def __init__(self, function: str, client: Any = None) -> None:
        self._function = function
        self._client = _client() if client is None else client
        self._threads = CountedPool(MAX_MODEL_CALLS, thread_name_prefix="stepless-sandbox")

    async def run(self, program: Program) -> Ran:
        """See `Sandbox.run`. Also raises `NodeFailure` with cause rate_limit if the function is throttled, and provider_error if
        it cannot be reached."""
        answer = asyncio.get_running_loop().run_in_executor(self._threads, self._invoke, program)
        try:
            async with asyncio.timeout(program.timeout_ms / 1000):
                return await answer
        except TimeoutError as error:
            raise failure("code_timeout", f"the code did not end within {program.timeout_ms} ms") from error

    def _invoke(self, program: Program) -> Ran:
        try:
            response = self._client.invoke(FunctionName=self._function, Payload=json.dumps(request_of(program)).encode())
            data = response["Payload"].read(MAX_CODE_OUTPUT_BYTES * 2)
        except boto.ClientError as error:
            raise _refused(error) from error
        except boto.BotoCoreError as error:
            raise NodeFailure("provider_error", "sandbox_unavailable", f"the sandbox cannot be reached: {error}") from error
        try:
            reply = json.loads(data)
        except (ValueError, RecursionError):
            reply = None
        if "FunctionError" in response:
            raise _broken(str(reply.get("errorMessage") if isinstance(reply, dict) else reply))
        return ran_of(reply)


@cache
def _client() -> Any:
    return boto3.session.Session().client("lambda", config=CONFIG)


def _broken(message: str) -> NodeFailure:
    """The failure if the function itself failed: by its timeout, its memory limit or an exception."""
    for words, code in _OVER:
        if words in message:
            return failure(code, message[:PREVIEW_CHARACTERS])
    return NodeFailure("provider_error", "sandbox_unavailable", f"the sandbox failed: {message[:PREVIEW_CHARACTERS]}")


def _refused(error: boto.ClientError) -> NodeFailure:
    details = error.response.get("Error", {})
    message = f"{details.get('Code', '')}: {details.get('Message', '')}"[:PREVIEW_CHARACTERS]
    if details.get("Code") in _BUSY:
        return NodeFailure("rate_limit", "sandbox_unavailable", message)
    if int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)) >= 500:
        return NodeFailure("provider_error", "sandbox_unavailable", message)
    return NodeFailure("config", "sandbox_unavailable", message, retryable=False,
                       mend="check the function's name and the permission to invoke it")
