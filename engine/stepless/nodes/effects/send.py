"""Defines the kind `send`, which sends a message to another run. Its code needs the store, so the runtime has it."""

from __future__ import annotations

from typing import Any, Final

from pydantic import Field

from stepless.model.findings import Finding
from stepless.model.kind import Kind, Nature
from stepless.model.runs.span import PRODUCER
from stepless.nodes.params import Duration, Name, Params, stored_secrets

WORKFLOW: Final = r"^[a-z0-9][a-z0-9-]{0,63}$"


class SendParams(Params):
    """The receiver, a run or the runs of a key, and the message. A repeated attempt sends the same message, which each run
    receives once."""

    to: str | None = Field(None, min_length=1)
    """The id of a run."""
    workflow: str | None = Field(None, pattern=WORKFLOW)
    """The workflow whose runs answer to `key`."""
    key: str | int | float | None = None
    """The key of the runs."""
    message: Name
    """The name of the message, as the workflow of the receiver declares it."""
    data: Any = None
    """The data of the message."""
    start: bool = False
    """Starts a run if none has the key. Exactly one run of the key receives the message."""
    inputs: Any = None
    """With `start`: the inputs of that run. By default the data."""
    keep: Duration | None = None
    """How long the message waits for runs that begin to answer to the key."""


def check(params: SendParams, path: str) -> list[Finding]:
    found = stored_secrets(params.data, f"{path}.data", "message")
    found += stored_secrets(params.inputs, f"{path}.inputs", "run that it starts")
    directed = params.to is not None
    keyed = params.workflow is not None and params.key is not None
    if directed is keyed or (directed and (params.workflow is not None or params.key is not None)):
        mend = "Set `to`, the id of a run, or `workflow` and `key`."
        found.append(Finding("exactly_one", path, "a message goes to one run, or to the runs of a key", mend))
    if directed:
        idle = [name for name in ("start", "inputs", "keep") if name in params.model_fields_set]
        found += [
            Finding("idle_setting", f"{path}.{name}", f"`{name}` has no effect on a message to one run", "Leave it out.")
            for name in idle
        ]
    return found


KIND = Kind(
    "send", Nature.EFFECT, SendParams, "sends a message to a run; puts out the runs that have it",
    check=check,
    brief=("message", "key", "to"), span=PRODUCER,
    icon="M2.5 8 13.5 3 10 13.5 7.5 9zM7.5 9l6-6",
)
