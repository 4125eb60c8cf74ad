"""Runs one attempt of `llm`: a conversation with a model until it answers without calling a tool."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NoReturn

from stepless.expressions import compile_contract
from stepless.limits import MAX_MODEL_TURNS, MODEL_MARGIN_MS
from stepless.model.conversation import ModelAnswer, Question, Turn
from stepless.model.json import JSON
from stepless.model.work import NodeFailure, Result, added, passed_through
from stepless.nodes.json_value import NotJson, as_text, to_json
from stepless.nodes.llm.kind import LlmParams, check
from stepless.nodes.llm.tools import Act, Describe, Toolbox
from stepless.nodes.params import params_of
from stepless.ports import Call, Models


def caller(models: Models, function: Act, describe: Describe) -> Act:
    """Returns the code of the `llm` kind. Its tools are the nodes in `Call.tools`, and registered functions. `function` is the
    code of the kind `function`, which runs the latter; `describe` describes a function's arguments if the author does not."""

    async def run(call: Call) -> Result:
        """Puts out {text, finish, usage}, or {object, finish, usage} if there is a response_schema.

        Raises `NodeFailure`: the failures of the model's provider; contract_violated for an answer that breaks the schema;
        execution for a conversation that does not end; timeout a moment before the attempt's own timeout; config for invalid
        parameters. Every failure carries the tokens that the conversation has used so far.
        """
        params = params_of(LlmParams, call, check=check)
        tools = Toolbox(params.tools, call, function, describe)
        usage = {"input_tokens": 0, "output_tokens": 0}
        left_ms = call.deadline_ms - call.started_ms
        wait_ms = max(left_ms // 2, left_ms - MODEL_MARGIN_MS)
        try:
            async with asyncio.timeout(wait_ms / 1000):
                answer = await _converse(models, _question(params, call, tools), tools, call, usage, streamed=params.stream)
            value: dict[str, JSON] = {"finish": answer.finish, "usage": usage}
            if params.response_schema is None:
                return Result({"text": answer.text, **value}, usage=usage)
            return Result({"object": _kept(answer, params.response_schema), **value}, usage=usage)
        except NodeFailure as failure:
            failure.usage = added(usage, failure.usage) if any(usage.values()) else failure.usage
            raise
        except TimeoutError as error:
            raise NodeFailure("timeout", "timeout", f"no answer within {wait_ms} ms", usage=usage) from error

    return run


def _question(params: LlmParams, call: Call, tools: Toolbox) -> Question:
    system, turns = [] if params.system is None else [params.system], []
    for message in params.messages or ():
        if message.role == "system":
            system.append(as_text(message.content))
        else:
            turns.append(Turn(message.role, as_text(message.content)))
    if params.messages is None:
        prompt = params.prompt if params.prompt is not None else as_text(passed_through(call.inputs))
        turns.append(Turn("user", prompt))
    if not any(turn.text.strip() for turn in turns):
        raise NodeFailure("config", "nothing_asked", "there is no question for the model: no prompt, no message and no input",
                          retryable=False, mend="give `prompt` or `messages`, or add an edge with the input")
    return Question(
        tuple(turns),
        timeout_ms=call.deadline_ms - call.started_ms,
        provider=params.provider,
        model=params.model,
        system="\n\n".join(system),
        tools=tools.offered,
        schema=params.response_schema,
        temperature=params.temperature,
        max_tokens=params.max_tokens,
    )


async def _converse(
    models: Models, question: Question, tools: Toolbox, call: Call, usage: dict[str, int], *, streamed: bool
) -> ModelAnswer:
    """Returns the last answer. Adds the tokens of each answer to `usage` at once."""
    clock = asyncio.get_running_loop().time
    end_s = clock() + question.timeout_ms / 1000
    for number in range(1, MAX_MODEL_TURNS + 1):
        answer = await models.ask(question, call.delta if streamed else None)
        usage["input_tokens"] += answer.input_tokens
        usage["output_tokens"] += answer.output_tokens
        if not answer.calls:
            return answer
        results = await tools.use(answer.calls, number)
        turns = (Turn("assistant", answer.text, answer.calls), Turn("user", results=results))
        question = replace(question, turns=question.turns + turns, timeout_ms=max(1, int((end_s - clock()) * 1000)))
    raise NodeFailure("execution", "too_many_turns", f"the model still calls tools after {MAX_MODEL_TURNS} answers",
                      retryable=False, mend="say in `system` when to stop, or offer fewer tools")


def _kept(answer: ModelAnswer, schema: Mapping[str, Any]) -> JSON:
    """The answer as JSON that follows the schema. Removes the Markdown fence that many models put around it."""
    try:
        value = to_json(json.loads(_unfenced(answer.text)))
    except (ValueError, RecursionError, NotJson) as error:
        _violates(answer, f"it is not JSON: {error}", error)
    violations = compile_contract(dict(schema)).violations(value)
    if violations:
        _violates(answer, "; ".join(violations), None)
    return value


def _unfenced(text: str) -> str:
    text = text.strip()
    if text.startswith("```") and text.endswith("```") and "\n" in text:
        return text[text.index("\n") : -3]
    return text


def _violates(answer: ModelAnswer, reason: str, error: BaseException | None) -> NoReturn:
    mend = "list contract_violated under `retry.retry_on` to ask again"
    if answer.finish == "length":
        mend = "the answer was cut off: raise `max_tokens`"
    message = f"the answer breaks `response_schema`: {reason}"
    raise NodeFailure("contract_violated", "response_schema_violation", message, mend=mend) from error
