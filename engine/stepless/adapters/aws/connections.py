"""Sends to the connections of a WebSocket API of API Gateway, and closes them.

Whether one is gone is read from the status of the response: API Gateway answers 410, of which not every client library makes the
same error.
"""

from __future__ import annotations

from typing import Any, Final

from botocore.exceptions import ClientError

from stepless.adapters.aws.errors import translated

_PLACE: Final = "the WebSocket API"
_GONE: Final = 410


class GatewayWire:
    """`client` is one of `apigatewaymanagementapi`, with the address of the API's stage as its endpoint."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def send(self, connection_id: str, message: bytes) -> bool:
        with translated(_PLACE):
            try:
                self._client.post_to_connection(ConnectionId=connection_id, Data=message)
            except ClientError as error:
                if _status(error) != _GONE:
                    raise
                return False
        return True

    def close(self, connection_id: str) -> None:
        with translated(_PLACE):
            try:
                self._client.delete_connection(ConnectionId=connection_id)
            except ClientError as error:
                if _status(error) != _GONE:
                    raise


def _status(error: ClientError) -> int:
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
