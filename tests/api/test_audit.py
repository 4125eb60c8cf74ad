"""The audit log: every request that may change something has an entry, whatever becomes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx
import pytest

from stepless.api.app import create_app
from stepless.errors import StoreUnavailable
from stepless.limits import AUDIT_KEPT_MS
from stepless.runtime.service import Service

pytestmark = pytest.mark.anyio


async def entries(door: Any, query: str = "") -> list[dict[str, Any]]:
    answer = await door.ask.get(f"/audit{query}")
    assert answer.status_code == 200, answer.text
    return list(answer.json()["entries"])


async def test_a_change_has_who_what_when_and_from_where(door: Any) -> None:
    run_id = (await door.finish(door.ECHO, {"secret": "of the inputs"}))["run_id"]
    await door.ask.delete(f"/runs/{run_id}")
    erased, started, published = await entries(door)
    assert [each["verb"] for each in (erased, started, published)] == ["erase_run", "start_run", "publish_workflow"]
    assert (erased["target"], started["target"], published["target"]) == (run_id, "echo", "echo")
    for each in (erased, started, published):
        assert each["who"].startswith("configured key sha256:") and len(each["who"]) < 40
        assert each["source"].startswith("127.0.0.1") and "python-httpx" in each["source"]
        assert each["refused"] is None
        assert "of the inputs" not in str(each) and door.KEY not in str(each)


async def test_reading_leaves_no_entry(door: Any) -> None:
    run_id = (await door.finish(door.ECHO))["run_id"]
    before = await entries(door)
    for path in (f"/runs/{run_id}", "/runs", "/keys", "/audit", f"/runs/{run_id}/events"):
        assert (await door.ask.get(path)).status_code == 200
    assert await entries(door) == before


async def test_a_refusal_is_added_to_the_entry(door: Any) -> None:
    run_id = (await door.finish(door.ECHO))["run_id"]
    await door.ask.post(f"/runs/{run_id}/cancel")
    await door.ask.post("/runs/run_none/hold", json={"by": 7})
    await door.ask.post("/workflows/none/runs", json={})
    await door.ask.delete("/runs/run_none?other=1")
    listed = await entries(door)
    assert [(each["verb"], bool(each["refused"])) for each in listed[:4]] == [
        ("erase_run", True), ("start_run", True), ("hold_run", True), ("cancel_run", True),
    ]  # fmt: skip
    assert listed[3]["refused"] == "run_ended"


async def test_a_key_of_the_api_is_named_and_only_an_admin_reads_the_log(door: Any) -> None:
    made = (await door.ask.post("/keys", json={"name": "shop", "roles": ["run"]})).json()
    await door.publish(door.ECHO)
    shop = {"Authorization": f"Bearer {made['secret']}"}
    assert (await door.ask.post("/workflows/echo/runs", json={}, headers=shop)).status_code == 202
    (started,) = await entries(door, "?verb=start_run")
    assert started["who"] == f"key {made['id']} shop"
    assert (await door.ask.get("/audit", headers=shop)).status_code == 403
    assert (await door.ask.post("/workflows/echo/runs", json={}, headers={"Authorization": "Bearer x"})).status_code == 401
    assert made["secret"] not in str(await entries(door))


async def test_an_answer_by_a_link_has_an_entry(door: Any) -> None:
    run_id, link = await door.question()
    answer = await door.ask.post(link, json={"decision": "approved", "by": "ada", "answer": {"comment": "fine"}})
    assert answer.status_code == 200, answer.text
    (entry,) = await entries(door, f"?target={run_id}&verb=decide")
    assert entry["who"].startswith("link of configured key sha256:")
    assert (entry["details"]["decision"], entry["details"]["by"]) == ("approved", "ada")
    assert "fine" not in str(entry)
    assert (await door.ask.post(link, json={"decision": "approved"})).status_code == 409
    assert [each["refused"] for each in await entries(door, "?verb=decide")] == ["already_decided", None]


async def test_a_bulk_change_says_which_filter(door: Any) -> None:
    await door.ask.post("/runs/bulk", json={"action": "hold", "filter": {"workflow": "echo"}})
    (entry,) = await entries(door, "?verb=change_runs")
    assert entry["details"] == {"action": "hold", "filter": {"workflow": "echo"}}


async def test_pages_filters_and_times(door: Any) -> None:
    for name in ("a", "b", "c", "d", "e"):
        await door.ask.post(f"/runs/run_{name}/hold")
    found: list[tuple[str, str]] = []
    cursor = ""
    for _ in range(9):
        page = (await door.ask.get(f"/audit?limit=2&verb=hold_run{cursor}")).json()
        found += [(each["at"], each["target"]) for each in page["entries"]]
        if page["cursor"] is None:
            break
        cursor = f"&cursor={page['cursor']}"
    assert [target for _, target in found] == ["run_e", "run_d", "run_c", "run_b", "run_a"]
    times = [at for at, _ in found]
    assert times == sorted(times, reverse=True)
    assert await entries(door, "?until=2001-01-01T00:00:00Z") == []
    assert len(await entries(door, "?target=run_c")) == 1
    for wrong in ("?since=yesterday", "?cursor=x", "?limit=0", "?other=1"):
        assert (await door.ask.get(f"/audit{wrong}")).status_code in (400, 422)


OWN_RECORD = ("/ops", "/ticket", "/yaml", "/restore", "/evaluate", "/import")
"""Edits of a draft are in its log, with person and time; the others change nothing."""


async def test_no_verb_is_carried_out_whose_entry_cannot_be_stored(door: Any) -> None:
    """Every route that may change something, also one that a later release adds."""
    store = door.local.world.store

    class Unwritable:
        def __getattr__(self, name: str) -> Any:
            return getattr(store, name)

        def put_audit(self, *given: Any) -> None:
            raise StoreUnavailable("the audit log cannot be written")

        def create_run(self, *given: Any) -> bool:
            raise AssertionError("a verb was carried out")

        put_version = put_signal = touch_run = claim = take_lease = create_run

    unwritable: Any = Unwritable()
    service = Service(replace(door.local.world, store=unwritable), door.local.service.signer)
    app = create_app(service, api_keys=None, development=True)
    reading = {"get", "head", "options"}
    changing = [
        (method, path) for path, methods in app.openapi()["paths"].items() for method in methods.keys() - reading
        if not path.startswith(("/hooks", "/resume")) and not path.endswith(OWN_RECORD)
    ]  # fmt: skip
    assert len(changing) > 12
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as ask:
        for method, path in changing:
            answer = await ask.request(method, path.replace("{", "").replace("}", ""), json={})
            assert answer.status_code == 503, (method, path, answer.text)


def test_an_entry_is_kept_for_a_year() -> None:
    assert AUDIT_KEPT_MS >= 365 * 24 * 3_600_000
