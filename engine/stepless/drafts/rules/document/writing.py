"""Writes the entities of a draft as a document: the other half of `reading`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stepless.drafts.rules.document.reading import BLOCK_FIELDS, BODY_FIELDS, DOC_FIELDS, EDGE_FIELDS, SUBFLOW_FIELDS
from stepless.drafts.rules.document.values import decoded, ordered, unescaped
from stepless.drafts.rules.state import State, prefix_of, tail_of
from stepless.drafts.rules.values import Object
from stepless.model.json import JSON

_ENTITY_ONLY: Final = frozenset({"id", "parent", "order", "rest"})


def to_document(state: State) -> Object:
    """Returns the document of a state. Blocks, edges and list items stand by their order, then by their key."""
    return _Writer(state).document()


def entry_of(edge: Object, ids: Mapping[str, str]) -> JSON:
    """Returns the entry of the document for an edge, in `after` or in `edges`. `ids` are the names of the blocks at its
    ends."""
    return _listed(edge, ids) if edge.get("home") == "edges" else _incoming(edge, ids)


class _Writer:
    def __init__(self, state: State) -> None:
        self._state = state
        self._ids: dict[str, str] = {}
        self._children: dict[str | None, list[tuple[str, str]]] = {}
        self._after: dict[str, list[tuple[str, str, JSON]]] = {}
        self._edges: dict[str | None, list[tuple[str, str, JSON]]] = {}
        blocks: dict[str, Object] = {}
        edges: list[tuple[str, Object]] = []
        for key in state:
            entity = state.get(key) or {}
            if prefix_of(key) == "block":
                blocks[tail_of(key)] = entity
            elif prefix_of(key) == "edge":
                edges.append((key, entity))
        for tail, block in blocks.items():
            self._ids[tail] = str(block.get("id"))
            self._children.setdefault(block.get("parent"), []).append((str(block.get("order", "")), tail))
        for key, edge in edges:
            placed = (str(edge.get("order", "")), tail_of(key))
            if edge.get("home") == "edges":
                parent = blocks.get(str(edge.get("target")), {}).get("parent")
                self._edges.setdefault(parent, []).append((*placed, _listed(edge, self._ids)))
            else:
                self._after.setdefault(str(edge.get("target")), []).append((*placed, _incoming(edge, self._ids)))

    def document(self) -> Object:
        doc = self._state.get("doc") or {}
        return self._body(doc, None, doc.get("rest"), DOC_FIELDS)

    def _body(self, fields: Object, parent: str | None, rest: JSON, reserved: frozenset[str]) -> Object:
        nodes = {self._ids[tail]: self._node(tail) for _, tail in sorted(self._children.get(parent, ()))}
        edges = _placed(self._edges.get(parent, []), rest, "edges")
        made: Object = {}
        for field, value in fields.items():
            if field == "nodes":
                made["nodes"] = nodes
            elif field == "edges":
                made["edges"] = edges
            elif field != "rest" or "rest" not in reserved:
                made[unescaped(field, reserved)] = decoded(value)
        if nodes and "nodes" not in fields:
            made["nodes"] = nodes
        if edges and "edges" not in fields:
            made["edges"] = edges
        return made

    def _node(self, tail: str) -> JSON:
        block = self._state.get(f"block/{tail}") or {}
        subflow = self._state.get(f"subflow/{tail}")
        rest = block.get("rest")
        after = _placed(self._after.get(tail, []), rest, "after")
        is_bare = subflow is None and tail not in self._children and not after and set(block) <= _ENTITY_ONLY
        if is_bare and isinstance(rest, dict) and "node" in rest:
            return decoded(rest["node"])
        made: Object = {}
        for field, value in block.items():
            if field == "after":
                if after or value == "list":
                    made["after"] = after[0] if value == "one" and len(after) == 1 else after
            elif field == "with" and (subflow is not None or tail in self._children):
                made["with"] = self._with(tail, value, subflow)
            elif field not in _ENTITY_ONLY:
                made[unescaped(field, BLOCK_FIELDS)] = decoded(value)
        if after and "after" not in block:
            made["after"] = after[0] if len(after) == 1 else after
        if "with" not in block and (subflow is not None or tail in self._children):
            made["with"] = self._with(tail, {}, subflow)
        return made

    def _with(self, tail: str, own: JSON, subflow: Object | None) -> Object:
        made: Object = dict(decoded(own)) if isinstance(own, dict) else {}
        rest = (subflow or {}).get("rest")
        for field, value in (subflow or {}).items():
            if field == "body":
                made["body"] = self._body(value if isinstance(value, dict) else {}, tail, rest, BODY_FIELDS)
            elif field != "rest":
                made[unescaped(field, SUBFLOW_FIELDS)] = decoded(value)
        if "body" not in (subflow or {}):
            made["body"] = self._body({}, tail, rest, BODY_FIELDS)
        return made


def _incoming(edge: Object, ids: Mapping[str, str]) -> JSON:
    source = ids.get(str(edge.get("source")), "")
    written = f"{source}.{edge['handle']}" if "handle" in edge else source
    fields = _fields(edge, {"source": ("from", written)})
    return written if edge.get("form") == "text" and fields.keys() == {"from"} else fields


def _listed(edge: Object, ids: Mapping[str, str]) -> JSON:
    ends: dict[str, tuple[str, JSON]] = {end: (end, ids.get(str(edge.get(end)), "")) for end in ("source", "target")}
    return _fields(edge, ends | ({"handle": ("handle", edge["handle"])} if "handle" in edge else {}))


def _fields(edge: Object, own: dict[str, tuple[str, JSON]]) -> Object:
    made: Object = {}
    for field, value in edge.items():
        if field in own:
            name, written = own[field]
            made[name] = written
        elif field not in EDGE_FIELDS:
            made[unescaped(field, EDGE_FIELDS)] = decoded(value)
    return made


def _placed(edges: list[tuple[str, str, JSON]], rest: JSON, home: str) -> list[JSON]:
    """The entries of a list of edges in their order, those that no edge stands for among them."""
    kept = rest.get(home) if isinstance(rest, dict) else None
    items = ordered(kept) if isinstance(kept, dict) else []
    others = [(str(item.get("order", "")), key, decoded(item.get("is"))) for key, item in items]
    return [entry for _, _, entry in sorted([*edges, *others], key=lambda one: one[:2])]
