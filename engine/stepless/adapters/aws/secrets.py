"""Reads secrets from the environment, then from Parameter Store or Secrets Manager."""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any, Final, Literal

from botocore.exceptions import BotoCoreError, ClientError

from stepless.adapters.aws.errors import code_of, translate
from stepless.errors import EngineBug

MAX_AGE_S: Final = 300  # how long a value is cached: a rotated secret takes effect within this time
_ABSENT: Final = frozenset({"ParameterNotFound", "ResourceNotFoundException"})


class AwsSecrets:
    """`${name}` is the environment variable of that name unless it is empty, else the secret `prefix` + name, cached in memory
    for MAX_AGE_S.

    `client` is an `ssm` client (Parameter Store, the default: encrypted parameters cost nothing) or a `secretsmanager` client.
    Representations and errors never contain a value. Raises `StoreUnavailable` and `StoreUnusable` as the store does.
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
        return os.environ.get(name) or self._fetch(name)

    @cached_property
    def _provider(self) -> Any:
        """Imported for the first secret that is not in the environment: most runs need none."""
        from aws_lambda_powertools.utilities.parameters import SecretsProvider, SSMProvider

        return (SSMProvider if self._source == "ssm" else SecretsProvider)(boto3_client=self._client)

    def _fetch(self, name: str) -> str | None:
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
