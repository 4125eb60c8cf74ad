"""Connections of a WebSocket API: what is gone is read from the status, whatever the error is called."""

from __future__ import annotations

from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from stepless.adapters.aws.connections import GatewayWire
from stepless.errors import StoreUnavailable
from stepless.ports.draft_connections import Wire


@pytest.fixture
def gateway() -> Any:
    return boto3.client(
        "apigatewaymanagementapi", region_name="eu-central-1", endpoint_url="http://127.0.0.1:9", aws_access_key_id="test",
        aws_secret_access_key="test",
    )  # fmt: skip


def test_a_message_is_sent_and_a_connection_is_closed(gateway: Any) -> None:
    wire: Wire = GatewayWire(gateway)
    with Stubber(gateway) as stub:
        stub.add_response("post_to_connection", {}, {"ConnectionId": "c1", "Data": b"{}"})
        stub.add_response("delete_connection", {}, {"ConnectionId": "c1"})
        assert wire.send("c1", b"{}") is True
        wire.close("c1")
        stub.assert_no_pending_responses()


@pytest.mark.parametrize("code", ["GoneException", "410", "Gone", "UnknownError"])
def test_a_connection_that_is_gone_is_told_and_closing_it_does_nothing(gateway: Any, code: str) -> None:
    wire = GatewayWire(gateway)
    with Stubber(gateway) as stub:
        for operation in ("post_to_connection", "delete_connection"):
            stub.add_client_error(operation, code, http_status_code=410)
        assert wire.send("c1", b"{}") is False
        wire.close("c1")
        stub.assert_no_pending_responses()


@pytest.mark.parametrize(("code", "status"), [("LimitExceededException", 429), ("InternalServerError", 500)])
def test_a_connection_that_is_out_of_reach_is_not_taken_for_gone(gateway: Any, code: str, status: int) -> None:
    wire = GatewayWire(gateway)
    with Stubber(gateway) as stub:
        for operation in ("post_to_connection", "delete_connection"):
            stub.add_client_error(operation, code, http_status_code=status)
        with pytest.raises(StoreUnavailable):
            wire.send("c1", b"{}")
        with pytest.raises(StoreUnavailable):
            wire.close("c1")
