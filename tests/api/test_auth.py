from __future__ import annotations

from typing import Any

import pytest

from stepless.api.app import create_app
from stepless.api.guards.auth import hashed
from stepless.errors import ConfigError

pytestmark = pytest.mark.anyio

OPEN = {"/hooks/{path}", "/resume/{token}", "/runs/{run_id}/view", "/health", "/console/settings"}


async def test_every_route_but_the_public_ones_wants_a_key(door: Any) -> None:
    guarded = [
        (method.upper(), path.replace("{number}", "1"))
        for path, operations in door.app.openapi()["paths"].items()
        if path not in OPEN
        for method in operations
    ]
    assert len(guarded) >= 10
    for method, path in guarded:
        answer = await door.stranger.request(method, path)
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized"), (method, path)
        assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    "given",
    ["", "Bearer", "Bearer ", "Bearer wrong", "Basic {key}", "{key}", "Bearer {key}x", "Bearer {hash}", "bearer {key} {key}"],
)
async def test_what_is_not_the_key_opens_nothing(door: Any, given: str) -> None:
    header = given.format(key=door.KEY, hash=hashed(door.KEY))
    assert (await door.stranger.get("/runs", headers={"authorization": header})).status_code == 401


async def test_keys_may_be_kept_as_hashes(make_door: Any) -> None:
    door = await make_door(api_keys=[hashed("first"), "second"])
    for key in ("first", "second"):
        assert (await door.stranger.get("/runs", headers={"authorization": f"Bearer {key}"})).status_code == 200


async def test_without_keys_nobody_is_let_in(make_door: Any) -> None:
    door = await make_door(api_keys=())
    assert (await door.ask.get("/runs")).status_code == 401
    assert (await door.stranger.get("/health")).status_code == 200


async def test_an_open_door_is_asked_for_and_lets_in_no_other_site(make_door: Any) -> None:
    door = await make_door(api_keys=None)
    assert (await door.stranger.get("/runs")).status_code == 200
    await door.publish(door.ECHO)
    answer = await door.stranger.post("/workflows/echo/runs", headers={"sec-fetch-site": "cross-site"})
    assert (answer.status_code, answer.json()["code"]) == (403, "cross_site")
    assert (await door.stranger.post("/workflows/echo/runs", headers={"sec-fetch-site": "same-origin"})).status_code == 202


async def test_a_key_is_asked_for_before_a_body_is_read(door: Any) -> None:
    taken = 0

    async def chunks() -> Any:
        nonlocal taken
        taken += 1
        yield b"x"

    assert (await door.stranger.put("/workflows/echo", content=chunks())).status_code == 401
    assert taken == 0


@pytest.mark.parametrize("options", [{"api_keys": [""]}, {"api_keys": [" "]}, {"stream_seconds": 21}, {"stream_seconds": -1}])
async def test_options_that_cannot_be_meant_are_refused(door: Any, options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        create_app(door.local.service, **options)
