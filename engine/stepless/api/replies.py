"""JSON answers. Encoded here and not by the framework: one walk over the value, and no text of a run can make it fail."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from starlette.responses import Response

from stepless.api.models import DecisionOut, FindingOut
from stepless.core.decision import iso
from stepless.limits import MAX_PAGE_BYTES
from stepless.model.findings import Finding
from stepless.model.json import JSON

T = TypeVar("T")

_HEADERS: Final = {"cache-control": "no-store", "x-content-type-options": "nosniff"}  # answers may hold signed links


def encode(value: Any) -> bytes:
    """Compact UTF-8. Half of a surrogate pair, which a run's values may hold, goes out as its escape."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "backslashreplace")


def reply(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(encode(value), status, {**_HEADERS, **(headers or {})}, "application/json")


def fitting(items: Iterable[T], render: Callable[[T], Any]) -> Sequence[bytes]:
    """The items from the first on that fit into one page, encoded; at least one if there are any."""
    encoded: list[bytes] = []
    size = 0
    for item in items:
        data = encode(render(item))
        size += len(data)
        if encoded and size > MAX_PAGE_BYTES:
            break
        encoded.append(data)
    return encoded


def page(name: str, encoded: Sequence[bytes], **rest: Any) -> Response:
    """A page of items that are encoded already: `{name: […], …rest}`."""
    data = b'{"%s":[%s],%s' % (name.encode(), b",".join(encoded), encode(rest)[1:])
    return Response(data, 200, _HEADERS, "application/json")


def instant(at_ms: int | None) -> str | None:
    return None if at_ms is None else iso(at_ms)


def decision_out(given: Mapping[str, JSON]) -> DecisionOut:
    """A decision as the service tells it, whose instant is a number."""
    at = iso(given["at"])
    return {"decision": given["decision"], "by": given.get("by"), "at": at, "answer": given.get("answer")}


def finding_out(finding: Finding) -> FindingOut:
    return {
        "code": finding.code,
        "path": finding.path,
        "message": finding.message,
        "mend": finding.mend,
        "node": finding.node,
        "edge": finding.edge,
        "severity": finding.severity.value,
    }
