"""One attempt of `llm`: a conversation with a model until it answers without asking for tools."""

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
    """The code of the `llm` kind. Its tools are nodes that the call brings along, and registered functions, run by `function`,
    the code of that kind; `describe` tells what a function takes where the author does not."""

    async def run(call: Call) -> Result:
        """Puts out {text, finish, usage}, or {object, finish, usage} when there is a response_schema.

        Raises `NodeFailure`: what the model's provider fails with; contract_violated for an answer that breaks the schema;
        execution for a conversation that does not end; timeout a moment before the engine would give up, and with it whatever the
        tokens of the conversation so far are, as with every failure; config for parameters that do not fit.
        """
        params = params_of(LlmParams, call, check=check)
        tools = Toolbox(params.tools, call, function, describe)
        usage = {"input_tokens": 0, "output_tokens": 0}
        room_ms = call.deadline_ms - call.started_ms
        wait_ms = max(room_ms // 2, room_ms - MODEL_MARGIN_MS)
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
        raise NodeFailure("config", "nothing_asked", "the model is asked nothing: there is no prompt, no message and no input",
                          retryable=False, mend="give `prompt` or `messages`, or an edge that brings the input")
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
    """The last answer. The tokens of all are added to `usage` as they are spent."""
    clock = asyncio.get_running_loop().time
    end_s = clock() + question.timeout_ms / 1000
    for number in range(1, MAX_MODEL_TURNS + 1):
        answer = await models.ask(question, call.delta if streamed else None)
        usage["input_tokens"] += answer.input_tokens
        usage["output_tokens"] += answer.output_tokens
        if not answer.calls:
            return answer
        results = await tools.use(answer.calls, number)
        said = (Turn("assistant", answer.text, answer.calls), Turn("user", results=results))
        question = replace(question, turns=question.turns + said, timeout_ms=max(1, int((end_s - clock()) * 1000)))
    raise NodeFailure("execution", "too_many_turns", f"the model still asks for tools after {MAX_MODEL_TURNS} answers",
                      retryable=False, mend="tell it in `system` when to stop, or give it fewer tools")


def _kept(answer: ModelAnswer, schema: Mapping[str, Any]) -> JSON:
    """The answer as JSON that keeps the schema. A fence around it, as models like to put there, is left out."""
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


def _violates(answer: ModelAnswer, told: str, error: BaseException | None) -> NoReturn:
    mend = "list contract_violated under `retry.retry_on` to ask again"
    if answer.finish == "length":
        mend = "the answer was cut off: raise `max_tokens`"
    message = f"the answer breaks `response_schema`: {told}"
    raise NodeFailure("contract_violated", "response_schema_violation", message, mend=mend) from error
