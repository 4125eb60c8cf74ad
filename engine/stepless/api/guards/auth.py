"""Authenticates callers by their API key or as a gateway says, and checks their roles against the role of each route. API keys
are stored as SHA-256 and compared in constant time."""

from __future__ import annotations

import hmac
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial
from getpass import getuser
from typing import Any, Final

from fastapi import Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from stepless.api.calls import call
from stepless.api.guards.auditing import source_of, target_of
from stepless.errors import ConfigError, Forbidden
from stepless.runtime.access.api_keys import ApiKeys, hashed
from stepless.runtime.access.audit import AuditLog
from stepless.runtime.access.gateways import Gateway
from stepless.runtime.access.roles import ALL_ROLES, Role
from stepless.runtime.access.sessions import Sessions
from stepless.runtime.world import World

__all__ = ["ROLES", "Guard", "guard", "guard_behind", "hashed", "may", "until_ms_of", "wanted_role"]

_HASHED: Final = re.compile(r"sha256:[0-9a-f]{64}")
_SCHEME: Final = HTTPBearer(auto_error=False, description="An API key, or a token where a gateway checks tokens")
_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})

# The role that a route requires, by the route's name. Default: read for reading methods, admin for all others.
ROLES: Final[Mapping[str, Role]] = {
    "start_run": Role.RUN,
    "rerun_run": Role.RUN,
    "change_items": Role.RUN,
    "send_message": Role.SEND,
    "send_to_run": Role.SEND,
    "cancel_run": Role.RUN,
    "hold_run": Role.RUN,
    "release_run": Role.RUN,
    "pause_run": Role.RUN,
    "unpause_run": Role.RUN,
    "change_runs": Role.RUN,
    "pause_schedule": Role.RUN,
    "resume_schedule": Role.RUN,
    "fire_schedule": Role.RUN,
    "open_draft": Role.EDIT,
    "discard_draft": Role.EDIT,
    "edit_draft": Role.EDIT,
    "convert_export": Role.EDIT,
    "type_draft_text": Role.EDIT,
    "restore_draft": Role.EDIT,
    "settle_draft_conflict": Role.EDIT,
    "evaluate_draft": Role.READ,
    "run_draft_now": Role.EDIT,  # and Role.RUN
    "enter_draft": Role.READ,
    "list_approvals": Role.APPROVE,
    "list_decisions": Role.APPROVE,
    "answer_pause": Role.APPROVE,
    "list_sessions": Role.ADMIN,
    "list_keys": Role.ADMIN,
    "list_audit": Role.ADMIN,
}

Guard = Callable[..., Awaitable[None]]


def guard(
    api_keys: Collection[str] | None, kept: ApiKeys, world: World, sessions: Sessions | None = None, log: AuditLog | None = None
) -> Guard:
    """Returns a dependency that accepts a request with one of `api_keys` (in plain text or `hashed`), or with a key in `kept`
    that has the role of the route. `api_keys` have all roles, and so has a token of `sessions`. None for `api_keys` accepts every
    request, except changes sent by a page of another site. A request outside the roles of its caller has an entry in `log`.
    Raises `ConfigError` for an empty key."""
    if api_keys is None:
        return _open
    if "" in (stripped := {key.strip() for key in api_keys}):
        raise ConfigError("an API key is empty", place="api_keys", mend="leave it out")
    given_hashes = [key if _HASHED.fullmatch(key) else hashed(key) for key in sorted(stripped)]

    async def check(
        request: Request,
        given: HTTPAuthorizationCredentials | None = Security(_SCHEME),  # noqa: B008 - FastAPI's syntax
    ) -> None:
        secret = given.credentials if given is not None else ""
        if sessions is not None and (session := sessions.find(secret)) is not None:
            roles, request.state.caller, request.state.until_ms = ALL_ROLES, f"local {session.person}", session.until_ms
            request.state.session_id = session.id
        else:
            roles, request.state.caller = await _roles(secret, given_hashes, kept, world)
        if not roles:
            mend = "send Authorization: Bearer <API key>"
            raise Forbidden("this request needs a valid API key", code="unauthorized", status=401, mend=mend)
        await _admit(request, roles, world, log)

    return check


def guard_behind(gateway: Gateway, world: World, log: AuditLog | None = None) -> Guard:
    """Returns a dependency that accepts a request of a caller to whom `gateway` gives the role of the route; `log` as in `guard`.
    It reads what API Gateway has added to the request; a request that did not pass an authorizer there is refused, whatever its
    route."""

    async def check(
        request: Request,
        given: HTTPAuthorizationCredentials | None = Security(_SCHEME),  # noqa: B008 - for /openapi.json
    ) -> None:
        request.state.caller = _principal(request)
        headers = request.headers.getlist("authorization")
        await _admit(request, gateway(_authorizer(request), headers, world.clock.now_ms()), world, log)

    return check


def _authorizer(request: Request) -> Mapping[str, Any]:
    """What the authorizer of API Gateway says of the caller; empty without one. No header can contain it."""
    found: Any = request.scope.get("aws.event")
    for name in ("requestContext", "authorizer"):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


async def _admit(request: Request, roles: frozenset[Role], world: World, log: AuditLog | None) -> None:
    """A caller without the role is known, and what they tried is recorded, whatever the method. An entry that cannot be stored
    changes nothing: the request is refused."""
    name = request.scope["route"].name
    wanted = wanted_role(name, request.method)
    if wanted not in roles:
        if log is not None:
            refuse = partial(log.refuse, request.state.caller, name, target_of(request), source_of(request), "role_missing")
            await call(world, refuse)
        raise Forbidden(f"this request needs the role {wanted}", code="role_missing", mend="ask an admin for it")
    request.state.roles = roles


def wanted_role(route: str, method: str) -> Role:
    return ROLES.get(route, Role.READ if method in _READING else Role.ADMIN)


def may(request: Request, role: Role) -> bool:
    """Returns whether the caller has a role. Only for guarded routes."""
    return role in request.state.roles


def until_ms_of(request: Request) -> int | None:
    """Returns when the caller's token or session ends, in milliseconds; None for a caller without one. Only for guarded
    routes."""
    authorizer = _authorizer(request)
    if not authorizer.get("jwt"):
        return getattr(request.state, "until_ms", None)
    from stepless.runtime.access.bearers import expires_ms  # only where tokens are used

    return expires_ms(authorizer, request.headers.getlist("authorization"))


async def _roles(secret: str, given_hashes: list[str], kept: ApiKeys, world: World) -> tuple[frozenset[Role], str]:
    """The roles of a key, none for an unknown key, and its name for the audit log."""
    matches = [hmac.compare_digest(hashed(secret), key) for key in given_hashes]  # compares all, for constant time
    if any(matches):
        return ALL_ROLES, f"configured key {hashed(secret)[:15]}"  # the beginning of its hash, by which an operator finds it
    key = await call(world, partial(kept.find, secret)) if secret else None
    return (key.may, f"key {key.id} {key.name}") if key is not None else (frozenset(), "")


async def _open(request: Request) -> None:
    if request.method not in _READING and request.headers.get("sec-fetch-site") == "cross-site":
        message = "a page of another site may not change anything here"
        raise Forbidden(message, code="cross_site", mend="use an API key, or send the request from outside a browser")
    request.state.roles = ALL_ROLES
    request.state.caller = _principal(request)


def _principal(request: Request) -> str:
    """The caller that the gateway has authenticated, or the user of this process."""
    context = _authorizer(request)
    claims = (context.get("jwt") or {}).get("claims") or {}
    if isinstance(claims, Mapping) and claims:
        name = next((claims[name] for name in ("email", "preferred_username", "client_id") if claims.get(name)), "")
        return f"jwt {claims.get('sub', '')} {name}".strip()
    if context.get("iam"):
        return f"iam {context['iam'].get('userArn', '')}"
    return f"local {local_user()}".rstrip()


def local_user() -> str:
    """Returns the user of this process; empty for a process without a user name, as in a container."""
    try:
        return getuser()
    except (OSError, KeyError, ImportError):
        return ""
