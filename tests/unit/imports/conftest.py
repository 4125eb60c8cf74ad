"""Small exports with only the fields that a test needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from stepless.compile import compile_document
from stepless.imports.sim import Imported, convert
from stepless.nodes import KINDS

START = {"s": ("start_trigger", "Start", {})}
CONTAINER_OF = {"loop": "loops", "parallel": "parallels"}


class Try:
    """A converted export, with methods that read it."""

    def __init__(self, imported: Imported) -> None:
        self.imported = imported
        self.document = imported.document
        self.codes = [finding.code for finding in imported.findings]
        compile_document(self.document, KINDS)

    def node(self, name: str) -> dict[str, Any]:
        bodies = [self.document["nodes"]]
        for body in bodies:
            if name in body:
                return dict(body[name])
            bodies += [node["with"]["body"]["nodes"] for node in body.values() if node["type"] in CONTAINER_OF]
        raise AssertionError(f"{name} is not one of {[list(body) for body in bodies]}")

    def params(self, name: str) -> dict[str, Any]:
        return dict(self.node(name).get("with", {}))

    def messages(self, code: str) -> str:
        return "\n".join(f"{finding} {finding.mend}" for finding in self.imported.findings if finding.code == code)


def export(
    blocks: Mapping[str, Any],
    edges: Sequence[tuple[str, ...]] = (),
    *,
    inside: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
    variables: Any = None,
    more: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """`blocks` are key → (type, name, fields); `edges` (source, target, handle); `inside` key → container; `settings` key →
    what the executor's map says of it; `more` key → further entries of the block."""
    state: dict[str, Any] = {"blocks": {}, "edges": [], "loops": {}, "parallels": {}, "variables": variables or {}}
    for key, (sort, name, fields) in blocks.items():
        sub_blocks = {field: {"id": field, "type": "short-input", "value": value} for field, value in fields.items()}
        data = {"parentId": (inside or {})[key]} if key in (inside or {}) else {}
        state["blocks"][key] = {
            "id": key,
            "type": sort,
            "name": name,
            "enabled": True,
            "position": {"x": 1, "y": 2},
            "data": data,
            "subBlocks": sub_blocks,
            **(more or {}).get(key, {}),
        }
        if sort in CONTAINER_OF:
            nodes = [inner for inner, owner in (inside or {}).items() if owner == key]
            state[CONTAINER_OF[sort]][key] = {"id": key, "nodes": nodes, **(settings or {}).get(key, {})}
    for number, edge in enumerate(edges):
        handle = {"sourceHandle": edge[2]} if len(edge) > 2 else {}
        state["edges"].append({"id": f"e{number}", "source": edge[0], "target": edge[1], **handle})
    state["metadata"] = {"name": "Try me"}
    return {"version": "1.0", "exportedAt": "2026-01-01T00:00:00Z", "state": state}


@pytest.fixture
def tried() -> Any:
    """Converts a small export, which has to compile."""
    return lambda *args, **more: Try(convert(export(*args, **more)))


@pytest.fixture
def after_start(tried: Any) -> Any:
    """One block behind a start: its type, its fields."""

    def make(sort: str, name: str = "It", /, **fields: Any) -> Try:
        made: Try = tried({**START, "b": (sort, name, fields)}, [("s", "b", "source")])
        return made

    return make
