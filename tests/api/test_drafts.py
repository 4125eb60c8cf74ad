"""The routes of drafts: open, read, edit, follow, check, discard; who may, and what is refused."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import httpx
import pytest
from draft_client import op, renames, until

from stepless.api.app import create_app
from stepless.errors import StoreUnavailable
from stepless.limits import MAX_COUNT, MAX_INTENT_BYTES
from stepless.runtime.service import Service

pytestmark = pytest.mark.anyio

DOCUMENT = {
    "id": "w", "nodes": {"begin": {"type": "manual"}, "said": {"type": "transform", "after": "begin", "with": {}}},
}  # fmt: skip


async def opened(door: Any, **body: Any) -> dict[str, Any]:
    answer = await door.ask.post("/drafts/w", json=body or {"from": "document", "document": DOCUMENT})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def put(door: Any, message: Any, status: int = 200) -> dict[str, Any]:
    answer = await door.ask.put("/drafts/w/ops", json=message)
    assert answer.status_code == status, answer.text
    return dict(answer.json())


def key_of(draft: Any, id_: str) -> str:
    return next(key for key, entity in draft["entities"].items() if key.startswith("block/") and entity["id"] == id_)


async def test_a_draft_is_opened_from_a_version_a_document_or_nothing(door: Any) -> None:
    await door.publish(door.ECHO)
    from_version = (await door.ask.post("/drafts/echo")).json()
    assert from_version["origin"] == from_version["base"] and from_version["origin"]["version"] == 1
    assert (await door.ask.get("/drafts/echo/document")).json() == {"epoch": 1, "seq": 0, "document": door.ECHO}
    assert (await opened(door, **{"from": "empty"}))["origin"] == {}
    assert (await door.ask.get("/drafts/w/document")).json() == {"epoch": 1, "seq": 0, "document": {"id": "w", "nodes": {}}}
    made = await opened(door, **{"from": "document", "document": DOCUMENT, "text": "id: w  # mine\n"})
    assert (made["epoch"], made["seq"], made["entities"]["text"]) == (2, 0, {"yaml": "id: w  # mine\n"})
    assert made["created_by"].startswith("configured key ")
    listed = (await door.ask.get("/drafts")).json()
    assert [(draft["workflow"], draft["epoch"]) for draft in listed["drafts"]] == [("echo", 1), ("w", 2)]
    first = (await door.ask.get("/drafts?limit=1")).json()
    assert [draft["workflow"] for draft in first["drafts"]] == ["echo"]
    second = (await door.ask.get("/drafts", params={"limit": 1, "cursor": first["cursor"]})).json()
    assert [draft["workflow"] for draft in second["drafts"]] == ["w"]


async def test_a_document_without_an_id_gets_that_of_the_path(door: Any) -> None:
    await opened(door, **{"from": "document", "document": {"nodes": {}}})
    assert (await door.ask.get("/drafts/w/document")).json()["document"] == {"id": "w", "nodes": {}}


async def test_two_people_edit_and_each_reads_what_the_other_did(door: Any) -> None:
    draft = await opened(door)
    said = key_of(draft, "said")
    first = await put(door, op(1, 1, renames("one"), [["set", said, ["with", "value"], "<begin>"]], client="a"))
    assert (first["item"]["seq"], len(first["item"]["effects"])) == (1, 2)
    assert await put(door, op(1, 1, renames("one"), client="a")) == first, "a repeat is answered by its item"
    second = await put(door, op(1, 1, [["rename", said, "begin"]], [["del", said]], client="b"))
    assert [outcome["code"] for outcome in second["item"]["outcomes"]] == ["name_taken"]
    page = (await door.ask.get("/drafts/w/ops?epoch=1")).json()
    assert page == {"items": [first["item"], second["item"]], "head": 2}
    assert (await door.ask.get("/drafts/w/ops?epoch=1&after=1&limit=1")).json() == {"items": [second["item"]], "head": 2}
    read = (await door.ask.get("/drafts/w")).json()
    assert read["seq"] == 2 and said not in read["entities"] and read["entities"]["doc"]["name"] == "one"


@pytest.mark.parametrize(
    ("changed", "code"),
    [({"n": 1, "tag": "other"}, "forked"), ({"n": 5}, "stale"), ({"base": 9}, "stale"), ({"epoch": 7}, "replaced")],
)
async def test_a_request_that_makes_no_item_is_answered(door: Any, changed: Any, code: str) -> None:
    await opened(door)
    await put(door, op(1, 1, renames("one")))
    asked = {**op(1, 2, renames("two"), base=1), **changed}
    assert await put(door, asked) == {"answer": {"n": asked["n"], "tag": asked["tag"], "code": code}}


async def test_a_client_that_sends_too_much_is_answered_by_rate(door: Any) -> None:
    await opened(door)
    answers = [await put(door, op(1, n, renames(str(n)), base=max(0, n - 1))) for n in range(1, 60)]
    late = [answer["answer"] for answer in answers if "answer" in answer]
    assert late and late[0]["code"] == "rate" and late[0]["retry_after_ms"] >= 1


async def test_findings_name_the_block(door: Any) -> None:
    draft = await opened(door)
    answer = (await door.ask.get("/drafts/w/findings")).json()
    assert answer["seq"] == 0
    assert {finding["key"] for finding in answer["findings"]} == {key_of(draft, "said")}
    assert all(finding["code"] and finding["message"] and finding["mend"] for finding in answer["findings"])


async def test_a_finding_inside_a_loop_names_its_own_block(door: Any) -> None:
    inner = {"nodes": {"x": {"type": "transform", "with": {"value": "<gone>"}}}}
    loop = {"type": "loop", "after": "begin", "with": {"items": "<begin>", "body": inner}}
    draft = await opened(door, **{"from": "document", "document": {"id": "w", "nodes": {"begin": {"type": "manual"}, "x": loop}}})
    keys = {entity["parent"] is None: key for key, entity in draft["entities"].items() if entity.get("id") == "x"}
    found = (await door.ask.get("/drafts/w/findings")).json()["findings"]
    assert keys[False] in {finding["key"] for finding in found}


async def test_a_draft_is_compressed_and_not_sent_twice(door: Any) -> None:
    nodes = {f"n{number}": {"type": "manual"} for number in range(200)}
    await opened(door, **{"from": "document", "document": {"id": "w", "nodes": nodes}})
    answer = await door.ask.get("/drafts/w", headers={"accept-encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip" and answer.headers["vary"] == "Accept-Encoding"
    assert len(answer.json()["entities"]) > 200 and int(answer.headers["content-length"]) < len(answer.content) / 3
    plain = await door.ask.get("/drafts/w", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers and len(plain.json()["entities"]) > 200
    tag = {"if-none-match": plain.headers["etag"]}
    again = await door.ask.get("/drafts/w", headers=tag)
    assert (again.status_code, again.content) == (304, b"")
    await put(door, op(1, 1, renames("one")))
    assert (await door.ask.get("/drafts/w", headers=tag)).status_code == 200


# -- following ---------------------------------------------------------------------------------------------------------


async def test_a_caller_waits_for_the_next_item(door: Any) -> None:
    await opened(door)
    waiting = asyncio.create_task(door.ask.get("/drafts/w/ops?epoch=1&wait=15"))
    await until(lambda: door.app.state.draft_editing._listeners)
    await put(door, op(1, 1, renames("one")))
    assert [item["seq"] for item in (await waiting).json()["items"]] == [1]
    assert (await door.ask.get("/drafts/w/ops?epoch=1&after=1&wait=0.01")).json() == {"items": [], "head": 1}
    assert (await door.ask.get(f"/drafts/w/ops?epoch=1&after={MAX_COUNT}")).json() == {"items": [], "head": 1}


async def test_a_caller_that_waits_learns_at_once_that_the_draft_was_replaced(door: Any) -> None:
    await opened(door)
    waiting = asyncio.create_task(door.ask.get("/drafts/w/ops?epoch=1&wait=15"))
    await until(lambda: door.app.state.draft_editing._listeners)
    await opened(door)
    answer = await waiting
    assert (answer.status_code, answer.json()["code"], answer.json()["place"]) == (409, "draft_replaced", "draft of w")


async def test_items_that_do_not_fit_into_one_response_come_in_the_next(door: Any) -> None:
    await opened(door)
    for n in range(1, 4):
        await put(door, op(1, n, [["set", "doc", ["description"], f"{n}" * 2_000_000]], base=n - 1))
    seen: list[int] = []
    while len(seen) < 3:
        page = (await door.ask.get(f"/drafts/w/ops?epoch=1&after={len(seen)}")).json()
        assert page["head"] == 3 and 0 < len(page["items"]) < 3
        seen += [item["seq"] for item in page["items"]]
    assert seen == [1, 2, 3]


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code", "place"),
    [
        ("POST", "/drafts/none", {}, 404, "unknown_workflow", None),
        ("POST", "/drafts/w", {"from": "version", "version": 2**40}, 422, "invalid_request", "version"),
        ("POST", "/drafts/w", {"from": "document"}, 400, "invalid_request", "document"),
        ("POST", "/drafts/w", {"from": "document", "document": {"id": "v"}}, 422, "id_mismatch", "document.id"),
        ("POST", "/drafts/a%231", {"from": "empty"}, 400, "invalid_workflow_id", "workflow_id"),
        ("POST", "/drafts/Refund", {"from": "empty"}, 400, "invalid_workflow_id", "workflow_id"),
        ("POST", "/drafts/" + "x" * 500, {"from": "empty"}, 400, "invalid_workflow_id", "workflow_id"),
        ("POST", "/drafts/w", {"from": "elsewhere"}, 422, "invalid_request", "from"),
        ("DELETE", "/drafts/none", None, 404, "unknown_draft", None),
        ("GET", "/drafts/none", None, 404, "unknown_draft", None),
        ("GET", "/drafts/none/document", None, 404, "unknown_draft", None),
        ("GET", "/drafts/none/findings", None, 404, "unknown_draft", None),
        ("GET", "/drafts/none/ops?epoch=1", None, 404, "unknown_draft", None),
        ("GET", "/drafts/w/ops", None, 400, "invalid_request", "query.epoch"),
        ("GET", f"/drafts/w/ops?epoch={2**70}", None, 400, "invalid_request", "query.epoch"),
        ("GET", "/drafts/w/ops?epoch=1&wait=1000", None, 400, "invalid_request", "query.wait"),
        ("PUT", "/drafts/none/ops", op(1, 1, renames("x")), 404, "unknown_draft", None),
    ],
)
async def test_a_request_that_cannot_be_carried_out_says_why(
    door: Any, method: str, path: str, body: Any, status: int, code: str, place: str | None
) -> None:
    await opened(door)
    answer = await door.ask.request(method, path, **({"json": body} if body is not None else {}))
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (status, code), problem
    assert problem.get("place") == place and (problem.get("mend") or problem.get("violations"))


@pytest.mark.parametrize(
    ("message", "place"),
    [
        ([], "epoch"), ({}, "epoch"), ({"epoch": True}, "epoch"), ({"epoch": 2**70}, "epoch"), ({"epoch": 1}, "gestures"),
        ({**op(1, 1, renames("x")), "n": 0}, "n"), ({**op(1, 1, renames("x")), "client": ""}, "client"),
        ({**op(1, 1, renames("x")), "client": {}}, "client"), ({**op(1, 1, renames("x")), "base": -1}, "base"),
        (op(1, 1, [["put", "edge/e", None]]), "gestures.0.writes.0"),
        (op(1, 1, [["explode", "doc"]]), "gestures.0.writes.0"),
    ],
)
async def test_a_malformed_request_names_the_place(door: Any, message: Any, place: str) -> None:
    await opened(door)
    problem = await put(door, message, 400)
    assert (problem["code"], problem["place"]) == ("malformed_intent", place) and problem["mend"]
    assert (await door.ask.get("/drafts/w")).json()["seq"] == 0


async def test_a_body_that_is_no_json_or_too_large_is_refused(door: Any) -> None:
    await opened(door)
    typed = {"content-type": "application/json"}
    for content, headers, status, code in (
        (b"{", typed, 400, "invalid_json"), (b'{"epoch": NaN}', typed, 400, "invalid_json"),
        (b"{}", {"content-type": "text/plain"}, 415, "unsupported_media_type"),
        (b" " * (MAX_INTENT_BYTES + 1), typed, 413, "body_too_large"),
    ):  # fmt: skip
        answer = await door.ask.put("/drafts/w/ops", content=content, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (status, code)


async def test_a_request_of_almost_four_megabytes_is_committed(door: Any) -> None:
    await opened(door)
    made = await put(door, op(1, 1, [["set", "doc", ["description"], "x" * (MAX_INTENT_BYTES - 300)]]))
    assert made["item"]["seq"] == 1
    assert len((await door.ask.get("/drafts/w")).json()["entities"]["doc"]["description"]) == MAX_INTENT_BYTES - 300


async def test_an_edge_that_is_set_to_nothing_stays_whole(door: Any) -> None:
    draft = await opened(door)
    edge = next(key for key in draft["entities"] if key.startswith("edge/"))
    operations = [
        [["set", edge, ["source"], None]], [["unset", edge, ["target"]]], [["set", edge, ["target"], "none"]],
        [["put", edge, {}]], [["put", "edge/new", {"source": key_of(draft, "begin").partition("/")[2]}]],
        [["set", key_of(draft, "begin"), ["id"], None]], [["unset", key_of(draft, "begin"), ["type"]]],
        [["set", "doc", ["id"], "v"]],
    ]  # fmt: skip
    item = (await put(door, op(1, 1, *operations)))["item"]
    assert [outcome["gesture"] for outcome in item["outcomes"]] == list(range(len(operations))) and item["effects"] == []
    assert (await door.ask.get("/drafts/w/document")).json()["document"] == DOCUMENT


@pytest.mark.parametrize("odd", [{"nodes": []}, {"nodes": {"a": None}}, {"nodes": {"a": {"with": 1, "after": 3}}}, {"edges": {}}])
async def test_a_document_that_is_far_from_valid_is_kept_as_it_is(door: Any, odd: Any) -> None:
    await opened(door, **{"from": "document", "document": {"id": "w", **odd}})
    assert (await door.ask.get("/drafts/w/document")).json()["document"] == {"id": "w", **odd}
    assert (await door.ask.get("/drafts/w/findings")).json()["findings"]


async def test_a_store_out_of_reach_is_a_503(door: Any) -> None:
    await opened(door)
    door.drafts.trouble = StoreUnavailable("the store is out of reach")
    assert (await put(door, op(1, 1, renames("x")), 503))["code"] == "store_unavailable"
    door.drafts.trouble = None
    assert (await put(door, op(1, 1, renames("x"))))["item"]["seq"] == 1


async def test_a_place_that_keeps_no_drafts_says_so(door: Any) -> None:
    service = Service(replace(door.local.world, drafts=None), door.local.service.signer)
    app = create_app(service, api_keys=None)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as ask:
        answer = await ask.get("/drafts")
        assert (answer.status_code, answer.json()["code"]) == (501, "drafts_not_kept")


# -- who may -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "reads", "edits"),
    [("read", 200, 403), ("run", 200, 403), ("approve", 200, 403), ("edit", 200, 200), ("admin", 200, 200)],
)
async def test_a_key_may_what_its_role_says(make_door: Any, role: str, reads: int, edits: int) -> None:
    door = await make_door(development=True)
    draft = await opened(door)
    made = (await door.ask.post("/keys", json={"name": role, "roles": [role]})).json()
    bearer = {"authorization": f"Bearer {made['secret']}"}
    for path in ("/drafts", "/drafts/w", "/drafts/w/ops?epoch=1", "/drafts/w/findings", "/drafts/w/document", "/kinds"):
        assert (await door.stranger.get(path, headers=bearer)).status_code == reads, path
    assert (await door.stranger.post("/drafts/w/ticket", headers=bearer)).status_code == reads
    edited = await door.stranger.put("/drafts/w/ops", json=op(1, 1, renames("x"), client=role), headers=bearer)
    assert edited.status_code == edits
    if edits == 200:
        assert edited.json()["item"]["by"] == f"key {made['id']} {role}"
    for method, path, body in (("POST", "/drafts/v", {"from": "empty"}), ("DELETE", "/drafts/w", None)):
        answer = await door.stranger.request(method, path, json=body, headers=bearer)
        assert answer.status_code == edits, path
        assert edits == 200 or answer.json()["code"] == "role_missing"
    published = await door.stranger.put("/workflows/w", json=DOCUMENT, headers=bearer)
    assert published.status_code == (422 if role == "admin" else 403)
    assert draft["epoch"] == 1


async def test_a_stranger_may_nothing(make_door: Any) -> None:
    door = await make_door(development=True)
    await opened(door)
    for method, path in (
        ("GET", "/drafts"), ("GET", "/drafts/w"), ("GET", "/drafts/w/ops?epoch=1"), ("GET", "/drafts/w/findings"),
        ("GET", "/drafts/w/document"), ("GET", "/kinds"), ("POST", "/drafts/w"), ("POST", "/drafts/w/ticket"),
        ("PUT", "/drafts/w/ops"), ("DELETE", "/drafts/w"),
    ):  # fmt: skip
        answer = await door.stranger.request(method, path)
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized"), path


async def test_opening_and_discarding_are_audited_and_edits_are_in_the_log_of_the_draft(door: Any) -> None:
    await opened(door)
    await put(door, op(1, 1, renames("x")))
    assert (await door.ask.delete("/drafts/w")).json() == {"workflow": "w", "epoch": 1}
    await door.ask.delete("/drafts/w")
    entries = (await door.ask.get("/audit?target=w")).json()["entries"]
    assert [(entry["verb"], entry["refused"]) for entry in reversed(entries)] == [
        ("open_draft", None), ("discard_draft", None), ("discard_draft", "unknown_draft"),
    ]  # fmt: skip


async def test_the_ticket_is_only_for_a_server_that_has_the_room(door: Any) -> None:
    answer = await door.ask.post("/drafts/w/ticket")
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_route")


# -- kinds and the console ---------------------------------------------------------------------------------------------


async def test_every_kind_says_what_an_editor_needs(door: Any) -> None:
    answer = (await door.ask.get("/kinds")).json()
    kinds = {kind["name"]: kind for kind in answer["kinds"]}
    assert set(kinds) == set(door.local.world.kinds)
    assert (kinds["loop"]["container"], kinds["http"]["container"]) == (True, False)
    assert (kinds["transform"]["pure"], kinds["http"]["pure"], kinds["http"]["nature"]) == (True, False, "effect")
    assert kinds["approval"]["exits"] == ["approved", "rejected", "timeout"] and kinds["condition"]["exits"] is None
    assert all(kind["summary"] and kind["schema"]["type"] == "object" for kind in kinds.values())
    for kind in kinds.values():
        fields = kind["schema"]["properties"]
        assert set(kind["parts"]) == set(fields) and all(field["description"] for field in fields.values()), kind["name"]
    settings = answer["node"]["properties"]
    assert all(field["description"] for field in settings.values()) and settings.keys() & {"type", "after", "with", "at"} == set()
    workflow = answer["workflow"]["properties"]
    assert {"name", "max_steps", "timeout", "concurrency", "rate"} <= set(workflow)
    assert not {"id", "nodes", "edges"} & set(workflow)
    assert all(field["description"] for field in workflow.values()) and set(answer["workflow"]["$defs"]) >= {"StartRateDocument"}
    retried = answer["node"]["$defs"]["RetryDocument"]["properties"]["retry_on"]["default"]
    assert retried == ["timeout", "provider_error", "rate_limit"]
    assert all(set(kind["settings"]) <= set(settings) for kind in kinds.values())
    some = {"inputs", "retry", "join", "rate"}
    offered = {name: set(kinds[name]["settings"]) & some for name in ("manual", "http", "condition", "loop", "wait")}
    assert offered == {
        "manual": {"inputs"}, "http": {"retry", "join", "rate"}, "condition": {"join"},
        "loop": {"retry", "join"}, "wait": {"join"},
    }  # fmt: skip
    assert kinds["loop"]["parts"]["while"] == "expression" and kinds["condition"]["parts"] == {"cases": "cases"}
    assert (kinds["http"]["parts"]["url"], kinds["approval"]["parts"]["fields"]) == ("template", "literal")
    assert kinds["webhook"]["schema"]["$defs"]["Hmac"]["properties"]["tolerance_s"]["description"]
