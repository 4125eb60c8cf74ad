"""The room of a draft: sockets that edit it at once, what each hears, and what is refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from draft_client import Socket, op, renames, until

from stepless.api.app import create_app
from stepless.errors import StoreUnavailable
from stepless.limits import CHECKPOINT_ITEMS, MAX_OPS_PER_S, MAX_PRESENCE_BYTES, MAX_SOCKET_QUEUE
from stepless.ports import Draft
from stepless.runtime.drafts.items import Item
from stepless.runtime.rooms.bounds import Bounds

pytestmark = pytest.mark.anyio

ADA, BO = "ada", "bo"


MakeRoom = Callable[..., Awaitable[Any]]


@pytest.fixture
async def make_room(make_door: Any) -> AsyncIterator[MakeRoom]:
    """Makes a server with an open draft, with the given bounds."""
    made = []

    async def make(**bounds: Any) -> Any:
        door = await make_door(development=True, room_bounds=Bounds(**bounds))
        made.append(door)
        assert (await door.ask.post("/drafts/w", json={"from": "empty"})).status_code == 200
        return door

    yield make
    for door in made:
        await door.app.state.rooms.close()


@pytest.fixture
async def room(make_room: MakeRoom) -> Any:
    return await make_room()


async def key(door: Any, name: str, *roles: str) -> dict[str, str]:
    made = (await door.ask.post("/keys", json={"name": name, "roles": list(roles)})).json()
    return {"id": made["id"], "authorization": f"Bearer {made['secret']}"}


async def ticket(door: Any, workflow: str = "w", **headers: str) -> str:
    answer = await door.ask.post(f"/drafts/{workflow}/ticket", headers={k: v for k, v in headers.items() if k != "id"})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["ticket"])


async def socket(door: Any, **headers: str) -> Socket:
    return Socket(door.app, f"/drafts/w/room?ticket={await ticket(door, **headers)}")


def edit(socket: Socket, n: int, name: str, base: int = 0, **more: Any) -> None:
    asked = op(1, n, renames(name), base=base, **more)
    socket.say("op", **{field: asked[field] for field in ("n", "tag", "base", "gestures")})


async def test_two_sockets_edit_one_draft_and_see_each_other(room: Any) -> None:
    async with await socket(room) as ada, await socket(room) as bo:
        welcome = await ada.enter(ADA)
        assert (welcome["client"], welcome["epoch"], welcome["head"], welcome["people"]) == (ADA, 1, 0, []) and welcome["edit"]
        assert welcome["rates"]["ops_per_s"] == MAX_OPS_PER_S and welcome["person"].startswith("configured key")
        ada.say("at", cursor=[1, 2], other="left out")
        ada.say("ping")
        await ada.hear("pong")
        people = (await bo.enter(BO))["people"]
        assert [(person["client"], person["at"]) for person in people] == [(ADA, {"cursor": [1, 2]})]
        assert (await ada.hear("who"))["joined"] is True
        edit(ada, 1, "hers")
        for listener in (ada, bo):
            item = (await listener.hear("item"))["item"]
            assert (item["seq"], item["client"], item["n"], item["tag"]) == (1, ADA, 1, "c-1")
            assert item["effects"] == [["set", "doc", ["name"], "hers"]]
        edit(bo, 1, "his", base=1, tag="bo-1")
        assert (await ada.hear("item"))["item"]["seq"] == (await bo.hear("item"))["item"]["seq"] == 2
        bo.say("at", drag=[[0, 1, 1], [33, 2, 2]])
        assert await ada.hear("at") == {"v": 1, "t": "at", "client": BO, "at": {"drag": [[0, 1, 1], [33, 2, 2]]}}
    async with await socket(room) as eve:
        assert (await eve.enter("eve"))["people"] == []


async def test_one_who_leaves_is_gone_for_the_others(room: Any) -> None:
    async with await socket(room) as ada:
        await ada.enter(ADA)
        async with await socket(room) as bo:
            await bo.enter(BO)
        assert await ada.hear("who", lambda who: not who["joined"]) == {
            "v": 1, "t": "who", "client": BO, "person": (await ada_person(room)), "joined": False,
        }  # fmt: skip


async def ada_person(room: Any) -> str:
    async with await socket(room) as other:
        return str((await other.enter("other"))["person"])


async def test_what_is_put_over_http_is_heard_and_what_was_missed_is_caught_up(room: Any) -> None:
    async with await socket(room) as ada:
        await ada.enter(ADA)
        for n in (1, 2):
            answer = await room.ask.put("/drafts/w/ops", json=op(1, n, renames(f"name {n}"), base=n - 1, client="curl"))
            assert answer.json()["item"]["seq"] == n
            assert (await ada.hear("item"))["item"] == answer.json()["item"]
    async with await socket(room) as ada:
        assert (await ada.enter(ADA, after=1))["head"] == 2
        items = await ada.hear("items")
        assert ([item["seq"] for item in items["items"]], items["head"]) == ([2], 2)
        ada.say("pull", after=0)
        assert [item["seq"] for item in (await ada.hear("items"))["items"]] == [1, 2]


async def test_a_large_item_is_only_announced(room: Any) -> None:
    async with await socket(room) as ada:
        await ada.enter(ADA)
        await ada.hear("items")
        large = op(1, 1, [["set", "doc", ["description"], "x" * 29_950]], client="curl")
        await room.ask.put("/drafts/w/ops", json=large)
        assert (await ada.hear("pull"))["head"] == 1
        ada.say("pull", after=0)
        assert (await ada.hear("pull"))["head"] == 1


async def test_a_repeat_is_answered_by_its_item(room: Any) -> None:
    async with await socket(room) as ada:
        await ada.enter(ADA)
        for _ in range(2):
            edit(ada, 1, "hers")
            assert (await ada.hear("item"))["item"]["seq"] == 1
        edit(ada, 1, "another", tag="other")
        assert (await ada.hear("answer"))["code"] == "forked"
        edit(ada, 9, "ahead", tag="ahead")
        assert await ada.hear("answer") == {"v": 1, "t": "answer", "n": 9, "tag": "ahead", "code": "stale"}


# -- who may enter -----------------------------------------------------------------------------------------------------


async def test_a_socket_needs_a_ticket_of_this_draft_that_was_not_spent(room: Any) -> None:
    spent = await ticket(room)
    async with Socket(room.app, f"/drafts/w/room?ticket={spent}") as first:
        assert first.status == 101
        for address in ("/drafts/w/room", f"/drafts/w/room?ticket={spent}", f"/drafts/w/room?ticket={await ticket(room, 'v')}"):
            async with Socket(room.app, address) as refused:
                assert (refused.status, refused.problem["code"], refused.problem["place"]) == (401, "invalid_ticket", "ticket")
                assert refused.problem["mend"]


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


# -- what is refused ---------------------------------------------------------------------------------------------------


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
        rooms = other.state.rooms
        rooms.drafts.discard("w", "elsewhere")
        edit(ada, 1, "hers")
        assert (await ada.hear("answer"))["code"] == "replaced"
        assert (await ada.closed())[0] == (await bo.closed())[0] == 4409


# -- pace --------------------------------------------------------------------------------------------------------------


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


async def test_everyone_together_has_a_pace_too(make_room: MakeRoom) -> None:
    room = await make_room(room_ops_per_s=3)
    answers = [(await room.ask.put("/drafts/w/ops", json=op(1, 1, renames("x"), client=f"c{one}"))).json() for one in range(9)]
    assert [set(answer) for answer in answers[:3]] == [{"item"}] * 3
    assert answers[3]["answer"]["code"] == "rate"


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
        rooms, draft = room.app.state.rooms, Draft("w", 1)
        item = Item(1, "x", 1, "t", "p", 1, [["set", "doc", ["name"], "x"]])
        for _ in range(MAX_SOCKET_QUEUE + 10):
            rooms.pass_on(draft, item)
            await asyncio.sleep(0)
        assert (await ada.hear("who", lambda who: not who["joined"]))["client"] == "deaf"
        await deaf.ended()
        assert len(rooms._listeners["w"]) == 1


# -- trouble -----------------------------------------------------------------------------------------------------------


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
    await until(lambda: room.app.state.rooms._idle)
    room.drafts.trouble = ZeroDivisionError("a fault")
    await room.app.state.rooms.close()
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
    rooms = room.app.state.rooms
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
    elsewhere = create_app(room.local.service, api_keys=None).state.rooms.drafts
    made = elsewhere.submit(Draft("w", 1), op(1, 1, renames("x")), "ada")
    assert isinstance(made, Item) and checked(room) == 0
    sweeping = asyncio.create_task(room.app.state.rooms.sweep())
    await until(lambda: checked(room) == 1)
    sweeping.cancel()
    await asyncio.wait({sweeping})


async def test_where_the_process_may_freeze_a_checkpoint_is_made_before_the_response(make_door: Any) -> None:
    door = await make_door(room_bounds=Bounds(ops_per_s=10_000, room_ops_per_s=10_000))
    await door.ask.post("/drafts/w", json={"from": "empty"})
    for n in range(1, CHECKPOINT_ITEMS + 1):
        assert checked(door) == 0
        await door.ask.put("/drafts/w/ops", json=op(1, n, renames(str(n)), base=n - 1))
    assert checked(door) == CHECKPOINT_ITEMS and not door.app.state.rooms._idle


async def test_nothing_is_left_of_those_who_left(room: Any) -> None:
    for _ in range(3):
        async with await socket(room) as ada:
            await ada.enter(ADA)
    rooms = room.app.state.rooms
    assert not rooms._listeners
    follows = asyncio.create_task(room.ask.get("/drafts/w/ops?epoch=1&wait=20"))
    await until(lambda: rooms._listeners)
    await room.ask.put("/drafts/w/ops", json=op(1, 1, renames("x")))
    assert [item["seq"] for item in (await follows).json()["items"]] == [1]
    assert not rooms._listeners


# -- attack ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["__proto__", "constructor", "prototype", "<img src=x onerror=alert(1)>", "\u0000", "a.b", ""])
async def test_names_of_any_kind_are_data(room: Any, step: str) -> None:
    written = [["set", "doc", ["variables"], {}], ["set", "doc", ["variables", step], {step: "</script>"}]]
    answer = await room.ask.put("/drafts/w/ops", json=op(1, 1, written))
    assert answer.status_code == 200, answer.text
    draft = (await room.ask.get("/drafts/w")).json()
    assert draft["entities"]["doc"]["variables"] == {step: {step: "</script>"}}
    assert (await room.ask.get("/drafts/w/document")).json()["document"]["variables"] == {step: {step: "</script>"}}
    assert (await room.ask.get("/drafts/w/findings")).status_code == 200
