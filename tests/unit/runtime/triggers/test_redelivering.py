"""Redeliver: the request of a former run, sent again to the newest version."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stepless.errors import InvalidRequest, NotFound
from stepless.runtime.triggers.webhooks import HookRequest


def hooked(entry: str = "order", path: str = "/orders", **with_: Any) -> dict[str, Any]:
    return {
        entry: {"type": "webhook", "with": {"path": path, "auth": "none", "method": ["POST", "PUT"], **with_}},
        "said": {"type": "transform", "after": entry, "with": {"value": [f"<{entry}.body.id>", f"<{entry}.query.q>"]}},
    }


def publish(machine: Any, nodes: dict[str, Any]) -> int:
    return int(machine.service.publish({"id": "shop", "nodes": nodes}).version.number)


def send(machine: Any, body: Any) -> str:
    headers = {"content-type": "application/json", "authorization": "secret"}
    request = HookRequest("/orders", "PUT", headers, {"q": "1"}, json.dumps(body).encode())
    run_id = str(machine.service.trigger(request).started.run_id)
    machine.drain()
    return run_id


def redelivered(machine: Any, run_id: str) -> Any:
    started = machine.service.redeliver(run_id)
    machine.drain()
    return started, machine.view(started.run_id)


def test_the_request_goes_to_the_newest_version(machine: Any) -> None:
    publish(machine, hooked())
    run_id = send(machine, {"id": 7})
    before = machine.log(run_id)
    more = {"type": "transform", "after": "said", "with": {"value": "new <order.body.id>"}}
    newest = publish(machine, {**hooked(), "more": more})
    started, view = redelivered(machine, run_id)
    assert (started.version, view.outputs) == (newest, {"more": "new 7"})
    assert view.inputs == machine.view(run_id).inputs and "authorization" not in view.inputs["headers"]
    assert json.loads(view.head.meta)["rerun"] == {"of": run_id, "from": None}
    assert machine.log(run_id) == before


def test_it_goes_to_the_node_that_listens_there_by_now(machine: Any) -> None:
    publish(machine, hooked())
    run_id = send(machine, {"id": 7})
    publish(machine, {"start": {"type": "manual"}, **hooked("incoming")})
    assert redelivered(machine, run_id)[1].outputs == {"said": [7, "1"]}


def test_of_several_that_listen_the_former_one_is_chosen(machine: Any) -> None:
    both = {**hooked("aaa", method="GET"), **hooked()}
    publish(machine, hooked())
    run_id = send(machine, {"id": 7})
    publish(machine, both)
    assert redelivered(machine, run_id)[1].outputs == {"said": [7, "1"]}


def test_a_request_that_the_new_schema_refuses_starts_nothing(machine: Any) -> None:
    publish(machine, hooked())
    run_id = send(machine, {"id": 7})
    publish(machine, hooked(schema={"type": "object", "required": ["amount"]}))
    with pytest.raises(InvalidRequest, match="does not fit the webhook's schema"):
        machine.service.redeliver(run_id)


def test_where_nothing_listens_any_more_it_is_refused(machine: Any) -> None:
    publish(machine, hooked())
    run_id = send(machine, {"id": 7})
    publish(machine, hooked(path="/elsewhere"))
    with pytest.raises(NotFound, match="no webhook on /orders"):
        machine.service.redeliver(run_id)
    with pytest.raises(NotFound, match="there is no run"):
        machine.service.redeliver("run_of_nobody")


def test_a_run_that_was_started_by_hand_is_started_by_hand_again(machine: Any) -> None:
    start = {"type": "manual"}
    run_id = machine.start({"a": start, "b": {"type": "transform", "after": "a", "with": {"value": "old <a.n>"}}}, {"n": 1})
    machine.drain()
    nodes = {"a": start, "b": {"type": "transform", "after": "a", "with": {"value": "<a.n>"}}}
    machine.service.publish({"id": "small", "nodes": nodes})
    assert redelivered(machine, run_id)[1].outputs == {"b": 1}
