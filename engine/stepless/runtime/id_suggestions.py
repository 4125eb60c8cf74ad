"""Suggests the workflow id that a caller probably meant by an unknown one."""

from __future__ import annotations

from stepless.errors import NotFound
from stepless.ports import Store

_MAX_CANDIDATES = 100  # workflows, by id


def near_workflow(store: Store, workflow_id: str) -> str:
    """Returns `Did you mean …?`, or an empty text. Only the first hundred workflows are candidates."""
    from stepless.compile.suggest import did_you_mean  # only needed for an unknown name

    known = [version.workflow_id for version in store.list_workflows(limit=_MAX_CANDIDATES).items]
    return did_you_mean(workflow_id, [other for other in known if other != workflow_id])


def unknown_workflow(store: Store, workflow_id: str, *, what: str = "") -> NotFound:
    """Returns the error for an id under which nothing is published. `what` names the requested object if it is more than the
    id."""
    mend = near_workflow(store, workflow_id) or "publish it, or look at the list"
    return NotFound(f"there is no workflow {what or workflow_id}", code="unknown_workflow", mend=mend)
