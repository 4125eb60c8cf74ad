"""Declares the bodies of responses about callers, as typed dictionaries from which /openapi.json is generated."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from stepless.api.responses.general import DamageOut


class CallerOut(TypedDict):
    """`caller` is the name in the audit log and in drafts. `ends_at`: when the token or session ends."""

    caller: str
    roles: list[Literal["read", "run", "send", "edit", "approve", "admin"]]
    ends_at: str | None


class AuditOut(TypedDict):
    """`verb` is the name of the operation in /openapi.json. `refused` is the code of the error, null if the request was not
    refused. `details` has its query, and facts of its body. With `damage`, the entry is damaged in the store, and only its id and
    time are known."""

    id: str
    at: str
    who: str
    verb: str
    target: str
    source: str
    refused: str | None
    details: dict[str, Any]
    damage: NotRequired[DamageOut]


class AuditPageOut(TypedDict):
    entries: list[AuditOut]
    cursor: str | None


class EraseOut(TypedDict):
    """`children` and `reruns` are runs that the erased run has started. They stay. `more` says that there may be others."""

    run_id: str
    erased: bool
    children: list[str]
    reruns: list[str]
    more: bool


class HealthOut(TypedDict):
    status: str
