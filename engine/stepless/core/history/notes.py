"""Derives the notes that the header of a run keeps: lists show from them why runs failed and what they ask, without the logs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from stepless.core.history.waits import ANSWER, word_of
from stepless.core.mailbox import UNREAD
from stepless.core.state import RunStatus, State
from stepless.limits import MAX_NOTED_CHARACTERS, MAX_NOTED_PAUSES

ERROR: Final = "error"
PAUSES: Final = "pauses"
NOTES: Final = (ERROR, PAUSES, UNREAD)
"""The keys of `notes_of`."""


def notes_of(state: State) -> Mapping[str, Any]:
    """`error` of a failed run: {code, message, node?}. `unread`: how many messages no node has taken. `pauses` of a run that
    waits for answers: the first MAX_NOTED_PAUSES, each {pause, node, reason, message, since, deadline?}, with instants in
    milliseconds since 1970. A key that has nothing to say is absent; messages are cut at MAX_NOTED_CHARACTERS."""
    unread = {UNREAD: len(state.mailbox)} if state.mailbox.unread else {}
    if state.ended:
        error = state.ending_error or state.root.error
        return {**unread, **({ERROR: _error(error)} if state.status is RunStatus.FAILED and error else {})}
    found: list[Mapping[str, Any]] = []
    for pause, instance in state.waiting.items():
        wait = instance.wait
        if wait is None or word_of(wait.reason) != ANSWER:
            continue
        message = _text(wait.details.get("message"))
        noted: dict[str, Any] = {"pause": pause, "node": instance.node.id, "reason": wait.reason, "message": message}
        noted["since"] = wait.since_ms
        if wait.deadline_ms is not None:
            noted["deadline"] = wait.deadline_ms
        found.append(noted)
        if len(found) == MAX_NOTED_PAUSES:
            break
    return {**unread, PAUSES: found} if found else unread


def _error(error: Mapping[str, Any]) -> Mapping[str, Any]:
    noted = {"code": _text(error.get("code")), "message": _text(error.get("message"))}
    return {**noted, "node": _text(error["node"])} if error.get("node") else noted


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else ""
    return text if len(text) <= MAX_NOTED_CHARACTERS else text[: MAX_NOTED_CHARACTERS - 1] + "…"
