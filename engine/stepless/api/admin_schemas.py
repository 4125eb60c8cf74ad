"""The bodies of responses to admins, as typed dictionaries from which /openapi.json is generated."""

from __future__ import annotations

from typing_extensions import TypedDict


class EraseOut(TypedDict):
    """`children` and `reruns` are runs that the erased run has started. They stay. `more` says that there may be others."""

    run_id: str
    erased: bool
    children: list[str]
    reruns: list[str]
    more: bool
