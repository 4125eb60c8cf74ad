"""Reads a document into entities.

    doc            the top level; `nodes` and `edges` are null where the blocks and edges stand
    block/b        a node, in the order of its keys: `after` is `one` or `list` where the incoming edges stand, `with` is empty
                   where a container's parameters are its subflow's
    subflow/b      a container's parameters; `body` is null in `nodes` and `edges` as `doc` is
    edge/e         an entry of `after` or of `edges`, in the order of its keys; `form` is `text` for `node.exit` as a text

An entry that names no node of its body stays in `rest` of the block or body, with its order: an edge is never without its block.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from stepless.drafts.rules.document.keys import derived_key
from stepless.drafts.rules.document.values import Encoder, escaped
from stepless.drafts.rules.fractional_index import spread
from stepless.drafts.rules.values import Object
from stepless.model.json import JSON

BODY_FIELDS: Final = frozenset({"nodes", "edges"})
DOC_FIELDS: Final = frozenset({*BODY_FIELDS, "rest"})
BLOCK_FIELDS: Final = frozenset({"id", "type", "parent", "order", "after", "rest"})
SUBFLOW_FIELDS: Final = frozenset({"rest"})
EDGE_FIELDS: Final = frozenset({"source", "handle", "target", "order", "home", "form"})

IsContainer = Callable[[str], bool | None]
"""Whether nodes of a type are containers; None where the type is not known."""


def from_document(document: Mapping[str, JSON], epoch: str, is_container: IsContainer = lambda type_: None) -> dict[str, Object]:
    """Returns the entities of a document by key. A node of an unknown type is a container if `with.body` has nodes."""
    return _Reader(epoch, is_container).read(dict(document))


class _Reader:
    def __init__(self, epoch: str, is_container: IsContainer) -> None:
        self._epoch = epoch
        self._is_container = is_container
        self._made: dict[str, Object] = {}

    def read(self, document: Object) -> dict[str, Object]:
        encoder = Encoder(self._epoch, "doc")
        self._made["doc"] = {}
        fields, rest = self._body(document, encoder, ())
        for key, value in document.items():
            if key not in fields:
                fields[escaped(key, DOC_FIELDS)] = encoder.value(value, (key,))
        self._made["doc"] = _in_order(document, fields, DOC_FIELDS) | ({"rest": rest} if rest else {})
        return self._made

    def _body(self, body: Object, encoder: Encoder, bodies: tuple[str, ...]) -> tuple[Object, Object]:
        """Reads nodes and edges; the fields that mark where they stand, and what has no place elsewhere."""
        fields: Object = {}
        rest: Object = {}
        nodes = body.get("nodes")
        named: dict[str, str] = {}
        if isinstance(nodes, dict):
            fields["nodes"] = None
            named = {id_: derived_key(self._epoch, "block", bodies, id_) for id_ in nodes}
            for order, (id_, node) in zip(spread(len(nodes)), nodes.items(), strict=True):
                self._block(named, id_, node, order, bodies)
        edges = body.get("edges")
        if isinstance(edges, list):
            fields["edges"] = None
            kept: Object = {}
            for key, order, entry in encoder.placed(edges, ("edges",)):
                edge = edge_entry(entry, named)
                if edge is None:
                    kept[key] = {"order": order, "is": encoder.value(entry, ("rest", "edges", key))}
                else:
                    self._edge(key, edge, order, "edges")
            if kept:
                rest["edges"] = kept
        return fields, rest

    def _block(self, named: Mapping[str, str], id_: str, node: JSON, order: str, bodies: tuple[str, ...]) -> None:
        tail = named[id_]
        key = f"block/{tail}"
        encoder = Encoder(self._epoch, key)
        block: Object = {"id": id_, "parent": bodies[-1] if bodies else None, "order": order}
        self._made[key] = block
        if not isinstance(node, dict):
            block["rest"] = {"node": encoder.value(node)}
            return
        rest: Object = {}
        for field, value in node.items():
            if field == "after" and isinstance(value, str | list | dict):
                block["after"] = "list" if isinstance(value, list) else "one"
                kept = self._after(value, named, tail, encoder)
                if kept:
                    rest["after"] = kept
            elif field == "with" and self._has_body(node):
                block["with"] = {}
                self._subflow(tail, value, (*bodies, tail))
            elif field == "type" and isinstance(value, str):
                block["type"] = value
            else:
                block[escaped(field, BLOCK_FIELDS)] = encoder.value(value, (field,))
        if rest:
            block["rest"] = rest

    def _has_body(self, node: Object) -> bool:
        type_, given = node.get("type"), node.get("with")
        body = given.get("body") if isinstance(given, dict) else None
        if not isinstance(body, dict) or not isinstance(body.get("nodes"), dict):
            return False
        known = self._is_container(type_) if isinstance(type_, str) else None
        if known is not None:
            return known
        return all(isinstance(inner, dict) and "type" in inner for inner in body["nodes"].values())

    def _subflow(self, tail: str, given: Object, bodies: tuple[str, ...]) -> None:
        key = f"subflow/{tail}"
        encoder = Encoder(self._epoch, key)
        subflow: Object = {}
        self._made[key] = subflow
        for field, value in given.items():
            if field != "body":
                subflow[escaped(field, SUBFLOW_FIELDS)] = encoder.value(value, (field,))
                continue
            fields, rest = self._body(value, encoder, bodies)
            for inner, held in value.items():
                if inner not in fields:
                    fields[escaped(inner, BODY_FIELDS)] = encoder.value(held, ("body", inner))
            subflow["body"] = _in_order(value, fields, BODY_FIELDS)
            if rest:
                subflow["rest"] = rest

    def _after(self, value: JSON, named: Mapping[str, str], target: str, encoder: Encoder) -> Object:
        kept: Object = {}
        for key, order, entry in encoder.placed(value if isinstance(value, list) else [value], ("after",)):
            edge = after_entry(entry, named, target)
            if edge is None:
                kept[key] = {"order": order, "is": encoder.value(entry, ("rest", "after", key))}
            else:
                self._edge(key, edge, order, "after")
        return kept

    def _edge(self, tail: str, edge: Object, order: str, home: str) -> None:
        key = f"edge/{tail}"
        encoder = Encoder(self._epoch, key)
        fields = {field: value if field in EDGE_FIELDS else encoder.value(value, (field,)) for field, value in edge.items()}
        self._made[key] = {**fields, "order": order, "home": home}


def _in_order(written: Object, fields: Object, reserved: frozenset[str]) -> Object:
    """The fields in the order in which the document has them."""
    names = (key if key in reserved and key in fields else escaped(key, reserved) for key in written)
    return {name: fields[name] for name in names}


def after_entry(entry: JSON, named: Mapping[str, str], target: str) -> Object | None:
    """Returns the fields of an edge from an entry of `after`; None where it is not one of a node in this body."""
    if isinstance(entry, str):
        source = _source(entry, named)
        return {**source, "target": target, "form": "text"} if source else None
    if not isinstance(entry, dict) or not isinstance(entry.get("from"), str) or not _readable(entry):
        return None
    source = _source(entry["from"], named)
    if not source:
        return None
    made: Object = {}
    for key, value in entry.items():
        if key == "from":
            made |= source
        else:
            made[escaped(key, EDGE_FIELDS)] = value
    return {**made, "target": target}


def edge_entry(entry: JSON, named: Mapping[str, str]) -> Object | None:
    """Returns the fields of an edge from an entry of `edges`; None where it does not join two nodes of this body."""
    if not isinstance(entry, dict) or not _readable(entry) or not isinstance(entry.get("handle", ""), str):
        return None
    source, target = entry.get("source"), entry.get("target")
    if not isinstance(source, str) or not isinstance(target, str) or source not in named or target not in named:
        return None
    ends = {"source": named[source], "target": named[target]}
    return {
        key if key in ("source", "handle", "target") else escaped(key, EDGE_FIELDS): ends.get(key, value)
        for key, value in entry.items()
    }


def _readable(entry: Object) -> bool:
    """Whether the fields by which edges are compared are texts."""
    return all(isinstance(entry.get(field, ""), str) for field in ("param", "key"))


def _source(text: str, named: Mapping[str, str]) -> Object | None:
    """The end of an edge written as `node` or `node.exit`."""
    node, dot, handle = text.partition(".")
    if node not in named:
        return None
    return {"source": named[node], "handle": handle} if dot else {"source": named[node]}
