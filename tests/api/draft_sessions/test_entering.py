"""Who may enter the room of a draft, and who is closed."""

from __future__ import annotations

from typing import Any

import pytest
from draft_client import Socket
from room_steps import ADA, BO, MakeRoom, edit, key, socket, ticket

from stepless.adapters.memory.clock import SettableClock
from stepless.adapters.memory.store import MemoryStore
from stepless.api.routes.console import Codes
from stepless.errors import StoreUnavailable
from stepless.limits import CONSOLE_SESSION_LIFE_MS, TICKET_LIFE_MS
from stepless.runtime.access.roles import Role
from stepless.runtime.access.sessions import Sessions
from stepless.runtime.access.tickets import Tickets
from stepless.runtime.access.tokens import Key, Signer

pytestmark = pytest.mark.anyio


async def test_a_socket_needs_a_ticket_of_this_draft_that_was_not_spent(room: Any) -> None:
    spent = await ticket(room)
    async with Socket(room.app, f"/drafts/w/room?ticket={spent}") as first:
        assert first.status == 101
        for address in ("/drafts/w/room", f"/drafts/w/room?ticket={spent}", f"/drafts/w/room?ticket={await ticket(room, 'v')}"):
            async with Socket(room.app, address) as refused:
                assert (refused.status, refused.problem["code"], refused.problem["place"]) == (401, "invalid_ticket", "ticket")
                assert refused.problem["mend"]


async def test_a_ticket_opens_no_socket_once_its_minute_is_over(room: Any) -> None:
    world = room.local.service.world
    now_ms = world.clock.now_ms()
    for age_ms, outcome in ((TICKET_LIFE_MS - 20_000, (101, None)), (TICKET_LIFE_MS, (401, "invalid_ticket"))):
        issuer = Tickets(room.local.service.signer, world.store, SettableClock(now_ms - age_ms))
        async with Socket(room.app, f"/drafts/w/room?ticket={issuer.issue('w', 'ada', {Role.EDIT})}") as seat:
            assert (seat.status, seat.problem.get("code")) == outcome


@pytest.mark.parametrize(("left_ms", "heard"), [(60_000, "welcome"), (0, "closing")])
async def test_a_session_that_is_over_ends_its_sockets(make_door: Any, left_ms: int, heard: str) -> None:
    """The session is still valid where the ticket is asked for: the clock there is behind that of the room."""
    clock = SettableClock(0)
    sessions = Sessions(Signer([Key("k1", b"one")]), MemoryStore(), clock, owner="root")
    room = await make_door(development=True, codes=Codes(sessions, clock))
    assert (await room.ask.post("/drafts/w", json={"from": "empty"})).status_code == 200
    clock.set(room.local.service.world.clock.now_ms() + left_ms - CONSOLE_SESSION_LIFE_MS)
    async with await socket(room, authorization=f"Bearer {sessions.issue('ada')}") as ada:
        ada.say("hello", client=ADA, tab="t", after=0, epoch=1)
        told = await ada.hear(heard)
        assert (told.get("person"), told.get("code")) in (("local ada", None), (None, 4401))
    await room.app.state.draft_editing.close()


async def test_a_ticket_that_cannot_be_looked_up_is_a_problem_too(room: Any) -> None:
    given = await ticket(room)
    room.store.trouble = StoreUnavailable("the store is out of reach")
    async with Socket(room.app, f"/drafts/w/room?ticket={given}") as refused:
        assert (refused.status, refused.problem["code"]) == (503, "store_unavailable")
    room.store.trouble = None


async def test_a_reader_sees_and_does_not_edit(room: Any) -> None:
    reader = await key(room, "reader", "read")
    async with await socket(room, **reader) as ada:
        welcome = await ada.enter(ADA)
        assert (welcome["person"], welcome["edit"]) == (f"key {reader['id']} reader", False)
        edit(ada, 1, "hers")
        assert await ada.hear("answer") == {"v": 1, "t": "answer", "n": 1, "tag": "c-1", "code": "forbidden"}
        assert (await room.ask.get("/drafts/w")).json()["seq"] == 0


async def test_an_editor_whose_key_is_removed_is_closed_without_a_word_from_them(make_room: MakeRoom) -> None:
    room = await make_room(role_fresh_ms=20)
    editor = await key(room, "editor", "edit")
    async with await socket(room, **editor) as ada:
        await ada.enter(ADA)
        edit(ada, 1, "hers")
        assert (await ada.hear("item"))["item"]["by"] == f"key {editor['id']} editor"
        await room.ask.delete(f"/keys/{editor['id']}")
        assert await ada.closed() == (4403, "the API key was removed")


async def test_the_client_of_another_person_is_refused(room: Any) -> None:
    eve = await key(room, "eve", "edit")
    async with await socket(room) as ada, await socket(room, **eve) as copy:
        await ada.enter(ADA)
        edit(ada, 1, "hers")
        await ada.hear("item")
        copy.say("hello", client=ADA, tab="t", after=0, epoch=1)
        assert (await copy.closed())[0] == 4403
        ada.say("ping")
        await ada.hear("pong")
    async with await socket(room, **eve) as copy:  # ada has left, and the log knows her client
        await copy.enter(ADA, after=1)
        edit(copy, 2, "eve's", base=1, tag="eve")
        assert (await copy.hear("answer"))["code"] == "forked"


async def test_a_client_that_connects_again_takes_its_seat(room: Any) -> None:
    async with await socket(room) as first, await socket(room) as bo, await socket(room) as again:
        await first.enter(ADA)
        await bo.enter(BO)
        await again.enter(ADA)
        assert (await first.closed())[0] == 1000
        again.say("at", field="x")
        assert (await bo.hear("at"))["at"] == {"field": "x"}
        again.say("ping")
        await again.hear("pong")


async def test_a_room_has_a_number_of_people(make_room: MakeRoom) -> None:
    room = await make_room(people=1)
    async with await socket(room) as ada, await socket(room) as bo:
        await ada.enter(ADA)
        bo.say("hello", client=BO, tab="t", after=0, epoch=1)
        assert (await bo.closed())[0] == 4429
    async with await socket(room) as bo:  # ada has left
        await bo.enter(BO)
