"""Defines the kind `aws`, which calls any operation of any AWS service."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from pydantic import Field

from stepless.model.findings import Finding
from stepless.model.json import JSON
from stepless.model.kind import Kind, Nature, Part
from stepless.model.runs.span import CLIENT
from stepless.model.work import Result
from stepless.nodes.params import Params, params_of
from stepless.ports import Aws, Call

SERVICE: Final = r"^[a-z0-9][a-z0-9-]{0,62}$"
ACTION: Final = r"^[A-Za-z][A-Za-z0-9_]{0,99}$"


class AwsParams(Params):
    """The operation and its parameters."""

    service: str = Field(pattern=SERVICE)
    """The service's name in boto3, such as `dynamodb`."""
    action: str = Field(pattern=ACTION)
    """The operation, such as `put_item` or `PutItem`."""
    params: dict[str, JSON] = Field(default_factory=dict)
    """The operation's parameters. Publishing checks them if boto3 is installed."""


KIND = Kind(
    "aws", Nature.EFFECT, AwsParams, "calls any operation of any AWS service; returns its response",
    parts={"service": Part.LITERAL, "action": Part.LITERAL}, is_tool=True,
    brief=("service", "action"), span=CLIENT,
    icon="M4.8 12.5a3 3 0 0 1-.4-6 4 4 0 0 1 7.5.9 2.6 2.6 0 0 1-.4 5.1H4.8Z",
)


def checked(aws: Aws) -> Kind:
    """Returns the kind, with parameters checked against the service's model."""

    def check(params: AwsParams, path: str) -> list[Finding]:
        value: object = params.params  # text if a reference stands for all of it
        return [
            Finding("aws_params", f"{path}.{misfit.path}", misfit.message, "See the operation in the documentation of boto3.")
            for misfit in (aws.check(params.service, params.action, value) if isinstance(value, dict) else ())
        ]

    return replace(KIND, check=check)


def caller(aws: Aws) -> Callable[[Call], Awaitable[Result]]:
    """Returns the code of the `aws` kind."""

    async def run(call: Call) -> Result:
        """Puts out the response without its metadata. Raises `NodeFailure` as `Aws.call` does, and config for invalid
        parameters."""
        params = params_of(AwsParams, call)
        timeout_ms = call.deadline_ms - call.started_ms
        return Result(await aws.call(params.service, params.action, params.params, token=call.token, timeout_ms=timeout_ms))

    return run
