"""Tells the page of the console how people sign in with OpenID Connect. Nothing of it is secret. The gateway checks the
tokens."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from stepless.errors import TransientError
from stepless.limits import MAX_URL_CHARACTERS, OIDC_FETCH_MS, OIDC_FRESH_MS, OIDC_RETRY_MS
from stepless.model.json import JSON
from stepless.model.work import NodeFailure
from stepless.ports import Clock, Http, HttpRequest

_DISCOVERY: Final = "/.well-known/openid-configuration"
_END: Final = "end_session_endpoint"
# What a policy may name, and a query: no `;`, `,` or space.
_URL: Final = re.compile(r"(https://[A-Za-z0-9.\[\]:-]+(?:/[A-Za-z0-9._~%/@:+-]*)?)(\?[A-Za-z0-9._~%/@:+=&-]*)?")


@dataclass(frozen=True, slots=True)
class Login:
    """OpenID Connect: the page is a public client, with the id `client_id`. It uses the token that is meant for one of the
    `audiences`, which are those that the API accepts."""

    issuer: str
    client_id: str
    audiences: Sequence[str]
    scope: str = "openid"


class Discovery:
    """The issuer's addresses, as its discovery document names them. For use in one event loop."""

    def __init__(self, login: Login, http: Http, clock: Clock) -> None:
        self._login = login
        self._http = http
        self._clock = clock
        self._found: Mapping[str, JSON] | None = None
        self._until_ms = 0

    async def settings(self) -> Mapping[str, JSON] | None:
        """Returns the settings with which the page signs in; None while the issuer cannot be asked. Kept for OIDC_FRESH_MS."""
        now_ms = self._clock.now_ms()
        if now_ms >= self._until_ms:
            try:
                found = await self._ask()
            except (NodeFailure, ValueError):
                self._until_ms = now_ms + OIDC_RETRY_MS
            else:
                self._found, self._until_ms = found, now_ms + OIDC_FRESH_MS
        return self._found

    async def _ask(self) -> Mapping[str, JSON]:
        """Raises `NodeFailure` where there is no answer, `ValueError` for one that is not the issuer's."""
        url = self._login.issuer.rstrip("/") + _DISCOVERY
        answer = await self._http.send(HttpRequest("GET", url, {"accept": "application/json"}, timeout_ms=OIDC_FETCH_MS))
        document = json.loads(answer.body)
        issuer = document.get("issuer") if isinstance(document, dict) else None
        if not isinstance(issuer, str) or issuer.rstrip("/") != self._login.issuer.rstrip("/"):
            raise ValueError("the document is another issuer's")
        return {
            "issuer": issuer, "client_id": self._login.client_id, "audiences": list(self._login.audiences),
            "scope": self._login.scope, "authorize": _address(document, "authorization_endpoint"),
            "token": _address(document, "token_endpoint"),
            "end_session": _address(document, _END) if document.get(_END) else None,  # not every issuer offers it
        }  # fmt: skip


def unreachable(login: Login) -> TransientError:
    message = f"the issuer {login.issuer} does not answer as an OpenID Connect issuer does"
    return TransientError(message, code="issuer_unreachable", place="JwtIssuer", mend="try again, or check the parameter")


def _address(document: Mapping[str, Any], name: str) -> str:
    url = document.get(name)
    if not isinstance(url, str) or len(url) > MAX_URL_CHARACTERS or _URL.fullmatch(url) is None:
        raise ValueError(f"{name} is no address that the page may use")
    return url
