"""Declares a message that the runs of a workflow may receive; see `document` for how declarations are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepless.model.declaration.views import View, field
from stepless.model.texts.durations import parse_duration_ms

if TYPE_CHECKING:
    from stepless.model.declaration.field_types import Duration, Formula, Params, Schema


class MessageView(View):
    """A message that runs of the workflow may receive, and the sources that send it in addition to the API."""

    __slots__ = ()
    data: Schema | None = None
    """JSON Schema (2020-12) of the data. A message that violates it is refused."""
    webhook: Params | None = None
    """An HTTP address below `/hooks` that delivers the message, with the fields `path`, `method` and `auth` of the kind
    `webhook`."""
    event: Params | None = None
    """An EventBridge event pattern. Each event that matches it delivers the message."""
    where: Formula | None = None
    """Of a source: an expression. A delivery for which it is false is ignored."""
    key: Formula | None = None
    """Of a source: an expression that gives the key of the run that the message is for. It reads `<body>`, `<headers>` and
    `<query>` of a webhook, or `<event>`."""
    map: Params | None = None
    """Of a source: the data of the message. By default the body of the webhook, or the `detail` of the event."""
    keep_ms: Duration = field(0, "keep", parse_duration_ms)
    """How long a message waits for a run that has its key. By default it does not wait."""
