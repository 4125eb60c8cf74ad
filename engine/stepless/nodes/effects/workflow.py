"""Defines the kind `workflow`, which runs another workflow: as a child run that it waits for, or as a run of its own. Its code
needs the store, so the runtime has it."""

from __future__ import annotations

from typing import Any, Final

from pydantic import Field

from stepless.errors import ConfigError
from stepless.limits import MAX_DURATION_MS
from stepless.model.findings import Finding
from stepless.model.kind import Kind, Nature
from stepless.model.runs.span import PRODUCER
from stepless.model.texts.durations import parse_duration_ms
from stepless.nodes.params import Duration, Params, instant_ms, stored_secrets

ID: Final = r"^[a-z0-9][a-z0-9-]{0,63}$"
_OF_STARTS: Final = ("key", "delay", "begin_at")


class WorkflowParams(Params):
    """The workflow and its inputs. With `wait: false` the node starts a run, and completes without waiting for it: the run is not
    cancelled with this one, and its failure is its own. A repeated attempt starts the same run."""

    workflow: str = Field(pattern=ID)
    """The id of a published workflow. The child run uses its newest version."""
    inputs: Any = None
    """The child run's inputs."""
    wait: bool = True
    """Waits for the end of the child run, and puts out its output. `false` puts out `run`, the id of the run that was started."""
    key: str | int | float | None = None
    """With `wait: false`: the key of the run, in place of the workflow's own `key`. If a live run has it, `on_conflict` of that
    workflow says what happens: with `join`, the node puts out that run, and `joined`."""
    delay: Duration | None = None
    """With `wait: false`: the run begins after this time."""
    begin_at: str | int | None = None
    """With `wait: false`: the run begins at this instant, ISO 8601 text with an offset or milliseconds since 1970 UTC."""


def check(params: WorkflowParams, path: str) -> list[Finding]:
    found = stored_secrets(params.inputs, f"{path}.inputs", "child run")
    if params.delay is not None and params.begin_at is not None:
        message = "`delay` and `begin_at` both say when the run begins"
        found.append(Finding("exactly_one", path, message, "Leave one of them out."))
    idle = [name for name in _OF_STARTS if params.wait and getattr(params, name) is not None]
    found += [
        Finding("idle_setting", f"{path}.{name}", f"`{name}` has no effect on a child run that the node waits for",
                "Add `wait: false`, or leave it out.")
        for name in idle
    ]
    return found


def begins_ms(params: WorkflowParams, now_ms: int) -> int | None:
    """Returns when the run is to begin; None for at once. Raises `ConfigError`."""
    if params.delay is None and params.begin_at is None:
        return None
    if params.delay is not None:
        due_ms = now_ms + parse_duration_ms(params.delay)
    else:
        due_ms = params.begin_at if isinstance(params.begin_at, int) else instant_ms(str(params.begin_at), "with.begin_at")
    if due_ms - now_ms > MAX_DURATION_MS:
        message = f"a run begins at most {MAX_DURATION_MS // 86_400_000} days from now"
        raise ConfigError(message, place="with.begin_at", mend="use an earlier instant; a number is in milliseconds")
    return due_ms if due_ms > now_ms else None


KIND = Kind(
    "workflow", Nature.EFFECT, WorkflowParams,
    "runs another workflow as a child run and returns its output, or starts a run of it",
    check=check, calls_runs=True,
    brief=("workflow",), span=PRODUCER,
    icon="M2 3h4.5v4H2zM9.5 9H14v4H9.5zM6.5 5h3.2c1 0 1.8.8 1.8 1.8V9",
)
