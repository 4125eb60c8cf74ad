"""Parses a document from YAML 1.2 or strict JSON, within limits. Every refusal names the place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

from stepless.compile.canonical import json_findings
from stepless.compile.reading.read_json import read_json
from stepless.compile.reading.syntax import SyntaxFault
from stepless.errors import DocumentRefused
from stepless.limits import MAX_DOCUMENT_BYTES
from stepless.model.findings import Finding
from stepless.model.json import JSON

Syntax = Literal["yaml", "json"]

_JSON_OPENING: Final = re.compile(r'\s*\{\s*["}]')


def parse(text: str | bytes, *, syntax: Syntax | None = None) -> Mapping[str, JSON]:
    """Returns the document as JSON values. Without `syntax`, text that starts with `{"` is read as JSON, any other text as YAML.

    Raises `DocumentRefused` with a finding `document_syntax` (its path is line and column), or with those of `json_findings`.
    """
    try:
        document = _read(_decoded(text), syntax)
        if not isinstance(document, dict):
            raise SyntaxFault("a document is a mapping with `id` and `nodes`", 1, 1, "Start with `id: name`, then `nodes:`.")
    except SyntaxFault as fault:
        place = f"line {fault.line}, column {fault.column}" if fault.line else ""
        raise DocumentRefused([Finding("document_syntax", place, fault.message, fault.mend)]) from None
    if findings := tuple(json_findings(document)):
        raise DocumentRefused(findings)
    return document


def _decoded(text: str | bytes) -> str:
    size = len(text.encode(errors="surrogatepass")) if isinstance(text, str) else len(text)
    if size > MAX_DOCUMENT_BYTES:
        raise SyntaxFault(f"the document has {size} bytes, at most {MAX_DOCUMENT_BYTES} are allowed", mend="Split the workflow.")
    try:
        return (text if isinstance(text, str) else text.decode()).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise SyntaxFault(f"byte {error.start + 1} is not UTF-8", mend="Save the document as UTF-8.") from None


def _read(text: str, syntax: Syntax | None) -> JSON:
    if syntax == "json" or (syntax is None and _JSON_OPENING.match(text)):
        return read_json(text)
    return _read_yaml(text)


def _read_yaml(text: str) -> JSON:
    from stepless.compile.reading.read_yaml import read_yaml  # imported late: a process that only runs workflows never loads YAML

    return read_yaml(text)
