"""Secrets: the environment first, then the shared store of all functions."""

from __future__ import annotations

from typing import Any

import pytest
from aws_services import Service
from botocore.exceptions import EndpointConnectionError

from stepless.adapters.aws.secrets import AwsSecrets
from stepless.errors import StoreUnavailable, StoreUnusable
from stepless.ports import Secrets


def kept(aws: Service, source: Any, name: str, value: str) -> None:
    if source == "ssm":
        aws("ssm").put_parameter(Name=name, Value=value, Type="SecureString", Overwrite=True)
    else:
        aws("secretsmanager").create_secret(Name=name, SecretString=value)


@pytest.mark.parametrize("source", ["ssm", "secretsmanager"])
def test_the_environment_comes_first(aws: Service, monkeypatch: pytest.MonkeyPatch, source: Any) -> None:
    kept(aws, source, "/stepless/STEPLESS_TEST_KEY", "kept")
    port: Secrets = AwsSecrets(aws(source), source=source)
    assert port.get("STEPLESS_TEST_KEY") == "kept"
    monkeypatch.setenv("STEPLESS_TEST_KEY", "set")
    assert port.get("STEPLESS_TEST_KEY") == "set"
    assert port.get("STEPLESS_TEST_NONE") is None
    assert "kept" not in repr(port)


@pytest.mark.parametrize(("max_age_s", "value"), [(300, "old"), (0, "new")])
def test_a_value_is_remembered_for_a_while(aws: Service, max_age_s: int, value: str) -> None:
    secrets = AwsSecrets(aws("ssm"), prefix="/other/", max_age_s=max_age_s)
    kept(aws, "ssm", "/other/STEPLESS_TEST_KEY", "old")
    assert secrets.get("STEPLESS_TEST_KEY") == "old"
    kept(aws, "ssm", "/other/STEPLESS_TEST_KEY", "new")
    assert secrets.get("STEPLESS_TEST_KEY") == value


@pytest.mark.parametrize(
    ("code", "expected"), [("ThrottlingException", StoreUnavailable), ("AccessDeniedException", StoreUnusable)]
)
def test_a_secret_that_cannot_be_read_is_not_taken_for_absent(refusal: Any, code: str, expected: type[Exception]) -> None:
    class Client:
        def get_parameter(self, **_: Any) -> None:
            raise refusal(code)

    with pytest.raises(expected):
        AwsSecrets(Client()).get("STEPLESS_TEST_NONE")


def test_a_service_out_of_reach_is_told() -> None:
    class Client:
        def get_parameter(self, **_: Any) -> None:
            raise EndpointConnectionError(endpoint_url="x")

    with pytest.raises(StoreUnavailable):
        AwsSecrets(Client()).get("STEPLESS_TEST_NONE")
