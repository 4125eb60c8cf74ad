"""The files of the console, and the code that opens it."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.adapters.memory.clock import SettableClock
from stepless.adapters.memory.store import MemoryStore
from stepless.api.replies import instant
from stepless.api.routes.console import Codes
from stepless.api.site import Site
from stepless.limits import CONSOLE_CODE_LIFE_MS, CONSOLE_SESSION_LIFE_MS, MAX_CONSOLE_CODES
from stepless.runtime.access.sessions import Sessions
from stepless.runtime.access.tokens import Key, Signer

pytestmark = pytest.mark.anyio

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; worker-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
FILES = {"index.html": b"<!doctype html>" + b" " * 999, "assets/a-1f.js": b"1", "assets/a-1f.css": b"a{}"}


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(1_700_000_000_000)


@pytest.fixture
def codes(clock: SettableClock) -> Codes:
    return Codes(Sessions(Signer([Key("k1", b"one")]), MemoryStore(), clock, owner="root"), clock)


@pytest.fixture
async def built(make_door: Any, codes: Codes) -> Any:
    return await make_door(development=True, codes=codes, console_files=FILES)


async def exchange(door: Any, code: str, **more: str) -> tuple[int, dict[str, Any]]:
    answer = await door.stranger.post("/console/session", json={"code": code, **more})
    return answer.status_code, answer.json()


async def test_a_code_is_exchanged_once_within_its_time(built: Any, codes: Codes, clock: SettableClock) -> None:
    assert (await exchange(built, "guess"))[0] == 401
    code = codes.issue()
    status, problem = await exchange(built, code + "x")
    assert (status, problem["code"], problem["place"]) == (401, "invalid_code", "code") and problem["mend"]
    status, answer = await exchange(built, code)
    session = codes.sessions.find(answer["token"])
    assert status == 200 and session is not None
    assert (session.person, session.until_ms) == ("guest", clock.now_ms() + CONSOLE_SESSION_LIFE_MS)
    me = (await built.stranger.get("/me", headers={"authorization": f"Bearer {answer['token']}"})).json()
    assert (me["caller"], me["ends_at"]) == ("local guest", instant(session.until_ms))
    assert (await exchange(built, code))[1]["code"] == "invalid_code"
    late = codes.issue()
    clock.advance(CONSOLE_CODE_LIFE_MS)
    assert (await exchange(built, late))[1]["code"] == "invalid_code"
    former, *others = (codes.issue() for _ in range(MAX_CONSOLE_CODES + 1))
    assert (await exchange(built, former))[0] == 401
    assert [(await exchange(built, other))[0] for other in others] == [200] * MAX_CONSOLE_CODES


async def test_a_session_is_of_one_person_until_it_is_over(built: Any, codes: Codes, clock: SettableClock) -> None:
    """The first code is of the user of the process; who is invited gives a name. A token changed in one character is refused."""
    token = (await exchange(built, codes.issue("ada")))[1]["token"]
    asked = {"authorization": f"Bearer {token}"}
    invited = await built.stranger.post("/console/invitations", headers=asked)
    assert (await built.stranger.post("/console/invitations")).status_code == 401
    guest = (await exchange(built, invited.json()["code"], name=" Bo "))[1]["token"]
    for mine, person in ((token, "local ada"), (guest, "local Bo")):
        made = await built.stranger.post("/drafts/small", json={"from": "empty"}, headers={"authorization": f"Bearer {mine}"})
        assert made.json()["created_by"] == person
    changed = token[:-2] + ("A" if token[-2] != "A" else "B") + token[-1]
    for wrong in (changed, token[:30], "console.", "console.a.b.c", "console.e30."):
        assert (await built.stranger.get("/drafts", headers={"authorization": f"Bearer {wrong}"})).status_code == 401
    assert (await exchange(built, codes.issue(), name="a\nb"))[0] in (400, 422)
    clock.advance(CONSOLE_SESSION_LIFE_MS)
    assert (await built.stranger.get("/drafts", headers=asked)).status_code == 401


async def test_a_server_without_codes_has_no_such_route(door: Any) -> None:
    assert (await door.stranger.post("/console/session", json={"code": "x"})).status_code in (404, 405)


async def test_every_address_inside_is_the_page_and_hashed_files_never_change(built: Any) -> None:
    for path in ("/console/", "/console/drafts/refund-approval", "/console/runs"):
        page = await built.stranger.get(path)
        assert page.content == FILES["index.html"] and page.headers["cache-control"] == "no-cache"
        assert page.headers["content-type"] == "text/html; charset=utf-8" and page.headers["content-encoding"] == "gzip"
        assert page.headers["content-security-policy"] == POLICY
    script = await built.stranger.get("/console/assets/a-1f.js", headers={"accept-encoding": "identity"})
    assert (script.content, script.headers["content-type"]) == (b"1", "text/javascript; charset=utf-8")
    assert "immutable" in script.headers["cache-control"] and "content-encoding" not in script.headers
    assert (await built.stranger.get("/console")).headers["location"] == "/console/"


async def test_a_server_without_drafts_has_the_other_pages_and_says_it_of_a_draft(make_door: Any) -> None:
    door = await make_door(site=Site(drafts=False), console_files=FILES)
    for path in ("runs", "runs/run_1", "approvals", "errors", "workflows", "drafts/refund-approval"):
        page = await door.stranger.get(f"/console/{path}")
        assert (page.content, page.headers["content-security-policy"]) == (FILES["index.html"], POLICY)
    assert (await door.stranger.get("/console/settings")).json() == {
        "drafts": False, "invitations": False, "login": None, "socket": None,
    }
    for asked in ("GET /drafts", "GET /drafts/a", "POST /drafts/a", "PUT /drafts/a/ops", "POST /drafts/a/ticket"):
        method, path = asked.split()
        assert (await door.stranger.request(method, path)).status_code == 401
        answer = await door.ask.request(method, path)
        assert (answer.status_code, answer.json()["code"]) == (404, "no_drafts")
        assert "Console: yes" in answer.json()["mend"]
    assert not [path for path in door.app.openapi()["paths"] if path.startswith(("/drafts", "/import"))]


async def test_a_server_with_drafts_says_so(built: Any) -> None:
    assert (await built.stranger.get("/console/settings")).json() == {
        "drafts": True, "invitations": True, "login": None, "socket": None,
    }


@pytest.mark.parametrize("path", ["none.js", "..%2Fapp.py", "assets/..%2F..%2Fapp.py", "%2Fetc%2Fpasswd.txt", "assets/x.js"])
async def test_nothing_else_is_served(built: Any, path: str) -> None:
    answer = await built.stranger.get(f"/console/{path}")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
