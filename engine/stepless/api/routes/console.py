"""Serves the console: a page and its files, the same for everyone. Its script asks the API with the viewer's token."""

from __future__ import annotations

import gzip
import hmac
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath
from secrets import token_urlsafe
from typing import Final
from urllib.parse import quote

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import RedirectResponse, Response
from typing_extensions import TypedDict

from stepless.api.bodies import documented_body, read_model
from stepless.api.pages.answer_page import COMMON_HEADERS
from stepless.api.problems import documented
from stepless.api.replies import instant, reply
from stepless.api.requests import Body
from stepless.api.site import Site, connections
from stepless.errors import Forbidden, NotFound
from stepless.limits import CONSOLE_CODE_LIFE_MS, MAX_CONSOLE_CODES, MAX_PERSON_CHARACTERS, MAX_TOKEN_CHARACTERS
from stepless.ports import Clock
from stepless.runtime.access.login import Discovery, unreachable
from stepless.runtime.access.sessions import Session, Sessions

_TYPES: Final = {
    ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml", ".json": "application/json",
}
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; worker-src 'self'; "
    "connect-src {}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {**COMMON_HEADERS, "vary": "Accept-Encoding"}
_FOREVER: Final = "public, max-age=31536000, immutable"  # the name of such a file has the hash of its content


class Codes:
    """Codes that open the console, each good once: the one in the address that `stepless dev` prints, and those of invitations.
    A code is exchanged for the token of a session."""

    def __init__(self, sessions: Sessions, clock: Clock) -> None:
        self.sessions = sessions
        self._clock = clock
        self._known: dict[str, tuple[int, str]] = {}

    def issue(self, person: str = "") -> str:
        """Returns a code for `person`; without one it is for a guest, who says who they are."""
        while len(self._known) >= MAX_CONSOLE_CODES:
            self._known.pop(next(iter(self._known)))
        code = token_urlsafe(16)
        self._known[code] = (self._clock.now_ms() + CONSOLE_CODE_LIFE_MS, person)
        return code

    def exchange(self, code: str, name: str = "") -> str:
        """Returns the token of a session. `name` is that of a guest. Raises `Forbidden` (invalid_code), and what `Sessions.issue`
        raises: the code is then still good."""
        found = next((known for known in self._known if hmac.compare_digest(known.encode(), code.encode())), None)
        until_ms, person = self._known[found] if found is not None else (0, "")
        if found is None or self._clock.now_ms() >= until_ms:
            mend = "open the address that `stepless dev` printed last, or ask for another invitation"
            raise Forbidden("the code is not valid any more", code="invalid_code", status=401, place="code", mend=mend)
        token = self.sessions.issue(person or name, guest=not person)
        del self._known[found]
        return token


class SessionBody(Body):
    code: str = Field(min_length=1, max_length=MAX_TOKEN_CHARACTERS)
    name: str = Field(
        "", max_length=MAX_PERSON_CHARACTERS, pattern=r"^[^\x00-\x1f\x7f]*$", description="Who opens it, as colleagues see it",
    )  # fmt: skip


class SessionOut(TypedDict):
    token: str


class OneSessionOut(TypedDict):
    """`guest` says that the person named themselves, after an invitation; `own` that it is the caller's."""

    id: str
    person: str
    guest: bool
    own: bool
    began_at: str
    ends_at: str


class SessionsOut(TypedDict):
    sessions: list[OneSessionOut]


class InvitationOut(TypedDict):
    code: str


class LoginOut(TypedDict):
    """Where and how a page signs in, with the authorization code flow and PKCE. The token to use is one that is meant for one of
    the `audiences`. `end_session` is where the page goes after signing out, null where the issuer does not offer that."""

    issuer: str
    client_id: str
    audiences: list[str]
    scope: str
    authorize: str
    token: str
    end_session: str | None


class SettingsOut(TypedDict):
    """`drafts` says whether workflows can be edited on this server. `login` is null where people sign in with an API key or a
    token, or with the code that `stepless dev` prints; `socket` is null where the rooms of drafts are on this server.
    `invitations` says whether an admin can let one more person in with a link."""

    drafts: bool
    invitations: bool
    login: LoginOut | None
    socket: str | None


def add_routes(
    router: APIRouter, codes: Codes | None, site: Site, discovery: Discovery | None, given: Mapping[str, bytes] | None = None
) -> None:
    """`discovery` is that of the site's login. `given` are files by path, instead of those of this release."""
    packed: dict[str, bytes] = {}

    @router.get(
        "/console/settings", summary="Settings of the console", response_model=SettingsOut, responses=documented(503),
        tags=["console"],
    )  # fmt: skip
    async def read_console_settings() -> Response:
        """What the page of the console needs before anyone has signed in. Nothing of it is secret."""
        login = await discovery.settings() if discovery is not None else None
        if site.login is not None and login is None:
            raise unreachable(site.login)
        return reply({
            "drafts": site.drafts, "invitations": codes is not None, "login": login, "socket": site.socket or None,
        })  # fmt: skip

    @router.get(
        "/runs/{run_id}/view", summary="Watch a run", status_code=307, responses=documented(), response_class=RedirectResponse,
        response_description="Leads to the run in the console", tags=["runs"],
    )  # fmt: skip
    def watch_run(run_id: str) -> Response:
        """Leads to the run in the console, which shows its live graph, timeline, values and events. It asks for an API key, a
        token or a login if one is needed."""
        headers = {**COMMON_HEADERS, "cache-control": "no-cache"}
        return RedirectResponse(f"/console/runs/{quote(run_id, safe='')}", 307, headers)

    @router.get("/console", include_in_schema=False)
    def redirect_to_console() -> Response:
        return RedirectResponse("/console/", 308)

    @router.get("/console/{path:path}", include_in_schema=False)
    async def read_console(path: str, request: Request) -> Response:
        """A file of the console; the page itself for every address inside it."""
        known = _names() if given is None else given
        name = path if path in known or PurePosixPath(path).suffix else "index.html"
        content = known.get(name)
        if content is None:
            raise NotFound("there is no such file", code="not_found", mend="open /console/")
        headers = {**_HEADERS, "cache-control": _FOREVER if name.startswith("assets/") else "no-cache"}
        login = await discovery.settings() if discovery is not None and name == "index.html" else None
        headers["content-security-policy"] = _POLICY.format(connections(site.socket, login))
        if "gzip" in request.headers.get("accept-encoding", ""):
            if name not in packed:
                packed[name] = gzip.compress(content, 9, mtime=0)
            content, headers["content-encoding"] = packed[name], "gzip"
        return Response(content, 200, headers, _TYPES.get(PurePosixPath(name).suffix, "application/octet-stream"))

    if codes is not None:
        @router.post(
            "/console/session", summary="Open the console", response_model=SessionOut, openapi_extra=documented_body(SessionBody),
            responses=documented(400, 401, 409, 413, 415, 422), tags=["console"],
        )
        async def open_console(request: Request) -> Response:
            """Exchanges the code in the address that `stepless dev` prints for a bearer token. A code is good once, for ten
            minutes."""
            body = await read_model(request, SessionBody)
            return reply({"token": codes.exchange(body.code, body.name.strip())})


def add_inviting(router: APIRouter, codes: Codes) -> None:
    @router.post(
        "/console/invitations", summary="Invite to the console", response_model=InvitationOut, responses=documented(401, 403),
        tags=["console"],
    )
    async def invite_to_console() -> Response:
        """Returns a code that opens the console for one more person: `/console/#code=CODE&invited`. It is good once, for ten
        minutes."""
        return reply({"code": codes.issue()})

    @router.get(
        "/console/sessions", summary="List sessions of the console", response_model=SessionsOut, responses=documented(401, 403),
        tags=["console"],
    )  # fmt: skip
    def list_sessions(request: Request) -> Response:
        """Lists who has the console open, oldest first."""
        return reply({"sessions": [_session(each, request) for each in codes.sessions.list()]})

    @router.delete(
        "/console/sessions/{session_id}", summary="End a session of the console", response_model=SessionsOut,
        responses=documented(401, 403, 404), tags=["console"],
    )  # fmt: skip
    def end_session(session_id: str, request: Request) -> Response:
        """Ends a session: its token is refused from now on. `own` stands for the caller's. Returns the sessions that are left."""
        codes.sessions.end(getattr(request.state, "session_id", "") if session_id == "own" else session_id)
        return reply({"sessions": [_session(each, request) for each in codes.sessions.list()]})


def _session(session: Session, request: Request) -> OneSessionOut:
    return {
        "id": session.id, "person": session.person, "guest": session.guest,
        "own": session.id == getattr(request.state, "session_id", None), "began_at": str(instant(session.began_ms)),
        "ends_at": str(instant(session.until_ms)),
    }  # fmt: skip


@lru_cache(1)
def _names() -> dict[str, bytes]:
    """All files of the console, by their path: what a request asks for is looked up here, never on the disk."""
    found: dict[str, bytes] = {}
    waiting: list[tuple[str, Traversable]] = [("", files("stepless.api") / "console")]
    while waiting:
        prefix, folder = waiting.pop()
        for entry in folder.iterdir():
            if entry.is_dir():
                waiting.append((f"{prefix}{entry.name}/", entry))
            else:
                found[prefix + entry.name] = entry.read_bytes()
    return found
