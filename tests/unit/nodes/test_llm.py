"""The kind `llm`: its request, its output, and the tools that the model calls."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from stepless.adapters.memory.models import ScriptedModels
from stepless.limits import MAX_MODEL_TURNS, MAX_TOOL_CALLS, MAX_TOOL_NAME_CHARACTERS
from stepless.model.conversation import Question, ToolResult, Turn
from stepless.model.work import NodeFailure, Result
from stepless.nodes import model_kind_code
from stepless.nodes.function import FunctionCall, function
from stepless.ports import Call

SCHEMA = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
tokens: list[str] = []


@function("llm.stock")
def stock(what: str, shop: str = "all", *, call: FunctionCall) -> dict[str, Any]:
    """Tells how many there are.

    Not shown to models.
    """
    tokens.append(call.token)
    if what == "fog":
        raise LookupError("nobody sells fog")
    call.delta("unheard")
    return {"what": what, "shop": shop, "left": 3}


Make = Callable[..., Call]


def asked(make: Make, answers: list[Any], params: dict[str, Any], **more: Any) -> tuple[Result, ScriptedModels]:
    models = ScriptedModels(answers)
    literals = {name: params.pop(name) for name in ("response_schema",) if name in params}
    call = make("llm", params, literals, **more)
    result = asyncio.run(model_kind_code(models)["llm"](call))  # type: ignore[arg-type]  # a coroutine
    assert isinstance(result, Result)
    return result, models


def failing(make: Make, answers: list[Any], params: dict[str, Any], **more: Any) -> NodeFailure:
    with pytest.raises(NodeFailure) as failed:
        asked(make, answers, params, **more)
    return failed.value


def test_text_is_put_out_with_its_usage(call: Make) -> None:
    script = [{"text": "Hi", "input_tokens": 7, "output_tokens": 2}]
    result, models = asked(call, script, {"prompt": "Hello", "system": "Be brief."})
    usage = {"input_tokens": 7, "output_tokens": 2}
    assert (result.value, result.usage) == ({"text": "Hi", "finish": "stop", "usage": usage}, usage)
    assert models.asked == [Question((Turn("user", "Hello"),), 30_000, system="Be brief.")]


@pytest.mark.parametrize(("params", "system", "turns"), [
    ({"messages": [{"role": "system", "content": "A"}, {"role": "user", "content": {"n": 1}},
                   {"role": "assistant", "content": "x"}, {"role": "user", "content": "y"}], "system": "First"},
     "First\n\nA", (Turn("user", '{"n":1}'), Turn("assistant", "x"), Turn("user", "y"))),
    ({}, "", (Turn("user", '{"text":"what came in"}'),)),
])  # fmt: skip
def test_messages_are_the_conversation_and_else_what_came_in(
    call: Make, params: dict[str, Any], system: str, turns: tuple[Turn, ...]
) -> None:
    def make(*given: Any) -> Call:
        made = call(*given)
        made.inputs = {"input": {"text": "what came in"}}
        return made

    _, models = asked(make, ["fine"], params)
    assert (models.asked[0].system, models.asked[0].turns) == (system, turns)


def test_text_is_streamed_when_it_is_wanted(call: Make) -> None:
    told: list[str] = []
    asked(call, ["one two three"], {"prompt": "Count", "stream": True}, delta=told.append)
    asked(call, ["silence"], {"prompt": "Count"}, delta=told.append)
    assert told == ["one ", "two ", "three"]


@pytest.mark.parametrize("text", ['{"n": 3}', '```json\n{"n": 3}\n```', ' {"n":3}\n'])
def test_a_structured_answer_is_put_out_as_the_object_that_it_is(call: Make, text: str) -> None:
    result, models = asked(call, [text], {"prompt": "How many?", "response_schema": SCHEMA})
    assert result.value["object"] == {"n": 3}
    assert models.asked[0].schema == SCHEMA


@pytest.mark.parametrize(("answer", "told"), [
    ("three", "not JSON"), ('{"n": "three"}', "n: "), ("{}", "n"), ('{"n": NaN}', "not JSON"), ("[" * 5_000, "not JSON"),
    ({"text": '{"n": 3', "finish": "length"}, "raise `max_tokens`"),
])  # fmt: skip
def test_an_answer_that_breaks_its_schema_fails_and_may_be_asked_for_again(call: Make, answer: Any, told: str) -> None:
    failure = failing(call, [answer], {"prompt": "How many?", "response_schema": SCHEMA})
    assert (failure.cause, failure.code, failure.retryable) == ("contract_violated", "response_schema_violation", True)
    assert told in str(failure)


@pytest.mark.parametrize(("params", "code"), [
    ({}, "nothing_asked"), ({"prompt": " "}, "nothing_asked"), ({"prompt": 5}, "invalid_config"),
    ({"prompt": "a", "messages": [{"role": "user", "content": "b"}]}, "contradiction"),
    ({"prompt": "a", "tools": [{"call": "llm.nowhere"}]}, "unknown_function"),
])  # fmt: skip
def test_parameters_that_do_not_fit_fail_before_anybody_is_asked(call: Make, params: dict[str, Any], code: str) -> None:
    failure = failing(call, [], params)
    assert (failure.cause, failure.code, failure.retryable) == ("config", code, False)


def test_what_the_provider_fails_with_fails_the_node(call: Make) -> None:
    failure = failing(call, [{"fail": {"cause": "rate_limit", "retry_after_ms": 70}}], {"prompt": "Hello"})
    assert (failure.cause, failure.retry_after_ms) == ("rate_limit", 70)


# -- tools ------------------------------------------------------------------------------------------------------------

TOOLS = {"prompt": "Tea?", "tools": [{"call": "llm.stock", "args": {"shop": "North"}}]}


def calling(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"calls": [{"call": "llm_stock", "args": args} for args in calls], "input_tokens": 10, "output_tokens": 5}


def test_the_model_is_asked_again_with_what_its_tools_answered(call: Make) -> None:
    lines: list[str] = []
    script = [calling({"what": "tea"}, {"what": "fog"}), {"text": "Three.", "input_tokens": 30, "output_tokens": 1}]
    result, models = asked(call, script, dict(TOOLS), log=lines.append)
    assert result.value["text"] == "Three."
    assert result.usage == {"input_tokens": 40, "output_tokens": 6}
    told = models.asked[1].turns[-1].results
    assert json.loads(told[0].text) == {"what": "tea", "shop": "North", "left": 3}
    assert (told[1].failed, told[1].text) == (True, "lookup_error: nobody sells fog")
    assert [turn.role for turn in models.asked[1].turns] == ["user", "assistant", "user"]
    shown = {json.loads(line)["arguments"]: json.loads(line) for line in lines}
    assert shown['{"what":"tea"}']["tool"] == "llm.stock"
    assert [shown[key]["ok"] for key in ('{"what":"tea"}', '{"what":"fog"}')] == [True, False]


def test_a_tool_is_offered_as_its_function_describes_itself_without_the_authors_arguments(call: Make) -> None:
    _, models = asked(call, ["No."], dict(TOOLS))
    (tool,) = models.asked[0].tools
    assert (tool.name, tool.description) == ("llm_stock", "Tells how many there are.")
    assert tool.parameters == {
        "type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"], "additionalProperties": False,
    }


def test_what_the_author_says_of_a_tool_goes_before_what_its_function_says(call: Make) -> None:
    own = {"call": "llm.stock", "description": "Counts.", "parameters": {"properties": {"what": {"enum": ["tea"]}}}}
    _, models = asked(call, [calling({"what": "gold"}), "No."], {"prompt": "Gold?", "tools": [own]})
    assert models.asked[0].tools[0].description == "Counts."
    assert models.asked[1].turns[-1].results[0].text.startswith("invalid_arguments: what")


def test_names_of_tools_are_as_providers_take_them_and_no_two_are_alike(call: Make) -> None:
    long = "a." * 60 + "stock"
    function(long)(stock)
    tools = [{"call": "llm.stock"}, {"call": "llm_stock", "description": "", "parameters": {}}, {"call": long}, {"call": long}]
    _, models = asked(call, ["No."], {"prompt": "Tea?", "tools": tools})
    names = [tool.name for tool in models.asked[0].tools]
    assert names[:2] == ["llm_stock", "llm_stock_2"]
    assert len(set(names)) == 4
    assert max(map(len, names)) <= MAX_TOOL_NAME_CHARACTERS


@pytest.mark.parametrize(("asked_for", "told"), [
    ({"call": "rm", "args": {}}, "unknown_tool"), ({"call": "llm_stock", "args": {"surplus": 1}}, "invalid_arguments"),
    ({"call": "llm_stock", "args": {}}, "invalid_arguments"),
    ({"call": "llm_stock", "args": None}, "invalid_arguments"),
])  # fmt: skip
def test_a_call_that_cannot_be_made_is_told_to_the_model(call: Make, asked_for: dict[str, Any], told: str) -> None:
    result, models = asked(call, [{"calls": [asked_for]}, "Sorry."], dict(TOOLS))
    (answer,) = models.asked[1].turns[-1].results
    assert isinstance(answer, ToolResult)
    assert answer.failed
    assert answer.text.startswith(told)
    assert result.value["text"] == "Sorry."


def test_the_same_request_has_the_same_token_in_every_attempt_and_any_other_another(call: Make) -> None:
    def made(*script: Any) -> list[str]:
        tokens.clear()
        asked(call, [*script, "Done."], dict(TOOLS))
        return sorted(tokens)

    once = made(calling({"what": "tea"}))
    assert once[0].startswith("r1:n@l[2]:")
    assert made(calling({"what": "tea"})) == once
    assert made(calling({"what": "ink"})) != once
    twice = made(calling({"what": "tea"}), calling({"what": "tea"}))
    assert len(set(twice)) == 2
    assert set(once) < set(twice)


@pytest.mark.parametrize(("script", "code"), [
    ([calling({"what": "tea"})] * (MAX_MODEL_TURNS + 1), "too_many_turns"),
    ([calling(*[{"what": "tea"}] * (MAX_TOOL_CALLS + 1))], "too_many_tool_calls"),
])  # fmt: skip
def test_a_conversation_that_does_not_end_is_ended(call: Make, script: list[Any], code: str) -> None:
    failure = failing(call, script, dict(TOOLS))
    assert (failure.cause, failure.code, failure.retryable) == ("execution", code, False)


def test_a_schema_that_is_none_is_found_at_publish(findings: Callable[..., list[tuple[str, str, str]]]) -> None:
    found = findings("llm", tools=[{"call": "a.b", "parameters": {"type": 5}}], response_schema={"type": "odd"})
    assert [(code, path.split(".")[1]) for code, path, _ in found] == [
        ("invalid_schema", "response_schema"), ("invalid_schema", "tools"),
    ]
