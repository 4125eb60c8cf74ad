"""Answers the requests by which senders check an address before they send events to it. They start no run.

    head     an unsigned HEAD is answered 200 (Trello, when a webhook is created)
    slack    {type: url_verification, challenge} is answered {challenge}
    zoom     {event: endpoint.url_validation, payload: {plainToken}} is answered with the token and its HMAC

The last two are signed like events, so only the holder of the secret gets an answer.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stepless.model.json import JSON
from stepless.model.triggers.webhook_schemes import Scheme


@dataclass(frozen=True, slots=True)
class Challenge:
    """A request that checks the address, with its answer: 200 with `body` as JSON, without a body if that is null."""

    body: JSON = None


def unsigned_challenge(scheme: Scheme | None, method: str) -> Challenge | None:
    """Returns the answer to a request that the sender does not sign; None for any other request."""
    return Challenge() if scheme is not None and scheme.challenge == "head" and method == "HEAD" else None


def signed_challenge(scheme: Scheme, body: JSON, secret: str) -> Challenge | None:
    """Returns the answer to a verified request; None if it is an event. `secret` is the one that has signed it."""
    if not isinstance(body, Mapping):
        return None
    match scheme.challenge:
        case "slack" if body.get("type") == "url_verification" and isinstance(body.get("challenge"), str):
            return Challenge({"challenge": body["challenge"]})
        case "zoom" if body.get("event") == "endpoint.url_validation":
            return _zoom(body.get("payload"), secret)
    return None


def _zoom(payload: Any, secret: str) -> Challenge | None:
    token = payload.get("plainToken") if isinstance(payload, Mapping) else None
    if not isinstance(token, str):
        return None
    mac = hmac.new(secret.encode(), token.encode("utf-8", "surrogatepass"), "sha256").hexdigest()
    return Challenge({"plainToken": token, "encryptedToken": mac})
