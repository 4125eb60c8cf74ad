"""Defines the kind `workflow`, which runs another workflow as a child run and waits for it. Its code needs the store, so the
runtime has it."""

from __future__ import annotations

from typing import Any, Final

from pydantic import Field

from stepless.model.findings import Finding
from stepless.model.kind import Kind, Nature
from stepless.model.runs.span import PRODUCER
from stepless.nodes.params import Params, stored_secrets

ID: Final = r"^[a-z0-9][a-z0-9-]{0,63}$"


class WorkflowParams(Params):
    """The workflow and its inputs."""

    workflow: str = Field(pattern=ID)
    """The id of a published workflow. The child run uses its newest version."""
    inputs: Any = None
    """The child run's inputs."""


def check(params: WorkflowParams, path: str) -> list[Finding]:
    return stored_secrets(params.inputs, f"{path}.inputs", "child run")


KIND = Kind(
    "workflow", Nature.EFFECT, WorkflowParams, "runs another workflow as a child run; returns its output",
    check=check, calls_runs=True,
    brief=("workflow",), span=PRODUCER,
    icon="M2 3h4.5v4H2zM9.5 9H14v4H9.5zM6.5 5h3.2c1 0 1.8.8 1.8 1.8V9",
)
