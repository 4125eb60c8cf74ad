"""Fills a store with something of everything that is stored, for tests that damage one part of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import httpx
from draft_client import op, renames
from fastapi import FastAPI

from stepless.adapters.memory.secrets import MemorySecrets
from stepless.api.app import create_app
from stepless.core.limits.slots import Holder, encode_holders, position_in_line
from stepless.core.stored.snapshot import encode_state
from stepless.runtime.inbox import hold_signal
from stepless.runtime.runlog import RunLog
from stepless.runtime.session.permits.limit_claims import claim_key
from stepless.runtime.wiring.local import Local, local
from stepless.runtime.wiring.stores import Kept

KEY: Final = "the-key-of-the-tests"
PATIENCE_S: Final = 5
BEGIN: Final = {"type": "manual"}
ASK: Final = {"type": "approval", "after": "begin", "with": {"message": "Pay?"}}
SAID: Final = {"type": "transform", "after": "begin", "with": {"value": "<begin>"}}
RATE: Final = {"max": 1, "per": "1h", "by": "<begin.customer>"}
_CALL: Final = {"type": "workflow", "after": "begin", "with": {"workflow": "echo"}}

DOCUMENTS: Final[Mapping[str, dict[str, Any]]] = {
    "ask": {"nodes": {"begin": BEGIN, "ask": ASK, "paid": {**SAID, "after": "ask.approved"}}},
    "asked": {"nodes": {"begin": BEGIN, "ask": ASK, "paid": {**SAID, "after": "ask.approved"}}},
    "echo": {"numbered": True, "retention": "30d", "rate": {"max": 1000, "per": "1h"}, "nodes": {"begin": BEGIN, "said": SAID}},
    "fails": {"nodes": {"begin": BEGIN, "bad": {**SAID, "with": {"value": "<begin.missing!>"}}}},
    "hooked": {"nodes": {"hook": {"type": "webhook", "with": {"path": "/orders", "auth": {"bearer": "secret"}}},
                         "said": {**SAID, "after": "hook", "with": {"value": "<hook.body>"}}}},
    "limited": {"nodes": {"begin": BEGIN, "call": {**_CALL, "rate": RATE, "concurrency": {"max": 5}}}},
    "other": {"nodes": {"begin": BEGIN, "said": SAID}},
    "parent": {"nodes": {"begin": BEGIN, "call": {"type": "workflow", "after": "begin", "with": {"workflow": "ask"}}}},
    "timed": {"nodes": {"at": {"type": "schedule", "with": {"cron": "0 3 1 1 *"}}, "said": {**SAID, "after": "at"}}},
    "waits": {"nodes": {"begin": BEGIN, "pause": {"type": "wait", "after": "begin", "with": {"for": "3d"}}}},
}  # fmt: skip
"""Workflows by id, without their ids. Tests damage nothing of `asked` and `other`: they must work whatever else is damaged."""


@dataclass
class Engine:
    """An engine that serves a store, and a client of its API."""

    local: Local
    app: FastAPI
    ask: httpx.AsyncClient
    host: asyncio.Task[None]

    async def got(self, method: str, path: str, *statuses: int, **given: Any) -> Any:
        answer = await self.ask.request(method, path, **given)
        assert answer.status_code in (statuses or (200, 201, 202)), f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    async def start(self, workflow: str, inputs: Any = None, **given: Any) -> str:
        body = {"inputs": inputs if inputs is not None else {}}
        return str((await self.got("POST", f"/workflows/{workflow}/runs", json=body, **given))["run_id"])

    async def until(self, run_id: str, *statuses: str) -> Any:
        """The run once it has one of these statuses, or waits for one of these things."""
        async with asyncio.timeout(PATIENCE_S):
            after = 0
            while True:
                run = await self.got("GET", f"/runs/{run_id}")
                if {run["status"], *run["waiting"]} & {*statuses}:
                    return run
                page = await self.got("GET", f"/runs/{run_id}/events?afterEventId={after}", headers={"prefer": "wait=1"})
                after = page["events"][-1]["eventId"] if page["events"] else after


@dataclass
class Filled:
    """What `fill` has stored: ids by what they are."""

    runs: dict[str, str] = field(default_factory=dict)
    key_id: str = ""
    key: str = ""


@asynccontextmanager
async def serving(kept: Kept, started: Callable[[Local], None] = lambda local: None) -> AsyncIterator[Engine]:
    """Serves the store as `stepless dev` does, in this event loop."""
    engine = local(kept, secrets=MemorySecrets())
    try:
        started(engine)
        engine.host.schedules = engine.schedules
        app = create_app(engine.service, api_keys=[KEY], development=True)
        host = asyncio.create_task(engine.host.serve())
        try:
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            headers = {"authorization": f"Bearer {KEY}"}
            async with httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers, timeout=PATIENCE_S) as ask:
                yield Engine(engine, app, ask, host)
        finally:
            await app.state.draft_editing.close()
            await engine.host.stop()
            await host
    finally:
        engine.close()


async def fill(engine: Engine) -> Filled:
    """Stores at least one of everything."""
    filled = Filled()
    for workflow_id, document in DOCUMENTS.items():
        await engine.got("PUT", f"/workflows/{workflow_id}", json={"id": workflow_id, **document})
    await engine.got("PUT", "/workflows/ask", content=_ASK_AS_TEXT, headers={"content-type": "application/yaml"})
    filled.runs["waiting"] = await engine.start("ask", {"n": 1})
    filled.runs["other"] = await engine.start("ask", {"n": 2})
    filled.runs["echo"] = await engine.start("echo", {"text": "short"}, headers={"idempotency-key": "one"})
    filled.runs["large"] = await engine.start("echo", {"text": "long " * 20_000})
    filled.runs["failed"] = await engine.start("fails")
    filled.runs["parent"] = await engine.start("parent")
    filled.runs["timer"] = await engine.start("waits")
    filled.runs["first"] = await engine.start("limited", {"customer": "acme"})
    await engine.until(filled.runs["first"], "completed")
    filled.runs["asked"] = await engine.start("asked")
    await engine.until(filled.runs["asked"], "answer")
    filled.runs["limited"] = await engine.start("limited", {"customer": "acme"})
    for name, waits in (("waiting", "answer"), ("other", "answer"), ("echo", "completed"), ("large", "completed"),
                        ("failed", "failed"), ("parent", "child"), ("timer", "time"), ("limited", "limit")):  # fmt: skip
        await engine.until(filled.runs[name], waits)
    filled.runs["answered"] = await engine.start("ask")
    await answer(engine, filled.runs["answered"])
    await engine.got("POST", f"/runs/{filled.runs['echo']}/rerun", json={})
    await engine.got("POST", f"/runs/{filled.runs['other']}/hold", json={"reason": "later"})
    await engine.got("POST", "/hooks/orders", json={"a": 1}, headers={"authorization": "Bearer secret"})
    engine.local.schedules.fire(engine.local.world.clock.now_ms())
    await engine.got("POST", "/workflows/timed/schedules/at/fire", json={})
    await engine.got("POST", "/workflows/timed/schedules/at/pause", json={"reason": "later"})
    made = await engine.got("POST", "/keys", json={"name": "reader", "roles": ["read"]})
    filled.key_id, filled.key = made["id"], made["secret"]
    await engine.got("GET", "/me", headers={"authorization": f"Bearer {filled.key}"})
    await _draft(engine, "ask")
    await _draft(engine, "echo")
    world = engine.local.world
    state = RunLog(world.store, world.blobs, filled.runs["waiting"]).load(
        world.versions.graph("ask", (await _version(engine, "ask"))["hash"])
    )
    now_ms = world.clock.now_ms()
    world.store.join_line("planted", position_in_line(now_ms, 1, 1, filled.runs["limited"], "0" * 8))
    world.store.claim(claim_key("planted"), encode_holders({filled.runs["limited"]: Holder(1, 1, now_ms)}), now_ms)
    world.store.put_snapshot(filled.runs["waiting"], state.sequence, encode_state(state))
    world.store.put_signal(filled.runs["waiting"], hold_signal(5, True, "someone", "early", now_ms))
    return filled


_ASK_AS_TEXT: Final = """\
id: ask
nodes:
  begin: {type: manual}  # by hand
  ask: {type: approval, after: begin, with: {message: "Pay?"}}
  paid: {type: transform, after: ask.approved, with: {value: <begin>}}
"""


async def _version(engine: Engine, workflow: str) -> Any:
    return await engine.got("GET", f"/workflows/{workflow}")


async def answer(engine: Engine, run_id: str) -> None:
    """Approves what a run waits for, by its link, and waits for its end."""
    run = await engine.until(run_id, "answer")
    path = run["pauses"][0]["resume"].removeprefix("http://test")
    await engine.got("POST", path, json={"decision": "approved"})
    await engine.until(run_id, "completed")


async def _draft(engine: Engine, workflow: str) -> None:
    await engine.got("POST", f"/drafts/{workflow}", json={"from": "version"})
    for number in range(1, 4):
        request = op(1, number, renames(f"name {number}"), base=number - 1)
        await engine.got("PUT", f"/drafts/{workflow}/ops", json=request)
    drafts = engine.app.state.draft_editing.drafts
    drafts.checkpoint(workflow)
    drafts.drafting.keep_state(workflow)
    request = op(1, 4, renames("name 4"), base=3)
    await engine.got("PUT", f"/drafts/{workflow}/ops", json=request)
    await engine.got("POST", f"/drafts/{workflow}/runs", json={"inputs": {}})
