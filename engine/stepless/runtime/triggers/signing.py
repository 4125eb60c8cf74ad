"""Makes the headers by which the sender of a webhook proves a request, by the same table that verifies them.

    headers = signed_headers(auth, b'{"order": 7}', now_ms, secret="…", url="https://flows.example.com/hooks/in")
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from secrets import token_hex

from stepless.model.json import parse_path, read_path
from stepless.model.stored.encoding import encode
from stepless.model.triggers.webhook_schemes import Scheme
from stepless.nodes.entries.webhook import Bearer, Hmac, Signed, scheme_of, signed_by
from stepless.runtime.triggers import ecdsa
from stepless.runtime.triggers.signatures import SignedRequest, filled, is_form, json_of, key_of, mac_of


def signed_headers(
    auth: Hmac | Signed | Bearer | str, body: bytes, now_ms: int, *, secret: str, url: str = "", method: str = "POST",
    content_type: str = "application/json", delivery: str | None = None,
) -> dict[str, str]:
    """Returns the headers that prove a request. `auth` is that of the webhook; its own secrets are not read. For `sendgrid`,
    `secret` is the private key in PEM. `url` is the whole address, where the scheme signs it. `delivery` is the sender's id of
    the delivery, by default a new one. What a scheme has in the body or the address, `prepared` adds.

    Raises `Forbidden` (secret_missing) and `ConfigError` for a secret that the scheme cannot use.
    """
    if isinstance(auth, Bearer):
        return {"Authorization": f"Bearer {secret}"}
    if isinstance(auth, str):
        return {}
    signed_auth = signed_by(auth)
    scheme = scheme_of(signed_auth)
    if scheme.proof == "token":
        return {scheme.header: secret}
    headers: dict[str, str] = {}
    timestamp = _timestamp(scheme, body, now_ms)
    if scheme.timestamp is not None and scheme.timestamp.kind == "header":
        headers[scheme.timestamp.name] = timestamp
    named = ""
    if scheme.delivery is not None and scheme.delivery.kind == "header":
        named = headers[scheme.delivery.name] = delivery or f"try_{token_hex(12)}"
    request = SignedRequest({"content-type": content_type}, body, method)
    signed = filled(scheme, request, signed_auth.url or url, timestamp, named)
    proof = ecdsa.signature_of(secret, signed) if scheme.proof == "ecdsa" else mac_of(scheme, key_of(scheme, secret), signed)
    item = f"{scheme.timestamp.name}={timestamp}{scheme.separator}" if _in_item(scheme) and scheme.timestamp else ""
    return {scheme.header: f"{item}{scheme.prefix}{proof}", **headers}


def _in_item(scheme: Scheme) -> bool:
    return scheme.timestamp is not None and scheme.timestamp.kind == "item"


def _timestamp(scheme: Scheme, body: bytes, now_ms: int) -> str:
    if scheme.timestamp is not None and scheme.timestamp.kind == "body":
        return str(read_path(json_of(body), parse_path(scheme.timestamp.name)))
    return str(now_ms if scheme.milliseconds else now_ms // 1000)


def prepared(
    auth: Hmac | Signed | Bearer | str, body: bytes, now_ms: int, url: str, content_type: str = "application/json"
) -> tuple[bytes, str]:
    """Returns the body and the address, with what the sender writes into them: the present time (Linear), the digest of a body
    that is no form (Twilio)."""
    if isinstance(auth, str | Bearer):
        return body, url
    scheme = scheme_of(signed_by(auth))
    place, value = scheme.timestamp, json_of(body)
    if place is not None and place.kind == "body" and isinstance(value, Mapping):
        body = encode({**value, place.name: now_ms})
    if scheme.body_digest and body and not is_form({"content-type": content_type}):
        url += f"{'&' if '?' in url else '?'}{scheme.body_digest}={sha256(body).hexdigest()}"
    return body, url
