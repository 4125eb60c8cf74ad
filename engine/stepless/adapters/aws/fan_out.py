"""Divides a sweep: one SQS message for each part, which invocations of the sweeper process in parallel."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from stepless.adapters.aws.queue import AT_ONCE, send_batch
from stepless.errors import InvalidRequest


def send_parts(client: Any, url: str, parts: Sequence[tuple[int, int]], limit: int) -> None:
    """Sends one message per part. Together they send hints for about `limit` runs. Raises `StoreUnavailable`."""
    each = -(-limit // len(parts))
    bodies = [json.dumps({"part": part, "limit": each}, separators=(",", ":")) for part in parts]
    for start in range(0, len(bodies), AT_ONCE):
        send_batch(client, url, bodies[start : start + AT_ONCE])


def decode_part(body: str) -> tuple[tuple[int, int], int]:
    """Returns the part and its limit in a message's body. Raises `InvalidRequest` for any other body."""
    try:
        fields = json.loads(body)
        (number, count), limit = fields["part"], fields["limit"]
        if not (all(type(one) is int for one in (number, count, limit)) and 0 <= number < count and limit > 0):
            raise ValueError("a number is out of range")
    except (ValueError, TypeError, LookupError) as error:
        raise InvalidRequest(f"not a part of a sweep: {body[:100]!r}", place="queue") from error
    return (number, count), limit
