"""Builds the links in responses. Without a base URL they are relative to the host of the request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from stepless.api.responses.general import ScheduleLinks, WorkflowLinks
from stepless.api.responses.links import RunLinks

RUN_HEADER: Final = "stepless-run"
"""The header by which the response of a webhook names its run."""


@dataclass(frozen=True, slots=True)
class Links:
    """`base` precedes every path and has no slash at the end. It is never taken from a request: a forged Host header could
    otherwise change the target of the links."""

    base: str = ""

    def run(self, run_id: str) -> RunLinks:
        run = f"{self.base}/runs/{quote(run_id, safe='')}"
        return {
            "run": run,
            "nodes": f"{run}/nodes",
            "tags": f"{run}/tags",
            "events": f"{run}/events",
            "cancel": f"{run}/cancel",
            "hold": f"{run}/hold",
            "release": f"{run}/release",
            "pause": f"{run}/pause",
            "unpause": f"{run}/unpause",
            "rerun": f"{run}/rerun",
            "view": f"{run}/view",
        }

    def workflow(self, workflow_id: str, version: int) -> WorkflowLinks:
        workflow = f"{self.base}/workflows/{quote(workflow_id, safe='')}"
        return {"workflow": workflow, "version": f"{workflow}/versions/{version}", "start": f"{workflow}/runs"}

    def schedule(self, workflow_id: str, node: str) -> ScheduleLinks:
        at = f"{self.base}/workflows/{quote(workflow_id, safe='')}/schedules/{quote(node, safe='')}"
        return {"pause": f"{at}/pause", "resume": f"{at}/resume", "fire": f"{at}/fire"}

    def resume(self, token: str) -> str:
        return f"{self.base}/resume/{quote(token, safe='')}"
