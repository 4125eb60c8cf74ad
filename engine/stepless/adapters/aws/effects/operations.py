"""Calls any operation of any AWS service by name. All operations come from botocore's models; no service has its own code here.

Some values have no JSON type. In both directions, instants are ISO 8601 texts, and bytes are text if they are UTF-8, else
`{"base64": …}`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

import boto3
import botocore.session
from botocore import exceptions as boto
from botocore import xform_name
from botocore.config import Config
from botocore.model import OperationModel

from stepless.adapters.aws.effects.operation_shapes import given_of, json_of, misfits, stable_uuid
from stepless.adapters.aws.errors import FAILED, THROTTLED, code_of
from stepless.limits import AWS_CONNECT_S, MAX_AWS_CALLS, MAX_ERROR_CHARACTERS
from stepless.model.json import JSON
from stepless.model.work import NodeFailure
from stepless.ports import Misfit
from stepless.thread_calls import CountedPool

_READ_S: Final = (10, 60, 300, 900)  # a client for each read timeout; a call uses the shortest one that covers its attempt
_CONFIG: Final = frozenset({
    "ParamValidationError", "UnknownServiceError", "NoCredentialsError", "PartialCredentialsError", "NoRegionError",
    "InvalidRegionError", "UnknownRegionError",
})  # fmt: skip


class BotoOperations:
    """The port `Aws` with boto3. `endpoint_url` is for tests. Region and credentials come from the environment."""

    def __init__(self, endpoint_url: str | None = None) -> None:
        self._endpoint_url = endpoint_url
        self._threads = CountedPool(MAX_AWS_CALLS, thread_name_prefix="stepless-aws")

    def check(self, service: str, action: str, params: Mapping[str, JSON]) -> Sequence[Misfit]:
        """See `Aws.check`."""
        try:
            model = _operation(service, action)
        except KeyError as error:
            return [Misfit(str(error.args[0]), str(error.args[1]))]
        return misfits(model, params)

    async def call(self, service: str, action: str, params: Mapping[str, JSON], *, token: str, timeout_ms: int) -> JSON:
        """See `Aws.call`. An abandoned call continues in its thread until the client's timeout."""
        answer = asyncio.get_running_loop().run_in_executor(self._threads, self._call, service, action, params, token, timeout_ms)
        return await answer

    def _call(self, service: str, action: str, params: Mapping[str, JSON], token: str, timeout_ms: int) -> JSON:
        what = f"{service}.{action}"
        try:
            model = _operation(service, action)
            arguments = given_of(model.input_shape, dict(params))
            for name in model.idempotent_members:
                arguments.setdefault(name, stable_uuid(f"{token}:{what}"))
            read_s = next((seconds for seconds in _READ_S if seconds * 1000 >= timeout_ms), _READ_S[-1])
            client = _client(service, read_s, self._endpoint_url)
            return json_of(getattr(client, xform_name(model.name))(**arguments))
        except KeyError as error:
            raise NodeFailure("config", "unknown_operation", f"{what}: there is no such operation", retryable=False) from error
        except (boto.ClientError, boto.BotoCoreError) as error:
            raise _failure(error, what) from error


@cache
def _client(service: str, read_s: int, endpoint_url: str | None) -> Any:
    """A client that tries once: the node's retry policy decides about further tries."""
    config = Config(
        retries={"mode": "standard", "total_max_attempts": 1},
        connect_timeout=AWS_CONNECT_S,
        read_timeout=read_s,
        max_pool_connections=MAX_AWS_CALLS,
        tcp_keepalive=True,
    )
    return boto3.session.Session().client(service, config=config, endpoint_url=endpoint_url)


@cache
def _models() -> Any:
    return botocore.session.get_session()


@cache
def _operation(service: str, action: str) -> OperationModel:
    """Finds an operation by its API name (`PutItem`) or boto3 name (`put_item`). Raises `KeyError` (the field, the message)."""
    try:
        model = _models().get_service_model(service)
    except (boto.UnknownServiceError, boto.DataNotFoundError):
        raise KeyError("service", f"there is no service `{service}`") from None
    names = {alias: name for name in model.operation_names for alias in (name, xform_name(name))}
    if action not in names:
        raise KeyError("action", f"`{service}` has no action `{action}`; the nearest are {_nearest(action, names)}")
    return model.operation_model(names[action])


def _nearest(action: str, names: Mapping[str, str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(action, names, 3, 0.3) or sorted(set(names.values()))[:3]
    return ", ".join(f"`{name}`" for name in near)


def _failure(error: Exception, what: str) -> NodeFailure:
    if isinstance(error, boto.ClientError):
        code = code_of(error)
        message = f"{what}: {code}: {error.response.get('Error', {}).get('Message', '')}"[:MAX_ERROR_CHARACTERS]
        status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
        if code in THROTTLED or status == 429:
            return NodeFailure("rate_limit", f"aws_{xform_name(code)}", message)
        if code in FAILED or status >= 500:
            return NodeFailure("provider_error", f"aws_{xform_name(code)}", message)
        return NodeFailure("http_error", f"aws_{xform_name(code)}", message)
    message = f"{what}: {error}"[:MAX_ERROR_CHARACTERS]
    if isinstance(error, boto.ReadTimeoutError | boto.ConnectTimeoutError):
        return NodeFailure("timeout", "timeout", message)
    if type(error).__name__ in _CONFIG:
        return NodeFailure("config", "invalid_config", message, retryable=False, mend="check region, credentials and parameters")
    return NodeFailure("provider_error", "connection_failed", message)
