"""`aws`: calls any operation of any AWS service."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from pydantic import Field

from stepless.model.findings import Finding
from stepless.model.json import JSON
from stepless.model.kind import Kind, Nature, Part
from stepless.model.work import Result
from stepless.nodes.params import Params, params_of
from stepless.ports import Aws, Call

SERVICE: Final = r"^[a-z0-9][a-z0-9-]{0,62}$"
ACTION: Final = r"^[A-Za-z][A-Za-z0-9_]{0,99}$"


class AwsParams(Params):
    """Which operation is called, and with what."""

    service: str = Field(pattern=SERVICE)
    """The service by boto3's name, like `dynamodb`."""
    action: str = Field(pattern=ACTION)
    """The operation, like `put_item` or `PutItem`."""
    params: dict[str, JSON] = Field(default_factory=dict)
    """The operation's own parameters. Where boto3 is installed they are checked at publish."""


KIND = Kind(
    "aws", Nature.EFFECT, AwsParams, "calls any operation of any AWS service; puts out its answer",
    parts={"service": Part.LITERAL, "action": Part.LITERAL}, is_tool=True,
)


def checked(aws: Aws) -> Kind:
    """The kind, where publishing also holds the parameters against the service's own model."""

    def check(params: AwsParams, path: str) -> list[Finding]:
        given: object = params.params  # a text where a run fills all of it in
        return [
            Finding("aws_params", f"{path}.{misfit.path}", misfit.message, "See the operation in the documentation of boto3.")
            for misfit in (aws.check(params.service, params.action, given) if isinstance(given, dict) else ())
        ]

    return replace(KIND, check=check)


def caller(aws: Aws) -> Callable[[Call], Awaitable[Result]]:
    """The code of the `aws` kind."""

    async def run(call: Call) -> Result:
        """Puts out the answer without the metadata of its transport. Raises `NodeFailure` as `Aws.call` does, and config for
        parameters that do not fit."""
        params = params_of(AwsParams, call)
        timeout_ms = call.deadline_ms - call.started_ms
        return Result(await aws.call(params.service, params.action, params.params, token=call.token, timeout_ms=timeout_ms))

    return run
