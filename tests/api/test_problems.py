from __future__ import annotations

from typing import Any

import pytest

from stepless.errors import EngineBug, StoreUnavailable, StoreUnusable

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("DELETE", "/workflows/echo", "GET, PUT"),
        ("POST", "/workflows/echo", "GET, PUT"),
        ("PUT", "/runs", "GET"),
        ("GET", "/runs/x/cancel", "POST"),
        ("GET", "/workflows/echo/runs", "POST"),
        ("TRACE", "/hooks/in", "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"),
        ("POST", "/health", "GET"),
    ],
)
async def test_a_wrong_method_is_told_the_right_ones(door: Any, method: str, path: str, allow: str) -> None:
    answer = await door.ask.request(method, path)
    assert (answer.status_code, answer.json()["code"], answer.headers["allow"]) == (405, "method_not_allowed", allow)
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("path", ["/nothing", "/runs/", "/workflows/a/b", "/resume/", "/workflows/echo/nothing"])
async def test_an_unknown_route_is_a_problem(door: Any, path: str) -> None:
    answer = await door.ask.get(path)
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["type"]) == (404, "unknown_route", "urn:stepless:problem:unknown_route")
    assert problem["title"] == "Unknown route" and path in problem["detail"]


@pytest.mark.parametrize(
    "text", ['{"inputs": }', "{", "nul", '{"a": 1, "a": 2}', '{"inputs": Infinity}', b"\xff\xfe", "[" * 100_000, "9" * 5_000]
)
async def test_bad_json_is_a_problem_with_a_place(door: Any, text: Any) -> None:
    await door.publish(door.ECHO)
    answer = await door.ask.post("/workflows/echo/runs", content=text, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_json")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
async def test_a_body_that_does_not_say_it_is_json_is_not_read(door: Any, kind: str) -> None:
    await door.publish(door.ECHO)
    answer = await door.ask.post("/workflows/echo/runs", content="{}", headers={"content-type": kind})
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")


async def test_every_fault_of_a_body_is_told_at_once(door: Any) -> None:
    await door.publish(door.ECHO)
    answer = await door.ask.post("/workflows/echo/runs", json={"entry": 7, "one": 1, "two": 2})
    assert answer.status_code == 422 and len(answer.json()["violations"]) >= 3


async def test_a_store_out_of_reach_is_worth_another_try(door: Any) -> None:
    door.store.trouble = StoreUnavailable("the table is throttled", place="/secret/place/runs.db")
    for path in ("/runs", "/health"):
        answer = await door.ask.get(path)
        assert (answer.status_code, answer.json()["code"], answer.headers["retry-after"]) == (503, "store_unavailable", "1")
        assert "secret" not in answer.text


@pytest.mark.parametrize(
    "trouble",
    [RuntimeError("a-password in a message"), EngineBug("a-password", place="a-password"), StoreUnusable("a-password")],
    ids=repr,
)
async def test_a_fault_of_ours_is_a_report_and_never_a_traceback(door: Any, caplog: Any, trouble: Exception) -> None:
    door.store.trouble = trouble
    answer = await door.ask.get("/runs")
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (500, "internal_error")
    assert "a-password" not in answer.text and "Traceback" not in answer.text
    assert any(problem["report"] in record.message and record.exc_info for record in caplog.records)


async def test_a_version_whose_schedules_were_not_set_is_told_as_such_whatever_the_cause(door: Any) -> None:
    """It is published: a report of an internal error would hide that, and the fix."""
    door.store.trouble = StoreUnusable("version 1 is published, but …", code="schedules_not_kept", mend="publish it again")
    answer = await door.ask.get("/runs")
    assert (answer.status_code, answer.json()["code"], answer.json()["mend"]) == (500, "schedules_not_kept", "publish it again")


async def test_health_needs_no_key_and_tells_no_more_than_it_must(door: Any) -> None:
    answer = await door.stranger.get("/health")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


@pytest.mark.parametrize(("data", "code", "status"), [(b"\x00", "damaged_log", 503), (b'[1,["@",0]]', "newer_log", 503)])
async def test_a_log_that_cannot_be_read_is_told_with_its_run_and_place(door: Any, data: bytes, code: str, status: int) -> None:
    """Whatever is asked of the run; lists tell of it, and other runs answer."""
    (bad, _), (good, _) = await door.question(), await door.question()
    log = door.local.world.store._records[bad].log
    log[-1] = log[-1]._replace(data=data)
    for path in ("", "/nodes", "/events", "/cost"):
        answer = await door.ask.get(f"/runs/{bad}{path}")
        problem = answer.json()
        assert (answer.status_code, problem["code"], problem["run_id"]) == (status, code, bad)
        assert problem["place"] == f"{bad}#{log[-1].first}"
        assert problem["mend"]
    listed = (await door.ask.get("/runs", params={"status": code})).json()["runs"]
    assert [run["id"] for run in listed] == [bad]
    assert (await door.ask.get(f"/runs/{good}")).json()["status"] == "paused"
