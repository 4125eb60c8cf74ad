"""A store out of reach, faults of the server, and the checkpoints of a room."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from draft_client import op, renames, until
from room_steps import ADA, MakeRoom, edit, socket

from stepless.api.app import create_app
from stepless.drafts.log.entries import LogEntry
from stepless.drafts.sessions.bounds import Bounds
from stepless.errors import StoreUnavailable
from stepless.limits import CHECKPOINT_ITEMS
from stepless.ports import Draft

pytestmark = pytest.mark.anyio


async def test_a_store_out_of_reach_makes_an_op_busy_and_keeps_the_socket(room: Any) -> None:
    async with await socket(room) as ada:
        await ada.enter(ADA)
        room.drafts.trouble = StoreUnavailable("the store is out of reach")
        edit(ada, 1, "hers")
        answer = await ada.hear("answer")
        assert answer["code"] == "busy" and answer["retry_after_ms"] > 0
        room.drafts.trouble = None
        edit(ada, 1, "hers")
        assert (await ada.hear("item"))["item"]["seq"] == 1


async def test_a_store_out_of_reach_closes_a_socket_that_reads(room: Any) -> None:
    async with await socket(room) as ada:
        await ada.enter(ADA)
        room.drafts.trouble = StoreUnavailable("the store is out of reach")
        ada.say("pull", after=0)
        assert (await ada.closed())[0] == 1013
        room.drafts.trouble = None


async def test_a_fault_of_ours_is_logged_and_closes_the_socket(room: Any, caplog: Any) -> None:
    async with await socket(room) as ada:
        await ada.enter(ADA)
        room.drafts.trouble = ZeroDivisionError("a fault")
        edit(ada, 1, "hers")
        code, why = await ada.closed()
        room.drafts.trouble = None
        assert code == 1011 and why.rpartition(" ")[2] in caplog.text and "a fault" not in why


async def test_upkeep_that_fails_is_logged_and_fails_no_edit(room: Any, caplog: Any) -> None:
    answer = await room.ask.put("/drafts/w/ops", json=op(1, 1, renames("x")))
    assert answer.json()["item"]["seq"] == 1
    await until(lambda: room.app.state.draft_editing._idle)
    room.drafts.trouble = ZeroDivisionError("a fault")
    await room.app.state.draft_editing.close()
    room.drafts.trouble = None
    assert "the draft of w could not be checked" in caplog.text and "a fault" in caplog.text


def checked(room: Any) -> int:
    return int(room.local.world.drafts.get_head("w").checked)


async def test_a_draft_is_checked_some_time_after_its_last_item(make_room: MakeRoom) -> None:
    room = await make_room(idle_ms=5)
    await room.ask.put("/drafts/w/ops", json=op(1, 1, renames("two"), client="curl"))
    await until(lambda: checked(room) == 1)


async def test_a_draft_is_checked_when_the_last_person_leaves_and_at_the_end(make_room: MakeRoom) -> None:
    room = await make_room(idle_ms=3_600_000)
    rooms = room.app.state.draft_editing
    async with await socket(room) as ada:
        await ada.enter(ADA)
        edit(ada, 1, "one")
        await ada.hear("item")
        await until(lambda: rooms._idle)
        assert checked(room) == 0
    await until(lambda: checked(room) == 1)
    await room.ask.put("/drafts/w/ops", json=op(1, 1, renames("two"), client="curl", base=1))
    await until(lambda: rooms._idle)
    await rooms.close()
    assert checked(room) == 2 and not rooms._idle and not rooms._tasks


async def test_what_an_earlier_process_left_unchecked_is_checked_at_the_start(make_room: MakeRoom) -> None:
    room = await make_room(idle_ms=0)
    elsewhere = create_app(room.local.service, api_keys=None).state.draft_editing.drafts
    made = elsewhere.submit(Draft("w", 1), op(1, 1, renames("x")), "ada")
    assert isinstance(made, LogEntry) and checked(room) == 0
    sweeping = asyncio.create_task(room.app.state.draft_editing.sweep())
    await until(lambda: checked(room) == 1)
    sweeping.cancel()
    await asyncio.wait({sweeping})


async def test_where_the_process_may_freeze_a_checkpoint_is_made_before_the_response(make_door: Any) -> None:
    door = await make_door(session_bounds=Bounds(ops_per_s=10_000, session_ops_per_s=10_000))
    await door.ask.post("/drafts/w", json={"from": "empty"})
    for n in range(1, CHECKPOINT_ITEMS + 1):
        assert checked(door) == 0
        await door.ask.put("/drafts/w/ops", json=op(1, n, renames(str(n)), base=n - 1))
    assert checked(door) == CHECKPOINT_ITEMS and not door.app.state.draft_editing._idle


async def test_nothing_is_left_of_those_who_left(room: Any) -> None:
    for _ in range(3):
        async with await socket(room) as ada:
            await ada.enter(ADA)
    rooms = room.app.state.draft_editing
    assert not rooms._listeners
    follows = asyncio.create_task(room.ask.get("/drafts/w/ops?epoch=1&wait=20"))
    await until(lambda: rooms._listeners)
    await room.ask.put("/drafts/w/ops", json=op(1, 1, renames("x")))
    assert [item["seq"] for item in (await follows).json()["items"]] == [1]
    assert not rooms._listeners
