"""A local server answers under its own names only, and to no page of another site."""

from __future__ import annotations

from typing import Any

import pytest
from draft_client import Socket

pytestmark = pytest.mark.anyio

GUARDED = ("/runs", "/drafts", "/drafts/w", "/workflows", "/kinds", "/console/", "/docs", "/openapi.json")


@pytest.fixture
async def local(make_door: Any) -> Any:
    return await make_door(development=True, hosts=["127.0.0.1", "laptop.lan"], cors_origins=["https://app.example.com"])


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:8400", "LOCALHOST.", "app.localhost", "127.0.0.1:8400", "[::1]:8400", "10.0.0.7", "Laptop.lan:1"],
)  # fmt: skip
async def test_its_own_names_and_addresses_are_accepted(local: Any, host: str) -> None:
    assert (await local.ask.get("/drafts", headers={"host": host})).status_code == 200


@pytest.mark.parametrize("path", GUARDED)
@pytest.mark.parametrize("host", ["evil.example:8400", "127.0.0.1.evil.example", "localhost.evil.example", "", "[evil]"])
async def test_a_foreign_host_is_refused(local: Any, path: str, host: str) -> None:
    answer = await local.ask.get(path, headers={"host": host})
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["place"]) == (403, "foreign_host", "Host")
    assert "--allow-host" in problem["mend"]


@pytest.mark.parametrize("path", GUARDED)
@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:9999", "ftp://localhost", "localhost"])
async def test_a_page_of_another_site_is_refused(local: Any, path: str, origin: str) -> None:
    answer = await local.ask.get(path, headers={"host": "localhost", "origin": origin})
    assert (answer.status_code, answer.json()["code"], answer.json()["place"]) == (403, "foreign_origin", "Origin")
    assert answer.json()["mend"]


@pytest.mark.parametrize("origin", ["http://localhost", "https://app.example.com"])
async def test_a_page_of_this_server_and_of_an_allowed_origin_is_accepted(local: Any, origin: str) -> None:
    assert (await local.ask.get("/drafts", headers={"host": "localhost", "origin": origin})).status_code == 200


@pytest.mark.parametrize("path", ["/hooks/refunds", "/resume/token", "/health"])
async def test_what_a_tunnel_leads_to_is_open(local: Any, path: str) -> None:
    answer = await local.stranger.get(path, headers={"host": "random.tunnel.example", "origin": "https://evil.example"})
    assert "foreign" not in answer.text and answer.text == (await local.stranger.get(path, headers={"host": "localhost"})).text


@pytest.mark.parametrize(
    ("headers", "code"), [({"host": "evil.example"}, "foreign_host"), ({"origin": "https://evil.example"}, "foreign_origin")]
)
async def test_a_socket_is_refused_too_and_its_ticket_is_not_spent(local: Any, headers: Any, code: str) -> None:
    await local.ask.post("/drafts/w", json={"from": "empty"}, headers={"host": "localhost"})
    ticket = (await local.ask.post("/drafts/w/ticket", headers={"host": "localhost"})).json()["ticket"]
    async with Socket(local.app, f"/drafts/w/room?ticket={ticket}", **headers) as socket:
        assert (socket.status, socket.problem["code"]) == (403, code)
    async with Socket(local.app, f"/drafts/w/room?ticket={ticket}", origin="http://localhost:8400") as socket:
        await socket.enter()


async def test_a_server_that_was_given_no_hosts_checks_none(door: Any) -> None:
    answer = await door.ask.get("/drafts", headers={"host": "api.example.com", "origin": "https://app.example.com"})
    assert answer.status_code == 200
