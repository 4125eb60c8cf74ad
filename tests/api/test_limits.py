"""What the API says of runs that wait for a limit per key."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.core.history.waits import WORDS

pytestmark = pytest.mark.anyio

RATE = {"max": 1, "per": "1h", "by": "<begin.customer>"}
LIMITED = {
    "id": "limited",
    "nodes": {
        "begin": {"type": "manual"},
        "call": {"type": "workflow", "after": "begin", "with": {"workflow": "echo"}, "rate": RATE},
    },
}


async def test_a_run_says_for_which_limit_and_key_it_waits(door: Any) -> None:
    await door.publish(door.ECHO)
    await door.finish(LIMITED, {"customer": "acme"})
    run_id = await door.start(LIMITED, {"customer": "acme"})
    events = await door.until(run_id, lambda event: event["type"] == "node.queued")
    queued = next(event["payload"] for event in events if event["type"] == "node.queued")
    assert queued["limit"] == {"of": "nodes.call.rate", "key": "acme"}
    run = await door.run(run_id)
    [limit] = run["limits"]
    assert (limit["of"], limit["key"], limit["instances"], limit["ahead"]) == ("nodes.call.rate", "acme", 1, None)
    assert limit["since"] < limit["until"]
    assert (run["status"], run["waiting"], run["summary"]) == ("running", ["limit"], "waiting for a limit")
    found = {word: (await door.ask.get(f"/runs?waiting={word}")).json()["runs"] for word in WORDS}
    assert [one["id"] for one in found["limit"]] == [run_id]
    [record] = [node for node in (await door.ask.get(f"/runs/{run_id}/nodes")).json()["nodes"] if node["node"] == "call"]
    assert (record["status"], record["waiting"]["limit"]) == ("queued", queued["limit"])


async def test_a_document_with_limits_is_returned_as_it_was_published(door: Any) -> None:
    await door.publish(door.ECHO)
    await door.publish(LIMITED)
    answer = (await door.ask.get("/workflows/limited")).json()
    assert (answer["document"], answer["id"], answer["version"]) == (LIMITED, "limited", 1)
    listed = (await door.ask.get("/workflows")).json()["workflows"]
    assert [one["name"] for one in listed] == ["echo", "limited"]


async def test_starts_beyond_the_rate_of_a_workflow_are_refused_for_each_key(door: Any) -> None:
    await door.publish({**door.ECHO, "rate": {"max": 1, "per": "1h", "by": "lower(<input.customer>)"}})
    given = [{"inputs": {"customer": customer}} for customer in ("Acme", "other", "acme")]
    answers = [await door.ask.post("/workflows/echo/runs", json=inputs) for inputs in given]
    assert [answer.status_code for answer in answers] == [202, 202, 429]
    assert answers[2].json()["code"] == "rate_limited"
