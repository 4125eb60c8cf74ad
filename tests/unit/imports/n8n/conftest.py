"""Small exports of n8n with only the fields that a test needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from stepless.compile import check_document
from stepless.imports.import_result import Imported
from stepless.imports.n8n import convert
from stepless.model.findings import Severity
from stepless.nodes import KINDS


class Try:
    """A converted export, with methods that read it."""

    def __init__(self, imported: Imported) -> None:
        self.document = imported.document
        self.findings = imported.findings
        self.codes = [finding.code for finding in imported.findings if finding.code != "n8n_items"]
        assert [one for one in check_document(self.document, KINDS) if one.severity is Severity.ERROR] == []

    def node(self, name: str) -> dict[str, Any]:
        bodies = [self.document["nodes"]]
        for body in bodies:
            if name in body:
                return dict(body[name])
            bodies += [node["with"]["body"]["nodes"] for node in body.values() if node["type"] == "loop"]
        raise AssertionError(f"{name} is not one of {[list(body) for body in bodies]}")

    def params(self, name: str) -> dict[str, Any]:
        return dict(self.node(name).get("with", {}))


Node = tuple[str, str, dict[str, Any]]


def export(nodes: Sequence[Node], edges: Sequence[tuple[Any, ...]] = (), **more: Any) -> dict[str, Any]:
    """`nodes` are (name, type with an optional `@version`, parameters and, under `also`, other keys); `edges` (source, target),
    then the numbers of the output and the input, then the sort. Types without a package are n8n's own."""
    made: dict[str, Any] = {"name": "Try", "nodes": [], "connections": {}, **more}
    for name, typed, given in nodes:
        sort, _, version = typed.partition("@")
        params = {key: value for key, value in given.items() if key != "also"}
        made["nodes"].append({
            "name": name, "type": sort if "." in sort else f"n8n-nodes-base.{sort}", "typeVersion": float(version or 1),
            "parameters": params, **given.get("also", {}),
        })  # fmt: skip
    for source, target, *rest in edges:
        filled: list[Any] = [*rest, *(0, 0, "main")[len(rest) :]]
        output, index, kind = filled
        outputs = made["connections"].setdefault(source, {}).setdefault(kind, [])
        outputs += [[] for _ in range(output + 1 - len(outputs))]
        outputs[output].append({"node": target, "type": kind, "index": index})
    return made


@pytest.fixture
def tried() -> Callable[..., Try]:
    return lambda *given, **more: Try(convert(export(*given, **more)))


@pytest.fixture
def single() -> Callable[..., Try]:
    """One node named X after a manual trigger named Start."""

    def made(sort: str, given: dict[str, Any], **more: Any) -> Try:
        return Try(convert(export([("Start", "manualTrigger", {}), ("X", sort, given)], [("Start", "X")], **more)))

    return made
