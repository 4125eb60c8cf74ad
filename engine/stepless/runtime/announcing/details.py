"""Computes the content of an event for systems outside from the log alone, so that a repetition has the same content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from stepless.core.decision import iso
from stepless.core.events import ROWS, RUN_ENDS, Event, EventType
from stepless.core.folding.set_back_folds import CLOCK_SET_BACK
from stepless.core.history.waits import word_of
from stepless.limits import MAX_ANNOUNCED_CHARACTERS
from stepless.model.json import JSON
from stepless.runtime.exporting.exporter import ExportedRun

_TYPES: Final[Mapping[EventType, str]] = {type: type.value for type, row in ROWS.items() if row.announced}
_STATUSES: Final = {"paused": "run.waiting", "running": "run.resumed"}
_ENDS: Final = {**{type.value: ROWS[type].status for type in RUN_ENDS}, "run.waiting": "paused"}


def type_of(event: Event) -> str | None:
    """Returns the name of the event outside; None for an event that is not announced."""
    if event.type is not EventType.RUN_STATUS_CHANGED:
        return _TYPES.get(event.type)
    if "held" in event.data:
        return "run.held" if event.data["held"] else "run.released"
    if event.data.get("reason") == CLOCK_SET_BACK:
        return None  # the status is as before
    return _STATUSES.get(event.data["status"])


def id_of(run_id: str, event: Event) -> str:
    return f"{run_id}:{event.sequence}"


def view_of(base_url: str, run_id: str) -> str:
    """Returns the page of the run."""
    return f"{base_url.rstrip('/')}/runs/{quote(run_id, safe='')}/view"


def detail_of(run: ExportedRun, event: Event, base_url: str) -> dict[str, JSON]:
    """Returns the event with the facts that identify its run. Holds no inputs, outputs, answers or variables; texts are cut to
    MAX_ANNOUNCED_CHARACTERS."""
    name, meta, data = type_of(event) or event.type.value, run.meta, event.data
    detail: dict[str, JSON] = {
        "id": id_of(run.head.run_id, event), "type": name, "run": run.head.run_id, "sequence": event.sequence,
        "at": iso(event.at_ms), "workflow": run.head.workflow_id, "status": _ENDS.get(name, "running"),
        "view": view_of(base_url, run.head.run_id),
    }  # fmt: skip
    for field, key in (("version", "version"), ("number", "number"), ("keywords", "tags"), ("parent", "parent")):
        if meta.get(key):
            detail[field] = meta[key]
    rerun = meta.get("rerun")
    if isinstance(rerun, Mapping):
        detail["rerun_of"] = rerun.get("of")
    if event.type is EventType.NODE_WAITING:
        detail |= {"node": event.instance, "waits_for": word_of(str(data.get("reason")))}
        detail |= {field: iso(data[key]) for field, key in (("until", "resume_at"), ("deadline", "deadline")) if data.get(key)}
    if isinstance(data.get("error"), Mapping):
        detail["error"] = error_of(run, data["error"])
    for key in ("by", "why"):
        if isinstance(data.get(key), str):
            detail[key] = _short(run, data[key])
    return detail


def error_of(run: ExportedRun, error: Mapping[str, Any]) -> dict[str, JSON]:
    """Returns, of a failure, the node, the code, the class and the message."""
    return {key: _short(run, str(error[key])) for key in ("node", "code", "class", "message") if error.get(key) is not None}


def _short(run: ExportedRun, text: str) -> str:
    """A text of the log, which is masked already; masked once more, since the secrets may have changed."""
    masked = run.mask.message(text)
    return masked if len(masked) <= MAX_ANNOUNCED_CHARACTERS else masked[: MAX_ANNOUNCED_CHARACTERS - 1] + "…"
