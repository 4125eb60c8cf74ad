"""The builder and the document are equivalent: each can express everything that the other can."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from keyword import iskeyword
from pathlib import Path
from typing import Any

import pytest
from graphs import scenarios
from hypothesis import example, given
from hypothesis import strategies as st

from stepless import Container, Workflow, function
from stepless.builder.kind_methods import KindMethods
from stepless.builder.nodes import CONTAINERS
from stepless.compile import check_document, parse
from stepless.errors import ConfigError, InvalidRequest, NotFound
from stepless.limits import MAX_DOCUMENT_DEPTH
from stepless.model.findings import Severity
from stepless.nodes import KINDS

ROOT = Path(__file__).resolve().parents[3]
CASES = sorted((ROOT.parent / "shared" / "conformance" / "cases").glob("*.json")) + sorted(
    (ROOT / "tests" / "conformance" / "cases").rglob("*.json")
)
EXAMPLES = sorted((ROOT / "examples").glob("*/workflow.yaml"))


def documents() -> list[Any]:
    """Every document of the examples and of the conformance cases, faulty ones too, as long as they have nodes."""
    found = [pytest.param(parse(path.read_bytes()), id=path.parent.name) for path in EXAMPLES]
    for path in CASES:
        content = json.loads(path.read_text())
        cases = content if isinstance(content, list) else [content]
        found += [pytest.param(case["document"], id=f"{path.stem}-{n}") for n, case in enumerate(cases) if "document" in case]
    return [document for document in found if isinstance(document.values[0].get("nodes"), dict)]


DOCUMENTS = documents()


def rebuilt(document: Mapping[str, Any]) -> Workflow:
    """The same workflow, said node by node, by the method of each kind."""
    flow = Workflow(document["id"], **{name: value for name, value in document.items() if name not in ("id", "nodes", "edges")})
    _say(flow, document)
    return flow


def _say(level: KindMethods, said: Mapping[str, Any]) -> None:
    for id, node in said["nodes"].items():
        kind, params = node["type"], dict(node.get("with", {}))
        body = params.pop("body", None) if kind in CONTAINERS else None
        options = {name: value for name, value in node.items() if name not in ("type", "with")}
        method = getattr(level, f"{kind}_" if iskeyword(kind) else kind, None)
        if method is None:
            level.add(id, kind, params, **options)
            continue
        step = method(id, **{f"{name}_" if iskeyword(name) else name: value for name, value in params.items()}, **options)
        if body is not None:
            assert isinstance(step, Container)
            _say(step, body)
    for edge in said.get("edges", ()):
        level.edge(**edge)


def lean(said: Mapping[str, Any]) -> dict[str, Any]:
    """Without what says nothing: an empty `with`, empty `edges`."""
    level = {name: value for name, value in said.items() if name != "edges" or value}
    level["nodes"] = {id: _lean_node(node) for id, node in said["nodes"].items()}
    return level


def _lean_node(node: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in node.items() if name != "with" or value}
    if node["type"] in CONTAINERS:
        kept["with"] = {**node["with"], "body": lean(node["with"]["body"])}
    return kept


def sound(document: Mapping[str, Any]) -> bool:
    return all(finding.severity is not Severity.ERROR for finding in check_document(document, KINDS))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_comes_back_from_the_builder_to_the_letter(document: dict[str, Any]) -> None:
    assert json.dumps(Workflow.from_document(document).document()) == json.dumps(document)


@pytest.mark.parametrize("document", [case for case in DOCUMENTS if sound(case.values[0])])  # type: ignore[arg-type]
def test_a_document_can_be_said_node_by_node(document: dict[str, Any]) -> None:
    assert rebuilt(document).document() == lean(document)


@given(scenarios())
def test_any_workflow_comes_back_and_can_be_said(scenario: tuple[dict[str, Any], dict[str, Any]]) -> None:
    document = scenario[0]
    assert Workflow.from_document(document).document() == document
    assert rebuilt(document).document() == lean(document)
    assert parse(rebuilt(document).to_yaml()) == lean(document)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
AWKWARD = ("1e5", "0o7", "yes", "null", "~", "2024-01-31", "- a", "a: b", "# x", "'", '"', "a\n b\n", "\n", " x ", "=", "<<")
words = st.sampled_from(AWKWARD)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.floats(allow_nan=False, allow_infinity=False) | texts | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts | words, inner, max_size=3),
    max_leaves=8,
)


@given(values)
@example({"\x85": ["a\u2028b", "\u2029"]})  # line ends to some, and no line ends to others
def test_the_yaml_of_any_value_reads_back_as_the_same(value: Any) -> None:
    flow = Workflow("w")
    flow.transform("x", value=value)
    assert json.dumps(parse(flow.to_yaml())) == json.dumps(flow.document())


# -- building ---------------------------------------------------------------------------------------------------------


def test_edges_are_said_with_their_details() -> None:
    flow = Workflow("edges")
    start = flow.manual("start")
    which = flow.condition("which", after=start, cases={"a": "true", "b": "else"})
    flow.join("last", after=[which["a"].into("left", key="x", merge="concat", condition={"present": True}), start.into("right")])
    flow.edge(which["b"], "last", param="left")
    flow.edge(start, flow["last"], key="y")
    document = flow.document()
    assert document["nodes"]["last"]["after"] == [
        {"from": "which.a", "param": "left", "key": "x", "condition": {"present": True}, "merge": "concat"},
        {"from": "start", "param": "right"},
    ]
    assert document["edges"] == [
        {"source": "which", "target": "last", "handle": "b", "param": "left"},
        {"source": "start", "target": "last", "key": "y"},
    ]
    assert [finding for finding in flow.validate() if finding.severity is Severity.ERROR] == []


def test_a_kind_of_a_plug_in_is_added_by_its_name() -> None:
    flow = Workflow("w")
    flow.add("sum", "checksum", {"value": flow.inputs}, timeout_ms=10, after=[])
    assert flow.document()["nodes"]["sum"] == {
        "type": "checksum", "timeout_ms": 10, "after": [], "with": {"value": "<inputs>"},
    }  # fmt: skip
    assert "unknown_kind" in [finding.code for finding in flow.validate()]


def test_a_registered_function_may_be_named_by_itself() -> None:
    @function("builder.double")
    def double(number: int) -> int:
        return 2 * number

    flow = Workflow("w")
    flow.function("twice", after=flow.manual("start"), call=double, args={"number": flow.input.number})
    assert flow.run({"number": 4}).outputs == {"twice": 8}
    assert asyncio.run(flow.arun({"number": 5})).outputs == {"twice": 10}
    with pytest.raises(ConfigError, match="not registered"):
        flow.function("other", call=lambda: None)


def test_what_was_built_is_not_changed_by_who_holds_the_document() -> None:
    tags = ["a"]
    flow = Workflow("w", variables={"tags": tags})
    document = flow.document()
    document["nodes"]["x"] = {}
    tags.append("b")
    assert flow.document() == {"id": "w", "variables": {"tags": ["a"]}, "nodes": {}}


def test_a_workflow_can_be_read_and_built_on() -> None:
    flow = Workflow.from_document(parse((ROOT / "examples" / "order-fan-out" / "workflow.yaml").read_bytes()))
    flow.transform("after_all", after=list(flow)[-1], value="done")
    assert flow["after_all"].id == "after_all" and "after_all" in flow.document()["nodes"]
    with pytest.raises(NotFound, match="Did you mean `after_all`"):
        flow["after_al"]


# -- what cannot be said ----------------------------------------------------------------------------------------------


def test_an_id_is_given_once_per_level() -> None:
    flow = Workflow("w")
    flow.manual("start")
    with pytest.raises(InvalidRequest, match="there is already a node 'start'") as refused:
        flow.transform("start", value=1)
    assert (refused.value.code, refused.value.place) == ("id_taken", "nodes.start")


@pytest.mark.parametrize(
    ("value", "place"),
    [({"a": [1, object()]}, "nodes.x.with.value.a.1"), ({1: 2}, "nodes.x.with.value"), ({1, 2}, "nodes.x.with.value")],
)
def test_what_no_document_can_hold_is_refused_with_its_place(value: Any, place: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        Workflow("w").transform("x", value=value)
    assert (refused.value.code, refused.value.place) == ("not_json", place)


def test_an_exit_is_no_value() -> None:
    flow = Workflow("w")
    with pytest.raises(InvalidRequest, match="use an exit in `after`"):
        flow.transform("x", value=flow.manual("start")["source"])


def test_a_value_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(InvalidRequest, match=f"deeper than {MAX_DOCUMENT_DEPTH} levels"):
        Workflow("w").transform("x", value=endless)


@pytest.mark.parametrize("document", [{}, {"id": "w", "nodes": []}])
def test_what_has_no_nodes_is_no_document(document: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest, match="not a document"):
        Workflow.from_document(document)


def test_everything_else_is_judged_together() -> None:
    flow = Workflow("W")
    flow.transform("x", after="nobody", value="<nothing.at.all>")
    assert {finding.code for finding in flow.validate()} >= {"malformed_id", "unknown_reference"}
