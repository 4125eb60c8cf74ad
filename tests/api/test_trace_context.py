"""Trace context over HTTP: taken from webhooks and starts, handed to `http`, `lambda`, functions and child runs, unless off."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from stepless.adapters.memory.secrets import MemorySecrets
from stepless.api.app import create_app
from stepless.model.runs.traceparent import attempt_span_id, trace_id
from stepless.nodes.function.call import FunctionCall
from stepless.nodes.function.registry import function
from stepless.ports import HttpAnswer, HttpRequest, Misfit, RunFilter
from stepless.runtime.wiring.local import Local, local
from stepless.runtime.wiring.single_run import serving

pytestmark = pytest.mark.anyio

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PARENT = {"traceparent": f"00-{TRACE}-{SPAN}-01", "tracestate": "vendor=1"}
ON = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1/v1/traces"}
CHILD = {"id": "child", "nodes": {"get": {"type": "http", "with": {"url": "http://service.example/child"}}}}
WORKFLOW = {
    "id": "w",
    "nodes": {
        "hook": {"type": "webhook", "with": {"path": "/in", "auth": "none"}},
        "get": {
            "type": "http", "after": "hook", "retry": {"attempts": 2, "backoff_ms": 1},
            "with": {"url": "http://service.example/"},
        },
        "own": {
            "type": "http", "after": "hook",
            "with": {"url": "http://service.example/own", "headers": {"Traceparent": "the author's"}},
        },
        "ask": {"type": "lambda", "after": "hook", "with": {"function": "f"}},
        "wait": {"type": "lambda", "after": "hook", "with": {"function": "g", "mode": "callback"}},
        "code": {"type": "function", "after": "hook", "with": {"call": "trace_context.seen"}},
        "call": {"type": "workflow", "after": "hook", "with": {"workflow": "child"}},
    },
}  # fmt: skip


@function("trace_context.seen")
def seen(call: FunctionCall) -> dict[str, str]:
    return {"traceparent": call.traceparent, "tracestate": call.tracestate}


class Outside:
    """The services that nodes call: both ports, which keep what they are sent. The first request of each URL fails."""

    def __init__(self) -> None:
        self.http: dict[str, list[Mapping[str, str]]] = {}
        self.aws: dict[str, Mapping[str, Any]] = {}

    async def send(self, request: HttpRequest) -> HttpAnswer:
        self.http.setdefault(request.url, []).append(request.headers)
        status = 200 if "/own" in request.url or "/child" in request.url or len(self.http[request.url]) > 1 else 503
        if status != 200:
            from stepless.model.work import NodeFailure

            raise NodeFailure("provider_error", "http_503", "busy")
        return HttpAnswer(status, {}, b"")

    def check(self, service: str, action: str, params: Mapping[str, Any]) -> Sequence[Misfit]:
        return []

    async def call(self, service: str, action: str, params: Mapping[str, Any], *, token: str, timeout_ms: int) -> Any:
        self.aws[str(params["FunctionName"])] = params
        return {"Payload": "1"}


@asynccontextmanager
async def serve(env: Mapping[str, str]) -> AsyncIterator[tuple[Local, Outside, httpx.AsyncClient]]:
    outside = Outside()
    built = local(None, secrets=MemorySecrets(dict(env)), aws=outside)
    for world in (built.world, built.runner._world):
        object.__setattr__(world, "http", outside)  # the port itself: the guarded client is another test's subject
    for document in (CHILD, WORKFLOW):
        built.service.publish(document)
    transport = httpx.ASGITransport(create_app(built.service, api_keys=None))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield built, outside, client


async def settled(built: Local, run_id: str, done: Callable[[Any], bool]) -> Any:
    changed = asyncio.Event()
    built.host.on_ending = lambda _: changed.set()
    async with serving(built), asyncio.timeout(10):
        while not done(view := built.service.run(run_id)):
            await changed.wait()
            changed.clear()
    return view


def waits_for_callback(view: Any) -> bool:
    others = ("get", "own", "ask", "code", "call")
    return view.status == "paused" and all(view.nodes[name].status == "completed" for name in others)


async def test_one_trace_from_the_webhook_to_what_every_node_sends() -> None:
    async with serve(ON) as (built, outside, client):
        answer = await client.post("/hooks/in", json={}, headers=PARENT)
        run = answer.json()["run_id"]
        view = await settled(built, run, waits_for_callback)

        def context(node: str, attempt: int = 1, of: str = run) -> dict[str, str]:
            return {"traceparent": f"00-{TRACE}-{attempt_span_id(of, node, attempt)}-01", "tracestate": "vendor=1"}

        assert [pick(headers) for headers in outside.http["http://service.example/"]] == [context("get", 1), context("get", 2)]
        assert [pick(headers) for headers in outside.http["http://service.example/own"]] == [{"traceparent": "the author's"}]
        custom = json.loads(b64decode(outside.aws["f"]["ClientContext"]))["custom"]
        assert custom == context("ask")
        assert pick(json.loads(outside.aws["g"]["Payload"])) == context("wait")
        assert "ClientContext" not in outside.aws["g"]
        assert view.nodes["code"].output == context("code")
        child = next(head for head in built.world.store.list_runs(RunFilter("child")).items)
        assert json.loads(child.meta)["trace"] == {"parent": context("call")["traceparent"], "state": "vendor=1"}
        assert [pick(headers) for headers in outside.http["http://service.example/child"]] == [context("get", of=child.run_id)]
        started = built.service.events(run).events[0]["payload"]["meta"]
        assert started["trace"] == {"parent": PARENT["traceparent"], "state": "vendor=1"}


async def test_a_start_is_part_of_its_callers_trace_and_a_rerun_is_not() -> None:
    async with serve(ON) as (built, _, client):
        answer = await client.post("/workflows/w/runs", json={"inputs": {}, "keywords": ["k"]}, headers=PARENT)
        run = answer.json()["run_id"]
        meta = json.loads(built.world.store.get_run(run).meta)  # type: ignore[union-attr]
        assert (meta["trace"]["parent"], meta["tags"]) == (PARENT["traceparent"], ["k"])
        again = built.service.rerun(run).run_id
        assert json.loads(built.world.store.get_run(again).meta)["trace"] == {"former": TRACE}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "headers", [{}, {"traceparent": "00-0-0-01", "tracestate": "a=1"}, [("traceparent", PARENT["traceparent"])] * 2]
)
async def test_without_a_valid_parent_a_run_begins_its_own_trace(headers: Any) -> None:
    async with serve(ON) as (built, outside, client):
        run = (await client.post("/hooks/in", json={}, headers=headers)).json()["run_id"]
        await settled(built, run, waits_for_callback)
        assert "trace" not in json.loads(built.world.store.get_run(run).meta)  # type: ignore[union-attr]
        assert pick(outside.http["http://service.example/"][0]) == {
            "traceparent": f"00-{trace_id(run)}-{attempt_span_id(run, 'get', 1)}-01"
        }


async def test_an_unsampled_caller_stays_unsampled_everywhere() -> None:
    async with serve(ON) as (built, outside, client):
        run = (await client.post("/hooks/in", headers={"traceparent": f"00-{TRACE}-{SPAN}-00"})).json()["run_id"]
        await settled(built, run, waits_for_callback)
        contexts = [outside.http["http://service.example/"][0], outside.http["http://service.example/child"][0]]
        assert [one["traceparent"].rpartition("-")[2] for one in contexts] == ["00", "00"]


@pytest.mark.parametrize(
    "env", [{}, {**ON, "OTEL_SDK_DISABLED": "true"}, {**ON, "OTEL_PROPAGATORS": "b3,baggage"}, {**ON, "OTEL_PROPAGATORS": "none"}]
)
async def test_nothing_is_stored_or_sent_when_it_is_off(env: dict[str, str]) -> None:
    async with serve(env) as (built, outside, client):
        run = (await client.post("/hooks/in", json={}, headers=PARENT)).json()["run_id"]
        view = await settled(built, run, waits_for_callback)
        sent = [headers for url, some in outside.http.items() for headers in some if "/own" not in url]
        assert [pick(headers) for headers in sent] == [{}] * len(sent)
        assert "ClientContext" not in outside.aws["f"]
        assert pick(json.loads(outside.aws["g"]["Payload"])) == {}
        assert view.nodes["code"].output == {"traceparent": "", "tracestate": ""}
        assert all("trace" not in json.loads(head.meta) for head in built.world.store.list_runs(RunFilter()).items)


def pick(context: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in context.items() if name in ("traceparent", "tracestate")}
