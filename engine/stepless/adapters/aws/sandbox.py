"""The sandbox as a Lambda function of its own, with a role that permits nothing.

The function answers `request_of`'s object with {value, printed} or {error: {code, message, line, exception}}, as
`adapters/process` does; it should run each program in a process of its own, so that nothing is left over for the next one in a
warm environment.
"""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Final

import boto3
from botocore import exceptions as boto
from botocore.config import Config

from stepless.adapters.programs import failure, ran_of, request_of
from stepless.limits import MAX_CODE_OUTPUT_BYTES, MAX_MODEL_CALLS, MODEL_CONNECT_S, PREVIEW_CHARACTERS
from stepless.model.program import Program, Ran
from stepless.model.work import NodeFailure

_LONGEST_S: Final = 900  # of a Lambda function
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
    """Invokes `function` and waits for it. A program that nobody waits for any more runs until the function's own time-out."""

    def __init__(self, function: str, client: Any = None) -> None:
        self._function = function
        self._client = _client() if client is None else client
        self._threads = ThreadPoolExecutor(MAX_MODEL_CALLS, thread_name_prefix="stepless-sandbox")

    async def run(self, program: Program) -> Ran:
        """See `Sandbox.run`. Also raises `NodeFailure` with cause rate_limit or provider_error when the function is busy or out
        of reach."""
        answer = asyncio.get_running_loop().run_in_executor(self._threads, self._invoke, program)
        try:
            async with asyncio.timeout(program.timeout_ms / 1000):
                return await answer
        except TimeoutError as error:
            raise failure("code_timeout", f"the code has not ended within {program.timeout_ms} ms") from error

    def _invoke(self, program: Program) -> Ran:
        try:
            response = self._client.invoke(FunctionName=self._function, Payload=json.dumps(request_of(program)).encode())
            data = response["Payload"].read(MAX_CODE_OUTPUT_BYTES * 2)
        except boto.ClientError as error:
            raise _refused(error) from error
        except boto.BotoCoreError as error:
            raise NodeFailure("provider_error", "sandbox_unavailable", f"the sandbox is out of reach: {error}") from error
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


def _broken(said: str) -> NodeFailure:
    """The function itself ended badly: by its own time-out or memory, or by a fault in it."""
    for words, code in _OVER:
        if words in said:
            return failure(code, said[:PREVIEW_CHARACTERS])
    return NodeFailure("provider_error", "sandbox_unavailable", f"the sandbox failed: {said[:PREVIEW_CHARACTERS]}")


def _refused(error: boto.ClientError) -> NodeFailure:
    details = error.response.get("Error", {})
    said = f"{details.get('Code', '')}: {details.get('Message', '')}"[:PREVIEW_CHARACTERS]
    if details.get("Code") in _BUSY:
        return NodeFailure("rate_limit", "sandbox_unavailable", said)
    if int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)) >= 500:
        return NodeFailure("provider_error", "sandbox_unavailable", said)
    return NodeFailure("config", "sandbox_unavailable", said, retryable=False,
                       mend="check the function's name and the permission to invoke it")
