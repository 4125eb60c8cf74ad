"""Servers with one open draft."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from room_steps import MakeRoom

from stepless.drafts.sessions.bounds import Bounds


@pytest.fixture
async def make_room(make_door: Any) -> AsyncIterator[MakeRoom]:
    """Makes a server with an open draft, with the given bounds."""
    made = []

    async def make(**bounds: Any) -> Any:
        door = await make_door(development=True, session_bounds=Bounds(**bounds))
        made.append(door)
        assert (await door.ask.post("/drafts/w", json={"from": "empty"})).status_code == 200
        return door

    yield make
    for door in made:
        await door.app.state.draft_editing.close()


@pytest.fixture
async def room(make_room: MakeRoom) -> Any:
    return await make_room()
