"""Builds request bodies of the chat completions API from questions, and reads answers from whole or streamed response bodies.
Raises `ValueError` for a response that cannot be read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from stepless.limits import MAX_TOOL_CALLS, PREVIEW_CHARACTERS
from stepless.model.conversation import ModelAnswer, Question, ToolCall, Turn
from stepless.model.work import NodeFailure

_FINISH: Final = {"length": "length", "tool_calls": "tools", "function_call": "tools"}


def body_of(question: Question, model: str, *, streamed: bool, tokens_field: str) -> dict[str, Any]:
    """`tokens_field` is the server's name for the limit on tokens: OpenAI renamed it, and few other servers did."""
    body: dict[str, Any] = {"model": model, "messages": _messages(question)}
    if question.temperature is not None:
        body["temperature"] = question.temperature
    if question.max_tokens is not None:
        body[tokens_field] = question.max_tokens
    if question.schema is not None:  # not strict: strict mode supports only a part of JSON Schema
        shape = {"name": "answer", "schema": dict(question.schema), "strict": False}
        body["response_format"] = {"type": "json_schema", "json_schema": shape}
    if question.tools:
        body["tools"] = [
            {"type": "function",
             "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}}
            for tool in question.tools
        ]  # fmt: skip
    if streamed:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return body


def _messages(question: Question) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": question.system}] if question.system else []
    for turn in question.turns:
        if turn.role == "assistant":
            messages.append(_assistant(turn))
        for result in turn.results:
            messages.append({"role": "tool", "tool_call_id": result.identity, "content": result.text})
        if turn.role == "user" and (turn.text or not turn.results):
            messages.append({"role": "user", "content": turn.text})
    return messages


def _assistant(turn: Turn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
    if turn.calls:
        message["tool_calls"] = [
            {"id": call.identity, "type": "function",
             "function": {"name": call.name, "arguments": json.dumps(dict(call.arguments or {}), ensure_ascii=False)}}
            for call in turn.calls
        ]  # fmt: skip
    else:
        message["content"] = turn.text
    return message


def answer_of(body: object) -> ModelAnswer:
    """Reads a whole response. Raises `NodeFailure` (moderation) when the model declined."""
    assembly = Assembly()
    assembly.take(body, part="message")
    return assembly.answer()


class Assembly:
    """Assembles an answer from the pieces of a stream. `on_text` is called with each piece of text."""

    def __init__(self, on_text: Callable[[str], None] | None = None) -> None:
        self._on_text = on_text
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._calls: dict[int, dict[str, str]] = {}
        self._finish = ""
        self._usage: Mapping[str, Any] = {}

    def take(self, body: object, *, part: str = "delta") -> None:
        """Adds one piece: the body of a server-sent event."""
        if not isinstance(body, dict):
            raise ValueError("a piece of the answer is not an object")
        self._usage = body.get("usage") or self._usage
        choice = _first_choice(body)
        if choice is None:
            return
        self._finish = choice.get("finish_reason") or self._finish
        piece = choice.get(part)
        if not isinstance(piece, dict):
            return
        self._refusal.append(_text(piece.get("refusal")))
        text = _text(piece.get("content"))
        if text:
            self._text.append(text)
            if self._on_text is not None:
                self._on_text(text)
        for place, call in enumerate(piece.get("tool_calls") or ()):
            self._add_call(place, call)

    def _add_call(self, place: int, call: Mapping[str, Any]) -> None:
        number = call.get("index", place)
        if not isinstance(number, int) or (number not in self._calls and len(self._calls) > MAX_TOOL_CALLS):
            raise ValueError("a tool call has no index, or there are too many tool calls")
        known = self._calls.setdefault(number, {"id": "", "name": "", "arguments": ""})
        function = call.get("function") or {}
        known["id"] = _text(call.get("id")) or known["id"]
        known["name"] = _text(function.get("name")) or known["name"]
        known["arguments"] += _text(function.get("arguments"))

    def answer(self) -> ModelAnswer:
        if not self._finish:
            raise ValueError("it ended before it was complete")
        refusal = "".join(self._refusal)
        spent, written = (_count(self._usage.get(name)) for name in ("prompt_tokens", "completion_tokens"))
        if refusal or self._finish == "content_filter":
            message = f"the model declined to answer: {refusal[:PREVIEW_CHARACTERS] or 'content filter'}"
            usage = {"input_tokens": spent, "output_tokens": written}
            raise NodeFailure("moderation", "model_declined", message, usage=usage, phase="output")
        calls = tuple(
            ToolCall(call["id"] or f"call_{number}", call["name"], _object(call["arguments"]))
            for number, call in sorted(self._calls.items())
        )
        finish = "tools" if calls else _FINISH.get(self._finish, "stop")
        return ModelAnswer("".join(self._text), calls, finish, spent, written)


def _first_choice(body: object) -> dict[str, Any] | None:
    choices = body.get("choices") if isinstance(body, dict) else None
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _object(text: str) -> Mapping[str, Any] | None:
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
