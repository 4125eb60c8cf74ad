"""Defines the links of a run, which every response has that names one."""

from __future__ import annotations

from typing_extensions import TypedDict


class RunLinks(TypedDict):
    run: str
    nodes: str
    tags: str
    events: str
    cancel: str
    hold: str
    release: str
    pause: str
    unpause: str
    rerun: str
    view: str
