"""Prints the lines of `stepless dev`: its addresses at the start, then the progress of each run."""

from __future__ import annotations

import asyncio
import json
import textwrap
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from stepless.cli.dev.folder import Served
from stepless.cli.terminal.exceptions import place, plain, traceback
from stepless.cli.terminal.progress import duration
from stepless.core.history.waits import summary, until_of, waits_of
from stepless.core.state import RunStatus, State
from stepless.errors import SteplessError
from stepless.limits import MAX_DOCUMENT_DEPTH, MAX_EXPLAINED_RUNS, MAX_PRINTED_RUN_LINES, MAX_REPORTED_RUNS, PRINT_MS
from stepless.model.json import JSON
from stepless.model.runs.statuses import ENDED
from stepless.ports import RunHead
from stepless.runtime.service import Service
from stepless.runtime.verbs.reads.inspecting import RunView

WIDTH = 80
SHOWN_PAUSES: Final = 3


class RunLines:
    """Prints one line when a run starts (with the URL of its page), one when it waits for an answer or a time, one when it
    ends. The first line after a pause is printed at once, and those that follow it together, every PRINT_MS, at most
    MAX_PRINTED_RUN_LINES at a time: printing does not hold up the runs. For use in the thread of one event loop."""

    def __init__(self, service: Service, url: str) -> None:
        self._service = service
        self._url = url
        self._live: dict[str, str] = {}  # the last line about each live run
        self._lines: list[_Line] = []  # not yet printed
        self._left_out = 0
        self._print_at = 0.0  # in the loop's seconds: when lines may be printed next
        self._timer: asyncio.Handle | None = None

    def opened(self, head: RunHead) -> None:
        """See `Runner.on_opened`."""
        if head.status in ENDED or head.run_id in self._live or len(self._live) == MAX_REPORTED_RUNS:
            return
        word = "started" if head.status == "created" else "continues"
        self._live[head.run_id] = ""
        self._add(_Line(f"{head.workflow_id} {word}: {self._url}/runs/{head.run_id}/view"))

    def left(self, head: RunHead, state: State) -> None:
        """See `Runner.on_left`."""
        if head.run_id not in self._live:
            return
        if state.ended:
            del self._live[head.run_id]
            ended = f"{head.workflow_id} {state.status.value.replace('_', ' ')}{_took(state)}"
            is_failure = state.status is not RunStatus.COMPLETED
            self._add(_Line(f"{ended}: {head.run_id}", ended, head.run_id if is_failure else ""))
        elif waits := waits_of(state):
            pauses = [pause for pause, instance in islice(state.waiting.items(), SHOWN_PAUSES) if instance.wait is not None]
            now = summary(state.status.value, waits, busy=bool(state.running), until_ms=until_of(state))
            named = f" ({', '.join(pauses)})" if pauses else ""
            line = f"{head.workflow_id} is {now}{named}: {head.run_id}"
            if self._live[head.run_id] != line:
                self._live[head.run_id] = line
                self._add(_Line(line))

    def _add(self, line: _Line) -> None:
        if len(self._lines) >= MAX_PRINTED_RUN_LINES:
            self._left_out += 1
            return
        self._lines.append(line)
        if self._timer is None:
            loop = asyncio.get_running_loop()
            at = self._print_at
            self._timer = loop.call_soon(self.flush) if at <= loop.time() else loop.call_at(at, self.flush)

    def flush(self) -> None:
        """Prints the lines that wait to be printed."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        lines, left_out, self._lines, self._left_out = self._lines, self._left_out, [], 0
        self._print_at = asyncio.get_running_loop().time() + PRINT_MS / 1000
        if not lines:
            return
        explained = 0
        text: list[str] = []
        for line in lines:
            is_explained = bool(line.failed_run) and explained < MAX_EXPLAINED_RUNS
            explained += is_explained
            text += self._explained(line) if is_explained else [line.text]
        if left_out:
            text.append(f"… and {left_out:,} more lines about runs: stepless runs list")
        print(*text, sep="\n", flush=True)

    def _explained(self, line: _Line) -> Sequence[str]:
        """The line with the cause of the failure, which is read from the run's log."""
        try:
            view = self._service.overview(line.failed_run)
        except SteplessError:  # the run was erased, or the store is unavailable: the line itself is known
            return [line.text]
        return [f"{line.ended}{_why(view)}: {line.failed_run}", *traceback(view.exception)]


class _Line(NamedTuple):
    """A line. That of a run that has failed also has its beginning, and the id of the run."""

    text: str
    ended: str = ""
    failed_run: str = ""


def _took(state: State) -> str:
    return f" in {duration(state.ended_ms - state.started_ms)}" if state.ended_ms and state.started_ms else ""


def _why(view: RunView) -> str:
    error = view.error
    if error is None:
        return ""
    return f", {error.get('node') or 'run'}: {plain(error['message'])} [{error['code']}]{place(view.exception) or _line(error)}"


def _line(error: Mapping[str, JSON]) -> str:
    """` at refund.py:27: receipt = await pay(order.id)`, for a workflow in Python."""
    return f" at {plain(error['source'])}" if error.get("source") else ""


# -- the start --------------------------------------------------------------------------------------------------------


def console_address(url: str, code: str) -> str:
    """Opens the console, and signs the tab in once."""
    return f"{url}/console/#code={code}"


def announcement(
    url: str, key: str, served: Sequence[Served], functions: Sequence[str], *, folder: str, db: str, adopted: int,
    open_to_all: bool, schedules: Callable[[str], Sequence[str]], code: str,
) -> str:  # fmt: skip
    """Returns the text at the start of `stepless dev`: the addresses, the workflows, and how to start a run. `schedules` returns
    the lines about a workflow's schedules. `code` opens the console."""
    lines = ["", f"Stepless listens on {url}", ""]
    lines.append(f"  Open      {console_address(url, code)}")
    lines += [f"  API key   {key}", f"  runs in   {db}"]
    if functions:
        lines.append(_wrapped("  functions ", functions))
    lines.append("")
    if not served:
        lines.append(f"Nothing is published from {folder} yet. Save a workflow there to publish it.")
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
    if workflow.hooks and workflow.inputs is None:
        schema = workflow.hooks[0].get("schema", {})
        inputs: JSON = {"body": _sample(schema, schema)}
    else:
        inputs = _sample(workflow.inputs, workflow.inputs)
    body = json.dumps({"inputs": inputs}).replace("'", "'\\''")
    return [
        f"  curl {url}/workflows/{workflow.workflow_id}/runs \\",
        f"    -H 'Authorization: Bearer {key}' \\",
        "    -H 'Content-Type: application/json' \\",
        f"    -d '{body}'",
    ]


def _sample(schema: JSON, whole: JSON, depth: int = 0) -> JSON:
    """A value that a simple schema accepts: its required properties. `whole` has the definitions that it names."""
    if isinstance(schema, dict) and isinstance(whole, dict) and "$ref" in schema:
        schema = whole.get("$defs", {}).get(str(schema["$ref"]).rpartition("/")[2])
    if not isinstance(schema, dict) or depth > MAX_DOCUMENT_DEPTH:
        return {}
    if "default" in schema or schema.get("enum"):
        return schema["default"] if "default" in schema else schema["enum"][0]
    if schema.get("type", "object") == "object":
        properties = schema.get("properties", {})
        return {name: _sample(properties.get(name), whole, depth + 1) for name in schema.get("required", ())}
    return {"string": "A-1", "number": 10, "integer": 10, "boolean": True, "array": []}.get(str(schema["type"]))
