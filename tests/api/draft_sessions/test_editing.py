"""People who edit one draft over sockets: what each hears."""

from __future__ import annotations

from typing import Any

import pytest
from draft_client import op, renames
from room_steps import ADA, BO, edit, socket

from stepless.limits import MAX_OPS_PER_S

pytestmark = pytest.mark.anyio


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
