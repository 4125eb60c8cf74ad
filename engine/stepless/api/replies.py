"""Encodes JSON responses instead of the framework: in one pass over the value, and without failing on any text of a run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from starlette.responses import Response
from typing_extensions import TypedDict

from stepless.api.links import Links
from stepless.api.responses.general import DamageOut, DecisionOut, DraftOfRunOut, FindingOut, ParentOut, RerunOut, RunFacts
from stepless.core.decision import iso
from stepless.errors import InvalidRequest
from stepless.limits import MAX_PAGE_BYTES
from stepless.model.findings import Finding
from stepless.model.json import JSON
from stepless.model.stored.damage import Damage
from stepless.model.stored.encoding import encode
from stepless.ports import RunHead
from stepless.runtime.headers import draft_of, number_of
from stepless.runtime.messages.keys import key_in
from stepless.runtime.verbs.reads.searching import duration_of, keywords_of

T = TypeVar("T")

_AROUND_BYTES: Final = 4_096  # of a page, around its items: the name, the cursor, the brackets
_RANGE: Final = re.compile(r"bytes=([0-9]{1,15})-([0-9]{0,15})")  # one range; any other header is ignored, as HTTP requires
_HEADERS: Final = {"cache-control": "no-store", "x-content-type-options": "nosniff"}  # responses may contain signed links


def reply(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(encode(value), status, {**_HEADERS, **(headers or {})}, "application/json")


def encoded_reply(data: bytes) -> Response:
    """Returns a response of JSON that is encoded already."""
    return Response(data, 200, _HEADERS, "application/json")


def fitting(items: Iterable[T], render: Callable[[T], Any], *, within: int = MAX_PAGE_BYTES) -> Sequence[bytes]:
    """Returns the first items that fit into one page, encoded; at least one if there are any."""
    encoded: list[bytes] = []
    size = _AROUND_BYTES
    for item in items:
        data = encode(render(item))
        size += len(data) + 1
        if encoded and size > within:
            break
        encoded.append(data)
    return encoded


def value_reply(data: bytes, range_header: str | None) -> Response:
    """Returns the JSON of a value: whole, or the part in a `Range` of bytes. Raises `InvalidRequest` for a value that is too
    large for one response, and for a range outside the value."""
    data = data.decode("utf-8", "surrogatepass").encode("utf-8", "backslashreplace")
    size, asked = len(data), _RANGE.fullmatch(range_header) if range_header is not None else None
    headers = {**_HEADERS, "accept-ranges": "bytes"}
    if asked is None:
        if size > MAX_PAGE_BYTES:
            message, mend = f"the value has {size:,} bytes", f"request it in parts: Range: bytes=0-{MAX_PAGE_BYTES - 1}"
            raise InvalidRequest(message, code="value_too_large", status=413, mend=mend)
        return Response(data, 200, headers, "application/json")
    first = int(asked[1])
    last = min(int(asked[2] or size), size - 1, first + MAX_PAGE_BYTES - 1)
    if first > last:
        message, mend = f"the value has {size:,} bytes", "request bytes inside the value"
        raise InvalidRequest(message, code="invalid_range", status=416, mend=mend)
    headers["content-range"] = f"bytes {first}-{last}/{size}"
    return Response(data[first : last + 1], 206, headers, "application/json")


def page(name: str, encoded: Sequence[bytes], **rest: Any) -> Response:
    """Returns a page of encoded items: `{name: […], …rest}`."""
    data = b'{"%s":[%s],%s' % (name.encode(), b",".join(encoded), encode(rest)[1:])
    return Response(data, 200, _HEADERS, "application/json")


def instant(at_ms: int | None) -> str | None:
    return None if at_ms is None else iso(at_ms)


class _Damaged(TypedDict, total=False):
    damage: DamageOut


def damaged(damage: Damage | None) -> _Damaged:
    """Returns the field `damage` of something in a list; no field without damage."""
    return {} if damage is None else {"damage": {"place": damage.place, "why": damage.why, "mend": damage.mend}}


def decision_out(given: Mapping[str, JSON]) -> DecisionOut:
    """Returns a decision for a response. The service's decision has its instant as a number."""
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


def run_facts(
    head: RunHead, now_ms: int, links: Links, *, version: int | None, status: str, waits: Iterable[str], summary: str,
    tags: Iterable[str] = (),
) -> RunFacts:
    """Returns the facts in the header of a run, with what a list and a single run learn from different sources."""
    keywords = list(keywords_of(head))
    return {
        "id": head.run_id, "workflow": head.workflow_id, "version": version, "number": number_of(head), "key": key_in(head),
        "hash": head.version, "status": status, "waiting": list(waits), "summary": summary, "keywords": keywords,
        "tags": [*keywords, *tags], "draft": draft_out(draft_of(head)), "created_at": str(instant(head.created_ms)),
        "duration_ms": duration_of(head, now_ms), "links": links.run(head.run_id),
    }  # fmt: skip


def draft_out(kept: Mapping[str, Any] | None) -> DraftOfRunOut | None:
    """Returns the facts about its draft in the header of a test run."""
    if kept is None:
        return None
    return {
        "epoch": kept["epoch"], "seq": kept["seq"], "by": kept["by"], "pins": list(kept["pins"]),
        "stop_after": kept.get("stop_after"), "of": kept.get("of"), "from": kept.get("from"),
    }  # fmt: skip


def parent_out(kept: Any) -> ParentOut | None:
    """Returns the facts about its parent in the header of a child run."""
    return {"run": kept["run"], "instance": kept["instance"]} if isinstance(kept, dict) else None


def rerun_out(kept: Any) -> RerunOut | None:
    """Returns the facts about the repeated run in the header of a rerun."""
    if not isinstance(kept, dict):
        return None
    return {"of": kept["of"], "from": kept.get("from"), "by": kept.get("by"), "reason": kept.get("reason"),
            "items": kept.get("items")}  # fmt: skip
