"""The variables of the OpenTelemetry specification, and what an unusable value does: it never stops the process."""

from __future__ import annotations

import pytest

from stepless.adapters.otlp.settings import pairs_of, settings_of

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


@pytest.mark.parametrize(
    "env",
    [
        {}, {ENDPOINT: ""}, {ENDPOINT: "http://c:4318", "OTEL_SDK_DISABLED": "TRUE"},
        {ENDPOINT: "http://c:4318", "OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none"},
        {"OTEL_SERVICE_NAME": "x"},
    ],
)  # fmt: skip
def test_nothing_is_exported_unless_an_endpoint_is_set(env: dict[str, str]) -> None:
    assert settings_of(env.get) is None


@pytest.mark.parametrize(
    "env",
    [
        {ENDPOINT: "localhost:4318"}, {ENDPOINT: "ftp://c"}, {ENDPOINT: "http://"}, {ENDPOINT: "http://c:99999"},
        {ENDPOINT: "http://c d"}, {ENDPOINT: "http://user:pass@c"}, {ENDPOINT: "http://[::1"}, {ENDPOINT: "http://c\r\nx: y"},
        {ENDPOINT: "http://c", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
    ],
)  # fmt: skip
def test_an_unusable_endpoint_or_protocol_is_logged_and_stays_off(env: dict[str, str], caplog: pytest.LogCaptureFixture) -> None:
    assert settings_of(env.get) is None
    assert "are not exported" in caplog.text
    assert "pass" not in caplog.text


@pytest.mark.parametrize(
    ("env", "traces", "metrics"),
    [
        ({ENDPOINT: "http://c:4318"}, "http://c:4318/v1/traces", "http://c:4318/v1/metrics"),
        ({ENDPOINT: "https://c/base/"}, "https://c/base/v1/traces", "https://c/base/v1/metrics"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c/in?k=1"}, "http://c/in?k=1", None),
        ({ENDPOINT: "http://c", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://m/x"}, "http://c/v1/traces", "http://m/x"),
        ({ENDPOINT: "http://c", "OTEL_TRACES_EXPORTER": "none"}, None, "http://c/v1/metrics"),
        ({ENDPOINT: "http://c", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/json"}, None, "http://c/v1/metrics"),
    ],
)  # fmt: skip
def test_each_signal_has_its_endpoint(env: dict[str, str], traces: str | None, metrics: str | None) -> None:
    settings = settings_of(env.get)
    assert settings is not None
    assert (settings.traces and settings.traces.url, settings.metrics and settings.metrics.url) == (traces, metrics)


@pytest.mark.parametrize(
    ("env", "timeout_ms"),
    [
        ({}, 4_000), ({"OTEL_EXPORTER_OTLP_TIMEOUT": "500"}, 500), ({"OTEL_EXPORTER_OTLP_TIMEOUT": "soon"}, 4_000),
        ({"OTEL_EXPORTER_OTLP_TIMEOUT": "-1"}, 1), ({"OTEL_EXPORTER_OTLP_TIMEOUT": "9" * 12}, 4_000),
        ({"OTEL_EXPORTER_OTLP_TIMEOUT": "500", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "600"}, 600),
    ],
)  # fmt: skip
def test_the_timeout_is_bounded(env: dict[str, str], timeout_ms: int) -> None:
    settings = settings_of({ENDPOINT: "http://c", **env}.get)
    assert settings is not None
    assert settings.traces is not None
    assert settings.traces.timeout_ms == timeout_ms


@pytest.mark.parametrize(
    ("env", "resource"),
    [
        ({}, {"service.name": "stepless"}),
        ({"OTEL_SERVICE_NAME": "orders"}, {"service.name": "orders"}),
        ({"OTEL_RESOURCE_ATTRIBUTES": "service.name=a,team=b%2Cc"}, {"service.name": "a", "team": "b,c"}),
        ({"OTEL_RESOURCE_ATTRIBUTES": "service.name=a", "OTEL_SERVICE_NAME": "orders"}, {"service.name": "orders"}),
        ({"OTEL_RESOURCE_ATTRIBUTES": "team=b,broken"}, {"service.name": "stepless"}),
        ({"OTEL_RESOURCE_ATTRIBUTES": "team=%ff"}, {"service.name": "stepless"}),
        (
            {"AWS_LAMBDA_FUNCTION_NAME": "s-runner", "AWS_REGION": "eu-central-1"},
            {
                "service.name": "stepless", "cloud.provider": "aws", "cloud.platform": "aws_lambda",
                "cloud.region": "eu-central-1", "faas.name": "s-runner",
            },
        ),
    ],
)  # fmt: skip
def test_the_resource_describes_the_process(env: dict[str, str], resource: dict[str, str]) -> None:
    settings = settings_of({ENDPOINT: "http://c", **env}.get)
    assert settings is not None
    found = dict(settings.resource)
    assert len(found.pop("service.instance.id")) == 32
    assert found == resource


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("", {}), ("a=1", {"a": "1"}), (" a = 1 , b=x=y", {"a": "1", "b": "x=y"}), ("a=%20b", {"a": " b"}), ("a", None),
        ("=1", None),
    ],
)  # fmt: skip
def test_pairs(text: str, pairs: dict[str, str] | None) -> None:
    assert pairs_of(text) == pairs
