"""The kind `llm`: its parameters, and what is wrong with them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from stepless.errors import AuthorError
from stepless.expressions import compile_contract
from stepless.limits import MAX_FUNCTION_NAME_CHARACTERS, MAX_MESSAGES, MAX_OUTPUT_TOKENS, MAX_TOOLS
from stepless.model.findings import Finding
from stepless.model.json import JSON
from stepless.model.kind import Kind, Nature, Part
from stepless.nodes.params import Name, Params

_CALL = r"^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)*$"  # as `function` knows them


class Message(Params):
    """One turn of the conversation. `content` is text; any other value is shown to the model as JSON."""

    role: Literal["system", "user", "assistant"]
    content: JSON


class ToolParams(Params):
    """A registered callable that the model may call. `parameters` is the JSON Schema of what the model chooses, `args` are
    arguments that it neither sees nor chooses."""

    call: str = Field(pattern=_CALL, max_length=MAX_FUNCTION_NAME_CHARACTERS)
    description: str | None = None
    parameters: dict[str, Any] | None = None
    args: dict[Name, JSON] = Field(default_factory=dict)


class LlmParams(Params):
    """What the model is asked: `messages`, or `prompt` after `system`; the merged input when neither is given.

    With `response_schema` (JSON Schema) the answer is an object that keeps it. `provider` and `model` default to those of the
    installation. With `stream` the text is sent along as it comes in.
    """

    provider: str | None = Field(None, min_length=1)
    model: str | None = Field(None, min_length=1)
    system: str | None = None
    prompt: str | None = None
    messages: Annotated[list[Message], Field(min_length=1, max_length=MAX_MESSAGES)] | None = None
    response_schema: dict[str, Any] | None = None
    tools: list[ToolParams] = Field(default_factory=list, max_length=MAX_TOOLS)
    temperature: float | None = Field(None, ge=0, le=2)
    max_tokens: int | None = Field(None, ge=1, le=MAX_OUTPUT_TOKENS)
    stream: bool = False


def check(params: LlmParams, path: str) -> list[Finding]:
    found = [*_one_conversation(params, path), *_readable_schema(params.response_schema, path, "response_schema")]
    for place, tool in enumerate(params.tools):
        found += _readable_schema(tool.parameters, f"{path}.tools.{place}", "parameters")
    return found


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
        return [Finding(error.error_code, where, f"`{name}`: {error.message}", error.mend)]
    return []


KIND = Kind(
    "llm", Nature.EFFECT, LlmParams, "asks a language model; puts out text, or object when there is a response_schema, and usage",
    parts={"response_schema": Part.LITERAL}, check=check,
)
