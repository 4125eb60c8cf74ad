"""Values of a wrong type, in every field of the document and of every kind: one finding per place, in plain words, with a fix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from stepless.compile import check_document
from stepless.model.declaration.validation import Document, EdgeDocument, JoinDocument, NodeDocument, RetryDocument
from stepless.model.findings import Finding, Severity
from stepless.model.kind import Part
from stepless.nodes import KINDS

WRONG: tuple[Any, ...] = (None, True, 30, -1, 2.5, "30 seconds", [], [3], [{"id": "led", "x": 1}], {"x": 1}, {"x": "y"})
PYDANTICS = ("Input", "input should", "validat", "function-", "pydantic", "instance of", "dictionary", "valid string", "tag ")


def fields_of_kinds() -> Iterator[tuple[str, str]]:
    for kind in KINDS.values():
        for name, field in kind.params.model_fields.items():
            if kind.parts.get(name) is not Part.LITERAL or name != "body":
                yield kind.name, field.alias or name


def judged(node: dict[str, Any], **more: Any) -> list[Finding]:
    document = {"id": "d", "nodes": {"led": {"type": "manual"}, "x": {"after": "led", **node}}, **more}
    return [finding for finding in check_document(document, KINDS) if finding.severity is Severity.ERROR]


def well_told(findings: list[Finding]) -> None:
    assert [finding for finding in findings if not finding.mend] == []
    words = [finding.message for finding in findings for word in PYDANTICS if word in finding.message]
    assert words == []
    per_place = Counter(finding.path for finding in findings if finding.code in ("invalid_value", "invalid_schema"))
    assert [path for path, number in per_place.items() if number > 1] == []


@pytest.mark.parametrize(("kind", "field"), list(fields_of_kinds()))
def test_a_wrong_value_for_a_parameter_is_told_once_with_its_mend(kind: str, field: str) -> None:
    for value in WRONG:
        well_told(judged({"type": kind, "with": {field: value}}))


@pytest.mark.parametrize("name", [field.alias or name for name, field in NodeDocument.model_fields.items()])
def test_a_wrong_value_for_a_setting_of_a_node(name: str) -> None:
    for value in WRONG:
        well_told(judged({"type": "join", name: value}))


@pytest.mark.parametrize(("setting", "model"), [("join", JoinDocument), ("retry", RetryDocument)])
def test_a_wrong_value_inside_a_setting(setting: str, model: Any) -> None:
    for name in model.model_fields:
        for value in WRONG:
            well_told(judged({"type": "join", setting: {name: value}}))


@pytest.mark.parametrize("name", [field.alias or name for name, field in Document.model_fields.items()])
def test_a_wrong_value_for_a_field_of_the_document(name: str) -> None:
    for value in WRONG:
        document = {"id": "d", "nodes": {"led": {"type": "manual"}}, name: value}
        well_told([each for each in check_document(document, KINDS) if each.severity is Severity.ERROR])


@pytest.mark.parametrize("name", EdgeDocument.model_fields)
def test_a_wrong_value_for_an_edge(name: str) -> None:
    for value in WRONG:
        well_told(judged({"type": "join"}, edges=[{"source": "led", "target": "x", name: value}]))


@pytest.mark.parametrize(("node", "path", "told", "mend"), [
    ({"type": "wait", "with": {"for": 30}}, "with.for", "`for` is 30, which is not a duration", "`30s` are seconds"),
    ({"type": "wait", "with": {"for": "30 sec"}}, "with.for", "which is not a duration", "Write it like 500ms, 90s"),
    ({"type": "join", "retry": 3}, "retry", "`retry` should be an object, not 3", "Write `retry: {attempts: 3}`."),
    ({"type": "join", "join": "any"}, "join", "`join` should be an object, not `any`", "Write `join: {mode: any}`."),
    ({"type": "join", "join": {"mode": "anny"}}, "join.mode", "not `anny`", "Did you mean `any`?"),
    ({"type": "join", "timeout_ms": "30s"}, "timeout_ms", "should be an integer, not `30s`", "Write `30000`"),
    ({"type": "join", "timeout_ms": "30"}, "timeout_ms", "should be an integer, not `30`", "Take the quotes away: `30`."),
    ({"type": "join", "enabled": "no"}, "enabled", "should be true or false, not `no`", "Write `false`."),
    ({"type": "join", "label": 7}, "label", "should be text, not 7", 'Put it in quotes: `"7"`.'),
    ({"type": "join", "retry": {"retry_on": "timeout"}}, "retry.retry_on", "should be a list", "as a list: `[timeout]`."),
    ({"type": "join", "after": 7}, "after", "none of its forms", "Write `after: node`"),
    ({"type": "join", "output_contract": "string"}, "output_contract", "an object", "{type: string}`"),
    ({"type": "approval", "with": {"message": "m", "fields": {"a": "string"}}}, "with.fields.a", "not `string`",
     "Write `a: {type: string}`."),
    ({"type": "approval", "with": {"message": "m", "approvers": 3}}, "with.approvers", "text or a list, not 3", "quotes"),
    ({"type": "http", "with": {"url": "https://x", "headers": [{"name": "a", "value": "b"}]}}, "with.headers",
     "should be an object, not a list", "like `headers: {a: …}`"),
])  # fmt: skip
def test_the_mend_says_what_was_probably_meant(node: dict[str, Any], path: str, told: str, mend: str) -> None:
    (finding,) = judged(node)
    assert finding.path == f"nodes.x.{path}"
    assert told in finding.message and mend in finding.mend


def test_nodes_in_a_list_are_shown_as_they_are_written() -> None:
    (finding,) = check_document({"id": "d", "nodes": [{"id": "led", "type": "manual"}]}, KINDS)
    assert (finding.path, finding.message) == ("nodes", "`nodes` should be an object, not a list")
    assert finding.mend == "Write each under its name instead of in a list, like `nodes: {led: …}`."
