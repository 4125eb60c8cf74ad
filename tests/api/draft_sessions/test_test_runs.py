"""Everyone in the room of a draft is told of a test run, and no one elsewhere."""

from __future__ import annotations

import pytest
from room_steps import ADA, BO, MakeRoom, socket

pytestmark = pytest.mark.anyio

DOCUMENT = {"id": "w", "nodes": {"begin": {"type": "manual"}}}


async def test_a_test_run_is_announced_to_everyone_in_the_room_and_listed(make_room: MakeRoom) -> None:
    room = await make_room()
    opened = await room.ask.post("/drafts/w", json={"from": "document", "document": DOCUMENT})
    epoch = opened.json()["epoch"]
    async with await socket(room) as ada, await socket(room) as bo:
        await ada.enter(ADA, epoch=epoch)
        await bo.enter(BO, epoch=epoch)
        started = (await room.ask.post("/drafts/w/runs", json={"inputs": {}})).json()
        told = [await one.hear("run") for one in (ada, bo)]
        assert told[0] == told[1]
        assert {name: told[0][name] for name in ("run", "epoch", "seq", "by")} == {
            "run": started["run_id"], "epoch": epoch, "seq": 0, "by": started["by"],
        }  # fmt: skip
        assert (await room.ask.get("/drafts/w/runs")).json()["runs"] == [started]
