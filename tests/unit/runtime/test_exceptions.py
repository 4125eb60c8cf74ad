"""Exceptions in author code: what the log stores of them, and who can read it."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable
from typing import Any

import pytest

from stepless.adapters.memory.models import ScriptedModels
from stepless.limits import MAX_EXCEPTION_BYTES
from stepless.model.work import NodeFailure
from stepless.nodes import KIND_CODE, model_kind_code
from stepless.nodes.function import function
from stepless.runtime.verbs.reads.inspecting import exception_behind

KEY = "a-secret-key"


@function("raising.price")
def price(item: str) -> int:
    return {"apple": 2}[item]


@function("raising.later")
async def later(item: str) -> int:
    await asyncio.sleep(0)
    return price(item)


@function("raising.slowly")
async def slowly() -> None:
    raise TimeoutError("the bank did not answer")


@function("raising.refused")
def refused() -> None:
    raise NodeFailure("http_error", "no_funds", "the account is empty", retryable=False)


@function("raising.leak")
def leak() -> None:
    try:
        raise ConnectionError(f"401 for https://api.example.com/?key={KEY}")
    except ConnectionError as error:
        raise ExceptionGroup(f"cut: {'x' * 3_985} {KEY}", [ValueError(KEY)]) from error


@function("raising.chained")
def chained() -> None:
    try:
        price("carrot")
    except KeyError as error:
        raise RuntimeError("no price") from error


@function("raising.deep")
def deep(depth: int = 600) -> None:
    if depth == 0:
        raise ValueError("é" * 50_000)
    deep(depth - 1)


def calling(name: str, /, after: Any = None, args: Any = None, **more: Any) -> dict[str, Any]:
    return {"type": "function", "with": {"call": name, "args": args or {}}, **({"after": after} if after else {}), **more}


@pytest.fixture
def run(machine: Any) -> Callable[..., Any]:
    """A run of functions as they are, at rest."""

    def made(nodes: dict[str, Any], **top: Any) -> str:
        machine.world.kind_code["function"] = KIND_CODE["function"]
        run_id: str = machine.start(nodes, **top)
        machine.drain()
        return run_id

    return made


def line_in(call: Callable[..., Any], words: str) -> int:
    lines, first = inspect.getsourcelines(call)
    return first + next(number for number, line in enumerate(lines) if words in line)


@pytest.mark.parametrize("name", ["raising.price", "raising.later"])
def test_type_message_and_the_authors_frames_are_in_the_event(machine: Any, run: Any, name: str) -> None:
    run_id = run({"a": calling(name, args={"item": "carrot"})})
    (event,) = [event for event in machine.log(run_id) if event.type == "node.failed"]
    told = event.data["exception"]
    assert (told["type"], told["message"], told["function"]) == ("KeyError", "'carrot'", "price")
    assert told["line"] == line_in(price, "[item]") and told["file"].endswith("test_exceptions.py")
    assert told["traceback"].endswith("    return {\"apple\": 2}[item]\nKeyError: 'carrot'")
    assert ("in later" in told["traceback"]) is (name == "raising.later")
    assert "stepless/nodes" not in told["traceback"] and "stepless/runtime" not in told["traceback"]
    error = event.data["error"]
    assert (error["code"], error["message"], error["event"]) == ("key_error", "'carrot'", event.sequence)


def test_the_run_and_its_nodes_show_it(machine: Any, run: Any) -> None:
    view = machine.view(run({"a": calling("raising.price", args={"item": "carrot"})}))
    assert view.exception == view.nodes["a"].exception
    assert view.exception["type"] == "KeyError"
    assert machine.view(run({"a": calling("raising.price", args={"item": "apple"})})).exception is None


def test_every_attempt_that_is_repeated_tells_its_own(machine: Any, run: Any) -> None:
    retry = {"attempts": 2, "backoff_ms": 60_000, "max_backoff_ms": 60_000, "retry_on": ["provider_error"]}
    run_id = run({"a": calling("raising.price", args={"item": "carrot"}, retry=retry)})
    told = [(event.type, event.data["exception"]["type"]) for event in machine.log(run_id) if "exception" in event.data]
    assert told == [("node.retried", "KeyError"), ("node.failed", "KeyError")]


def test_a_chain_is_told_with_its_first_cause_first(machine: Any, run: Any) -> None:
    text = machine.view(run({"a": calling("raising.chained")})).exception["traceback"]
    assert text.index("KeyError: 'carrot'") < text.index("direct cause") < text.index("RuntimeError: no price")


def test_failures_and_timeouts_that_author_code_raises_are_told(machine: Any, run: Any) -> None:
    view = machine.view(run({"a": calling("raising.refused"), "b": calling("raising.slowly")}))
    a, b = view.nodes["a"], view.nodes["b"]
    assert (a.code, a.exception["function"]) == ("no_funds", "refused")
    assert (b.code, b.error["message"], b.exception["function"]) == ("timeout", "the bank did not answer", "slowly")


def test_what_the_engine_itself_refuses_has_no_exception(machine: Any, run: Any) -> None:
    nodes = {"a": calling("raising.price", args={"items": 1}), "b": calling("raising.unknown"),
             "c": {"type": "http", "with": {"url": "http://127.0.0.1:9/"}}}  # fmt: skip
    records = machine.view(run(nodes)).nodes.values()
    assert {record.status for record in records} == {"failed"}
    assert [record.exception for record in records] == [None] * 3


def test_it_stays_within_its_bound(machine: Any, run: Any) -> None:
    told = machine.view(run({"a": calling("raising.deep")})).exception
    assert len(json.dumps(told, ensure_ascii=False).encode()) <= MAX_EXCEPTION_BYTES
    assert (told["type"], told["function"]) == ("ValueError", "deep")


def test_no_secret_is_in_a_traceback_not_even_a_part_of_one(machine: Any, run: Any) -> None:
    run_id = run({"a": calling("raising.leak")}, env=["KEY"])
    log = repr(machine.log(run_id))
    assert "a-secret" not in log and "key=***" in log
    assert "direct cause" in machine.view(run_id).exception["traceback"]


def test_what_goes_along_an_error_edge_has_no_traceback(machine: Any, run: Any) -> None:
    nodes = {"a": calling("raising.price", args={"item": "carrot"}),
             "b": {"type": "transform", "after": "a.error", "with": {"value": ["<input>", "<a.error>"]}}}  # fmt: skip
    view = machine.view(run(nodes))
    assert view.status == "completed" and view.nodes["a"].exception["type"] == "KeyError"
    assert "Traceback" not in json.dumps(view.nodes["b"].output)


def test_many_failures_behind_one_join_fit_into_the_log(machine: Any, run: Any) -> None:
    nodes: dict[str, Any] = {f"n{number}": calling("raising.deep") for number in range(60)}
    nodes["z"] = calling("raising.refused", after=list(nodes), join={"errors": "collect-all"}, on_parent_failure="propagate")
    view = machine.view(run(nodes))
    assert view.nodes["z"].code == "upstream_failure"
    assert "Traceback" not in json.dumps(view.nodes["z"].error)


def test_a_kind_that_breaks_its_promise_is_told(machine: Any) -> None:
    async def broken(call: Any) -> Any:
        raise LookupError("nothing there")

    async def out_of_time(call: Any) -> Any:
        raise TimeoutError("the queue is silent")

    machine.world.kind_code.update(http=broken, event=out_of_time)
    nodes = {"a": {"type": "http", "with": {"url": "http://127.0.0.1:9/"}}}
    run_id = machine.start(nodes)
    machine.drain()
    record = machine.view(run_id).nodes["a"]
    assert (record.code, record.error["message"]) == ("kind_raised", "LookupError: nothing there")
    assert record.exception["function"] == "broken"
    machine.world.kind_code.update(http=out_of_time)
    run_id = machine.start(nodes)
    machine.drain()
    record = machine.view(run_id).nodes["a"]
    assert (record.code, record.exception["message"]) == ("timeout", "the queue is silent")


def test_sandboxed_code_tells_its_lines(machine: Any) -> None:
    code = "PRICES = {}\n\ndef price(item):\n    return PRICES[item]\n\ndef main(args):\n    return price(args['item'])\n"
    run_id = machine.start({"a": {"type": "code", "with": {"code": code, "args": {"item": "carrot"}}}})
    machine.drain()
    record = machine.view(run_id).nodes["a"]
    assert (record.code, record.error["message"]) == ("code_raised", "line 4: KeyError: 'carrot'")
    facts = {name: record.exception[name] for name in ("type", "file", "line", "function")}
    assert facts == {"type": "KeyError", "file": "<code>", "line": 4, "function": "price"}
    assert record.exception["traceback"].split("\n")[1:] == [
        '  File "<code>", line 7, in main', "    return price(args['item'])", '  File "<code>", line 4, in price',
        "    return PRICES[item]", "KeyError: 'carrot'",
    ]  # fmt: skip


def test_a_tool_tells_its_exception_in_its_line(machine: Any) -> None:
    asked = {"calls": [{"call": "raising_price", "args": {"item": "carrot"}}, {"call": "lookup", "args": {}}]}
    machine.world.kind_code.update(function=KIND_CODE["function"], **model_kind_code(ScriptedModels([asked, "It has no price."])))
    tools = [{"call": "raising.price"}, {"node": "lookup", "parameters": {"type": "object"}}]
    nodes = {"lookup": calling("raising.chained"), "ask": {"type": "llm", "with": {"prompt": "How much?", "tools": tools}}}
    run_id = machine.start(nodes)
    machine.drain()
    said = [json.loads(event.data["text"]) for event in machine.log(run_id) if event.type == "node.log"]
    by_tool = {line["tool"]: line["exception"] for line in said}
    assert by_tool["raising.price"]["line"] == line_in(price, "[item]")
    assert "KeyError" in by_tool["lookup"]["traceback"] and by_tool["lookup"]["function"] == "chained"


def test_an_error_of_a_child_run_leads_to_its_exception(machine: Any, run: Any) -> None:
    child = run({"a": calling("raising.price", args={"item": "carrot"})})
    error = machine.view(child).error
    parent = run({"b": calling("raising.price", args={"item": "apple"})})
    told = exception_behind(machine.world, parent, {**error, "run": child})
    assert told == machine.view(child).exception
    assert exception_behind(machine.world, parent, {**error, "event": 999}) is None
    assert exception_behind(machine.world, parent, {"code": "halted"}) is None
