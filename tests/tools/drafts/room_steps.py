"""What people of a room do, by its routes and sockets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from draft_client import Socket, op, renames

ADA, BO = "ada", "bo"


MakeRoom = Callable[..., Awaitable[Any]]


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
