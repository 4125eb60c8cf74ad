"""Nodes as tools of a model, and what conversations cost, in a real engine in memory: only the model is scripted."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import Any

import pytest

from stepless.adapters.memory.models import ScriptedModels
from stepless.core.events import Event
from stepless.limits import MAX_RESULT_BYTES, MODEL_MARGIN_MS
from stepless.model.work import NodeFailure, Result
from stepless.nodes import KIND_CODE, model_kind_code
from stepless.nodes.function import FunctionCall, function

seen: list[tuple[str, str, str, int]] = []
KEY = "a-secret-key"


@function("tooling.find")
def find(id: str, region: str, *, call: FunctionCall) -> dict[str, Any]:
    seen.append((id, region, call.token, call.attempt))
    if id == "secret":
        raise LookupError(f"refused with {KEY}")
    return {"id": id, "name": "Ada", "key": KEY if id == "leak" else ""}


@function("tooling.slow")
async def slow(call: FunctionCall) -> None:
    await asyncio.Event().wait()


LOOKUP = {"type": "function", "label": "Finds a customer",
          "with": {"call": "tooling.find", "args": {"id": "<input.id>", "region": "<start.region>"}}}  # fmt: skip
LATER = {"backoff_ms": 60_000, "max_backoff_ms": 60_000}  # by the machine's clock; shorter ones it would wait for by its own
TOKENS = {"input_tokens": 10, "output_tokens": 5}


def ask(*tools: Any, **more: Any) -> dict[str, Any]:
    offered = [{"node": "lookup", "parameters": {"type": "object", "required": ["id"]}}, *tools]
    return {"type": "llm", "after": "start", "with": {"prompt": "Who?", "tools": offered}, **more}


def calls(*given: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"calls": [{"call": name, "args": args} for name, args in given], **TOKENS}


def run(machine: Any, answers: list[Any], nodes: dict[str, Any], **top: Any) -> tuple[str, ScriptedModels]:
    """A run that has come to rest, and what its model was asked."""
    seen.clear()
    models = ScriptedModels(answers)
    machine.world.kind_code.update(function=KIND_CODE["function"], **model_kind_code(models))
    run_id = machine.start({"start": {"type": "manual"}, **nodes}, {"region": "north"}, **top)
    machine.drain()
    return run_id, models


def lines(machine: Any, run_id: str) -> list[dict[str, Any]]:
    return [json.loads(event.data["text"]) for event in machine.log(run_id) if event.type == "node.log"]


def test_a_node_is_run_as_a_tool_with_the_arguments_of_the_call_and_what_its_caller_can_read(machine: Any) -> None:
    run_id, models = run(machine, [calls(("lookup", {"id": "c-1"})), "It is Ada."], {"lookup": LOOKUP, "ask": ask()})
    view = machine.view(run_id)
    assert (view.status, view.nodes["ask"].output["text"]) == ("completed", "It is Ada.")
    assert [(id, region) for id, region, _, _ in seen] == [("c-1", "north")]
    assert (models.asked[0].tools[0].name, models.asked[0].tools[0].description) == ("lookup", "Finds a customer")
    assert json.loads(models.asked[1].turns[-1].results[0].text)["name"] == "Ada"
    assert [(line["tool"], line["turn"], line["ok"]) for line in lines(machine, run_id)] == [("lookup", 1, True)]
    assert list(view.nodes) == ["start", "ask"], "a tool has no instance"


def test_a_call_that_is_made_again_has_the_token_that_it_had(machine: Any) -> None:
    script = [calls(("lookup", {"id": "c-1"}), ("lookup", {"id": "c-2"})), {"fail": {"cause": "timeout"}},
              calls(("lookup", {"id": "c-1"}), ("lookup", {"id": "c-2"})), "Done."]  # fmt: skip
    run(machine, script, {"lookup": LOOKUP, "ask": ask(retry=LATER | {"attempts": 2})})
    assert [attempt for *_, attempt in seen] == [1, 1, 2, 2]
    assert Counter(token for _, _, token, _ in seen).most_common(3) == [(seen[0][2], 2), (seen[1][2], 2)]


@pytest.mark.parametrize(("tool", "told"), [
    ({**LOOKUP, "input_contract": {"properties": {"input": {"required": ["id", "why"]}}}}, "input_contract_violation"),
    ({**LOOKUP, "output_contract": {"required": ["address"]}}, "output_contract_violation"),
    ({"type": "function", "with": {"call": "tooling.slow"}, "timeout_ms": 20}, "timeout: no answer within 20 ms"),
    ({"type": "function", "with": {"call": "tooling.find", "args": {"id": "{{ 1 / 0 }}"}}}, "expression_error"),
])  # fmt: skip
def test_what_a_tool_fails_with_is_told_to_the_model(machine: Any, tool: dict[str, Any], told: str) -> None:
    run_id, models = run(machine, [calls(("lookup", {"id": "c-1"})), "I see."], {"lookup": tool, "ask": ask()})
    (result,) = models.asked[1].turns[-1].results
    assert result.failed and told in result.text
    assert machine.view(run_id).status == "completed"


def test_a_model_is_shown_no_secret(machine: Any) -> None:
    script = [calls(("lookup", {"id": "secret"}), ("lookup", {"id": "leak"})), "Fine."]
    run_id, models = run(machine, script, {"lookup": LOOKUP, "ask": ask()}, env=["KEY"])
    assert KEY not in repr(models.asked) and "***" in repr(models.asked)
    assert KEY not in repr(machine.log(run_id))


def test_a_moderated_tool_is_moderated(machine: Any) -> None:
    nodes = {"lookup": {**LOOKUP, "moderation": "input"}, "ask": ask()}
    run_id, models = run(machine, [calls(("lookup", {"id": "c-1"})), "No."], nodes)
    assert seen == [], "nobody moderates here, so the gate stays closed"
    assert models.asked[1].turns[-1].results[0].failed
    assert machine.view(run_id).status == "completed"


# -- what it costs ----------------------------------------------------------------------------------------------------


def usages(machine: Any, run_id: str) -> list[tuple[str, dict[str, int]]]:
    def told(event: Event) -> bool:
        return "usage" in event.data

    return [(event.type.value, dict(event.data["usage"])) for event in machine.log(run_id) if told(event)]


def test_tokens_of_failed_attempts_count_for_the_node_and_the_run(machine: Any) -> None:
    schema = {"type": "object", "required": ["n"]}
    node = {"type": "llm", "with": {"prompt": "?", "response_schema": schema},
            "retry": LATER | {"attempts": 3, "retry_on": ["contract_violated", "moderation"]}}  # fmt: skip
    script = [{"text": "{}", **TOKENS}, {"fail": {"cause": "moderation"}, "input_tokens": 7}, {"object": {"n": 1}, **TOKENS}]
    run_id, _ = run(machine, script, {"a": node})
    retried = [("node.retried", TOKENS), ("node.retried", {"input_tokens": 7})]
    assert usages(machine, run_id) == [*retried, ("node.completed", TOKENS)]
    view = machine.view(run_id)
    assert dict(view.usage) == dict(view.nodes["a"].usage) == {"input_tokens": 27, "output_tokens": 10}


def test_tokens_of_a_conversation_that_fails_in_the_middle_count(machine: Any) -> None:
    script = [calls(("lookup", {"id": "c-1"})), {"fail": {"cause": "http_error", "code": "too_long"}}]
    run_id, _ = run(machine, script, {"lookup": LOOKUP, "ask": ask()})
    assert usages(machine, run_id) == [("node.failed", TOKENS)]
    assert dict(machine.view(run_id).usage) == TOKENS


def test_tokens_of_a_conversation_that_takes_too_long_count(machine: Any) -> None:
    tool = {"type": "function", "with": {"call": "tooling.slow"}}
    nodes = {"lookup": tool, "ask": ask(timeout_ms=MODEL_MARGIN_MS + 30)}
    run_id, _ = run(machine, [calls(("lookup", {"id": "c-1"}))], nodes)
    assert usages(machine, run_id) == [("node.timed_out", TOKENS)]
    assert machine.view(run_id).nodes["ask"].code == "timeout"


def test_tokens_of_an_answer_that_names_no_route_count(machine: Any) -> None:
    router = {"type": "router", "with": {"prompt": "?", "routes": {"a": "", "b": ""}}}
    run_id, _ = run(machine, [{"object": {"route": "c"}, **TOKENS}], {"r": router})
    assert dict(machine.view(run_id).usage) == TOKENS


def test_what_a_rerun_takes_over_has_been_paid_by_the_former_run(machine: Any) -> None:
    nodes = {"a": {"type": "llm", "with": {"prompt": "?"}}, "b": {"type": "transform", "after": "a", "with": {"value": 1}}}
    run_id, _ = run(machine, [{"text": "x", **TOKENS}], nodes)
    again = machine.service.rerun(run_id, node="b").run_id
    machine.drain()
    assert (machine.view(run_id).usage, machine.view(again).usage) == (TOKENS, {})


def test_what_moderation_refuses_has_been_paid(machine: Any) -> None:
    node = {"type": "llm", "with": {"prompt": "?"}, "moderation": "output"}
    run_id, _ = run(machine, [{"text": "x", **TOKENS}], {"a": node})
    assert machine.view(run_id).nodes["a"].status == "failed"
    assert dict(machine.view(run_id).usage) == TOKENS


def test_a_failure_tells_what_it_used() -> None:
    assert NodeFailure("timeout", "timeout", "late").usage == {}
    assert NodeFailure("timeout", "timeout", "late", usage={"input_tokens": 1}).usage == {"input_tokens": 1}


@function("tooling.refuse")
def refuse(id: str, key: str = "") -> Any:
    if id == "large":
        return "x" * (MAX_RESULT_BYTES + 1)
    raise NodeFailure("rate_limit", "busy", f"{KEY} is busy", retryable=id == "again", retry_after_ms=7_000, mend="wait")


@pytest.mark.parametrize(
    ("arguments", "tool", "failed"),
    [
        ({"id": "again"}, {}, ("rate_limit", "busy", "*** is busy (wait)", True, 7_000)),
        ({"id": "never"}, {}, ("rate_limit", "busy", "*** is busy (wait)", False, 7_000)),
        ({"id": "large"}, {}, ("execution", "result_too_large", "the result takes", False, None)),
        ({"id": 5}, {"input_contract": {"type": "object", "properties": {"input": {"required": ["name"]}}}},
         ("contract_violated", "input_contract_violation", "name", True, None)),
        ({}, {"with": {"call": "tooling.refuse", "args": {"id": "{{ <input.id> + 1 }}"}}}, ("config", "", "", False, None)),
    ],
)
def test_whoever_calls_a_tool_learns_whether_it_may_be_tried_again(machine: Any, arguments: Any, tool: Any, failed: Any) -> None:
    told: list[NodeFailure] = []

    async def ask_tool(call: Any) -> Result:
        try:
            await call.tools["tool"].run(arguments, "token")
        except NodeFailure as failure:
            told.append(failure)
        return Result("asked")

    machine.world.kind_code.update(function=KIND_CODE["function"], llm=ask_tool)
    nodes = {"start": {"type": "manual"}, "tool": {"type": "function", "with": {"call": "tooling.refuse", "args": {
        "id": "<input.id>", **({"key": "${KEY}"} if not tool else {})}}, **tool}}  # fmt: skip
    nodes["ask"] = {"type": "llm", "after": "start", "with": {"prompt": "Who?", "tools": [
        {"node": "tool", "parameters": {"type": "object"}}]}}  # fmt: skip
    machine.start(nodes, env=["KEY"])
    machine.drain()
    (failure,) = told
    cause, code, message, retryable, after_ms = failed
    assert (failure.cause, failure.retryable, failure.retry_after_ms) == (cause, retryable, after_ms)
    assert code in failure.code and message in str(failure)
