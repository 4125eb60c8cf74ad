"""The builder covers the whole document: every kind and every field, by their own names, and nothing else."""

from __future__ import annotations

import inspect
from keyword import iskeyword
from types import FunctionType

import pytest

from stepless import Container, Workflow
from stepless.builder.kind_methods import KindMethods
from stepless.builder.nodes import CONTAINERS, CallOptions, Nodes
from stepless.builder.steps import Step
from stepless.model.declaration.validation import AfterDocument, Document, DocumentPart, EdgeDocument, NodeDocument
from stepless.nodes import KINDS
from stepless.runtime.wiring.single_run import RunOptions, run

OPTION = inspect.Parameter.VAR_KEYWORD


def python(name: str) -> str:
    return f"{name}_" if iskeyword(name) else name


def fields(part: type[DocumentPart], *but: str) -> set[str]:
    return {field.alias or name for name, field in part.model_fields.items()} - set(but)


def given(call: object, *but: str) -> set[str]:
    assert callable(call)
    return {name.removesuffix("_") for name in inspect.signature(call).parameters} - {"self", *but}


def test_every_kind_has_its_method_and_every_method_its_kind() -> None:
    methods = {name for name in vars(KindMethods) if not name.startswith("_")}
    assert methods == {python(kind) for kind in KINDS}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_method_takes_the_parameters_of_its_kind(kind: str) -> None:
    params = KINDS[kind].params.model_fields
    required = {field.alias or name for name, field in params.items() if field.is_required()}
    taken = inspect.signature(getattr(KindMethods, python(kind))).parameters
    own = {name: parameter for name, parameter in taken.items() if name not in ("self", "id") and parameter.kind is not OPTION}
    assert {name.removesuffix("_") for name in own} == {field.alias or name for name, field in params.items()} - {"body"} | (
        {"body"} if kind in ("http", "respond") else set()
    )
    assert {name.removesuffix("_") for name, p in own.items() if p.default is p.empty} == required - ({"body"} & required)


def test_containers_are_the_kinds_that_contain() -> None:
    assert set(CONTAINERS) == {name for name, kind in KINDS.items() if kind.container is not None}


def test_nodes_edges_and_the_top_level_take_what_the_document_has() -> None:
    assert set(CallOptions.__annotations__) == fields(NodeDocument, "type", "with", "inputs")
    assert given(Nodes.edge) == fields(EdgeDocument)
    assert given(Step.into) == fields(AfterDocument, "from")
    assert given(Workflow) == fields(Document, "nodes", "edges")


@pytest.mark.parametrize("method", [Workflow.run, Workflow.arun])
def test_a_workflow_is_run_with_what_run_takes(method: FunctionType) -> None:
    assert given(method, "options") | set(RunOptions.__annotations__) == given(run, "document")
    assert method.__annotations__["options"] == "Unpack[RunOptions]"


def test_a_container_is_a_node_to_others_and_a_level_to_what_is_inside() -> None:
    flow = Workflow("nested")
    with flow.loop("outer", times=2) as outer, outer.parallel("inner", items=["a", "b"]) as inner:
        inner.transform("pair", value=[outer.index, inner.item])
    last = flow.transform("last", after=outer["source"], value=outer)
    assert isinstance(outer, Container) and isinstance(outer.body["inner"], Container)
    assert list(flow) == ["outer", "last"] and list(outer.body) == ["inner"]
    assert repr(last) == "Step('last')" and repr(outer) == "Container('outer')"
    assert flow.run().outputs == {"last": [[[0, "a"], [0, "b"]], [[1, "a"], [1, "b"]]]}
