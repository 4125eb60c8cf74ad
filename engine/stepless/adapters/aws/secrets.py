"""Secrets: the environment first, then Parameter Store or Secrets Manager."""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any, Final, Literal

from botocore.exceptions import BotoCoreError, ClientError

from stepless.adapters.aws.errors import code_of, translate
from stepless.errors import EngineBug

MAX_AGE_S: Final = 300  # a rotated secret is read anew after this
_ABSENT: Final = frozenset({"ParameterNotFound", "ResourceNotFoundException"})


class AwsSecrets:
    """`${name}` is the environment variable of that name unless it is empty, else what is kept under `prefix` + name,
    for MAX_AGE_S in memory.

    `client` is an `ssm` client (Parameter Store, the default: encrypted parameters cost nothing) or a `secretsmanager` one.
    A value is never part of a representation or an error. Raises `StoreUnavailable` and `StoreUnusable` as the store does.
    """

    def __init__(
        self, client: Any, *, prefix: str = "/stepless/", source: Literal["ssm", "secretsmanager"] = "ssm",
        max_age_s: int = MAX_AGE_S,
    ) -> None:
        self._client, self._source = client, source
        self._options: dict[str, Any] = {"decrypt": True} if source == "ssm" else {}
        self._prefix = prefix
        self._max_age_s = max_age_s

    def get(self, name: str) -> str | None:
        return os.environ.get(name) or self._kept(name)

    @cached_property
    def _provider(self) -> Any:
        """Imported with the first secret that the environment does not have: most runs read none."""
        from aws_lambda_powertools.utilities.parameters import SecretsProvider, SSMProvider

        return (SSMProvider if self._source == "ssm" else SecretsProvider)(boto3_client=self._client)

    def _kept(self, name: str) -> str | None:
        from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError, TransformParameterError

        try:
            value = self._provider.get(self._prefix + name, max_age=self._max_age_s, **self._options)
        except (GetParameterError, TransformParameterError) as error:
            cause = error.__cause__ or error.__context__
            if isinstance(cause, ClientError) and code_of(cause) in _ABSENT:
                return None
            if isinstance(cause, ClientError | BotoCoreError):
                raise translate(cause, f"secret {name}") from None
            raise EngineBug("a secret cannot be read", place=f"secret {name}") from None
        return value.decode() if isinstance(value, bytes) else value

    def __repr__(self) -> str:
        return f"AwsSecrets({self._prefix!r})"
