"""What a room refuses: messages, sizes, silence, and names that are data."""

from __future__ import annotations

from typing import Any

import pytest
from draft_client import Socket, op
from room_steps import ADA, BO, MakeRoom, edit, socket, ticket

from stepless.api.app import create_app

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "said",
    [
        "", "x", "[]", "1", '{"t": "hello"}', '{"v": 2, "t": "hello"}', '{"v": 1, "t": "op"}', '{"v": 1, "t": "ping"}',
        '{"v": 1, "t": "hello"}', '{"v": 1, "t": "hello", "client": "c", "after": -1, "epoch": 1}',
        '{"v": 1, "t": "hello", "client": "c", "after": true, "epoch": 1}',
        '{"v": 1, "t": "hello", "client": "", "after": 0, "epoch": 1}',
        '{"v": 1, "t": "hello", "client": "%s", "after": 0, "epoch": 1}' % ("c" * 65),
        '{"v": 1, "t": "hello", "client": "c", "after": 1%s, "epoch": 1}' % ("0" * 60),
        "[" * 20_000,
    ],
)  # fmt: skip
async def test_what_is_no_hello_is_refused(room: Any, said: str) -> None:
    async with await socket(room) as ada:
        ada.say_text(said)
        code, why = await ada.closed()
        assert code == 4400 and why


@pytest.mark.parametrize(
    "said",
    [
        '{"v": 1, "t": "unheard"}', '{"v": 1, "t": "at", "cursor": NaN}', '{"v": 1, "t": "at", "cursor": 1e999}',
        '{"v": 1, "t": "at", "at": "\\ud800"}', '{"v": 1, "t": {"t": 1}}', '{"v": 1, "t": "op", "v": 1}',
        '{"v": 1, "t": "op", "n": 1, "tag": "t", "base": 0, "gestures": [{"writes": [["set", "doc", ["name"]]]}]}',
        '{"v": 1, "t": "op", "n": 1, "tag": "t", "base": 0, "gestures": []}',
    ],
)
async def test_what_is_malformed_closes_its_own_socket_only(room: Any, said: str) -> None:
    async with await socket(room) as ada, await socket(room) as bo:
        await ada.enter(ADA)
        await bo.enter(BO)
        ada.say_text(said)
        assert (await ada.closed())[0] == 4400
        bo.say("ping")
        await bo.hear("pong")


async def test_bytes_are_refused(room: Any) -> None:
    async with await socket(room) as ada:
        ada.say_bytes(b"{}")
        assert (await ada.closed())[0] == 4400


@pytest.mark.parametrize("size", [31_000, 1_000_000])
async def test_a_message_that_is_too_large_closes_the_socket(room: Any, size: int) -> None:
    async with await socket(room) as ada:
        await ada.enter(ADA)
        ada.say_text("é" * (size // 2))
        assert (await ada.closed())[0] == 4413


async def test_silence_ends_and_a_first_message_is_waited_for_less_long(make_room: MakeRoom) -> None:
    room = await make_room(hello_ms=20)
    async with await socket(room) as ada:
        assert (await ada.closed())[0] == 1000
    room = await make_room(silent_ms=20)
    async with await socket(room) as ada:
        await ada.enter(ADA)
        assert (await ada.closed())[0] == 1000


async def test_a_draft_that_is_not_there_and_an_epoch_that_is_over_are_not_entered(room: Any) -> None:
    async with Socket(room.app, f"/drafts/none/room?ticket={await ticket(room, 'none')}") as ada:
        ada.say("hello", client=ADA, after=0, epoch=1)
        assert (await ada.closed())[0] == 4409
    async with await socket(room) as ada:
        ada.say("hello", client=ADA, after=0, epoch=7)
        assert (await ada.closed())[0] == 4409


@pytest.mark.parametrize("verb", ["replace", "discard"])
async def test_everyone_in_a_draft_that_is_replaced_or_discarded_is_closed(room: Any, verb: str) -> None:
    async with await socket(room) as ada, await socket(room) as bo:
        await ada.enter(ADA)
        await bo.enter(BO)
        if verb == "replace":
            assert (await room.ask.post("/drafts/w", json={"from": "empty"})).json()["epoch"] == 2
        else:
            assert (await room.ask.delete("/drafts/w")).json() == {"workflow": "w", "epoch": 1}
        for one in (ada, bo):
            assert await one.closed() == (4409, "the draft was replaced or discarded")


async def test_an_op_into_a_draft_that_another_process_replaced_is_answered_and_closes_the_others(room: Any) -> None:
    async with await socket(room) as ada, await socket(room) as bo:
        await ada.enter(ADA)
        await bo.enter(BO)
        other = create_app(room.local.service, api_keys=None)
        rooms = other.state.draft_editing
        rooms.drafts.discard("w", "elsewhere")
        edit(ada, 1, "hers")
        assert (await ada.hear("answer"))["code"] == "replaced"
        assert (await ada.closed())[0] == (await bo.closed())[0] == 4409


@pytest.mark.parametrize("step", ["__proto__", "constructor", "prototype", "<img src=x onerror=alert(1)>", "\u0000", "a.b", ""])
async def test_names_of_any_kind_are_data(room: Any, step: str) -> None:
    written = [["set", "doc", ["variables"], {}], ["set", "doc", ["variables", step], {step: "</script>"}]]
    answer = await room.ask.put("/drafts/w/ops", json=op(1, 1, written))
    assert answer.status_code == 200, answer.text
    draft = (await room.ask.get("/drafts/w")).json()
    assert draft["entities"]["doc"]["variables"] == {step: {step: "</script>"}}
    assert (await room.ask.get("/drafts/w/document")).json()["document"]["variables"] == {step: {step: "</script>"}}
    assert (await room.ask.get("/drafts/w/findings")).status_code == 200
