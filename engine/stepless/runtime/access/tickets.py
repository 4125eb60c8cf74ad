"""Issues and redeems tickets to the session of a draft: a page cannot send a header with a WebSocket, so it spends a ticket in
the address instead.

A ticket is `base64url(claims).base64url(HMAC-SHA256(secret, claims))`, with a secret derived from the signing keys. It is valid
for one draft, for TICKET_LIFE_MS, and once.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Collection
from dataclasses import dataclass
from secrets import token_hex

from stepless.errors import Forbidden
from stepless.limits import MAX_TOKEN_CHARACTERS, TICKET_LIFE_MS
from stepless.ports import Clock, Store
from stepless.runtime.access.roles import Role
from stepless.runtime.access.tokens import Signer, decode, encode, mac


@dataclass(frozen=True, slots=True)
class Visitor:
    """The user and roles of a ticket. `key_id` names the API key, empty for other callers: its id, or for a
    configured key the beginning of its hash. `until_ms` is when the token of the caller ends; None where nothing ends."""

    workflow_id: str
    person: str
    roles: frozenset[Role]
    key_id: str = ""
    until_ms: int | None = None


class Tickets:
    """Thread-safe. Both methods may raise `StoreUnavailable`."""

    def __init__(self, signer: Signer, store: Store, clock: Clock) -> None:
        self._signer = signer
        self._store = store
        self._clock = clock

    def issue(
        self, workflow_id: str, person: str, roles: Collection[Role], key_id: str = "", until_ms: int | None = None
    ) -> str:
        """Returns a ticket for a caller who was authenticated just now."""
        claims = {
            "w": workflow_id, "p": person, "r": sorted(roles), "k": key_id, "x": self._clock.now_ms() + TICKET_LIFE_MS,
            "n": token_hex(8), "e": until_ms,
        }
        body = json.dumps(claims, ensure_ascii=False, separators=(",", ":")).encode()
        return f"{encode(body)}.{encode(self._mac(body))}"

    def spend(self, ticket: str, workflow_id: str | None = None) -> Visitor:
        """Without a `workflow_id`, the ticket says to which draft. Raises `Forbidden` (invalid_ticket), without details, for one
        that is not genuine, of another draft, late or spent."""
        mend = "ask for a new one: a ticket is valid once, for a minute"
        refused = Forbidden("the ticket is not valid", code="invalid_ticket", status=401, place="ticket", mend=mend)
        try:
            body, given = (decode(part) for part in ticket[:MAX_TOKEN_CHARACTERS].split("."))
            genuine = hmac.compare_digest(self._mac(body), given)
            claims = json.loads(body) if genuine else {}
        except ValueError as error:
            raise refused from error
        now_ms = self._clock.now_ms()
        if not genuine or (workflow_id is not None and claims["w"] != workflow_id) or claims["x"] <= now_ms:
            raise refused
        mine = token_hex(8).encode()
        if self._store.claim(f"ticket:{claims['n']}", mine, now_ms, claims["x"]) != mine:
            raise refused
        return Visitor(claims["w"], claims["p"], frozenset(map(Role, claims["r"])), claims["k"], claims["e"])

    def _mac(self, body: bytes) -> bytes:
        return mac(self._signer.derive("draft-ticket").encode(), body)
