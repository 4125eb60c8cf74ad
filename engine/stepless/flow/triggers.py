"""Declares the triggers of a flow: `@workflow("refund", on=webhook("/refunds"))`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stepless.flow.compiler.entries import Trigger
from stepless.model.json import JSON


def _given(**params: JSON) -> dict[str, JSON]:
    return {name: value for name, value in params.items() if value is not None}


def webhook(
    path: str, *, method: str | Sequence[str] | None = None, auth: str | Mapping[str, JSON] | None = None,
    response: str | None = None, whole: bool = False,
) -> Trigger:
    """An HTTP request to `/hooks` and `path` starts a run; its body holds the arguments, and must satisfy their contract. With
    `whole`, the argument is the request itself: body, headers, query and path. The other parameters are those of the kind
    `webhook` (docs/write/reference.md#webhook)."""
    params = _given(path=path, method=list(method) if method is not None and not isinstance(method, str) else method, auth=auth,
                    response=response)
    return Trigger("webhook", params) if whole else Trigger("webhook", params, key="body", schema="schema")


def schedule(
    *, cron: str | None = None, rate: str | None = None, timezone: str | None = None, catch_up: str | None = None
) -> Trigger:
    """A rhythm starts runs; the argument is `{scheduled_at, node}`. The parameters are those of the kind `schedule`."""
    return Trigger("schedule", _given(cron=cron, rate=rate, timezone=timezone, catch_up=catch_up))


def event(pattern: Mapping[str, Any]) -> Trigger:
    """Each event that matches the EventBridge pattern starts a run; the argument is the event."""
    return Trigger("event", {"pattern": dict(pattern)})


def manual() -> Trigger:
    """A caller starts runs: what a flow without triggers has. Together with other triggers, it allows both."""
    return Trigger("manual")
