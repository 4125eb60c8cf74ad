"""`DELETE /runs/{id}`."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.anyio


async def test_an_ended_run_is_erased_and_gone(door: Any) -> None:
    run_id = (await door.finish(door.ECHO, {"a": 1}))["run_id"]
    again = (await door.ask.post(f"/runs/{run_id}/rerun")).json()["run_id"]
    for query, erased in (("?dry_run=true", False), ("", True), ("", True)):
        answer = await door.ask.delete(f"/runs/{run_id}{query}")
        assert answer.status_code == 200, answer.text
        told = {"run_id": run_id, "erased": erased, "children": [], "reruns": [again], "more": False}
        assert answer.json() == told
    for path in ("", "/nodes", "/events", "/cost", "/tags"):
        gone = await door.ask.get(f"/runs/{run_id}{path}")
        assert (gone.status_code, gone.json()["code"]) == (410, "run_erased"), path
    assert run_id not in [run["id"] for run in (await door.ask.get("/runs")).json()["runs"]]
    assert (await door.ask.get(f"/runs/{again}")).status_code == 200


async def test_a_run_that_has_not_ended_answers_409_with_what_to_do(door: Any) -> None:
    run_id = await waiting(door)
    answer = await door.ask.delete(f"/runs/{run_id}")
    assert (answer.status_code, answer.json()["code"]) == (409, "run_not_ended")
    assert "cancel" in answer.json()["mend"]


async def waiting(door: Any) -> str:
    await door.ask.put("/workflows/ask", json=door.ASK)
    return str((await door.ask.post("/workflows/ask/runs", json={"inputs": {"text": "x"}})).json()["run_id"])


async def test_an_unknown_run_answers_404_and_another_query_400_or_422(door: Any) -> None:
    assert (await door.ask.delete("/runs/run_none")).json()["code"] == "unknown_run"
    assert (await door.ask.delete("/runs/run_none?really=yes")).status_code in (400, 422)


async def test_a_run_says_when_it_expires(door: Any) -> None:
    kept = {**door.ECHO, "id": "kept", "retention": "2d"}
    run = (await door.finish(kept, {}))["run_id"]
    shown = (await door.ask.get(f"/runs/{run}")).json()
    assert shown["expires_at"] > shown["ended_at"]
    forever = (await door.finish(door.ECHO, {}))["run_id"]
    assert (await door.ask.get(f"/runs/{forever}")).json()["expires_at"] is None
