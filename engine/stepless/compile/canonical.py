"""Checks that a document is JSON, and computes the content hash that identifies its version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from json import dumps
from math import isfinite

from stepless.limits import MAX_DOCUMENT_BYTES, MAX_DOCUMENT_DEPTH, MAX_INTEGER_BITS
from stepless.model.findings import Finding
from stepless.model.json import JSON


def content_hash(document: Mapping[str, JSON]) -> str:
    """SHA-256, in hexadecimal, of the document's JSON without spaces.

    Layout, comments and the language (YAML or JSON) do not affect it. The order of keys does, because it is significant: for
    nodes and edges (docs/semantics.md#edge-order), for cases, and for an object that a loop iterates over. `json_findings` must
    be empty.
    """
    return sha256(dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()).hexdigest()


def json_findings(document: JSON) -> Iterator[Finding]:
    """The reasons why a Python value is not a JSON document; stops at a value that is nested too deeply."""
    return iter(()) if _is_json(document) else _json_findings(document)


def _is_json(document: JSON) -> bool:
    """A fast check for the common case: level by level, without recording places."""
    level = [document]
    for _ in range(MAX_DOCUMENT_DEPTH + 1):
        inner: list[JSON] = []
        for value in level:
            if isinstance(value, Mapping):
                if not all(isinstance(key, str) and _encodable(key) for key in value):
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
                if isinstance(key, str) and _encodable(key):
                    stack.append((inner, where, depth + 1))
                else:
                    yield Finding("not_json", where, f"the key {key!a} is not text", "Quote it.")
        elif isinstance(value, list):
            stack.extend((inner, f"{path}.{place}", depth + 1) for place, inner in enumerate(value))
        elif fault := _scalar_fault(value):
            yield Finding("not_json", path, fault, "Write text, a number, true, false, null, a list or an object.")


def _scalar_fault(value: JSON) -> str | None:
    if isinstance(value, str):
        return None if _encodable(value) else "half of a surrogate pair is not a character"
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int):
        return None if value.bit_length() <= MAX_INTEGER_BITS else f"a number of more than {MAX_INTEGER_BITS} bits"
    if isinstance(value, float):
        return None if isfinite(value) else f"{value} is not a number in JSON"
    return f"a {type(value).__name__} is not JSON"


def _encodable(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
