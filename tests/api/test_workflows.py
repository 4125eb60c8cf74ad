from __future__ import annotations

import json
from typing import Any

import pytest

from stepless.limits import MAX_DOCUMENT_BYTES, MAX_REQUEST_BYTES

pytestmark = pytest.mark.anyio

YAML = "id: echo\nnodes:\n  begin: {type: manual}\n  said: {type: transform, after: begin, with: {value: {got: <begin>}}}\n"


async def test_a_new_document_is_created_and_the_same_again_is_not(door: Any) -> None:
    first = await door.ask.put("/workflows/echo", json=door.ECHO)
    again = await door.ask.put("/workflows/echo", json=door.ECHO)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    assert first.json()["version"] == 1 and first.headers["location"] == "/workflows/echo/versions/1"


async def test_yaml_and_json_of_the_same_document_are_the_same_version(door: Any) -> None:
    await door.publish(door.ECHO)
    answer = await door.ask.put("/workflows/echo", content=YAML, headers={"content-type": "application/yaml; charset=utf-8"})
    assert (answer.status_code, answer.json()["version"]) == (200, 1)


async def test_every_finding_comes_with_the_refusal_and_nothing_is_stored(door: Any) -> None:
    document = {"id": "bad", "nodes": {"a": {"type": "transform", "after": "ghost"}, "b": {"type": "no-such-kind"}}}
    answer = await door.ask.put("/workflows/bad", json=document)
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (422, "document_refused")
    assert len(problem["findings"]) >= 2 and all(finding["path"] and finding["code"] for finding in problem["findings"])
    assert (await door.ask.get("/workflows/bad")).status_code == 404


async def test_the_address_and_the_document_must_name_the_same_workflow(door: Any) -> None:
    answer = await door.ask.put("/workflows/other", json=door.ECHO)
    assert (answer.status_code, answer.json()["code"]) == (422, "id_mismatch")


async def test_warnings_come_with_a_publication(door: Any) -> None:
    document = {"id": "open", "nodes": {"hook": {"type": "webhook", "with": {"path": "/open"}}}}
    assert [w["severity"] for w in (await door.publish(document))["warnings"]] == ["warning"]


async def test_a_document_may_be_larger_than_other_bodies_but_not_without_end(door: Any) -> None:
    large = {**door.ECHO, "variables": {"text": "x" * MAX_REQUEST_BYTES}}
    assert (await door.ask.put("/workflows/echo", json=large)).status_code == 201
    answer = await door.ask.put("/workflows/echo", json={**door.ECHO, "description": "x" * MAX_DOCUMENT_BYTES})
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")


@pytest.mark.parametrize("kind", ["", "text/plain", "multipart/form-data; boundary=x"])
async def test_a_document_must_say_what_it_is(door: Any, kind: str) -> None:
    answer = await door.ask.put("/workflows/echo", content=json.dumps(door.ECHO), headers={"content-type": kind})
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("application/json", '{"id": "echo",'),
        ("application/json", '{"id": NaN}'),
        ("application/yaml", "id: [echo"),
        ("application/json", "[]"),
    ],
)
async def test_what_cannot_be_read_is_a_finding_with_its_place(door: Any, kind: str, text: str) -> None:
    answer = await door.ask.put("/workflows/echo", content=text, headers={"content-type": kind})
    assert answer.status_code == 422
    assert [finding["code"] for finding in answer.json()["findings"]] == ["document_syntax"]


async def test_versions_are_kept_and_read_by_number(door: Any) -> None:
    await door.publish(door.ECHO)
    await door.publish({**door.ECHO, "name": "Second"})
    newest = (await door.ask.get("/workflows/echo")).json()
    first = (await door.ask.get("/workflows/echo/versions/1")).json()
    assert (newest["version"], newest["name"], newest["document"]["name"]) == (2, "Second", "Second")
    assert (first["version"], first["name"], first["document"]) == (1, "echo", door.ECHO)


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/workflows/none", 404, "unknown_workflow"),
        ("/workflows/echo/versions/9", 404, "unknown_workflow"),
        ("/workflows/echo/versions/0", 400, "invalid_request"),
        ("/workflows/echo/versions/x", 400, "invalid_request"),
        (f"/workflows/echo/versions/{2**70}", 400, "invalid_request"),
    ],
)
async def test_a_version_that_does_not_exist_is_not_found(door: Any, path: str, status: int, code: str) -> None:
    await door.publish(door.ECHO)
    answer = await door.ask.get(path)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


async def test_workflows_are_listed_page_by_page(door: Any) -> None:
    await door.publish(door.ECHO)
    await door.publish(door.ASK)
    first = (await door.ask.get("/workflows?limit=1")).json()
    second = (await door.ask.get("/workflows", params={"limit": 1, "cursor": first["cursor"]})).json()
    assert [w["id"] for page in (first, second) for w in page["workflows"]] == ["ask", "echo"]
    assert second["cursor"] is None


async def test_a_webhook_path_has_one_owner(door: Any) -> None:
    hook = {"hook": {"type": "webhook", "with": {"path": "/mine", "auth": "none"}}}
    await door.publish({"id": "first", "nodes": hook})
    answer = await door.ask.put("/workflows/second", json={"id": "second", "nodes": hook})
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["owner"]) == (409, "webhook_path_taken", "first")
