from __future__ import annotations

from typing import Any

import pytest

from stepless.adapters.memory.clock import SettableClock
from stepless.adapters.memory.store import MemoryStore
from stepless.errors import LimitExceeded
from stepless.limits import KEY_GRACE_MS, KEYS_FRESH_MS, MAX_API_KEYS
from stepless.runtime.access.api_keys import ApiKeys, hashed

pytestmark = pytest.mark.anyio

STEPS = {
    "id": "steps",
    "nodes": {
        "begin": {"type": "manual"},
        "first": {"type": "transform", "after": "begin", "with": {"value": "<begin.n>"}},
        "last": {"type": "transform", "after": "first", "with": {"value": "<first>"}},
    },
}
FORM = {"id": "shop", "nodes": {"begin": {"type": "manual"}}}


async def made(door: Any, *roles: str) -> dict[str, Any]:
    answer = await door.ask.post("/keys", json={"name": "shop", "roles": list(roles)})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def bearing(key: dict[str, Any]) -> dict[str, str]:
    return {"authorization": f"Bearer {key['secret']}"}


@pytest.mark.parametrize(
    ("roles", "reads", "starts", "publishes", "lists_keys"),
    [
        (["read"], 200, 403, 403, 403),
        (["run"], 200, 202, 403, 403),
        (["approve"], 200, 403, 403, 403),
        (["run", "approve"], 200, 202, 403, 403),
        (["admin"], 200, 202, 201, 200),
    ],
)
async def test_a_key_opens_what_its_roles_say(
    door: Any, roles: list[str], reads: int, starts: int, publishes: int, lists_keys: int
) -> None:
    await door.publish(door.ECHO)
    key = bearing(await made(door, *roles))
    assert (await door.stranger.get("/runs", headers=key)).status_code == reads
    assert (await door.stranger.post("/workflows/echo/runs", headers=key)).status_code == starts
    assert (await door.stranger.put("/workflows/shop", json=FORM, headers=key)).status_code == publishes
    answer = await door.stranger.get("/keys", headers=key)
    assert answer.status_code == lists_keys
    assert answer.status_code == 200 or answer.json()["code"] == "role_missing"


async def test_links_that_answer_are_shown_to_who_may_approve(door: Any) -> None:
    run_id, _ = await door.question()
    for role, shown in (("run", False), ("approve", True), ("admin", True)):
        run = (await door.stranger.get(f"/runs/{run_id}", headers=bearing(await made(door, role)))).json()
        assert (run["pauses"][0]["resume"] is not None) is shown, role


@pytest.mark.parametrize("entry", ["pay", ["begin", "pay"], ["question"]])
async def test_a_key_that_starts_runs_starts_them_at_entries_only(door: Any, entry: Any) -> None:
    await door.publish(door.ASK)
    path, body = "/workflows/ask/runs", {"entry": entry, "inputs": {"text": "mine"}}
    for roles in (["run"], ["run", "approve"]):
        answer = await door.stranger.post(path, json=body, headers=bearing(await made(door, *roles)))
        assert (answer.status_code, answer.json()["code"]) == (422, "unknown_entry")
        assert "start at begin" in answer.json()["mend"]
    assert (await door.ask.get("/runs")).json()["runs"] == []
    begun = await door.stranger.post(path, json={"entry": "begin"}, headers=bearing(await made(door, "run")))
    assert (await door.run(begun.json()["run_id"]))["non_entries"] == []


async def test_an_admin_may_start_anywhere_and_the_run_says_so(door: Any) -> None:
    await door.publish(door.ASK)
    answer = await door.stranger.post("/workflows/ask/runs", json={"entry": ["pay"]}, headers=bearing(await made(door, "admin")))
    run = await door.end(answer.json()["run_id"])
    assert (run["status"], run["non_entries"]) == ("completed", ["pay"])
    events = (await door.ask.get(f"/runs/{run['id']}/events")).json()["events"]
    assert events[0]["payload"]["meta"]["non_entries"] == ["pay"]


async def test_a_rerun_gives_no_inputs_to_a_node_that_is_no_entry(door: Any) -> None:
    """What was decided before the node was decided about the former inputs."""
    first = (await door.finish(STEPS, {"n": 1}))["run_id"]
    key = bearing(await made(door, "run"))
    for body, status in (({"from": "last"}, 202), ({"inputs": {}}, 202), ({"from": "begin", "inputs": {}}, 202),
                         ({"from": "last", "inputs": {}}, 422)):  # fmt: skip
        answer = await door.stranger.post(f"/runs/{first}/rerun", json=body, headers=key)
        assert answer.status_code == status, (body, answer.text)
        assert status == 202 or (answer.json()["code"], answer.json()["place"]) == ("unknown_entry", "from")
    answer = await door.ask.post(f"/runs/{first}/rerun", json={"from": "last", "inputs": {}})
    assert (await door.end(answer.json()["run_id"]))["non_entries"] == ["last"]


async def test_a_run_that_an_admin_began_at_no_entry_is_repeated_by_admins(door: Any) -> None:
    await door.publish(door.ASK)
    first = (await door.ask.post("/workflows/ask/runs", json={"entry": "pay"})).json()["run_id"]
    await door.end(first)
    key = bearing(await made(door, "run"))
    for body in ({}, {"inputs": {"text": "mine"}}, {"from": "pay"}):
        answer = await door.stranger.post(f"/runs/{first}/rerun", json=body, headers=key)
        assert (answer.status_code, answer.json()["code"]) == (422, "unknown_entry")
    bulk = {"action": "rerun", "filter": {"workflow": "ask"}}
    answer = await door.stranger.post("/runs/bulk", json=bulk, headers=key)
    assert [told["code"] for told in answer.json()["refused"]] == ["unknown_entry"]
    again = (await door.ask.post(f"/runs/{first}/rerun", json={})).json()["run_id"]
    assert (await door.end(again))["non_entries"] == ["pay"]


async def test_a_secret_is_told_once_and_kept_as_a_hash(door: Any) -> None:
    key = await made(door, "read")
    assert (await door.stranger.get("/runs", headers=bearing(key))).status_code == 200
    listed = (await door.ask.get("/keys")).json()["keys"]
    assert [(one["id"], one["roles"], one["last_used_at"] is not None) for one in listed] == [(key["id"], ["read"], True)]
    kept = repr(vars(door.local.world.store))
    assert key["secret"] not in kept and hashed(key["secret"]) in kept


async def test_a_removed_key_opens_nothing_any_more(door: Any) -> None:
    key = await made(door, "read")
    assert (await door.ask.delete(f"/keys/{key['id']}")).json() == {"keys": []}
    assert (await door.stranger.get("/runs", headers=bearing(key))).status_code == 401
    for answer in (await door.ask.delete(f"/keys/{key['id']}"), await door.ask.post(f"/keys/{key['id']}/rotate")):
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown_key")


async def test_a_rotated_key_opens_with_both_secrets(door: Any) -> None:
    old = await made(door, "read")
    new = (await door.ask.post(f"/keys/{old['id']}/rotate")).json()
    assert new["former_until"] is not None
    for key in (old, new):
        assert (await door.stranger.get("/runs", headers=bearing(key))).status_code == 200


@pytest.mark.parametrize(
    "body",
    [{}, {"name": "x"}, {"name": "x", "roles": []}, {"name": "", "roles": ["run"]}, {"name": "x", "roles": ["king"]}],
)
async def test_a_key_without_a_name_or_with_unknown_roles_is_refused(door: Any, body: dict[str, Any]) -> None:
    assert (await door.ask.post("/keys", json=body)).status_code == 422


def test_the_former_secret_opens_for_a_day() -> None:
    clock = SettableClock(1_000_000)
    keys = ApiKeys(MemoryStore(), clock)
    key, old = keys.add("shop", ["run"])
    _, new = keys.rotate(key.id)
    clock.advance(KEY_GRACE_MS - 1)
    assert keys.find(old) is not None
    clock.advance(1)
    assert keys.find(old) is None
    assert keys.find(new) is not None


def test_processes_learn_of_each_others_changes_and_lose_none() -> None:
    clock, store = SettableClock(1_000_000), MemoryStore()
    one, two = ApiKeys(store, clock), ApiKeys(store, clock)
    made = [owner.add(f"key {number}", ["read"]) for number, owner in enumerate([one, two, two, one, one, two] * 3)]
    clock.advance(KEYS_FRESH_MS)
    assert all(owner.find(secret) == key for owner in (one, two, ApiKeys(store, clock)) for key, secret in made)
    two.remove(made[0][0].id)
    clock.advance(KEYS_FRESH_MS)
    assert one.find(made[0][1]) is None
    assert len(one.list()) == len(made) - 1


def test_there_are_not_endlessly_many_keys() -> None:
    keys = ApiKeys(MemoryStore(), SettableClock(1_000_000))
    for number in range(MAX_API_KEYS):
        keys.add(str(number), ["read"])
    with pytest.raises(LimitExceeded):
        keys.add("one more", ["read"])
