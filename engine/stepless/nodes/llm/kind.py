"""The kind `llm`: its parameters, and what is wrong with them."""

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
from stepless.nodes.params import Name, Params, exactly_one

_CALL = r"^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)*$"  # as `function` knows them


class Message(Params):
    """One turn of the conversation."""

    role: Literal["system", "user", "assistant"]
    """Who says it."""
    content: JSON
    """Text; any other value is shown to the model as JSON."""


class ToolParams(Params):
    """What the model may call: a registered callable, or a node beside this one that is only a tool."""

    call: str | None = Field(None, pattern=_CALL, max_length=MAX_FUNCTION_NAME_CHARACTERS)
    """The name that the callable was registered under."""
    node: str | None = Field(None, min_length=1, max_length=MAX_ID_CHARACTERS)
    """The id of a node without edges. It finds the arguments under `<input>`, and reads what this node can read."""
    description: str | None = None
    """What the model is told about it. The first paragraph of the callable's docstring, or the node's label, when left out."""
    parameters: dict[str, Any] | None = None
    """JSON Schema of what the model chooses. Made from a callable's type hints when left out."""
    args: dict[Name, JSON] = Field(default_factory=dict)
    """Arguments that the model neither sees nor chooses."""


class LlmParams(Params):
    """What the model is asked: `messages`, or `prompt` after `system`; the merged input when neither is given."""

    provider: str | None = Field(None, min_length=1)
    """Who is asked. The installation's default when left out."""
    model: str | None = Field(None, min_length=1)
    """Which model. The installation's default when left out."""
    system: str | None = None
    """What the model is told about its task."""
    prompt: str | None = None
    """What it is asked."""
    messages: Annotated[list[Message], Field(min_length=1, max_length=MAX_MESSAGES)] | None = None
    """A whole conversation instead of `prompt`."""
    response_schema: dict[str, Any] | None = None
    """JSON Schema of the answer, which is an object then."""
    tools: list[ToolParams] = Field(default_factory=list, max_length=MAX_TOOLS)
    """What the model may call."""
    temperature: float | None = Field(None, ge=0, le=2)
    """How freely it chooses words."""
    max_tokens: int | None = Field(None, ge=1, le=MAX_OUTPUT_TOKENS)
    """How long the answer may be."""
    stream: bool = False
    """The text is sent along in events while it comes in."""


def check(params: LlmParams, path: str) -> list[Finding]:
    found = [*_one_conversation(params, path), *_readable_schema(params.response_schema, path, "response_schema")]
    for place, tool in enumerate(params.tools):
        if isinstance(tool, ToolParams):  # else only a run can fill it in
            where = f"{path}.tools.{place}"
            found += [*exactly_one(tool, where, ("call", "node")), *_readable_schema(tool.parameters, where, "parameters")]
    return found


def _named(field: str) -> Callable[[Mapping[str, JSON]], Mapping[str, str]]:
    """What the tools of a `with` name in that field, by place."""

    def named(written: Mapping[str, JSON]) -> Mapping[str, str]:
        tools = written.get("tools")
        given = enumerate(tools) if isinstance(tools, list) else ()
        return {
            f"tools.{place}.{field}": tool[field]
            for place, tool in given if isinstance(tool, dict) and isinstance(tool.get(field), str)
        }

    return named


def _one_conversation(params: LlmParams, path: str) -> list[Finding]:
    if params.messages is None or params.prompt is None:
        return []
    told = "`messages` and `prompt` both say what the model is asked"
    return [Finding("contradiction", f"{path}.prompt", told, "Keep one of them; `messages` can end with a user's message.")]


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
    "llm", Nature.EFFECT, LlmParams, "asks a language model; puts out text, or object when there is a response_schema, and usage",
    parts={"response_schema": Part.LITERAL}, check=check, functions=_named("call"), tools=_named("node"),
)
