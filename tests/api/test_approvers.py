"""Who may answer an approval that names approvers, and whom the decision names: over the API, and by the links that it gives."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.anyio

NAMED: dict[str, Any] = {
    "id": "named",
    "nodes": {
        "begin": {"type": "manual"},
        "boss": {"type": "approval", "after": "begin", "with": {"message": "Pay?", "approvers": ["Ada@example.com", "till"]}},
        "pay": {"type": "transform", "after": "boss.approved", "with": {"value": "<boss>"}},
    },
}
UNNAMED = {"type": "approval", "after": "begin", "with": {"message": "Pay?"}}
OPEN: dict[str, Any] = {"id": "open", "nodes": {**NAMED["nodes"], "boss": UNNAMED}}
YES = {"decision": "approved"}


async def key(door: Any, name: str, *roles: str) -> dict[str, str]:
    made = (await door.ask.post("/keys", json={"name": name, "roles": list(roles or ("approve",))})).json()
    return {"Authorization": f"Bearer {made['secret']}"}


async def asking(door: Any, document: dict[str, Any]) -> str:
    run_id = str(await door.start(document))
    await door.until(run_id, lambda event: event["type"] == "node.waiting")
    return run_id


async def links(door: Any, run_id: str, headers: dict[str, str]) -> list[str | None]:
    """The links to the question of a run in the list of approvals, and in the run."""
    listed = (await door.ask.get("/approvals", headers=headers)).json()["approvals"]
    run = (await door.ask.get(f"/runs/{run_id}", headers=headers)).json()
    return [next(each["resume"] for each in listed if each["run_id"] == run_id), run["pauses"][0]["resume"]]


async def answered(door: Any, run_id: str, headers: dict[str, str], body: dict[str, Any]) -> tuple[int, Any]:
    answer = await door.ask.post(f"/runs/{run_id}/pauses/boss/answer", json=body, headers=headers)
    return answer.status_code, answer.json()


async def decisions(door: Any, run_id: str) -> list[tuple[str, str | None]]:
    """Who asked, and whom the decision names, of all that were tried; the newest first."""
    entries = (await door.ask.get(f"/audit?verb=decide&target={run_id}")).json()["entries"]
    return [(each["who"], each["details"]["by"]) for each in entries]


async def test_a_key_that_is_no_approver_has_no_link_and_may_not_answer(door: Any) -> None:
    run_id, stranger = await asking(door, NAMED), await key(door, "desk")
    assert await links(door, run_id, stranger) == [None, None]
    status, problem = await answered(door, run_id, stranger, {**YES, "by": "ada@example.com"})
    assert (status, problem["code"]) == (403, "not_an_approver") and "Ada@example.com" in problem["detail"]
    assert (await door.run(run_id))["status"] == "paused"
    ((who, by),) = await decisions(door, run_id)
    assert who.endswith(" desk") and by == "ada@example.com (key desk)"


async def test_a_key_that_is_an_approver_answers_and_is_named(door: Any) -> None:
    run_id, till = await asking(door, NAMED), await key(door, "till")
    assert None not in await links(door, run_id, till)
    status, decision = await answered(door, run_id, till, {**YES, "by": "Bob", "comment": "fine"})
    assert (status, decision["by"]) == (200, "Bob (key till)")
    assert (await door.end(run_id))["outputs"]["pay"]["by"] == "Bob (key till)"
    (listed,) = (await door.ask.get("/approvals/decisions")).json()["decisions"]
    assert (listed["run_id"], listed["by"], listed["comment"], listed["pause"]) == (run_id, "Bob (key till)", "fine", "boss")
    assert (await answered(door, run_id, till, YES))[0] == 409


async def test_every_link_that_a_key_gets_names_the_key(door: Any) -> None:
    desk = await key(door, "desk")
    for place, by, recorded in ((0, None, "key desk"), (1, "Bob", "Bob (key desk)"), (0, "Bob", "Bob (key desk)")):
        run_id = await asking(door, OPEN)
        link = (await links(door, run_id, desk))[place]
        answer = await door.stranger.post(link, json={**YES, **({"by": by} if by else {})})
        assert (answer.status_code, answer.json()["by"]) == (200, recorded)
        ((who, noted),) = await decisions(door, run_id)
        assert (who, noted) == ("link of key desk", recorded)


async def test_an_admin_may_answer_what_names_others(door: Any) -> None:
    run_id = await asking(door, NAMED)
    status, decision = await answered(door, run_id, {}, YES)
    assert status == 200 and decision["by"].startswith("configured key sha256:")


async def test_an_answer_needs_the_role_and_a_question(door: Any) -> None:
    run_id = await asking(door, OPEN)
    assert (await answered(door, run_id, await key(door, "shop", "run"), YES))[1]["code"] == "role_missing"
    desk = await key(door, "desk")
    answer = await door.ask.post(f"/runs/{run_id}/pauses/nobody/answer", json=YES, headers=desk)
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_pause")
    assert (await answered(door, run_id, desk, {"decision": "maybe"}))[0] == 422
    assert (await answered(door, run_id, desk, {**YES, "answer": "x" * 300_000}))[0] == 413
    assert (await answered(door, run_id, desk, YES))[0] == 200


async def test_a_key_outside_its_role_leaves_an_entry_whatever_the_method(door: Any) -> None:
    shop = await key(door, "shop", "run")
    run_id = (await door.finish(door.ECHO))["run_id"]
    before = len((await door.ask.get("/audit")).json()["entries"])
    for method, path in (("DELETE", f"/runs/{run_id}"), ("GET", "/audit"), ("GET", "/approvals"), ("POST", "/keys")):
        assert (await door.ask.request(method, path, headers=shop)).status_code == 403
    assert (await door.ask.get("/runs", headers=shop)).status_code == 200
    added = (await door.ask.get("/audit")).json()["entries"][:-before]
    assert [(each["verb"], each["target"], each["refused"]) for each in added] == [
        ("make_key", "", "role_missing"), ("list_approvals", "", "role_missing"), ("list_audit", "", "role_missing"),
        ("erase_run", run_id, "role_missing"),
    ]  # fmt: skip
    assert all(each["who"].endswith(" shop") for each in added)


async def listed(door: Any, headers: dict[str, str], query: str) -> tuple[list[str], int, bool]:
    found = (await door.ask.get(f"/approvals?{query}", headers=headers)).json()
    return [each["run_id"] for each in found["approvals"]], found["count"], found["at_least"]


async def test_questions_are_listed_by_whom_they_were_sent_to_and_by_when_they_are_due(door: Any) -> None:
    soon = {**NAMED, "id": "soon", "nodes": {**NAMED["nodes"], "boss": {**UNNAMED, "with": {"message": "Pay?", "timeout": "1h"}}}}
    named, unnamed, due = [await asking(door, document) for document in (NAMED, OPEN, soon)]
    till, desk = await key(door, "till"), await key(door, "desk")
    assert await listed(door, till, "assigned=true") == ([named], 1, False)
    assert await listed(door, desk, "assigned=true") == ([], 0, False)
    assert set((await listed(door, desk, ""))[0]) == {named, unnamed, due}
    now_ms = door.local.world.clock.now_ms()
    assert await listed(door, desk, f"due_before={now_ms + 2 * 3_600_000}") == ([due], 1, False)
    assert await listed(door, desk, f"due_before={now_ms}") == ([], 0, False)
    assert (await door.ask.get("/approvals?due_before=soon", headers=desk)).status_code == 400


async def test_a_filter_of_questions_is_read_on(door: Any) -> None:
    runs = [await asking(door, NAMED) for _ in range(3)]
    till = await key(door, "till")
    page = (await door.ask.get("/approvals?assigned=true&limit=2", headers=till)).json()
    assert (len(page["approvals"]), page["count"], page["at_least"]) == (2, 2, True)
    rest = (await door.ask.get(f"/approvals?assigned=true&cursor={page['cursor']}", headers=till)).json()
    assert {each["run_id"] for each in (*page["approvals"], *rest["approvals"])} == set(runs)
    assert rest["cursor"] is None
