"""Defines the kind `receive`, which waits until a message arrives, or takes one that has arrived."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from stepless.errors import ConfigError
from stepless.limits import MAX_EXPRESSION_CHARACTERS, MAX_KEY_BYTES
from stepless.model.json import JSON
from stepless.model.kind import SOURCE, Kind, Nature, Part, Pause, Work
from stepless.model.runs.keys import key_of
from stepless.model.texts.durations import parse_duration_ms
from stepless.nodes.params import Duration, Name, Params, rendered


class ReceiveParams(Params):
    """Which message the node takes, and how long it waits for one."""

    message: Name
    """The name of the message, one of the workflow's `messages`."""
    where: Annotated[str, StringConstraints(min_length=1, max_length=MAX_EXPRESSION_CHARACTERS)] | None = None
    """An expression over `<message>`, the data of the message, and what the node can read. A message for which it is false stays
    for other nodes."""
    key: str | int | float | None = None
    """A further key of the run while this node waits, for example the id of a payment. Several runs may wait under one such key:
    each gets its own copy of a message."""
    timeout: Duration | None = Field(None)
    """How long to wait. Then the node leaves by its exit `timeout`, or fails if no edge starts there."""


def exits(params: ReceiveParams) -> tuple[str, ...]:
    return (SOURCE, "timeout")


def suspend(work: Work) -> Pause:
    """Waits for a message, for at most `timeout`. The core looks into the mailbox of the run first."""
    params = rendered(ReceiveParams, work.params, work.literals)
    details: dict[str, JSON] = {"message": params.message}
    if params.key is not None:
        key = key_of(params.key)
        if key is None:
            raise ConfigError(f"a key has 1 to {MAX_KEY_BYTES} bytes of UTF-8, and this one does not", code="key_invalid",
                              place="with.key", mend="use a short text or a number, such as the id of a payment")
        details["key"] = key
    deadline_ms = None if params.timeout is None else work.now_ms + parse_duration_ms(params.timeout)
    return Pause("message", deadline_ms=deadline_ms, exits=(), details=details)


KIND = Kind(
    "receive", Nature.PAUSE, ReceiveParams, "waits for a message; puts out its data, and who sent it when, as `message`",
    exits=exits, parts={"message": Part.LITERAL, "where": Part.EXPRESSION}, suspend=suspend, receives=True,
    brief=("message", "where"),
    icon="M2 4h12v8.5H2zM2 4.5l6 4.5 6-4.5",
)
