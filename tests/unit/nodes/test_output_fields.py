"""A reference to the field `output` of a node whose output has none is a warning with its fix."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.compile.compiler import check_document
from stepless.model.effects.exchange import HttpAnswer
from stepless.model.findings import Severity
from stepless.nodes import KINDS
from stepless.nodes.http.response import output_of

BODY = {"nodes": {"e": {"type": "end"}}}
HTTP = {"type": "http", "with": {"url": "https://shop.test"}}


def checked(read: dict[str, Any], text: str) -> list[Any]:
    after = "read.approved" if read["type"] == "approval" else "read"
    nodes = {
        "start": {"type": "manual"},
        "read": {"after": "start", **read},
        "reader": {"type": "transform", "after": after, "with": {"value": text}},
    }
    return [finding for finding in check_document({"id": "w", "nodes": nodes}, KINDS) if finding.code == "unknown_field"]


@pytest.mark.parametrize(("read", "told"), [
    (HTTP, "with `body`, `encoding`, `headers`, `status`."),
    ({"type": "llm", "with": {"model": "m", "prompt": "p"}}, "`text`"),
    ({"type": "router", "with": {"model": "m", "prompt": "p", "routes": {"a": "first"}}}, "`route`"),
    ({"type": "transform", "with": {"value": {"x": 1}}}, "with `x`."),
    ({"type": "transform", "with": {"value": [1]}}, "`<read>` is the output."),
    ({"type": "approval", "with": {"message": "m", "fields": {"n": {"type": "number"}}}}, "`n`"),
    ({"type": "loop", "with": {"times": 2, "body": BODY}}, "`<read>` is the output."),
    ({"type": "parallel", "with": {"branches": 2, "body": BODY}}, "`<read>` is the output."),
])
def test_output_is_not_a_field_of_what_it_names(read: dict[str, Any], told: str) -> None:
    (finding,) = checked(read, "Got <read.output.x> at <run.started_at>")
    assert (finding.severity, finding.path, finding.node) == (Severity.WARNING, "nodes.reader.with.value", "reader")
    assert told in finding.mend
    assert (finding.fix.former, finding.fix.value) == ("<read.output", "<read")


@pytest.mark.parametrize(("read", "text"), [
    (HTTP, "<read.body.output>"),
    ({**HTTP, "enabled": False}, "<read.output>"),
    ({"type": "transform", "with": {"value": {"output": 1}}}, "<read.output>"),
    ({"type": "transform", "with": {"value": "<start>"}}, "<read.output.x>"),
    ({"type": "function", "with": {"call": "shop.charge"}}, "<read.output.x>"),
])
def test_output_may_be_a_field(read: dict[str, Any], text: str) -> None:
    assert checked(read, text) == []


def test_the_fields_of_a_request_are_those_of_its_output() -> None:
    named = KINDS["http"].output_fields({})
    assert named is not None
    assert set(output_of(HttpAnswer(200, {}, b"\xff\xfe"))) == set(named)
