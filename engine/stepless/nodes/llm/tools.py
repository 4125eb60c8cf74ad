"""Offers tools to a model, and runs the tools that it calls in one attempt.

A tool that fails does not fail the node: the model receives the error, and may try again while it has turns left. Each call is
one line of the run's history.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final, TypeAlias

from stepless.expressions import compile_contract
from stepless.limits import (
    MAX_LOG_CHARACTERS,
    MAX_TOOL_CALLS,
    MAX_TOOL_EXCEPTION_BYTES,
    MAX_TOOL_NAME_CHARACTERS,
    MAX_TOOL_RESULT_CHARACTERS,
    PREVIEW_CHARACTERS,
)
from stepless.model.conversation import Tool, ToolCall, ToolResult
from stepless.model.json import JSON
from stepless.model.kind import Pause
from stepless.model.work import NodeFailure, Result
from stepless.nodes.json_value import as_text
from stepless.nodes.llm.kind import ToolParams
from stepless.ports import Call
from stepless.raised import described, origin_of

_ANYTHING: Final[Mapping[str, JSON]] = {}
Act: TypeAlias = Callable[[Call], Awaitable[Result | Pause]]
Describe: TypeAlias = Callable[[str], tuple[str, Mapping[str, JSON]]]
"""From a function's name to its description and the JSON Schema of its arguments. Raises `NodeFailure` for an unknown name."""


class Toolbox:
    """`offered` are the tools as the model receives them."""

    def __init__(self, tools: Sequence[ToolParams], call: Call, function: Act, describe: Describe) -> None:
        self._call = call
        self._function = function
        self._tools = dict(zip(_wire_names([_name_of(tool) for tool in tools]), tools, strict=True))
        self.offered = tuple(self._offer(name, tool, describe) for name, tool in self._tools.items())
        self._contracts = {tool.name: compile_contract(dict(tool.parameters)) for tool in self.offered}
        self._asked: Counter[str] = Counter()

    async def use(self, calls: Sequence[ToolCall], turn: int) -> tuple[ToolResult, ...]:
        """Runs all calls of one answer concurrently; returns their results in the order of the calls."""
        if self._asked.total() + len(calls) > MAX_TOOL_CALLS:
            raise NodeFailure("execution", "too_many_tool_calls", f"the model makes more than {MAX_TOOL_CALLS} tool calls",
                              retryable=False, mend="say in `system` when to stop, or offer tools that do more per call")
        tokens = [self._token(call) for call in calls]  # numbered before any call runs, so that timing cannot change the order
        return tuple(await asyncio.gather(*(self._use(call, token, turn) for call, token in zip(calls, tokens, strict=True))))

    def _token(self, call: ToolCall) -> str:
        """An idempotency token. The same call has the same token in every attempt; a different call, and a repetition of the same
        call within one attempt, have different tokens."""
        asked = sha256(f"{call.name}{json.dumps(call.arguments, sort_keys=True)}".encode("utf-8", "replace")).hexdigest()[:16]
        self._asked[asked] += 1
        return f"{self._call.token}:{asked}:{self._asked[asked]}"

    async def _use(self, call: ToolCall, token: str, turn: int) -> ToolResult:
        origin = None
        try:
            result = ToolResult(call.identity, await self._run(call, token))
        except NodeFailure as failure:
            result = ToolResult(call.identity, f"{failure.code}: {failure}"[:MAX_TOOL_RESULT_CHARACTERS], failed=True)
            origin = origin_of(failure)
        tool = self._tools.get(call.name)
        line = {
            "tool": call.name if tool is None else _name_of(tool),
            "turn": turn,
            "ok": not result.failed,
            "arguments": as_text(call.arguments)[:PREVIEW_CHARACTERS],
            "result": result.text[:PREVIEW_CHARACTERS],
        }
        self._call.log(_line(line, origin))
        return result

    async def _run(self, call: ToolCall, token: str) -> str:
        tool = self._tools.get(call.name)
        if tool is None:
            known = ", ".join(self._tools) or "none"
            raise NodeFailure("config", "unknown_tool", f"there is no tool {call.name!r:.100}", mend=f"the tools are: {known}")
        if call.arguments is None:
            raise NodeFailure("config", "invalid_arguments", "the arguments are not a JSON object")
        violations = self._contracts[call.name].violations(dict(call.arguments))
        if violations:
            raise NodeFailure("config", "invalid_arguments", "; ".join(violations))
        text = as_text(await self._value(tool, {**call.arguments, **tool.args}, token))
        if len(text) > MAX_TOOL_RESULT_CHARACTERS:
            raise NodeFailure("execution", "result_too_large", f"the result has {len(text):,} characters; "
                              f"the limit is {MAX_TOOL_RESULT_CHARACTERS:,}", mend="ask for less")
        return text

    async def _value(self, tool: ToolParams, arguments: Mapping[str, JSON], token: str) -> JSON:
        if tool.node is not None:
            return await self._call.tools[tool.node].run(arguments, token)
        result = await self._function(replace(
            self._call, kind="function", literals={"call": tool.call}, params={"args": arguments}, inputs={}, token=token,
            delta=_discard, tools={},
        ))  # fmt: skip
        return result.value if isinstance(result, Result) else None

    def _offer(self, name: str, tool: ToolParams, describe: Describe) -> Tool:
        """The tool as the model receives it: with the author's description and schema, else with its own."""
        description, schema = "", _ANYTHING
        if tool.node is not None:
            if tool.node not in self._call.tools:
                mend = "write the node's id in the document, not a reference"
                raise NodeFailure("config", "unknown_tool", f"there is no tool {tool.node!r:.100}", retryable=False, mend=mend)
            description = self._call.tools[tool.node].label
        elif tool.call is not None and (tool.description is None or tool.parameters is None):
            description, schema = describe(tool.call)
        parameters: Mapping[str, Any] = tool.parameters if tool.parameters is not None else schema
        return Tool(name, description if tool.description is None else tool.description, _without(parameters, tool.args))


def _line(facts: Mapping[str, JSON], origin: BaseException | Mapping[str, JSON] | None) -> str:
    """A line of the history, with the exception of a failed call if it fits."""
    plain = json.dumps(facts, ensure_ascii=False)
    if origin is None:
        return plain
    exception = described(origin, MAX_TOOL_EXCEPTION_BYTES) if isinstance(origin, BaseException) else dict(origin)
    whole = json.dumps({**facts, "exception": exception}, ensure_ascii=False)
    return whole if len(whole) <= MAX_LOG_CHARACTERS else plain


def _name_of(tool: ToolParams) -> str:
    return tool.call or tool.node or ""


def _discard(piece: object) -> None:
    """Discards what a tool streams: it is not part of the model's answer."""


def _wire_names(calls: Sequence[str]) -> list[str]:
    """Names of tools as providers accept them: without dots, at most MAX_TOOL_NAME_CHARACTERS long, unique."""
    names: list[str] = []
    for call in calls:
        plain = re.sub(r"[^A-Za-z0-9_-]", "_", call)[:MAX_TOOL_NAME_CHARACTERS]
        name, number = plain, 1
        while name in names:
            number += 1
            name = f"{plain[:MAX_TOOL_NAME_CHARACTERS - 4]}_{number}"
        names.append(name)
    return names


def _without(schema: Mapping[str, Any], args: Mapping[str, JSON]) -> dict[str, JSON]:
    """The schema without the arguments that the author sets."""
    shown = {"type": "object", **schema}
    if args:
        shown["properties"] = {name: rule for name, rule in (schema.get("properties") or {}).items() if name not in args}
        shown["required"] = [name for name in schema.get("required") or () if name not in args]
    return shown
