"""Reads JSON from requests and other sources: UTF-8 without a byte order mark, no duplicate keys, no NaN, no lone surrogates,
limited depth."""

from __future__ import annotations

from stepless.compile.canonical import json_findings
from stepless.compile.reading.read_json import read_json
from stepless.compile.reading.syntax import SyntaxFault
from stepless.errors import InvalidRequest
from stepless.model.json import JSON

_FIX = "send valid JSON in UTF-8"


def strict_json(
    data: bytes | str, what: str = "the body", *, place: str = "", mend: str = _FIX, unreadable: int = 400
) -> JSON:
    """Returns the parsed value. `what` names the source in messages. Raises `InvalidRequest` (400 invalid_json) with `place`, or
    with the place of the first fault. `unreadable` is the status for text in the syntax of JSON with a value that cannot be
    stored, such as half of a surrogate pair."""
    try:
        value = read_json(data if isinstance(data, str) else data.decode())
    except UnicodeDecodeError as error:
        message = f"byte {error.start + 1} of {what} is not UTF-8"
        raise InvalidRequest(message, code="invalid_json", place=place, mend=mend) from error
    except SyntaxFault as fault:
        found = f"line {fault.line}, column {fault.column}" if fault.line else ""
        message = f"{what} is not JSON: {fault.message}"
        raise InvalidRequest(message, code="invalid_json", place=place or found, mend=mend) from fault
    for finding in json_findings(value):
        message = f"{what} is not JSON: {finding.message}"
        raise InvalidRequest(message, code="invalid_json", status=unreadable, place=place or finding.path, mend=mend)
    return value
