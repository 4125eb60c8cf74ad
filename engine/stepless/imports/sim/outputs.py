"""Maps the parts of a block's output to the output of its node: one row per block type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from stepless.imports.sim.choices import APPROVAL, CONDITION, RESPONSE
from stepless.imports.sim.export import TRIGGER, WEBHOOKS, Block
from stepless.imports.sim.values import Unreadable, named_fields, read_json
from stepless.model.json import JSON, Path

_ERROR: Final[Path] = ("error",)


@dataclass(frozen=True, slots=True)
class Shape:
    """`parts` maps the beginning of a path in Sim to the path in the node's output (None: not in the output); the longest match
    applies. `rest` is put before all other paths; None if the output has no other part."""

    parts: Mapping[Path, Path | None]
    rest: Path | None = ()

    def place(self, steps: Path) -> Path | None:
        """Returns the path in the node's output; None if it has no such part."""
        for size in range(len(steps), 0, -1):
            if steps[:size] in self.parts:
                found = self.parts[steps[:size]]
                return None if found is None else (*found, *steps[size:])
        if not steps:
            return ()
        return None if self.rest is None else (*self.rest, *steps)


_TOKENS: Final[dict[Path, Path | None]] = {
    ("tokens",): ("usage",),
    **{("tokens", name): ("usage", "input_tokens") for name in ("prompt", "input")},
    **{("tokens", name): ("usage", "output_tokens") for name in ("completion", "output")},
}
_NOT_SCHEMA: Final[dict[Path, Path | None]] = {(name,): None for name in ("model", "toolCalls", "cost", "providerTiming")}
_TEXT: Final = Shape({("content",): ("text",), **_TOKENS}, None)
_CONTROL: Final[dict[Path, Path | None]] = {
    (name,): None for name in ("conditionResult", "selectedPath", "selectedOption", "selectedConditionId")
}
_AS_IT_IS: Final = Shape({})
_PAYLOAD: Final = Shape({}, ("body",))
_SHAPES: Final[Mapping[str, Shape]] = {
    "api": Shape({("data",): ("body",), ("status",): ("status",), ("headers",): ("headers",)}, None),
    "function": Shape({("result",): (), ("stdout",): None}, None),
    CONDITION: Shape(_CONTROL),
    "router": Shape({("selectedRoute",): ("route",), ("reasoning",): ("reasoning",)}, None),
    "router_v2": Shape({("selectedRoute",): ("route",), ("reasoning",): ("reasoning",)}, None),
    "wait": Shape({}, None),
    "workflow": Shape({("result",): ()}, None),
    "workflow_input": Shape({("result",): ()}, None),
    APPROVAL: Shape({
        ("submission",): (), ("resumeInput",): (), ("submittedAt",): ("at",), ("url",): None, ("resumeEndpoint",): None,
        ("response",): None,
    }),
    RESPONSE: Shape({("data",): ()}, None),
    "loop": Shape({("results",): ()}, None),
    "parallel": Shape({("results",): ()}, None),
}  # fmt: skip
_INPUT_INSIDE: Final = ("starter", "api_trigger", "input_trigger")  # they repeat the declared inputs under `input`


def place_of(block: Block, steps: Path, *, inside: bool) -> Path | None:
    """Returns the path of `<block.steps>` in the node's output; None if it has no such part. `inside`: the block is in a
    container."""
    if steps[:1] == _ERROR:
        return ("error", "message", *steps[1:])
    return shape_of(block, inside=inside).place(steps)


def shape_of(block: Block, *, inside: bool) -> Shape:
    if block.role == TRIGGER:
        if block.type in WEBHOOKS and not inside:
            return _PAYLOAD
        declared = block.type in _INPUT_INSIDE and _declares_inputs(block)
        return Shape({("input",): ()}) if declared else _AS_IT_IS
    if block.type == "agent":
        return _of_agent(block)
    return _SHAPES.get(block.type, _AS_IT_IS)


def _of_agent(block: Block) -> Shape:
    """The output of an agent. Sim has the fields of a structured answer at the top level; here they are in `object`."""
    schema = response_schema(block.fields.get("responseFormat"))
    if schema is None:
        return _TEXT
    properties = schema.get("properties")
    own: dict[Path, Path | None] = {(name,): ("object", name) for name in properties} if isinstance(properties, dict) else {}
    return Shape({("content",): ("object",), **_TOKENS, **_NOT_SCHEMA, **own}, ("object",))


def _declares_inputs(block: Block) -> bool:
    try:
        return any(True for _ in named_fields(block.fields.get("inputFormat", [])))
    except Unreadable:
        return False


def response_schema(value: JSON) -> dict[str, JSON] | None:
    """Returns the JSON Schema of a response format in any known wrapping, with the format's name as its title; None if it cannot
    be read."""
    try:
        read = read_json(value)
    except Unreadable:
        return None
    title: dict[str, JSON] = {}
    for wrapping in ("json_schema", "schema"):
        if isinstance(read, dict) and isinstance(read.get(wrapping), dict):
            title = {"title": read["name"]} if isinstance(read.get("name"), str) else title
            read = read[wrapping]
    return {**title, **read} if isinstance(read, dict) and ("properties" in read or "type" in read) else None
