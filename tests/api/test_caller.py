from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.anyio


async def test_a_key_reads_its_name_and_the_roles_that_its_own_imply(door: Any) -> None:
    made = (await door.ask.post("/keys", json={"name": "shop", "roles": ["approve"]})).json()
    answer = await door.stranger.get("/me", headers={"authorization": f"Bearer {made['secret']}"})
    assert (answer.status_code, answer.json()) == (
        200, {"caller": f"key {made['id']} shop", "roles": ["approve", "read"], "ends_at": None},
    )  # fmt: skip


async def test_a_configured_key_has_all_roles(door: Any) -> None:
    answer = (await door.ask.get("/me")).json()
    assert answer["caller"].startswith("configured key ") and door.KEY not in answer["caller"]
    assert answer["roles"] == ["admin", "approve", "edit", "read", "run", "send"]
