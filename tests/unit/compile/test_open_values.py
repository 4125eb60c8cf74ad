"""A reference leaves its own place unchecked, and no other: not in the same object, and not in one form of several."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Final

import pytest

from stepless.compile import check_document, json_schema
from stepless.expressions import compile_contract
from stepless.model.findings import Finding, Severity
from stepless.model.json import Path
from stepless.nodes import KINDS

REFERENCES: Final = ("<led.x>", "${S}", "{{ 1 + <led.n> }}")

# kind, parameters with faults, and the places of these
FAULTY: Final[list[tuple[str, dict[str, Any], set[str]]]] = [
    ("webhook", {"path": "/x", "auth": {"scheme": "slack-v9", "secret": "s"}}, {"auth.scheme"}),
    ("webhook", {"path": "/x", "auth": {"hmac": "s", "header": "X-A", "tolerance_s": "5m"}}, {"auth.tolerance_s"}),
    ("webhook", {"path": "/x", "auth": {"hmac": "s", "header": "X-A", "scheem": "github"}}, {"auth.scheem"}),
    ("webhook", {"path": "/x", "auth": {"bearer": "s", "header": "X-A"}}, {"auth.header"}),
    ("llm", {"messages": [{"role": "user", "content": "c"}, {"role": "robot", "content": "d"}]}, {"messages.1.role"}),
    ("llm", {"messages": [{"role": "user", "contents": "c"}, {"role": "user", "content": "d"}]},
     {"messages.0.contents", "messages.0.content"}),
    ("llm", {"prompt": "p", "tools": [{"call": "f.g", "args": {"a": 1}, "cal": "f.h"}]}, {"tools.0.cal"}),
    ("http", {"url": "https://a.example.com", "expect_status": [200, "2xy"], "method": "POST"}, {"expect_status.1"}),
    ("http", {"url": "https://a.example.com", "headers": {"a": "b", "c": [1]}, "query": {"q": "x"}}, {"headers.c"}),
    ("approval", {"message": "m", "approvers": ["ada", 5], "notify": "mailto:a@example.com"}, {"approvers.1"}),
    ("function", {"call": "f.g", "args": {"a": 1}, "agrs": {}}, {"agrs"}),
]  # fmt: skip


def faults(kind: str, with_: dict[str, Any]) -> set[str]:
    after = {} if KINDS[kind].nature.value == "entry" else {"after": "led"}
    nodes: dict[str, Any] = {"x": {"type": kind, **after, "with": with_}}
    if after:
        nodes = {"led": {"type": "manual"}, **nodes}
    found: tuple[Finding, ...] = check_document({"id": "d", "env": ["S"], "nodes": nodes}, KINDS)
    errors = [finding for finding in found if finding.severity is Severity.ERROR]
    return {one.path.removeprefix("nodes.x.with.") for one in errors if one.code not in ("unknown_node", "not_upstream")}


def texts(value: Any, place: Path = ()) -> Iterator[Path]:
    """The places of all scalars."""
    if isinstance(value, dict | list):
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from texts(inner, (*place, step))
    else:
        yield place


def replaced(value: Any, place: Path, by: str) -> Any:
    made = at = deepcopy(value)
    for step in place[:-1]:
        at = at[step]
    at[place[-1]] = by
    return made


@pytest.mark.parametrize(("kind", "with_", "places"), FAULTY)
def test_a_fault_is_found_whatever_else_is_a_reference(kind: str, with_: dict[str, Any], places: set[str]) -> None:
    assert faults(kind, with_) == places
    tried = 0
    for place in texts(with_):
        dotted = ".".join(map(str, place))
        if dotted in places or KINDS[kind].parts.get(str(place[0])) is not None:
            continue
        for reference in REFERENCES if kind != "webhook" else REFERENCES[1:2]:
            tried += 1
            assert faults(kind, replaced(with_, place, reference)) == places, f"{dotted} hides it as {reference}"
    assert tried


@pytest.mark.parametrize(("kind", "with_"), [
    ("webhook", {"path": "/x", "auth": {"hmac": "${S}", "tolerance_s": "${S}"}}),
    ("webhook", {"path": "/x", "auth": {"scheme": "${S}", "secret": "${S}"}}),
    ("webhook", {"path": "/x", "auth": "${S}"}),
    ("llm", {"messages": [{"role": "<led.role>", "content": "<led.x>"}, "<led.message>"]}),
    ("llm", {"messages": "<led.messages>"}),
    ("http", {"url": "<led.url>", "expect_status": ["<led.status>", "2xx"], "headers": {"a": "<led.a>"}}),
    ("approval", {"message": "m", "approvers": ["<led.who>", "ada"]}),
])  # fmt: skip
def test_what_may_fit_is_no_fault(kind: str, with_: dict[str, Any]) -> None:
    assert faults(kind, with_) == set()


@pytest.mark.parametrize(("kind", "with_", "places"), FAULTY)
def test_the_schema_for_editors_finds_the_same_documents(kind: str, with_: dict[str, Any], places: set[str]) -> None:
    schema = compile_contract(json_schema(KINDS))
    for place in texts(with_):
        made = replaced(with_, place, REFERENCES[1])
        fits = not schema.violations({"id": "d", "nodes": {"x": {"type": kind, "with": made}}})
        assert fits == (not faults(kind, made)), (place, made)
