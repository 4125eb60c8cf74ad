"""Verifies the signatures of webhook requests: one function per scheme, over the raw body, in constant time.

    hmac      X-Signature: t=<unix seconds>,v1=<hex HMAC-SHA256 of "t.body">   (another header by `header`)
    stripe    the same in Stripe-Signature; several v1 while a key is rotated; the event's `id` is the delivery id
    github    X-Hub-Signature-256: sha256=<hex HMAC-SHA256 of the body>; X-GitHub-Delivery is the delivery id
    standard  webhook-signature: v1,<base64 HMAC-SHA256 of "id.timestamp.body"> …; webhook-id is the delivery id
              (Standard Webhooks 1.0; the secret is `whsec_` and base64)

A sender retries with a new signature and the same delivery id, so a repeated delivery id returns the same run. Without a delivery
id, the signature identifies the request. GitHub signs neither the time nor the delivery id.
"""

from __future__ import annotations

import binascii
import hmac
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from stepless.compile.reading.strict_json import strict_json
from stepless.errors import Forbidden, InvalidRequest
from stepless.nodes.webhook import Signed

_HEADERS: Final = {
    "hmac": "x-signature",
    "stripe": "stripe-signature",
    "github": "x-hub-signature-256",
    "standard": "webhook-signature",
}


@dataclass(frozen=True, slots=True)
class Proof:
    """A valid signature. `headers` are the names of the headers that contained it, in lower case. `delivery` is the sender's
    delivery id, or None; then `signature` identifies the request."""

    headers: frozenset[str]
    delivery: str | None
    signature: str


def verify(auth: Signed, headers: Mapping[str, str], body: bytes, now_ms: int) -> Proof:
    """Checks a request's signature. Header names are in lower case.

    Raises `Forbidden`: bad_signature, stale_signature, or secret_missing (503) if the scheme cannot use the secret.
    """
    header = (auth.header or _HEADERS[auth.scheme]).lower()
    return _SCHEMES[auth.scheme](auth, header, headers, body, now_ms)


def sign(secret: str, body: bytes, now_ms: int) -> str:
    """The value of the signature header for the schemes hmac and stripe."""
    seconds = now_ms // 1000
    return f"t={seconds},v1={_mac(secret, seconds, body)}"


def _mac(secret: str, seconds: int, body: bytes) -> str:
    return _hex(secret, f"{seconds}.".encode() + body)


def _hex(secret: str, signed: bytes) -> str:
    return hmac.new(secret.encode(), signed, sha256).hexdigest()


def _timed(auth: Signed, header: str, headers: Mapping[str, str], body: bytes, now_ms: int) -> Proof:
    mend = f"send the header {header}: t=<unix seconds>,v1=<hex HMAC-SHA256 of t.body>"
    fields = [part.strip().partition("=") for part in headers.get(header, "").split(",")]
    seconds = _seconds(next((value for name, _, value in fields if name == "t"), ""), mend)
    wanted = _mac(auth.secret, seconds, body)
    _compare(wanted, [value for name, _, value in fields if name == "v1"], mend)
    _check_age(seconds, auth.tolerance_s, now_ms)
    return Proof(frozenset({header}), None, wanted)


def _stripe(auth: Signed, header: str, headers: Mapping[str, str], body: bytes, now_ms: int) -> Proof:
    proof = _timed(auth, header, headers, body, now_ms)
    try:
        event = strict_json(body)
    except InvalidRequest:
        return proof
    delivery = event.get("id") if isinstance(event, dict) else None
    return Proof(proof.headers, delivery if isinstance(delivery, str) else None, proof.signature)


def _github(auth: Signed, header: str, headers: Mapping[str, str], body: bytes, now_ms: int) -> Proof:
    wanted = f"sha256={_hex(auth.secret, body)}"
    _compare(wanted, [headers.get(header, "")], f"send the header {header}: sha256=<hex HMAC-SHA256 of the body>")
    return Proof(frozenset({header}), headers.get("x-github-delivery"), wanted)


def _standard(auth: Signed, header: str, headers: Mapping[str, str], body: bytes, now_ms: int) -> Proof:
    mend = "send the headers webhook-id, webhook-timestamp (unix seconds) and webhook-signature: v1,<base64>"
    delivery, seconds = headers.get("webhook-id", ""), _seconds(headers.get("webhook-timestamp", ""), mend)
    try:
        key = b64decode(auth.secret.removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        message = "the webhook's secret is not `whsec_` and base64, so no request can be accepted"
        raise Forbidden(message, code="secret_missing", mend="set the secret that the sender shows", status=503) from None
    mac = hmac.new(key, f"{delivery}.{seconds}.".encode() + body, sha256).digest()
    wanted = f"v1,{b64encode(mac).decode()}"
    _compare(wanted if delivery else "", headers.get(header, "").split(" "), mend)
    _check_age(seconds, auth.tolerance_s, now_ms)
    return Proof(frozenset({header, "webhook-timestamp"}), delivery, wanted)


_SCHEMES: Final[Mapping[str, Callable[[Signed, str, Mapping[str, str], bytes, int], Proof]]] = {
    "hmac": _timed,
    "stripe": _stripe,
    "github": _github,
    "standard": _standard,
}


def _seconds(text: str, mend: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 12):
        raise Forbidden("the signature is missing or malformed", code="bad_signature", mend=mend, status=401)
    return int(text)


def _compare(wanted: str, given: list[str], mend: str) -> None:
    matches = [hmac.compare_digest(one.encode(), wanted.encode()) for one in given]
    if not wanted or not any(matches):
        raise Forbidden("the signature does not match the body", code="bad_signature", mend=mend, status=401)


def _check_age(seconds: int, tolerance_s: int, now_ms: int) -> None:
    if abs(now_ms - seconds * 1000) > tolerance_s * 1000:
        message = f"the signature is more than {tolerance_s} seconds old or in the future"
        raise Forbidden(message, code="stale_signature", mend="sign with the current time", status=401)
