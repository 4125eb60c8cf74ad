"""The pace of a room: a flood is answered by `rate`, and a slow reader hurts only itself."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from draft_client import op, renames
from room_steps import ADA, BO, MakeRoom, edit, socket

from stepless.drafts.log.entries import LogEntry
from stepless.limits import MAX_OPS_PER_S, MAX_PRESENCE_BYTES, MAX_SOCKET_QUEUE
from stepless.ports import Draft

pytestmark = pytest.mark.anyio


async def test_a_thousand_ops_at_once_are_answered_by_rate_and_hold_no_one_up(make_room: MakeRoom) -> None:
    room = await make_room(pace_delay_ms=0)
    async with await socket(room) as ada, await socket(room) as bo:
        await ada.enter(ADA)
        await bo.enter(BO)
        for n in range(1, 1_001):
            edit(ada, n, f"name {n}", base=0, tag=f"t{n}")
        edit(bo, 1, "his", tag="bo-1")
        await bo.hear("item", lambda message: message["item"]["client"] == BO)
        answers = [await ada.hear("answer") for _ in range(900)]
        assert {answer["code"] for answer in answers} <= {"rate", "stale"} and answers[-1]["code"] == "rate"
        assert answers[-1]["retry_after_ms"] >= 1
        committed = (await room.ask.get("/drafts/w")).json()["seq"]
        assert MAX_OPS_PER_S <= committed < 100


async def test_an_op_beside_a_flood_waits_for_few_ops_of_it(make_room: MakeRoom) -> None:
    """Counted, not timed: a thousand ops lie in the socket of one person when another one edits ten times. Of those the server
    takes at most one for each edit, so no edit waits for more than twice the work of an op."""
    room = await make_room(pace_delay_ms=2_000)
    submit, taken = room.app.state.draft_editing.submit, []

    async def counted(draft: Draft, message: Any, by: str) -> Any:
        taken.append(message["client"])
        return await submit(draft, message, by)

    room.app.state.draft_editing.submit = counted
    async with await socket(room) as ada, await socket(room) as bo:
        await ada.enter(ADA)
        await bo.enter(BO)
        for n in range(1, 1_001):
            edit(ada, n, f"name {n}", base=0, tag=f"t{n}")
        await ada.hear("answer", lambda answer: answer["code"] == "rate")
        beside = []
        for n in range(1, 11):
            before = len(taken)
            edit(bo, n, f"his {n}", base=0, tag=f"bo-{n}")
            await bo.hear("item", lambda message, n=n: message["item"]["tag"] == f"bo-{n}")
            beside.append(sum(client == ADA for client in taken[before:]))
        assert max(beside) <= 1 and len(taken) <= MAX_OPS_PER_S + 2 * len(beside) + 1
        ada.lose()


async def test_everyone_together_has_a_pace_too(make_room: MakeRoom) -> None:
    room = await make_room(session_ops_per_s=3)
    answers = [(await room.ask.put("/drafts/w/ops", json=op(1, 1, renames("x"), client=f"c{one}"))).json() for one in range(9)]
    assert [set(answer) for answer in answers[:3]] == [{"item"}] * 3
    assert answers[3]["answer"]["code"] == "rate"


async def test_one_person_with_many_clients_leaves_room_for_the_others(make_room: MakeRoom) -> None:
    room = await make_room(ops_per_s=2, session_ops_per_s=10)
    made = (await room.ask.post("/keys", json={"name": "eve", "roles": ["edit"]})).json()
    eve = {"authorization": f"Bearer {made['secret']}"}
    for n in (1, 2):
        mine = (await room.ask.put("/drafts/w/ops", json=op(1, n, renames(f"ada {n}"), client="ada", base=(n - 1) * 9))).json()
        assert "item" in mine, "an edit of another person is committed beside the flood"
        if n == 1:
            flood = [op(1, 1, renames("eve"), client=f"eve-{one}") for one in range(40)]
            answers = [(await room.stranger.put("/drafts/w/ops", json=one, headers=eve)).json() for one in flood]
            codes = {answer["answer"]["code"] for answer in answers if "answer" in answer}
            assert codes == {"rate"} and sum("item" in answer for answer in answers) >= 8


async def test_presence_beyond_its_pace_or_size_is_left_out(room: Any) -> None:
    async with await socket(room) as ada, await socket(room) as bo:
        await ada.enter(ADA)
        await bo.enter(BO)
        ada.say("at", selection="x" * MAX_PRESENCE_BYTES)
        for place in range(100):
            ada.say("at", cursor=place)
        edit(ada, 1, "hers")
        seen = []
        while not any(message["t"] == "item" for message in seen):
            seen.append(await bo.message())
        cursors = [message["at"]["cursor"] for message in seen if message["t"] == "at"]
        assert cursors[:3] == [0, 1, 2] and 20 < len(cursors) < 60


async def test_a_client_that_does_not_read_is_given_up_and_hurts_no_one(make_room: MakeRoom) -> None:
    room = await make_room(close_ms=20)
    async with await socket(room) as ada, await socket(room) as deaf:
        await ada.enter(ADA)
        await deaf.enter("deaf")
        await deaf.hear("items")
        deaf.read_nothing()
        rooms, draft = room.app.state.draft_editing, Draft("w", 1)
        item = LogEntry(1, "x", 1, "t", "p", 1, [["set", "doc", ["name"], "x"]])
        for _ in range(MAX_SOCKET_QUEUE + 10):
            rooms.pass_on(draft, item)
            await asyncio.sleep(0)
        assert (await ada.hear("who", lambda who: not who["joined"]))["client"] == "deaf"
        await deaf.ended()
        assert len(rooms._listeners["w"]) == 1
