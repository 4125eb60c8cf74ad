"""Defines the kind `callback`, which waits until another system answers."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from stepless.limits import MAX_ANSWER_FIELDS, MAX_MESSAGE_CHARACTERS
from stepless.model.findings import Finding
from stepless.model.json import JSON
from stepless.model.kind import SOURCE, Kind, Nature, Part, Pause, Work
from stepless.model.texts.durations import parse_duration_ms
from stepless.nodes.params import Duration, Name, Params, notify_target, rendered


class CallbackParams(Params):
    """What the node waits for, and for how long."""

    message: str | None = Field(None, max_length=MAX_MESSAGE_CHARACTERS)
    """A description of what the node waits for."""
    fields: dict[Name, dict[str, Any] | bool] | None = Field(None, max_length=MAX_ANSWER_FIELDS)
    """The answer's fields, each with its JSON Schema. Without `fields`, any answer is accepted."""
    notify: str | None = Field(None, min_length=1)
    """Where the link is sent: a URL, the ARN of an SNS topic, or `mailto:` and an address."""
    timeout: Duration | None = None
    """How long to wait. Then the node leaves by its exit `timeout`, or fails if no edge starts there."""


def exits(params: CallbackParams) -> tuple[str, ...]:
    return (SOURCE, "timeout")


def check(params: CallbackParams, path: str) -> list[Finding]:
    return notify_target(params.notify, path)


def suspend(work: Work) -> Pause:
    """Waits for `POST /resume/{token}`, for at most `timeout`."""
    params = rendered(CallbackParams, work.params, work.literals)
    details: dict[str, JSON] = {} if params.message is None else {"message": params.message}
    if params.notify is not None:
        details["notify"] = params.notify
    deadline_ms = None if params.timeout is None else work.now_ms + parse_duration_ms(params.timeout)
    return Pause("callback", deadline_ms=deadline_ms, exits=(SOURCE,), fields=params.fields, details=details)


KIND = Kind(
    "callback", Nature.PAUSE, CallbackParams, "waits until another system answers",
    exits=exits, parts={"fields": Part.LITERAL}, suspend=suspend, check=check,
    brief=("message",),
    icon="M13.5 5.5h-8a3 3 0 0 0 0 6H8M11 3l2.5 2.5L11 8",
)
