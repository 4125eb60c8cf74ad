"""Builds requests of Bedrock's Converse operation from questions, and reads answers from whole or streamed responses.

To get an answer that follows a schema, the request offers one more tool, ANSWER, and the model gives its answer by calling it.
Every model that supports tools supports this, and it works together with the author's own tools.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from stepless.limits import MAX_TOOL_CALLS, PREVIEW_CHARACTERS
from stepless.model.conversation import ModelAnswer, Question, ToolCall, Turn
from stepless.model.work import NodeFailure

ANSWER: Final = "give_answer"
_DECLINED: Final = frozenset({"guardrail_intervened", "content_filtered"})
_CUT_OFF: Final = frozenset({"max_tokens", "model_context_window_exceeded"})


def request_of(question: Question, model: str) -> dict[str, Any]:
    request: dict[str, Any] = {"modelId": model, "messages": [_message(turn) for turn in question.turns]}
    if question.system:
        request["system"] = [{"text": question.system}]
    bounds = {"maxTokens": question.max_tokens, "temperature": question.temperature}
    if any(value is not None for value in bounds.values()):
        request["inferenceConfig"] = {name: value for name, value in bounds.items() if value is not None}
    tools = [_tool(tool.name, tool.description, tool.parameters) for tool in question.tools]
    if question.schema is not None:
        tools.append(_tool(ANSWER, "Gives the final answer.", question.schema))
    if tools:
        request["toolConfig"] = {"tools": tools}
    if question.schema is not None:
        choice: dict[str, Any] = {"any": {}} if question.tools else {"tool": {"name": ANSWER}}
        request["toolConfig"]["toolChoice"] = choice
    return request


def _tool(name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"toolSpec": {"name": name, "description": description or name, "inputSchema": {"json": dict(schema)}}}


def _message(turn: Turn) -> dict[str, Any]:
    content: list[dict[str, Any]] = [
        {"toolResult": {"toolUseId": result.identity, "content": [{"text": result.text or "(nothing)"}],
                        "status": "error" if result.failed else "success"}}
        for result in turn.results
    ]  # fmt: skip
    if turn.text:
        content.append({"text": turn.text})
    content += [
        {"toolUse": {"toolUseId": call.identity, "name": call.name, "input": dict(call.arguments or {})}} for call in turn.calls
    ]
    return {"role": turn.role, "content": content or [{"text": "(nothing)"}]}


def answer_of(response: Mapping[str, Any]) -> ModelAnswer:
    """Reads a whole response. Raises `NodeFailure` (moderation) when the model or a guardrail declined."""
    blocks = response.get("output", {}).get("message", {}).get("content", [])
    texts = [block["text"] for block in blocks if "text" in block]
    uses = [block["toolUse"] for block in blocks if "toolUse" in block]
    calls = [ToolCall(use["toolUseId"], use["name"], _object(use.get("input"))) for use in uses]
    return _answer(texts, calls, str(response.get("stopReason")), response.get("usage", {}))


class Assembly:
    """Assembles an answer from the pieces of a stream. `on_text` is called with each piece of text; with a schema, the text is
    the JSON of the ANSWER call."""

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._texts: list[str] = []
        self._uses: dict[int, dict[str, str]] = {}
        self._stop = ""
        self._usage: Mapping[str, Any] = {}

    def take(self, event: Mapping[str, Any]) -> None:
        """Reads one event of the stream."""
        if "contentBlockStart" in event:
            start = event["contentBlockStart"]
            use = start.get("start", {}).get("toolUse")
            if use is not None and len(self._uses) <= MAX_TOOL_CALLS:
                self._uses[start["contentBlockIndex"]] = {"id": use["toolUseId"], "name": use["name"], "input": ""}
        elif "contentBlockDelta" in event:
            self._grow(event["contentBlockDelta"]["contentBlockIndex"], event["contentBlockDelta"]["delta"])
        elif "messageStop" in event:
            self._stop = str(event["messageStop"].get("stopReason"))
        elif "metadata" in event:
            self._usage = event["metadata"].get("usage", {})

    def _grow(self, block: int, delta: Mapping[str, Any]) -> None:
        use = self._uses.get(block)
        if "text" in delta:
            self._texts.append(delta["text"])
            self._on_text(delta["text"])
        elif use is not None and "toolUse" in delta:
            use["input"] += delta["toolUse"].get("input", "")
            if use["name"] == ANSWER:
                self._on_text(delta["toolUse"].get("input", ""))

    def answer(self) -> ModelAnswer:
        if not self._stop:
            raise NodeFailure("provider_error", "model_unavailable", "the stream ended before the model's answer was complete")
        calls = [ToolCall(use["id"], use["name"], _parsed(use["input"])) for _, use in sorted(self._uses.items())]
        return _answer(self._texts, calls, self._stop, self._usage)


def _answer(texts: list[str], calls: list[ToolCall], stop: str, usage: Mapping[str, Any]) -> ModelAnswer:
    text = "".join(texts)
    tokens = (int(usage.get("inputTokens", 0)), int(usage.get("outputTokens", 0)))
    if stop in _DECLINED:
        message = f"the model or a guardrail declined to answer: {text[:PREVIEW_CHARACTERS] or stop}"
        spent = dict(zip(("input_tokens", "output_tokens"), tokens, strict=True))
        raise NodeFailure("moderation", "model_declined", message, usage=spent, phase="output")
    finish = "length" if stop in _CUT_OFF else "stop"
    final = next((call for call in calls if call.name == ANSWER), None)
    if final is not None:
        answer = "" if final.arguments is None else json.dumps(dict(final.arguments), ensure_ascii=False)
        return ModelAnswer(answer, (), finish, *tokens)
    return ModelAnswer(text, tuple(calls), "tools" if calls else finish, *tokens)


def _parsed(text: str) -> Mapping[str, Any] | None:
    try:
        return _object(json.loads(text or "{}"))
    except (ValueError, RecursionError):
        return None


def _object(value: object) -> Mapping[str, Any] | None:
    return value if isinstance(value, dict) else None
