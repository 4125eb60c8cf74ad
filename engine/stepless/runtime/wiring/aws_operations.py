"""Composes the kinds that call AWS. boto3 is imported by the first call or publication that needs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from importlib.util import find_spec

from stepless.model.json import JSON
from stepless.ports import Aws, Misfit, Objects


def configured_operations() -> Aws | None:
    """Returns the port over boto3; None when boto3 is not installed."""
    return LazyOperations() if find_spec("boto3") is not None else None


@cache
def s3_objects() -> Objects:
    """Returns the port over S3. Call it only when boto3 is installed."""
    from stepless.adapters.aws.clients import client
    from stepless.adapters.aws.effects.objects import S3Objects

    return S3Objects(client("s3"))


class LazyOperations:
    """The port `Aws`, made on first use."""

    @cached_property
    def _calls(self) -> Aws:
        from stepless.adapters.aws.effects.operations import BotoOperations

        return BotoOperations()

    def check(self, service: str, action: str, params: Mapping[str, JSON]) -> Sequence[Misfit]:
        """See `Aws.check`."""
        return self._calls.check(service, action, params)

    async def call(self, service: str, action: str, params: Mapping[str, JSON], *, token: str, timeout_ms: int) -> JSON:
        """See `Aws.call`."""
        return await self._calls.call(service, action, params, token=token, timeout_ms=timeout_ms)
