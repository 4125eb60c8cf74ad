"""Signs and verifies resume tokens (docs/run/security.md#what-is-signed): the holder of a token may answer one pause, once, until
it expires.

A token is `base64url(claims).base64url(HMAC-SHA256(key, claims))`. The claims name the key that signed them, so several keys can
be valid at a time; the newest signs. A token contains no secrets, and changing it invalidates it.
"""

from __future__ import annotations

import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from stepless.errors import Forbidden, Gone
from stepless.limits import MAX_TOKEN_CHARACTERS


@dataclass(frozen=True, slots=True)
class Claims:
    """What a token allows. `exit` and `approver`, if present, cannot be changed by the holder. `via` is the caller of the API for
    whom it was made: recorded where the holder names no person."""

    run_id: str
    pause: str
    expires_ms: int
    exit: str | None = None
    approver: str | None = None
    via: str | None = None


@dataclass(frozen=True, slots=True)
class Key:
    id: str
    secret: bytes


class Signer:
    """Signs with the first key and accepts all of them. `keys` may be a function: it is called when the first key is needed, and
    what it raises is raised by that use and by the next."""

    def __init__(self, keys: Sequence[Key] | Callable[[], Sequence[Key]]) -> None:
        self._given = keys

    @cached_property
    def _keys(self) -> Mapping[str, Key]:
        keys = self._given() if callable(self._given) else self._given
        return {key.id: key for key in keys}

    @property
    def _newest(self) -> Key:
        return next(iter(self._keys.values()))

    def sign(self, claims: Claims) -> str:
        fields = {"k": self._newest.id, "r": claims.run_id, "p": claims.pause, "x": claims.expires_ms}
        if claims.exit is not None:
            fields["e"] = claims.exit
        if claims.approver is not None:
            fields["a"] = claims.approver
        if claims.via is not None:
            fields["v"] = claims.via
        body = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
        return f"{encode(body)}.{encode(mac(self._newest.secret, body))}"

    def verify(self, token: str, now_ms: int) -> Claims:
        """Returns the claims of a token. Raises `Forbidden`, without details, if no valid key signed it, and `Gone` for a genuine
        token that has expired."""
        claims = self.read(token)
        if claims.expires_ms <= now_ms:
            raise Gone("this link has expired", code="token_expired", mend="ask for a new one")
        return claims

    def read(self, token: str) -> Claims:
        """Returns the claims of a genuine token, expired or not: for display, not for access. Raises `Forbidden`."""
        claims = self._genuine(token)
        if claims is None:
            raise Forbidden("this link is not valid", code="invalid_token", mend="open the link exactly as it was sent")
        return claims

    def derive(self, purpose: str) -> str:
        """Returns a separate secret of 43 characters for another purpose. It changes only with the newest key."""
        return encode(mac(self._newest.secret, f"derive:{purpose}".encode()))

    def _genuine(self, token: str) -> Claims | None:
        if len(token) > MAX_TOKEN_CHARACTERS:
            return None
        body, _, given_mac = token.partition(".")
        try:
            data, given = decode(body), decode(given_mac)
            fields = json.loads(data)
            key = self._keys.get(fields["k"])
            if key is None or not hmac.compare_digest(mac(key.secret, data), given):
                return None
            return _claims(fields)
        except (ValueError, KeyError, TypeError, RecursionError):
            return None


def _claims(fields: Mapping[str, Any]) -> Claims | None:
    """None for claims that `sign` never writes: another program with the same key may have signed them."""
    run_id, pause, expires_ms = fields["r"], fields["p"], fields["x"]
    fits = type(expires_ms) is int and _is_text(run_id) and _is_text(pause)
    optional = [fields.get(name) for name in ("e", "a", "v")]
    if not fits or not all(one is None or _is_text(one) for one in optional):
        return None
    return Claims(run_id, pause, expires_ms, *optional)


def _is_text(value: object) -> bool:
    """Raises ValueError for half of a surrogate pair, which no store accepts."""
    return isinstance(value, str) and bool(value.encode())


def mac(secret: bytes, body: bytes) -> bytes:
    """Returns the HMAC-SHA256 of a text."""
    return hmac.new(secret, body, sha256).digest()


def encode(data: bytes) -> str:
    """Encodes bytes as base64 for addresses, without padding."""
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    """Accepts only what `encode` writes: the decoder itself ignores foreign characters and unused bits."""
    data = text.encode("ascii")
    decoded = urlsafe_b64decode(data + b"=" * (-len(data) % 4))
    if encode(decoded) != text:
        raise ValueError("not a canonical encoding")
    return decoded


def parse_keys(text: str) -> tuple[Key, ...]:
    """Parses keys in the form in which they are configured: `id:secret,id:secret` or `{"id": "secret"}`, the newest first."""
    if text.lstrip().startswith("{"):
        return tuple(Key(id, secret.encode()) for id, secret in json.loads(text).items() if id and secret)
    pairs = [part.strip().partition(":") for part in text.split(",") if part.strip()]
    return tuple(Key(id, secret.encode()) for id, _, secret in pairs if id and secret)
