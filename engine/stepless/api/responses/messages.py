"""Defines the shapes of responses about messages and keys."""

from __future__ import annotations

from typing_extensions import TypedDict

from stepless.api.responses.links import RunLinks


class UnreadOut(TypedDict):
    """A message that no node of the run has taken, without its data."""

    id: str
    name: str
    key: str | None
    by: str | None
    at: str


class DeliveredOut(TypedDict):
    """`delivered` are the runs that have the message: in their log, or among their unread messages if they end first. `started`
    is the run that was started for it. `kept_until` says until when runs that begin to answer to the key receive it, too."""

    id: str
    delivered: list[str]
    kept_until: str | None
    started: str | None


class RunOfKeyOut(TypedDict):
    run_id: str
    status: str
    created_at: str
    links: RunLinks


class KeyRunsOut(TypedDict):
    """`live` is the run that has the key now, null if there is none. `runs` are the last ten runs of the key, newest first."""

    key: str
    live: str | None
    runs: list[RunOfKeyOut]
