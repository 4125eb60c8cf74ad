"""Defines the kind `llm`: its parameters and their checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from stepless.errors import AuthorError
from stepless.expressions import compile_contract
from stepless.limits import MAX_FUNCTION_NAME_CHARACTERS, MAX_ID_CHARACTERS, MAX_MESSAGES, MAX_OUTPUT_TOKENS, MAX_TOOLS
from stepless.model.findings import Finding
from stepless.model.json import JSON
from stepless.model.kind import Kind, Nature, Part
from stepless.model.runs.span import CLIENT
from stepless.nodes.params import Name, Params, exactly_one

_CALL = r"^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)*$"  # the same as `NAME` of the kind `function`


class Message(Params):
    """One message of the conversation."""

    role: Literal["system", "user", "assistant"]
    """The author of the message."""
    content: JSON
    """The text of the message. Any other value is sent as JSON."""


class ToolParams(Params):
    """A tool that the model may call: a registered callable, or a node without edges in the same graph."""

    call: str | None = Field(None, pattern=_CALL, max_length=MAX_FUNCTION_NAME_CHARACTERS)
    """The name of a registered callable."""
    node: str | None = Field(None, min_length=1, max_length=MAX_ID_CHARACTERS)
    """The id of a node without edges. Its `<input>` holds the arguments, and it can read what this node can read."""
    description: str | None = None
    """The tool's description for the model. Default: the first paragraph of the callable's docstring, or the node's label."""
    parameters: dict[str, Any] | None = None
    """JSON Schema of the arguments that the model chooses. Default for a callable: derived from its type hints."""
    args: dict[Name, JSON] = Field(default_factory=dict)
    """Arguments that the model neither sees nor chooses."""


class LlmParams(Params):
    """The question for the model: `messages`, or `prompt` after `system`. Default: the merged input."""

    provider: str | None = Field(None, min_length=1)
    """The model provider. Default: the installation's."""
    model: str | None = Field(None, min_length=1)
    """The model. Default: the installation's."""
    system: str | None = None
    """The system prompt."""
    prompt: str | None = None
    """The user's message."""
    messages: Annotated[list[Message], Field(min_length=1, max_length=MAX_MESSAGES)] | None = None
    """A whole conversation, in place of `prompt`."""
    response_schema: dict[str, Any] | None = None
    """JSON Schema of the answer, which is then an object."""
    tools: list[ToolParams] = Field(default_factory=list, max_length=MAX_TOOLS)
    """The tools that the model may call."""
    temperature: float | None = Field(None, ge=0, le=2)
    """The sampling temperature: higher values give more varied answers."""
    max_tokens: int | None = Field(None, ge=1, le=MAX_OUTPUT_TOKENS)
    """The longest answer, in tokens."""
    stream: bool = False
    """Sends the text in events while the model generates it."""


def check(params: LlmParams, path: str) -> list[Finding]:
    found = [*_one_conversation(params, path), *_readable_schema(params.response_schema, path, "response_schema")]
    for place, tool in enumerate(params.tools):
        if isinstance(tool, ToolParams):  # else it is a reference, which a run fills in
            where = f"{path}.tools.{place}"
            found += [*exactly_one(tool, where, ("call", "node")), *_readable_schema(tool.parameters, where, "parameters")]
    return found


def _named(field: str) -> Callable[[Mapping[str, JSON]], Mapping[str, str]]:
    """Returns a function from a node's `with` to the values of that field in its tools, by place."""

    def named(written: Mapping[str, JSON]) -> Mapping[str, str]:
        tools = written.get("tools")
        return {
            f"tools.{place}.{field}": tool[field]
            for place, tool in enumerate(tools if isinstance(tools, list) else ())
            if isinstance(tool, dict) and isinstance(tool.get(field), str)
        }

    return named


def _one_conversation(params: LlmParams, path: str) -> list[Finding]:
    if params.messages is None or params.prompt is None:
        return []
    message = "`messages` and `prompt` exclude each other"
    return [Finding("contradiction", f"{path}.prompt", message, "Keep one of them; `messages` can end with a user's message.")]


def _readable_schema(schema: dict[str, Any] | None, path: str, name: str) -> list[Finding]:
    if schema is None:
        return []
    try:
        compile_contract(schema)
    except AuthorError as error:
        where = ".".join(part for part in (path, name, error.place) if part)
        return [Finding(error.code, where, f"`{name}`: {error.message}", error.mend)]
    return []


KIND = Kind(
    "llm", Nature.EFFECT, LlmParams, "asks a language model; returns text, or object if there is a response_schema, and usage",
    parts={"response_schema": Part.LITERAL}, check=check, functions=_named("call"), tools=_named("node"),
    output_fields=lambda written: ("text", "object", "finish", "usage"),
    brief=("model",), span=CLIENT,
    icon="M7 2.5 8.4 6 12 7.4 8.4 8.8 7 12.4 5.6 8.8 2 7.4 5.6 6 7 2.5ZM12.4 10.5l.6 1.5 1.5.6-1.5.6-.6 "
         "1.5-.6-1.5-1.5-.6 1.5-.6.6-1.5Z",
)
