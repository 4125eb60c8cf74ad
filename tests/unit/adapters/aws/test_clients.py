"""Clients: one of each, created late, with bounded time-outs."""

from __future__ import annotations

import pytest

from stepless.adapters.aws.clients import client


def test_a_client_is_made_once_and_waits_no_longer_than_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    made = client("dynamodb")
    assert client("dynamodb") is made
    settings = made.meta.config
    assert (settings.connect_timeout, settings.read_timeout, settings.retries["total_max_attempts"]) == (2, 5, 3)
    assert client("sqs").meta.region_name == "eu-central-1"
