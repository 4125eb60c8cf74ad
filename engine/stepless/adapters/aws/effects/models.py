"""Calls models on Bedrock by its Converse operation, which has one request format for the models of all providers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import cache
from threading import Event
from typing import Any, Final

import boto3
from botocore import exceptions as boto
from botocore.config import Config

from stepless.adapters.aws.effects.conversation import Assembly, answer_of, request_of
from stepless.limits import MAX_MODEL_CALLS, MODEL_CONNECT_S, MODEL_READ_S, PREVIEW_CHARACTERS
from stepless.model.conversation import ModelAnswer, Question
from stepless.model.work import NodeFailure
from stepless.thread_calls import CountedPool

# One try: the node's retry policy decides about further ones.
CONFIG: Final = Config(
    retries={"mode": "standard", "total_max_attempts": 1},
    connect_timeout=MODEL_CONNECT_S,
    read_timeout=MODEL_READ_S,
    max_pool_connections=MAX_MODEL_CALLS,
    tcp_keepalive=True,
)

_RATE: Final = frozenset({
    "ThrottlingException", "throttlingException", "TooManyRequestsException", "ModelNotReadyException",
    "ServiceQuotaExceededException",
})  # fmt: skip
_LATE: Final = frozenset({"ModelTimeoutException", "modelTimeoutException"})
_BROKE: Final = frozenset({
    "InternalServerException", "internalServerException", "ServiceUnavailableException", "serviceUnavailableException",
    "ModelErrorException", "modelStreamErrorException", "ModelStreamErrorException",
})  # fmt: skip


class BedrockModels:
    """Asks models in `region`. `model`, the id of a model or an inference profile, is the default. boto3 blocks, so each question
    has a thread, MAX_MODEL_CALLS at once. An abandoned question keeps its thread until the next piece of its answer, or for
    MODEL_READ_S."""

    def __init__(self, region: str | None = None, model: str | None = None, client: Any = None) -> None:
        self._model = model
        self._client = _client(region) if client is None else client
        self._threads = CountedPool(MAX_MODEL_CALLS, thread_name_prefix="stepless-bedrock")

    async def ask(self, question: Question, delta: Callable[[str], None] | None = None) -> ModelAnswer:
        """See `Models.ask`."""
        model = question.model or self._model
        if model is None:
            raise NodeFailure("config", "model_missing", "no model is configured", retryable=False,
                              mend="give `model`, or set STEPLESS_BEDROCK_MODEL")
        request, over = request_of(question, model), Event()
        answer = asyncio.get_running_loop().run_in_executor(self._threads, self._ask, request, delta, over)
        try:
            async with asyncio.timeout(question.timeout_ms / 1000):
                return await answer
        except TimeoutError as error:
            raise NodeFailure("timeout", "timeout", "the model did not answer in time") from error
        finally:
            over.set()

    def _ask(self, request: dict[str, Any], delta: Callable[[str], None] | None, over: Event) -> ModelAnswer:
        try:
            if delta is None:
                return answer_of(self._client.converse(**request))
            return _read(self._client.converse_stream(**request)["stream"], delta, over)
        except boto.ClientError as error:  # includes errors in the middle of a stream
            raise failure_of(error) from error
        except (boto.ReadTimeoutError, boto.ConnectTimeoutError) as error:
            raise NodeFailure("timeout", "timeout", "Bedrock did not answer in time") from error
        except (boto.NoCredentialsError, boto.PartialCredentialsError, boto.NoRegionError, boto.ParamValidationError) as error:
            raise NodeFailure("http_error", "model_request_refused", str(error)[:PREVIEW_CHARACTERS], retryable=False,
                              mend="check credentials, region and parameters") from error
        except boto.BotoCoreError as error:
            raise NodeFailure("provider_error", "model_unavailable", f"Bedrock cannot be reached: {error}") from error


@cache
def _client(region: str | None) -> Any:
    return boto3.session.Session().client("bedrock-runtime", region_name=region, config=CONFIG)


def _read(stream: Any, delta: Callable[[str], None], over: Event) -> ModelAnswer:
    assembly = Assembly(delta)
    try:
        for event in stream:
            if over.is_set():
                break
            assembly.take(event)
    finally:
        stream.close()
    return assembly.answer()


def failure_of(error: boto.ClientError) -> NodeFailure:
    """Returns the node failure for an error that the service returned."""
    code = str(error.response.get("Error", {}).get("Code", ""))
    status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    message = f"{code}: {error.response.get('Error', {}).get('Message', '')}"[:PREVIEW_CHARACTERS]
    if code in _RATE or status == 429:
        return NodeFailure("rate_limit", "model_rate_limited", message, retry_after_ms=_retry_after_ms(error))
    if code in _LATE:
        return NodeFailure("timeout", "timeout", message)
    if code in _BROKE or status >= 500:
        return NodeFailure("provider_error", "model_unavailable", message)
    return NodeFailure("http_error", "model_request_refused", message,
                       mend="check the model's id, the region, access to the model and the role's permission")


def _retry_after_ms(error: boto.ClientError) -> int | None:
    seconds = str(error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("retry-after", ""))
    return int(seconds) * 1000 if seconds.isdecimal() and len(seconds) < 8 else None
