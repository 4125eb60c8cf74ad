"""Sessions of `stepless dev`: they are named, listed and can be ended, and no guest takes a name that is in use."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.adapters.memory.clock import SettableClock
from stepless.adapters.memory.store import MemoryStore
from stepless.api.routes.console import Codes
from stepless.errors import Conflict, LimitExceeded, NotFound
from stepless.limits import CONSOLE_SESSION_LIFE_MS, MAX_CONSOLE_SESSIONS
from stepless.runtime.access.current_roles import Standing
from stepless.runtime.access.roles import Role
from stepless.runtime.access.sessions import Sessions
from stepless.runtime.access.tickets import Visitor
from stepless.runtime.access.tokens import Key, Signer

pytestmark = pytest.mark.anyio
SIGNER = Signer([Key("k1", b"one")])


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def sessions(store: MemoryStore, clock: SettableClock) -> Sessions:
    return Sessions(SIGNER, store, clock, owner="root")


@pytest.fixture
async def site(make_door: Any, sessions: Sessions, clock: SettableClock) -> Any:
    return await make_door(development=True, codes=Codes(sessions, clock))


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


async def joined(site: Any, owner: dict[str, str], name: str) -> Any:
    code = (await site.stranger.post("/console/invitations", headers=owner)).json()["code"]
    return await site.stranger.post("/console/session", json={"code": code, "name": name})


async def test_sessions_are_listed_and_can_be_ended(site: Any, sessions: Sessions) -> None:
    owner = bearer(sessions.issue("root"))
    guest = bearer((await joined(site, owner, "Bo")).json()["token"])
    listed = (await site.stranger.get("/console/sessions", headers=owner)).json()["sessions"]
    assert [(each["person"], each["guest"], each["own"]) for each in listed] == [("root", False, True), ("Bo", True, False)]
    ended = await site.stranger.delete(f"/console/sessions/{listed[1]['id']}", headers=owner)
    assert [each["person"] for each in ended.json()["sessions"]] == ["root"]
    assert (await site.stranger.get("/me", headers=guest)).status_code == 401
    again = await site.stranger.delete(f"/console/sessions/{listed[1]['id']}", headers=owner)
    assert (again.status_code, again.json()["code"]) == (404, "unknown_session")
    (entry, *_) = (await site.ask.get("/audit?verb=end_session")).json()["entries"][1:]
    assert (entry["who"], entry["target"]) == ("local root", listed[1]["id"])


async def test_signing_out_ends_the_callers_own_session(site: Any, sessions: Sessions) -> None:
    own, other = bearer(sessions.issue("root")), bearer(sessions.issue("root"))
    assert (await site.stranger.delete("/console/sessions/own", headers=own)).status_code == 200
    assert (await site.stranger.get("/me", headers=own)).status_code == 401
    assert (await site.stranger.get("/me", headers=other)).status_code == 200
    by_key = await site.ask.delete("/console/sessions/own")
    assert (by_key.status_code, by_key.json()["code"]) == (404, "unknown_session")


@pytest.mark.parametrize("name", ["Bo", " bo ", "B\u200bo", "\uff22\uff4f", "BO", "root", "Root"])
async def test_a_guest_cannot_take_a_name_in_use(site: Any, sessions: Sessions, name: str) -> None:
    owner = bearer(sessions.issue("ada"))
    assert (await joined(site, owner, "Bo")).status_code == 200
    code = (await site.stranger.post("/console/invitations", headers=owner)).json()["code"]
    refused = await site.stranger.post("/console/session", json={"code": code, "name": name})
    assert (refused.status_code, refused.json()["code"]) == (409, "name_taken")
    taken = await site.stranger.post("/console/session", json={"code": code, "name": "Cy"})
    assert taken.status_code == 200, "the code is good until a name is taken"


async def test_a_name_is_free_again_once_its_session_is_over(sessions: Sessions, clock: SettableClock) -> None:
    sessions.issue("Bo", guest=True)
    with pytest.raises(Conflict):
        sessions.issue("bo", guest=True)
    sessions.end(sessions.list()[0].id)
    sessions.issue("bo", guest=True)
    clock.advance(CONSOLE_SESSION_LIFE_MS)
    assert sessions.list() == ()
    sessions.issue("BO", guest=True)


async def test_guests_without_a_name_get_one_each(sessions: Sessions) -> None:
    for _ in range(3):
        sessions.issue("", guest=True)
    assert [each.person for each in sessions.list()] == ["guest", "guest 2", "guest 3"]


async def test_sessions_outlive_the_process_and_are_bounded(sessions: Sessions, store: MemoryStore, clock: SettableClock) -> None:
    token = sessions.issue("root")
    later = Sessions(SIGNER, store, clock, owner="root")
    found = later.find(token)
    assert found is not None and found.person == "root"
    later.end(found.id)
    assert sessions.find(token) is None
    with pytest.raises(NotFound):
        sessions.end(found.id)
    for _ in range(MAX_CONSOLE_SESSIONS):
        sessions.issue("root")
    with pytest.raises(LimitExceeded):
        sessions.issue("root")


async def test_who_is_in_a_draft_leaves_when_the_session_is_ended(sessions: Sessions, site: Any, clock: SettableClock) -> None:
    sessions.issue("Bo", guest=True)
    (session,) = sessions.list()
    standing = Standing(kept=None, configured=(), clock=clock, fresh_ms=0, sessions=sessions)  # type: ignore[arg-type]  # no key
    visitor = Visitor("w", "local Bo", frozenset({Role.EDIT}), session.id, session.until_ms)
    assert standing.roles(visitor) == {Role.EDIT}
    sessions.end(session.id)
    assert standing.roles(visitor) == frozenset()
