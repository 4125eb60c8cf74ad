"""Kinds are given the guarded HTTP client, whoever wrote them. A setting of blanks is none."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from stepless.adapters.memory.secrets import MemorySecrets
from stepless.errors import ConfigError
from stepless.limits import LINGER_MS
from stepless.model.work import NodeFailure, Result
from stepless.ports import Call, HttpAnswer, HttpRequest, Message
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.runner import Runner
from stepless.runtime.verbs.reads.inspecting import RunView
from stepless.runtime.wiring.equipment import linger_ms, retention_ms
from stepless.runtime.wiring.local import local

NODES = {"a": {"type": "http", "with": {"url": "http://127.0.0.1:1/"}}}


async def code(call: Call) -> Result:
    """That of some kind."""
    answer = await call.http.send(HttpRequest("GET", "http://127.0.0.1:1/", timeout_ms=call.deadline_ms - call.started_ms))
    return Result(answer.status)


class Fake:
    async def send(self, request: HttpRequest) -> HttpAnswer:
        assert (request.method, request.timeout_ms) == ("GET", 5_000)
        return HttpAnswer(204, {}, b"")


def ran(http: Fake | None = None) -> RunView:
    built = local(None, secrets=MemorySecrets())
    world = replace(built.world, kind_code={"http": code}, http=http or built.world.http)
    built.service.publish({"id": "w", "nodes": {"a": {**NODES["a"], "timeout_ms": 5_000}}})
    run_id = built.service.start("w", {}).run_id
    asyncio.run(Runner(world).run(Message(run_id, "start"), Budget(60_000)))
    return built.service.run(run_id)


def test_a_kind_reaches_no_private_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STEPLESS_HTTP_ALLOW", raising=False)
    view = ran()
    assert view.error is not None
    assert view.error["code"] == "address_refused"


def test_a_kind_asks_the_port_that_its_world_has() -> None:
    assert ran(Fake()).outputs == {"a": 204}


def test_a_call_that_was_made_by_hand_reaches_nothing() -> None:
    call = Call("r", "w", "n", "n", "http", 1, {}, {}, {}, "t", 9_000)
    with pytest.raises(NodeFailure, match="has no HTTP client"):
        asyncio.run(code(call))


@pytest.mark.parametrize("text", [None, "", " ", "\n"])
def test_a_duration_of_blanks_is_not_set(text: str | None) -> None:
    assert (retention_ms(text), linger_ms(text)) == (None, LINGER_MS)


def test_blanks_around_a_duration_are_left_out() -> None:
    assert (retention_ms(" 90d\n"), linger_ms("\t5s ")) == (90 * 24 * 3_600_000, 5_000)


@pytest.mark.parametrize("text", ["90", "soon"])
def test_what_is_no_duration_is_refused_at_its_place(text: str) -> None:
    with pytest.raises(ConfigError) as retention:
        retention_ms(text, place="--retention")
    with pytest.raises(ConfigError) as lingering:
        linger_ms(text)
    assert [(error.value.code, error.value.place) for error in (retention, lingering)] == [
        ("invalid_duration", "--retention"), ("invalid_duration", "STEPLESS_LINGER"),
    ]
