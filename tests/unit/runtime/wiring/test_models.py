"""Models and sandboxes in the running engine: what is configured, what is published, and what the history shows."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from stepless import run
from stepless.adapters.memory.models import ScriptedModels
from stepless.adapters.memory.secrets import MemorySecrets
from stepless.adapters.openai.models import OpenAIModels
from stepless.adapters.process.sandbox import ProcessSandbox
from stepless.adapters.providers import Providers
from stepless.errors import ConfigError, DocumentRefused
from stepless.model.conversation import Question, Turn
from stepless.model.work import NodeFailure
from stepless.nodes.function import function
from stepless.ports import Message, Models
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.runner import InvocationEnd
from stepless.runtime.verbs.reads.inspecting import RunView
from stepless.runtime.wiring.local import Local, local
from stepless.runtime.wiring.models import configured_kind_code, configured_models, configured_sandbox

NOTHING = MemorySecrets()
LLM = {"type": "llm", "with": {"prompt": "Tea?"}}


@function("bootstrap_models.stock")
def stock(what: str) -> int:
    return len(what)


def ran(models: Models, **nodes: Any) -> tuple[RunView, list[Any]]:
    """A run of these nodes, and its events."""
    built = local(None, secrets=NOTHING, models=models)
    built.service.publish({"id": "talk", "nodes": nodes})
    run_id = built.service.start("talk", {}).run_id
    asyncio.run(finish(built, run_id))
    return built.service.run(run_id), list(built.service.events(run_id).events)


async def finish(built: Local, run_id: str) -> None:
    while await built.runner.run(Message(run_id, "start"), Budget(60_000)) is InvocationEnd.CONTINUED:
        continue


@pytest.mark.parametrize("kind", ["llm", "router"])
def test_without_a_model_a_document_that_needs_one_is_refused(kind: str) -> None:
    built = local(None, secrets=NOTHING)
    node = {"type": kind, "with": {"prompt": "Tea?", **({"routes": {"a": "b"}} if kind == "router" else {})}}
    with pytest.raises(DocumentRefused) as refused:
        built.service.publish({"id": "talk", "nodes": {"a": node}})
    (finding,) = refused.value.findings
    assert (finding.code, "STEPLESS_OPENAI_KEY" in finding.mend) == ("kind_without_code", True)


def test_tokens_are_counted_per_node_and_per_run() -> None:
    models = ScriptedModels([{"text": "Yes", "input_tokens": 7, "output_tokens": 1}, "north"])
    where = {"type": "router", "after": "ask", "with": {"prompt": "<ask.text>", "routes": {"north": "up", "south": "down"}}}
    view, events = ran(models, ask=LLM, where=where, up={"type": "transform", "after": "where.north", "with": {"value": 1}},
                       down={"type": "transform", "after": "where.south", "with": {"value": 2}})
    assert view.outputs == {"up": 1}
    assert view.nodes["ask"].usage == {"input_tokens": 7, "output_tokens": 1}
    assert view.usage == {"input_tokens": 17, "output_tokens": 6}
    chosen = [event["payload"] for event in events if event["type"] == "node.completed"][1]
    assert (chosen["node"], chosen["output"]) == ("where", {"route": "north", "reasoning": "", "alternatives": ["south"]})


def test_streamed_text_and_tool_calls_are_events() -> None:
    ask = {"type": "llm", "with": {"prompt": "Tea?", "stream": True, "tools": [{"call": "bootstrap_models.stock"}]}}
    script = [{"calls": [{"call": "bootstrap_models_stock", "args": {"what": "tea"}}]}, "There are three."]
    view, events = ran(ScriptedModels(script), ask=ask)
    assert view.nodes["ask"].output["text"] == "There are three."
    assert "".join(event["payload"]["text"] for event in events if event["type"] == "node.stream.delta") == "There are three."
    (line,) = (json.loads(event["payload"]["text"]) for event in events if event["type"] == "node.log")
    assert (line["tool"], line["ok"], line["result"]) == ("bootstrap_models.stock", True, "3")


def test_a_rate_limit_is_waited_for_and_a_broken_contract_is_tried_again_only_when_it_is_listed() -> None:
    busy = {"fail": {"cause": "rate_limit", "retry_after_ms": 1}}
    ask: dict[str, Any] = {"type": "llm", "with": {"prompt": "How many?", "response_schema": {"type": "object"}}}
    ask["retry"] = {"attempts": 4, "backoff_ms": 1}
    view, _ = ran(ScriptedModels([busy, "five", {"object": {}}]), ask=ask)
    assert (view.nodes["ask"].attempts, view.nodes["ask"].code) == (2, "response_schema_violation")
    ask["retry"] = {"attempts": 4, "backoff_ms": 1, "retry_on": ["rate_limit", "contract_violated"]}
    view, _ = ran(ScriptedModels([busy, "five", {"object": {}}]), ask=ask)
    assert (view.nodes["ask"].attempts, view.status) == (3, "completed")


def test_an_unknown_route_leaves_by_the_error_edge() -> None:
    where = {"type": "router", "with": {"prompt": "?", "routes": {"north": "up"}}}
    told = {"type": "transform", "after": "where.error", "with": {"value": "<where.error.message>"}}
    view, _ = ran(ScriptedModels(["west"]), where=where, told=told)
    assert view.status == "completed"
    assert "the routes are: north" in view.outputs["told"]


def test_a_script_answers_a_run_in_this_process() -> None:
    result = run({"id": "talk", "nodes": {"ask": LLM}}, models=ScriptedModels(["Yes."]))
    assert result.outputs["ask"]["text"] == "Yes."


def test_code_of_the_document_runs_in_the_sandbox_and_what_it_prints_is_told() -> None:
    code = "def main(args):\n  print('adding')\n  return args['a'] + 1"
    view, events = ran(ScriptedModels([]), add={"type": "code", "with": {"code": code, "args": {"a": 41}}})
    assert view.outputs == {"add": 42}
    assert [event["payload"]["text"] for event in events if event["type"] == "node.log"] == ["adding\n"]


# -- settings ---------------------------------------------------------------------------------------------------------


def test_every_provider_that_is_configured_is_asked_by_its_name_and_the_first_without_one(tmp_path: Path) -> None:
    script = tmp_path / "answers.json"
    script.write_text('["scripted"]')
    settings = {"STEPLESS_MODEL_SCRIPT": str(script), "STEPLESS_BEDROCK_REGION": "eu-central-1", "STEPLESS_OPENAI_KEY": "k"}
    models = configured_models(settings.get)
    assert models is not None
    question = Question((Turn("user", "?"),), 1_000)
    assert asyncio.run(models.ask(question)).text == "scripted"
    for provider, code in (("openai", "model_missing"), ("bedrock", "model_missing"), ("nobody", "unknown_provider")):
        with pytest.raises(NodeFailure) as failed:
            asyncio.run(models.ask(Question(question.turns, 1_000, provider=provider)))
        assert (failed.value.code, failed.value.retryable) == (code, False)


def test_nothing_configured_is_no_model_and_an_empty_setting_is_none() -> None:
    assert configured_models({}.get) is None
    assert configured_models({"STEPLESS_OPENAI_KEY": "", "STEPLESS_MODEL_SCRIPT": ""}.get) is None
    assert set(configured_kind_code({}.get, Providers({"openai": OpenAIModels()}))) == {"llm", "router", "code"}


@pytest.mark.parametrize("content", ["{", "{}", "[5]", '[{"say": "hi"}]', None])
def test_a_script_that_cannot_be_read_is_told_at_once(tmp_path: Path, content: str | None) -> None:
    script = tmp_path / "answers.json"
    if content is not None:
        script.write_text(content)
    with pytest.raises(ConfigError) as refused:
        configured_models({"STEPLESS_MODEL_SCRIPT": str(script)}.get)
    assert refused.value.code == "invalid_script"


def test_a_sandbox_is_a_process_here_and_a_function_where_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    assert isinstance(configured_sandbox({}.get), ProcessSandbox)
    assert type(configured_sandbox({"STEPLESS_SANDBOX_FUNCTION": "author-code"}.get)).__name__ == "LambdaSandbox"
