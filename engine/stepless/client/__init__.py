"""Calls a Stepless server from a backend: starts runs, waits for them, answers their questions, follows their events.

    from stepless.client import Client

    run = Client().start("refund", {"id": "A-1", "amount": 40})

Every call is tried again after a lost connection, 429 and 503, and has its effect once (docs/write/client.md). The package
needs only httpx: it imports neither the engine nor the API.
"""

from __future__ import annotations

from stepless.client.clients import AsyncClient, Client
from stepless.client.errors import (
    ClientError,
    Conflict,
    Forbidden,
    Gone,
    InvalidRequest,
    InvalidSetting,
    NotFound,
    OutcomeUnknown,
    ServerError,
    StillRunning,
    TooManyRequests,
    Unauthorized,
    Unavailable,
    Unreachable,
)

__all__ = [
    "AsyncClient", "Client", "ClientError", "Conflict", "Forbidden", "Gone", "InvalidRequest", "InvalidSetting", "NotFound",
    "OutcomeUnknown", "ServerError", "StillRunning", "TooManyRequests", "Unauthorized", "Unavailable", "Unreachable",
]  # fmt: skip
