"""Checks that a document is JSON, and computes the content hash that identifies its version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from json import dumps
from math import isfinite
from typing import Final

from stepless.limits import MAX_DOCUMENT_BYTES, MAX_DOCUMENT_DEPTH, MAX_INTEGER_BITS
from stepless.model.findings import Finding
from stepless.model.json import JSON, encodable

_CONTAINERS: Final = ("loop", "parallel", "distributed")  # whose `with.body` is a graph


def content_hash(document: Mapping[str, JSON]) -> str:
    """Returns the SHA-256, in hexadecimal, of the document's JSON without spaces.

    Layout, comments and the language (YAML or JSON) do not affect it. The order of keys does, because it is significant: for
    nodes and edges (docs/understand/semantics.md#edge-order), for cases, and for an object that a loop iterates over. Where the
    document was compiled from (`made_by`, and `at` of nodes) does not affect it. `json_findings` must be empty.
    """
    own = _without_origin(document)
    return sha256(dumps(own, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()).hexdigest()


def _without_origin(body: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """A document or body without `made_by` and the `at` of its nodes, also those inside loops and parallels."""
    given: Mapping[str, JSON] = body["nodes"] if isinstance(body.get("nodes"), dict) else {}
    nodes = {name: _unplaced(node) for name, node in given.items()}
    if "made_by" not in body and all(node is given[name] for name, node in nodes.items()):
        return body
    return {name: nodes if name == "nodes" and nodes else value for name, value in body.items() if name != "made_by"}


def _unplaced(node: JSON) -> JSON:
    if not isinstance(node, dict):
        return node
    with_ = node.get("with") if node.get("type") in _CONTAINERS else None
    body = with_.get("body") if isinstance(with_, dict) else None
    own = _without_origin(body) if isinstance(body, dict) else body
    if own is body and "at" not in node:
        return node
    kept = {name: value for name, value in node.items() if name != "at"}
    return kept if own is body or with_ is None else {**kept, "with": {**with_, "body": own}}


def json_findings(document: JSON) -> Iterator[Finding]:
    """Returns the reasons why a Python value is not a JSON document; stops at a value that is nested too deeply."""
    return iter(()) if _is_json(document) else _json_findings(document)


def _is_json(document: JSON) -> bool:
    """A fast check for the common case: level by level, without recording places."""
    level = [document]
    for _ in range(MAX_DOCUMENT_DEPTH + 1):
        inner: list[JSON] = []
        for value in level:
            if isinstance(value, Mapping):
                if not all(isinstance(key, str) and (key.isascii() or encodable(key)) for key in value):
                    return False
                inner.extend(value.values())
            elif isinstance(value, list):
                inner.extend(value)
            elif _scalar_fault(value):
                return False
        if not inner:
            return True
        if len(inner) > MAX_DOCUMENT_BYTES:  # probably a value that contains itself
            return False
        level = inner
    return False


def _json_findings(document: JSON) -> Iterator[Finding]:
    stack: list[tuple[JSON, str, int]] = [(document, "", 0)]
    while stack:
        value, path, depth = stack.pop()
        if depth > MAX_DOCUMENT_DEPTH:
            message = f"values are nested deeper than {MAX_DOCUMENT_DEPTH} levels"
            yield Finding("nested_too_deep", path, message, "Reduce the nesting.")
            return
        if isinstance(value, Mapping):
            for key, inner in value.items():
                where = f"{path}.{key}" if path else str(key)
                if isinstance(key, str) and encodable(key):
                    stack.append((inner, where, depth + 1))
                else:
                    yield Finding("not_json", where, f"the key {key!a} is not text", "Quote it.")
        elif isinstance(value, list):
            stack.extend((inner, f"{path}.{place}", depth + 1) for place, inner in enumerate(value))
        elif fault := _scalar_fault(value):
            yield Finding("not_json", path, fault, "Write text, a number, true, false, null, a list or an object.")


def _scalar_fault(value: JSON) -> str | None:
    if isinstance(value, str):
        return None if value.isascii() or encodable(value) else "half of a surrogate pair is not a character"
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int):
        return None if value.bit_length() <= MAX_INTEGER_BITS else f"a number of more than {MAX_INTEGER_BITS} bits"
    if isinstance(value, float):
        return None if isfinite(value) else f"{value} is not a number in JSON"
    return f"a {type(value).__name__} is not JSON"
