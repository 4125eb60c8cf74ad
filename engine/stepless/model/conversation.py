"""Defines the messages between a node and a language model, independent of the provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stepless.model.json import JSON


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a model may call. `name` has letters, digits, `_` and `-`; `parameters` is the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's request to call a tool. `identity` links it to its result. `arguments` is None when the model did not write an
    object."""

    identity: str
    name: str
    arguments: Mapping[str, JSON] | None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool call. If it `failed`, `text` says why."""

    identity: str
    text: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation. A user's turn has text, or the results of all calls of the previous turn; an assistant's turn
    has text, calls or both."""

    role: str  # user, assistant
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A request to a model. `provider` and `model` None select the installation's default. With `schema`, the answer's text
    should be JSON that conforms to it; not all providers guarantee that, so the caller checks. `timeout_ms` limits the wait."""

    turns: tuple[Turn, ...]
    timeout_ms: int
    provider: str | None = None
    model: str | None = None
    system: str = ""
    tools: tuple[Tool, ...] = ()
    schema: Mapping[str, JSON] | None = None
    temperature: float | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A model's answer. `finish` is stop, length (cut at a token limit) or tools (the model requests `calls` and expects their
    results)."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    finish: str = "stop"
    input_tokens: int = 0
    output_tokens: int = 0
