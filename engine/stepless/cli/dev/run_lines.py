"""The lines that `stepless dev` prints: its addresses at the start, then the progress of each run."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

from stepless.cli.dev.folder import Served
from stepless.cli.terminal.exceptions import place, plain, traceback
from stepless.cli.terminal.progress import duration
from stepless.errors import StoreUnavailable
from stepless.limits import MAX_REPORTED_RUNS
from stepless.model.json import JSON
from stepless.runtime.inbox import ENDED
from stepless.runtime.service import Service
from stepless.runtime.verbs.inspecting import RunView

WIDTH = 80


class RunLines:
    """Prints one line when a run starts (with the URL of its page), one when it waits for an answer or a time, one when it
    ends."""

    def __init__(self, service: Service, url: str) -> None:
        self._service = service
        self._url = url
        self._live: dict[str, str] = {}  # the last line printed about each live run

    def begins(self, run_id: str) -> None:
        with suppress(StoreUnavailable):
            self._report_start(run_id)

    def _report_start(self, run_id: str) -> None:
        head = self._service.world.store.get_run(run_id)
        if head is None or head.status in ENDED or run_id in self._live or len(self._live) == MAX_REPORTED_RUNS:
            return
        word = "started" if head.status == "created" else "continues"
        self._print(run_id, f"{head.workflow_id} {word}: {self._url}/runs/{run_id}/view")

    def rests(self, run_id: str) -> None:
        """Called after an invocation. If the store cannot be read now, the next call reports it."""
        with suppress(StoreUnavailable):
            self._report_rest(run_id)

    def _report_rest(self, run_id: str) -> None:
        head = self._service.world.store.get_run(run_id)
        if head is None or run_id not in self._live or not (head.status in ENDED or head.waits):
            return
        view = self._service.overview(run_id)
        if head.status in ENDED:
            ended = f"{head.workflow_id} {head.status.replace('_', ' ')}{_took(view)}{_why(view)}: {run_id}"
            self._print(run_id, ended, traceback(view.exception))
            del self._live[run_id]
        elif view.waits and not view.head.owner:
            pauses = ", ".join(pause.pause for pause in view.pauses[:3])
            self._print(run_id, f"{head.workflow_id} is {view.summary}{f' ({pauses})' if pauses else ''}: {run_id}")

    def _print(self, run_id: str, line: str, below: Iterable[str] = ()) -> None:
        if self._live.get(run_id) != line:
            self._live[run_id] = line
            print(line, *below, sep="\n", flush=True)


def _took(view: RunView) -> str:
    return f" in {duration(view.ended_ms - view.started_ms)}" if view.ended_ms and view.started_ms else ""


def _why(view: RunView) -> str:
    error = view.error
    if error is None:
        return ""
    return f", {error.get('node') or 'run'}: {plain(error['message'])} [{error['code']}]{place(view.exception)}"


# -- the start --------------------------------------------------------------------------------------------------------


def announcement(
    url: str, key: str, served: Sequence[Served], functions: Sequence[str], *, folder: str, db: str, adopted: int,
    open_to_all: bool, schedules: Callable[[str], Sequence[str]] = lambda workflow_id: (),
) -> str:  # fmt: skip
    """The text at the start of `stepless dev`: the addresses, the workflows, and how to start a run. `schedules` returns the
    lines about a workflow's schedules."""
    lines = ["", f"Stepless listens on {url}", "", f"  API       {url}/docs", f"  runs      {url}/runs/RUN/view"]
    lines += [f"  API key   {key}", f"  runs in   {db}"]
    if functions:
        lines.append(_wrapped("  functions ", functions))
    lines.append("")
    if not served:
        lines.append(f"No workflow in {folder} yet. Save one there to publish it.")
    for workflow in served:
        lines.append(f"  {workflow.workflow_id} (version {workflow.number}, {workflow.file})")
        lines += [f"    {url}/hooks/{str(hook['path']).lstrip('/')}{_signed(hook)}" for hook in workflow.hooks]
        lines += schedules(workflow.workflow_id)
    if adopted:
        lines.append(f"  {adopted} run{'s continue' if adopted > 1 else ' continues'} that the last process left unfinished")
    if open_to_all:
        lines.append("  Warning: the server is open to every machine that can reach this address, without TLS.")
    if served:
        lines += ["", "Start a run:", *_curl(url, key, served[0])]
    where = "" if db == ".stepless/dev.db" else f" --db {db}"
    lines += ["", "Saving a file publishes it. While you develop:"]
    lines += [f"  stepless runs skip RUN{where}         end its wait, retry delay or deadline now"]
    lines += [f"  stepless runs redeliver RUN{where}    send its request to the newest version"]
    return "\n".join([*lines, "", "Ctrl-C stops.", ""])


def _wrapped(label: str, words: Sequence[str]) -> str:
    indent = " " * len(label)
    return textwrap.fill(", ".join(words), WIDTH, initial_indent=label, subsequent_indent=indent, break_on_hyphens=False)


def _signed(hook: Mapping[str, JSON]) -> str:
    auth = hook.get("auth", "none")
    kind = next(iter(auth), "") if isinstance(auth, dict) else auth
    return {"hmac": "  (signed)", "bearer": "  (bearer token)"}.get(str(kind), "")


def _curl(url: str, key: str, workflow: Served) -> list[str]:
    inputs: JSON = {"body": _sample(workflow.hooks[0].get("schema", {}))} if workflow.hooks else {}
    body = json.dumps({"inputs": inputs}).replace("'", "'\\''")
    return [
        f"  curl {url}/workflows/{workflow.workflow_id}/runs \\",
        f"    -H 'Authorization: Bearer {key}' \\",
        "    -H 'Content-Type: application/json' \\",
        f"    -d '{body}'",
    ]


def _sample(schema: JSON) -> JSON:
    """A value that a simple schema accepts: its required properties."""
    if not isinstance(schema, dict):
        return {}
    if "enum" in schema or "default" in schema:
        return schema["default"] if "default" in schema else schema["enum"][0]
    if schema.get("type", "object") == "object":
        properties = schema.get("properties", {})
        return {name: _sample(properties.get(name)) for name in schema.get("required", ())}
    return {"string": "A-1", "number": 10, "integer": 10, "boolean": True, "array": []}.get(str(schema["type"]))
