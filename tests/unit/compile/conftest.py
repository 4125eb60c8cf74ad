"""A few kinds of every nature, and documents in the shortest form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from stepless.compile import check_document, compile_document
from stepless.model.findings import Finding
from stepless.model.graph import Graph
from stepless.model.kind import Bounds, ContainerSpec, Kind, Kinds, Nature, Outcome, Part, Pause

LITERAL, EXPRESSION = Part.LITERAL, Part.EXPRESSION


class Params(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class FunctionParams(Params):
    call: str = "test.echo"
    args: dict[str, Any] = {}
    times: int = 1


class MessageParams(Params):
    role: Literal["user", "system"]
    text: str


class ModelParams(Params):
    prompt: str | list[MessageParams] = ""


class ConditionParams(Params):
    cases: dict[str, str] = Field(min_length=1)


class SetParams(Params):
    variables: dict[str, Any]


class ApprovalParams(Params):
    message: str = ""
    fields_: dict[str, Any] = Field(default_factory=dict, alias="fields")
    timeout: str | None = None


class LoopParams(Params):
    body: dict[str, Any]
    times: str | int | None = None
    items: str | list[Any] | None = None
    while_: str | None = Field(None, alias="while")
    do_while: str | None = None
    max_iterations: int = 1_000
    on_error: Literal["stop", "continue", "drop"] = "stop"


class ParallelParams(Params):
    body: dict[str, Any]
    branches: str | int | None = None
    items: str | list[Any] | None = None
    window: int = 20


class EndParams(Params):
    halt: bool = False
    break_: bool = Field(False, alias="break")


KINDS: Kinds = {
    kind.name: kind
    for kind in (
        Kind("manual", Nature.ENTRY, Params, "starts", evaluate=lambda work: Outcome(work.run_inputs)),
        Kind("function", Nature.EFFECT, FunctionParams, "works", parts={"call": LITERAL},
             functions=lambda written: {"call": str(written.get("call"))}, is_tool=True),
        Kind("llm", Nature.EFFECT, ModelParams, "writes"),
        Kind("join", Nature.PURE, Params, "joins", evaluate=lambda work: Outcome()),
        Kind("set", Nature.PURE, SetParams, "sets", evaluate=lambda work: Outcome()),
        Kind("end", Nature.PURE, EndParams, "ends", evaluate=lambda work: Outcome(), terminal=True),
        Kind("condition", Nature.PURE, ConditionParams, "chooses", exits=lambda params: tuple(params.cases),
             parts={"cases": Part.CASES}, evaluate=lambda work: Outcome()),
        Kind("approval", Nature.PAUSE, ApprovalParams, "asks", exits=lambda params: ("approved", "rejected", "timeout"),
             parts={"fields": LITERAL}, suspend=lambda work: Pause("human_input")),
        Kind("loop", Nature.CONTAINER, LoopParams, "repeats",
             parts={**dict.fromkeys(("times", "items", "while", "do_while"), EXPRESSION), "body": LITERAL, "on_error": LITERAL},
             container=ContainerSpec(
                 ("times", "items", "while", "do_while"), parallel=False,
                 bounds=lambda params: Bounds(max_iterations=params.max_iterations, on_error=params.on_error),
             )),
        Kind("parallel", Nature.CONTAINER, ParallelParams, "spreads",
             parts={**dict.fromkeys(("branches", "items"), EXPRESSION), "body": LITERAL, "window": LITERAL},
             container=ContainerSpec(("branches", "items"), parallel=True, bounds=lambda params: Bounds(params.window))),
    )
}

Nodes = Mapping[str, Any]
Judge = Callable[..., tuple[Finding, ...]]
Compile = Callable[..., Graph]


def document(nodes: Nodes, **more: Any) -> dict[str, Any]:
    """Nodes without a type are joins; a text or list instead of a node is its `after`."""
    return {"id": "d", "nodes": {name: written(node) for name, node in nodes.items()}, **more}


def written(node: Any) -> Any:
    if isinstance(node, str | list):
        node = {"after": node}
    if isinstance(node, dict) and isinstance(node.get("with"), dict) and isinstance(node["with"].get("body"), dict):
        body = node["with"]["body"]
        if isinstance(body.get("nodes"), dict):
            nodes = {name: written(inner) for name, inner in body["nodes"].items()}
            node = {**node, "with": {**node["with"], "body": {**body, "nodes": nodes}}}
    return {"type": "join", **node} if isinstance(node, dict) else node


@pytest.fixture(scope="session")
def kinds() -> Kinds:
    return KINDS


@pytest.fixture
def judge() -> Judge:
    return lambda nodes, functions=None, **more: check_document(document(nodes, **more), KINDS, functions=functions)


@pytest.fixture
def link() -> Compile:
    def linked(nodes: Nodes, entries: Sequence[str] | None = None, **more: Any) -> Graph:
        return compile_document(document(nodes, **more), KINDS, entries=entries)

    return linked
