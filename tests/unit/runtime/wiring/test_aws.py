"""The parts of a function, by the settings of the template."""

from __future__ import annotations

from collections.abc import Iterator

import boto3
import pytest
from moto import mock_aws

from stepless.errors import ConfigError
from stepless.runtime.wiring import aws as bootstrap_aws

NAME = "/orders/PAYMENTS_KEY"


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An account with one secret, kept in both places."""
    for name, value in {
        "AWS_DEFAULT_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
        "STEPLESS_SECRETS_PREFIX": "/orders/",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("STEPLESS_SECRETS_SOURCE", raising=False)
    with mock_aws():
        boto3.client("ssm").put_parameter(Name=NAME, Value="a parameter", Type="SecureString")
        boto3.client("secretsmanager").create_secret(Name=NAME, SecretString="a secret")
        yield


@pytest.mark.parametrize(
    ("source", "value"), [(None, "a parameter"), ("ssm", "a parameter"), ("secretsmanager", "a secret")]
)
@pytest.mark.usefixtures("account")
def test_secrets_are_read_where_the_operator_keeps_them(
    source: str | None, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if source is not None:
        monkeypatch.setenv("STEPLESS_SECRETS_SOURCE", source)
    kept = bootstrap_aws.secrets()
    assert kept.get("PAYMENTS_KEY") == value
    assert kept.get("NOT_THERE") is None


@pytest.mark.usefixtures("account")
def test_a_place_that_is_none_is_refused_with_its_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPLESS_SECRETS_SOURCE", "vault")
    with pytest.raises(ConfigError, match="STEPLESS_SECRETS_SOURCE"):
        bootstrap_aws.secrets()
