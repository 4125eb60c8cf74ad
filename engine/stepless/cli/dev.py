"""`stepless dev`: API, webhooks, runner and timers in one process, over one file, for a folder of workflows."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import sys
import textwrap
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from stepless.api.app import create_app
from stepless.cli.complaints import summary, tell, tell_findings
from stepless.cli.files import documents_in, load_functions, read_source
from stepless.compile import compile_document
from stepless.errors import ConfigError, Conflict, DocumentRefused, InvalidRequest
from stepless.limits import LOCAL_BUDGET_MS
from stepless.model.json import JSON
from stepless.nodes import KINDS
from stepless.nodes.function import names
from stepless.runtime.bootstrap import Local, local

API_KEY = "STEPLESS_API_KEY"
CORS_ORIGINS = "STEPLESS_CORS_ORIGINS"  # parted by spaces: pages of these may ask from a browser
_CLOSING_S = 2  # open event streams are cut off after this
_LOCAL_HOSTS = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True)
class Served:
    """A workflow that was published, and its webhooks."""

    file: str
    workflow_id: str
    number: int
    hooks: Sequence[Mapping[str, JSON]]


def dev(arguments: argparse.Namespace) -> int:
    folder = Path(arguments.folder)
    if not folder.is_dir():
        mend = "give the folder of your workflows"
        raise InvalidRequest("there is no such folder", code="folder_not_found", place=arguments.folder, mend=mend)
    listener = _listen(arguments.host, arguments.port)
    try:
        load_functions(folder, arguments.modules)
        built = local(_made(arguments.db), budget_ms=arguments.budget_ms or LOCAL_BUDGET_MS)
        try:
            served = _publish_all(built, folder)
            return asyncio.run(_serve(built, served, listener, arguments))
        finally:
            built.close()
    finally:
        listener.close()


def _made(path: str) -> str:
    """The file's path, its folder made."""
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidRequest(str(error.strerror), code="folder_not_made", place=path, mend="give another --db") from error
    return path


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        mend = "stop whatever listens there, or use --port 0 for a free one"
        message = f"nothing can listen there: {error.strerror}"
        raise InvalidRequest(message, code="port_taken", place=f"{host}:{port}", mend=mend) from error


# -- publishing -------------------------------------------------------------------------------------------------------


def _publish_all(built: Local, folder: Path) -> list[Served]:
    """Publishes what can be; tells what is wrong with the rest, which stops nobody else."""
    served = []
    for path in documents_in(folder):
        text = ""
        try:
            source = read_source(path)
            text = source.text
            published = built.service.publish(source.document, functions=names())
        except DocumentRefused as error:
            tell_findings(error.findings, str(path), text or getattr(error, "text", ""))
            sys.stderr.write(f"{path}: not published, {summary(error.findings)}\n")
        except (Conflict, InvalidRequest) as error:
            tell(error, str(path))
        else:
            tell_findings(published.warnings, str(path), text)
            graph = compile_document(source.document, KINDS)
            hooks = [source.document["nodes"][node.id]["with"] for node in graph.root.nodes if node.kind is KINDS["webhook"]]
            served.append(Served(path.name, published.version.workflow_id, published.version.number, hooks))
    return served


# -- serving ----------------------------------------------------------------------------------------------------------


class _Server(uvicorn.Server):
    """Tells when it listens, and leaves signals to us: the runner must drain as well."""

    def __init__(self, config: uvicorn.Config, on_listening: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_listening = on_listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_listening()

    def capture_signals(self) -> Any:
        return nullcontext()


async def _serve(built: Local, served: list[Served], listener: socket.socket, arguments: argparse.Namespace) -> int:
    url = _url(arguments.host, listener)
    key = os.environ.get(API_KEY) or built.service.signer.derive("api-key")
    built.invitations.base_url, built.host.schedules = url, built.schedules
    origins = os.environ.get(CORS_ORIGINS, "").split()
    app = create_app(built.service, api_keys=[key], base_url=url, cors_origins=origins)
    config = uvicorn.Config(
        app, log_config=None, log_level="critical", access_log=False, lifespan="off", ws="none",
        timeout_graceful_shutdown=_CLOSING_S,
    )

    def announce() -> None:
        _announce(url, key, served, built.adopted, arguments)

    server = _Server(config, announce)
    stop = _stop_signal()
    runner = asyncio.create_task(built.host.serve())
    web = asyncio.create_task(server.serve([listener]))
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({runner, web, stopping}, return_when=asyncio.FIRST_COMPLETED)
        drained = await _close(built, server, web)
    finally:
        stopping.cancel()
    await runner
    await web
    sys.stderr.write("Stopped.\n" if drained else "Stopped. What was cut off runs again after the next start.\n")
    return 0 if stop.is_set() else 1


async def _close(built: Local, server: _Server, web: asyncio.Task[None]) -> bool:
    """Accepts nothing more, lets runs drain; whether they did in time."""
    sys.stderr.write("\nStopping: what is under way is given time to end. Ctrl-C again leaves at once.\n")
    server.should_exit = True
    drained = await built.host.stop()
    await asyncio.wait({web})
    return drained


def _stop_signal() -> asyncio.Event:
    """Set by the first Ctrl-C or SIGTERM; the next one kills, which a run survives."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def first() -> None:
        stop.set()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, first)
    return stop


# -- telling ----------------------------------------------------------------------------------------------------------


def _url(host: str, listener: socket.socket) -> str:
    port = listener.getsockname()[1]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _announce(url: str, key: str, served: list[Served], adopted: int, arguments: argparse.Namespace) -> None:
    lines = ["", f"Stepless listens on {url}", "", f"  API       {url}/docs", f"  API key   {key}", f"  runs in   {arguments.db}"]
    functions = sorted(names())
    if functions:
        lines.append(_wrapped("  functions ", functions))
    lines.append("")
    if not served:
        lines.append(f"No workflow in {arguments.folder} yet: put one there and start again.")
    for workflow in served:
        lines.append(f"  {workflow.workflow_id} (version {workflow.number}, {workflow.file})")
        lines += [f"    {url}/hooks/{str(hook['path']).lstrip('/')}{_signed(hook)}" for hook in workflow.hooks]
    if adopted:
        lines.append(f"  {adopted} run{'s' if adopted > 1 else ''} that the last process left behind go on now")
    if arguments.host not in _LOCAL_HOSTS:
        lines.append("  Anybody who reaches this address reaches this server; there is no TLS.")
    if served:
        lines += ["", "Start a run:", *_curl(url, key, served[0])]
    if arguments.port_file:
        _write_whole(Path(arguments.port_file), url)
    print("\n".join([*lines, "", "Ctrl-C stops."]), flush=True)
    if arguments.open:
        webbrowser.open(f"{url}/docs")


def _wrapped(label: str, words: Sequence[str]) -> str:
    return textwrap.fill(", ".join(words), 80, initial_indent=label, subsequent_indent=" " * len(label), break_on_hyphens=False)


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
    """Something that a simple schema takes: its required properties."""
    if not isinstance(schema, dict):
        return {}
    if "enum" in schema or "default" in schema:
        return schema["default"] if "default" in schema else schema["enum"][0]
    if schema.get("type", "object") == "object":
        properties = schema.get("properties", {})
        return {name: _sample(properties.get(name)) for name in schema.get("required", ())}
    return {"string": "A-1", "number": 10, "integer": 10, "boolean": True, "array": []}.get(str(schema["type"]))


def _write_whole(path: Path, text: str) -> None:
    """All of it or nothing: whoever waits for the file never reads half an address."""
    half = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        half.write_text(text)
        half.replace(path)
    except OSError as error:
        mend = "give another --port-file"
        raise ConfigError(str(error.strerror), code="file_not_written", place=str(path), mend=mend) from error
