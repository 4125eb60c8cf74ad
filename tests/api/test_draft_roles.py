"""Every route of drafts with every role: a table, compared with the routes that the server has."""

from __future__ import annotations

from typing import Any, Final

import pytest
from draft_client import op, renames

from stepless.runtime.access.roles import Role

pytestmark = pytest.mark.anyio

ANYONE: Final = frozenset(Role) - {Role.SEND}  # which only sends messages
EDITS: Final = frozenset({Role.EDIT, Role.ADMIN})
ROUTES: Final[dict[tuple[str, str], tuple[Any, frozenset[Role]]]] = {
    ("GET", "/drafts"): (None, ANYONE),
    ("GET", "/drafts/{workflow_id}"): (None, ANYONE),
    ("GET", "/drafts/{workflow_id}/ops"): (None, ANYONE),
    ("GET", "/drafts/{workflow_id}/document"): (None, ANYONE),
    ("GET", "/drafts/{workflow_id}/findings"): (None, ANYONE),
    ("GET", "/drafts/{workflow_id}/yaml"): (None, ANYONE),
    ("GET", "/drafts/{workflow_id}/diff"): (None, ANYONE),
    ("GET", "/drafts/{workflow_id}/history"): (None, ANYONE),
    ("GET", "/drafts/{workflow_id}/conflicts"): (None, ANYONE),
    ("GET", "/drafts/{workflow_id}/runs"): (None, ANYONE),
    ("GET", "/drafts/{workflow_id}/scope"): (None, ANYONE),
    ("POST", "/drafts/{workflow_id}/evaluate"): ({"text": "<begin>"}, ANYONE),
    ("POST", "/drafts/{workflow_id}/ticket"): (None, ANYONE),
    ("POST", "/drafts/{workflow_id}"): ({"from": "empty"}, EDITS),
    ("DELETE", "/drafts/{workflow_id}"): (None, EDITS),
    ("PUT", "/drafts/{workflow_id}/ops"): (op(1, 1, renames("x")), EDITS),
    ("POST", "/drafts/{workflow_id}/yaml"): ({"seq": 0, "text": "id: w\nnodes: {}\n"}, EDITS),
    ("POST", "/drafts/{workflow_id}/restore"): ({"seq": 0}, EDITS),
    ("POST", "/drafts/{workflow_id}/conflicts"): ({"key": "doc", "path": [], "take": "draft"}, EDITS),
    ("POST", "/drafts/{workflow_id}/runs"): ({"inputs": {}}, frozenset({Role.ADMIN})),  # or edit and run together
    ("POST", "/drafts/{workflow_id}/publish"): ({"seq": 0}, frozenset({Role.ADMIN})),
    ("GET", "/kinds"): (None, ANYONE),
}
QUERIES: Final = {"/drafts/{workflow_id}/ops": "?epoch=1"}


async def asked(door: Any, method: str, path: str, secret: str | None) -> Any:
    headers = {} if secret is None else {"authorization": f"Bearer {secret}"}
    body, address = ROUTES[method, path][0], path.format(workflow_id="w") + (QUERIES.get(path, "") if method == "GET" else "")
    return await door.stranger.request(method, address, headers=headers, **({} if body is None else {"json": body}))


async def test_the_table_has_every_route_of_drafts(make_door: Any) -> None:
    door = await make_door(development=True)
    paths = (await door.ask.get("/openapi.json")).json()["paths"]
    known = {(method.upper(), path) for path, methods in paths.items() if path.startswith("/drafts") for method in methods}
    assert known == {one for one in ROUTES if one[1].startswith("/drafts")}  # `save` is in tests/cli: it needs a folder


@pytest.mark.parametrize("route", sorted(ROUTES), ids=" ".join)
async def test_a_route_is_for_those_roles_that_the_table_says(make_door: Any, route: tuple[str, str]) -> None:
    door = await make_door(development=True)
    await door.ask.post("/drafts/w", json={"from": "empty"})
    stranger = await asked(door, *route, None)
    assert (stranger.status_code, stranger.json()["code"]) == (401, "unauthorized")
    unknown = await asked(door, *route, "no-such-key")
    assert (unknown.status_code, unknown.json()["code"]) == (401, "unauthorized")
    for role in Role:
        made = (await door.ask.post("/keys", json={"name": role, "roles": [role]})).json()
        answer = await asked(door, *route, made["secret"])
        refused = answer.status_code == 403 and answer.json()["code"] == "role_missing"
        assert answer.status_code < 500 or answer.json()["code"] != "internal_error"
        assert answer.status_code != 401 and refused is (role not in ROUTES[route][1]), (role, answer.text[:200])


async def test_a_key_without_roles_reads_nothing(make_door: Any) -> None:
    door = await make_door(development=True)
    refused = await door.ask.post("/keys", json={"name": "none", "roles": []})
    assert refused.status_code == 422


async def test_edit_and_run_together_run_a_draft(make_door: Any) -> None:
    door = await make_door(development=True)
    document = {"id": "w", "nodes": {"begin": {"type": "manual"}}}
    await door.ask.post("/drafts/w", json={"from": "document", "document": document})
    for roles, status in (([Role.EDIT], 403), ([Role.RUN], 403), ([Role.EDIT, Role.RUN], 202), ([Role.ADMIN], 202)):
        made = (await door.ask.post("/keys", json={"name": "x", "roles": roles})).json()
        answer = await asked(door, "POST", "/drafts/{workflow_id}/runs", made["secret"])
        assert answer.status_code == status, (roles, answer.text)
