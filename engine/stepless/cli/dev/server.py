"""Runs `stepless dev`: API, webhooks, runner and timers in one process, over one file, for a folder of workflows."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import socket
import sys
import webbrowser
from functools import partial
from pathlib import Path

from stepless.api.app import create_app
from stepless.api.draft_sessions.sessions import DraftSessions
from stepless.api.guards.auth import local_user
from stepless.api.routes.console import Codes
from stepless.cli.dev.draft_files import DraftFiles
from stepless.cli.dev.folder import Folder
from stepless.cli.dev.http import Server
from stepless.cli.dev.modules import Modules
from stepless.cli.dev.restarting import end_now, handed_listener, kept_listener, start_again
from stepless.cli.dev.run_lines import RunLines, announcement, console_address
from stepless.cli.dev.schedule_lines import schedule_lines
from stepless.collector import resting_collector, serving_collector
from stepless.compile import parse
from stepless.drafts.operations.files import file_changed
from stepless.errors import ConfigError, DocumentRefused, InvalidRequest, NotFound, Refused, SteplessError
from stepless.limits import LOCAL_BUDGET_MS, SETTLE_MS, WATCH_MS
from stepless.nodes.function import names
from stepless.runtime.access.sessions import Sessions
from stepless.runtime.wiring.equipment import retention_ms
from stepless.runtime.wiring.exporting import EVENTS_URL
from stepless.runtime.wiring.local import Local, local
from stepless.runtime.wiring.stores import scheme_of, shown
from stepless.thread_calls import CountedPool

API_KEY = "STEPLESS_API_KEY"
CORS_ORIGINS = "STEPLESS_CORS_ORIGINS"  # space-separated: origins whose pages may call the API from a browser
_LOCAL_HOSTS = ("127.0.0.1", "::1", "localhost")


def dev(arguments: argparse.Namespace) -> int:
    folder = Path(arguments.folder)
    if not folder.is_dir():
        mend = "give the folder that has your workflows"
        raise InvalidRequest("there is no such folder", code="folder_not_found", place=arguments.folder, mend=mend)
    handed = handed_listener()
    listener = listen(arguments.host, arguments.port) if handed is None else with_protocol(handed)
    arguments.open = arguments.open and handed is None  # the browser is open already
    try:
        sys.dont_write_bytecode = True  # bytecode compares times in seconds: it would hide a second save within one second
        modules = Modules(folder, arguments.modules)
        modules.load_named()
        kept_ms = retention_ms(arguments.retention, place="--retention")
        settings = {EVENTS_URL: arguments.events_url} if arguments.events_url else {}
        budget_ms = arguments.budget_ms or LOCAL_BUDGET_MS
        built = local(_made(arguments.db), budget_ms=budget_ms, retention_ms=kept_ms, settings=settings, folder=folder)
        built.world.versions.while_compiling = resting_collector
        try:
            watched = Folder(folder, modules, built.service, arguments.target_timeout)
            watched.files.recover()
            watched.publish_all()
            with serving_collector():
                return asyncio.run(serve(built, watched, listener, arguments))
        finally:
            built.close()
    finally:
        listener.close()


def _made(path: str) -> str:
    """The path of the file, after creating its folder. A URL is returned as it is."""
    if scheme_of(path) is not None:
        return path
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidRequest(str(error.strerror), code="folder_not_made", place=path, mend="give another --db") from error
    return path


def listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        made = socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        mend = "stop the process that uses this port, or use --port 0 for a free one"
        message = f"the server cannot listen on this address: {error.strerror}"
        raise InvalidRequest(message, code="port_taken", place=f"{host}:{port}", mend=mend) from error
    return with_protocol(made)


def with_protocol(made: socket.socket) -> socket.socket:
    """Returns the same socket, with its protocol: asyncio sets TCP_NODELAY only on sockets whose protocol is TCP."""
    return socket.socket(made.family, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=made.detach())


# -- serving ----------------------------------------------------------------------------------------------------------


async def serve(built: Local, folder: Folder, listener: socket.socket, arguments: argparse.Namespace) -> int:
    """Serves until Ctrl-C or SIGTERM, and lets runs drain. Returns the exit code. Call it in the event loop of the main thread,
    which receives signals."""
    url = _url(arguments.host, listener)
    key = os.environ.get(API_KEY) or built.service.signer.derive("api-key")
    built.invitations.base_url, built.host.schedules = url, built.schedules
    origins = os.environ.get(CORS_ORIGINS, "").split()
    sessions = Sessions(built.service.signer, built.world.store, built.world.clock, owner=local_user())
    codes = Codes(sessions, built.world.clock)
    app = create_app(
        built.service, api_keys=[key], base_url=url, cors_origins=origins, development=True, codes=codes,
        hosts=[arguments.host, *arguments.allow_host], draft_files=folder.files,
    )  # fmt: skip
    folder.on_read = partial(_bring_in, app.state.draft_editing, folder.files)
    folder.read_all()

    def announce() -> None:
        _announce(url, key, codes, folder, built, arguments)

    server = Server(app, announce)
    stop, overdue, kept = _stop_signal(), asyncio.Event(), kept_listener(listener)
    asyncio.get_running_loop().set_default_executor(CountedPool())
    built.host.on_overdue = overdue.set
    lines = RunLines(built.service, url)
    built.runner.on_opened, built.runner.on_left = lines.opened, lines.left
    runner = asyncio.create_task(built.host.serve())
    web = asyncio.create_task(server.serve([listener]))
    stopping = asyncio.create_task(stop.wait())
    restarting = asyncio.create_task(overdue.wait())
    watching = asyncio.create_task(_watch(folder))
    sweeping = asyncio.create_task(app.state.draft_editing.sweep())
    try:
        await asyncio.wait({runner, web, stopping, watching, restarting}, return_when=asyncio.FIRST_COMPLETED)
        restarts = restarting.done() and not stop.is_set()
        drained = await _close(built, server, web, restarts=restarts)
        await app.state.draft_editing.close()
        lines.flush()
    finally:
        stopping.cancel()
        restarting.cancel()
        watching.cancel()
        sweeping.cancel()
    await runner
    await web
    if not watching.cancelled() and watching.done():
        watching.result()  # the task never ends without an error: this raises it
    if restarts and not stop.is_set():
        built.close()
        start_again(kept)
    sys.stderr.write("Stopped.\n" if drained else "Stopped. Interrupted nodes run again after the next start.\n")
    if built.runner.lingering:
        built.close()
        end_now(0 if stop.is_set() else 1)
    return 0 if stop.is_set() else 1


def _bring_in(sessions: DraftSessions, files: DraftFiles, path: Path, text: str) -> None:
    """Brings in the differences of a file to the base of the draft, if there is one, and passes them on to those who edit it.
    Call it in the event loop. A file that cannot be read was reported by the folder: the draft stays as it is."""
    drafts = sessions.drafts
    try:
        workflow_id = parse(text, syntax="json" if path.suffix == ".json" else None).get("id")
        if not isinstance(workflow_id, str):
            return
        newest = drafts.world.store.newest_version(workflow_id)
        item = file_changed(drafts, files, workflow_id, files.name_of(path), text, newest.number if newest is not None else 0)
        if item is not None:
            sessions.pass_on(drafts.drafting.head(workflow_id).draft, item)
        sessions.rebased(workflow_id)
    except (DocumentRefused, NotFound, Refused):
        return  # not a document, no draft of it, or a store without drafts
    except SteplessError as error:
        sys.stderr.write(f"{path}: not merged into the draft [{error.code}]: {error}\n")


async def _watch(folder: Folder) -> None:
    """Keeps the folder published. A thread scans the files, so that a slow disk does not hold up the runs."""
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep((SETTLE_MS if folder.settling else WATCH_MS) / 1000)
        folder.apply(await loop.run_in_executor(None, folder.scan))


async def _close(built: Local, server: Server, web: asyncio.Task[None], *, restarts: bool) -> bool:
    """Stops accepting requests and lets runs drain; returns whether they did in time."""
    if restarts:
        sys.stderr.write("\nRestarting to stop code that is still running long after its attempt ended. Other runs hand over.\n")
    else:
        sys.stderr.write("\nStopping after the running nodes end. Press Ctrl-C again to stop at once.\n")
    server.leave()
    drained = await built.host.stop()
    await asyncio.wait({web})
    return drained


def _stop_signal() -> asyncio.Event:
    """An event that the first Ctrl-C or SIGTERM sets. The second one kills the process; no run is lost by that."""
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


# -- announcing -------------------------------------------------------------------------------------------------------


def _url(host: str, listener: socket.socket) -> str:
    port = listener.getsockname()[1]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _announce(url: str, key: str, codes: Codes, folder: Folder, built: Local, arguments: argparse.Namespace) -> None:
    code = codes.issue(local_user())
    if arguments.port_file:
        _write_whole(Path(arguments.port_file), url)
    print(
        announcement(
            url, key, folder.served, sorted(names()), folder=arguments.folder, db=shown(arguments.db), adopted=built.adopted,
            open_to_all=arguments.host not in _LOCAL_HOSTS, schedules=partial(schedule_lines, built.service),
            code=code,
        ),
        flush=True,
    )  # fmt: skip
    if arguments.open:
        webbrowser.open(console_address(url, code))


def _write_whole(path: Path, text: str) -> None:
    """Writes the file atomically: a process that waits for it never reads half an address."""
    half = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        half.write_text(text)
        half.replace(path)
    except OSError as error:
        mend = "give another --port-file"
        raise ConfigError(str(error.strerror), code="file_not_written", place=str(path), mend=mend) from error
