"""`workflow`: runs another workflow as a child run and waits for it. Its code needs the store, so the runtime brings it."""

from __future__ import annotations

from typing import Any, Final

from pydantic import Field

from stepless.model.kind import Kind, Nature
from stepless.nodes.params import Params

ID: Final = r"^[a-z0-9][a-z0-9-]{0,63}$"


class WorkflowParams(Params):
    """`workflow` is the id of a published workflow, whose newest version is run with `inputs`."""

    workflow: str = Field(pattern=ID)
    inputs: Any = None


KIND = Kind("workflow", Nature.EFFECT, WorkflowParams, "runs another workflow as a child run; puts out its output")
