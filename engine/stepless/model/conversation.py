"""What is said between a node and a language model, whoever provides it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stepless.model.json import JSON


@dataclass(frozen=True, slots=True)
class Tool:
    """What a model may ask for. `name` is of letters, digits, `_` and `-`; `parameters` the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model asks for a tool. `identity` joins it to its result; `arguments` is None when the model wrote what is no object."""

    identity: str
    name: str
    arguments: Mapping[str, JSON] | None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What became of a tool call; `failed` when `text` says why it did not work."""

    identity: str
    text: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation. A user's has text or the results of all calls of the turn before; an assistant's has text,
    calls or both."""

    role: str  # user, assistant
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """What a model is asked. `provider` and `model` None: the installation's own. `schema`: the answer's text shall be JSON that
    keeps it (providers promise that more or less, so whoever asks checks). `timeout_ms` is how long the answer is wanted."""

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
    """`finish` is stop, length (cut off by a bound on tokens) or tools (it asks for `calls` and wants to be asked again)."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    finish: str = "stop"
    input_tokens: int = 0
    output_tokens: int = 0
