"""Sessions of the console under `stepless dev`: who opened an address that it printed, or an invitation to it.

A token is `console.base64url(claims).base64url(HMAC-SHA256(secret, claims))`, with a secret derived from the signing keys: it is
still valid after a restart on the same file. It names a person and is valid for CONSOLE_SESSION_LIFE_MS.
"""

from __future__ import annotations

import hmac
import json
from typing import Final, NamedTuple

from stepless.limits import CONSOLE_SESSION_LIFE_MS, MAX_TOKEN_CHARACTERS
from stepless.ports import Clock
from stepless.runtime.access.tokens import Signer, decode, encode, mac

_PREFIX: Final = "console."


class Session(NamedTuple):
    """Whose it is, and when it ends."""

    person: str
    until_ms: int


class Sessions:
    """Thread-safe, and without state of its own."""

    def __init__(self, signer: Signer, clock: Clock) -> None:
        self._signer = signer
        self._clock = clock

    def issue(self, person: str) -> str:
        """The token of a session of `person`, which begins now."""
        claims = {"p": person, "x": self._clock.now_ms() + CONSOLE_SESSION_LIFE_MS}
        body = json.dumps(claims, ensure_ascii=False, separators=(",", ":")).encode()
        return f"{_PREFIX}{encode(body)}.{encode(self._mac(body))}"

    def find(self, token: str) -> Session | None:
        """The session of a token; None for a token that is not genuine, and for one that is over."""
        if not token.startswith(_PREFIX) or len(token) > MAX_TOKEN_CHARACTERS:
            return None
        try:
            body, given = (decode(part) for part in token[len(_PREFIX):].split("."))
        except ValueError:
            return None
        if not hmac.compare_digest(self._mac(body), given):
            return None
        claims = json.loads(body)
        return Session(claims["p"], claims["x"]) if claims["x"] > self._clock.now_ms() else None

    def _mac(self, body: bytes) -> bytes:
        return mac(self._signer.derive("console-session").encode(), body)
