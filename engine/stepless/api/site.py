"""Says what the console needs to know of a deployment: whether it has drafts, where its sockets are, and how people sign in.
Nothing of it is secret."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from stepless.drafts.log.entries import LogEntry
from stepless.model.json import JSON
from stepless.ports import Draft
from stepless.runtime.access.login import Login
from stepless.runtime.draft_runs import StartedRun


@dataclass(frozen=True, slots=True)
class Site:
    """`drafts` says whether workflows can be edited here. `socket` is the address of the WebSocket API, empty where the server
    has the session of each draft itself. `beyond` passes items on to people whose sockets are there."""

    drafts: bool = True
    socket: str = ""
    beyond: Callable[[Draft, LogEntry | StartedRun | None], None] | None = None
    login: Login | None = None


LOCAL: Final = Site()


def connections(socket: str, login: Mapping[str, JSON] | None) -> str:
    """Returns the addresses that a page of the console may connect to, as its policy lists them."""
    sources = ["'self'"]
    if socket:
        parts = urlsplit(socket)
        sources.append(f"{parts.scheme}://{parts.netloc}")
    if login is not None:
        sources.append(str(login["token"]).partition("?")[0])
    return " ".join(sources)
