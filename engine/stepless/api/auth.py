"""Authentication and authorization: bearer API keys with roles, stored as SHA-256 and compared in constant time."""

from __future__ import annotations

import hmac
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Final

from fastapi import Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.concurrency import run_in_threadpool

from stepless.errors import ConfigError, Forbidden
from stepless.runtime.access.api_keys import ALL_ROLES, ApiKeys, Role, hashed

__all__ = ["ROLES", "Guard", "guard", "hashed", "may", "wanted_role"]

_HASHED: Final = re.compile(r"sha256:[0-9a-f]{64}")
_SCHEME: Final = HTTPBearer(auto_error=False, description="An API key")
_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})

# The role that a route requires, by the route's name. Default: read for reading methods, admin for all others.
ROLES: Final[Mapping[str, Role]] = {
    "start_run": Role.RUN,
    "rerun_run": Role.RUN,
    "cancel_run": Role.RUN,
    "hold_run": Role.RUN,
    "release_run": Role.RUN,
    "pause_run": Role.RUN,
    "unpause_run": Role.RUN,
    "change_runs": Role.RUN,
    "pause_schedule": Role.RUN,
    "resume_schedule": Role.RUN,
    "fire_schedule": Role.RUN,
    "list_keys": Role.ADMIN,
}

Guard = Callable[..., Awaitable[None]]


def guard(api_keys: Collection[str] | None, kept: ApiKeys) -> Guard:
    """A dependency that accepts a request with one of `api_keys` (in plain text or `hashed`), or with a key in `kept` that has
    the role of the route. `api_keys` have all roles. None for `api_keys` accepts every request, except changes sent by a page of
    another site. Raises `ConfigError` for an empty key."""
    if api_keys is None:
        return _open
    if "" in (stripped := {key.strip() for key in api_keys}):
        raise ConfigError("an API key is empty", place="api_keys", mend="leave it out")
    given_hashes = [key if _HASHED.fullmatch(key) else hashed(key) for key in sorted(stripped)]

    async def check(
        request: Request,
        given: HTTPAuthorizationCredentials | None = Security(_SCHEME),  # noqa: B008 - FastAPI's syntax
    ) -> None:
        roles = await _roles(given.credentials if given is not None else "", given_hashes, kept)
        if not roles:
            mend = "send Authorization: Bearer <API key>"
            raise Forbidden("this request needs a valid API key", code="unauthorized", status=401, mend=mend)
        wanted = wanted_role(request.scope["route"].name, request.method)
        if wanted not in roles:
            raise Forbidden(f"this request needs a key with the role {wanted}", code="role_missing", mend="ask an admin for one")
        request.state.roles = roles

    return check


def wanted_role(route: str, method: str) -> Role:
    return ROLES.get(route, Role.READ if method in _READING else Role.ADMIN)


def may(request: Request, role: Role) -> bool:
    """Whether the caller has a role. Only for guarded routes."""
    return role in request.state.roles


async def _roles(secret: str, given_hashes: list[str], kept: ApiKeys) -> frozenset[Role]:
    """The roles of a key; none for an unknown key."""
    matches = [hmac.compare_digest(hashed(secret), key) for key in given_hashes]  # compares all, for constant time
    if any(matches):
        return ALL_ROLES
    key = await run_in_threadpool(kept.find, secret) if secret else None
    return frozenset(map(Role, key.may)) if key is not None else frozenset()


async def _open(request: Request) -> None:
    if request.method not in _READING and request.headers.get("sec-fetch-site") == "cross-site":
        message = "a page of another site may not change anything here"
        raise Forbidden(message, code="cross_site", mend="use an API key, or send the request from outside a browser")
    request.state.roles = ALL_ROLES
