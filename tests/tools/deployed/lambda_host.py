"""Lambda's side of the contract: execution environments that run awslambdaric against a Runtime API.

As on AWS: a new environment starts cold, serves one invocation at a time, is frozen in between (SIGSTOP) and killed at the
deadline (SIGKILL). Concurrent invocations get separate environments.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import uuid4

INIT_S = 30  # AWS gives 10; a busy machine needs more
PAYLOAD_BYTES = 6_291_556  # the longest event and the longest response of a synchronous invocation


@dataclass(frozen=True)
class Answer:
    """The result of an invocation. `error` None: the handler returned `value`. `cold`: an environment was started for it."""

    value: Any
    error: Mapping[str, Any] | None
    cold: bool
    duration_ms: float


class Server(ThreadingHTTPServer):
    """A client that is killed in the middle of a request is part of the tests, not an error."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@dataclass
class Environment:
    """One process and the Runtime API that it talks to."""

    command: Sequence[str]
    variables: Mapping[str, str]
    folder: Path
    log: Path
    asked: threading.Event = field(default_factory=threading.Event)
    work: queue.Queue[tuple[str, bytes, int]] = field(default_factory=queue.Queue)
    answers: queue.Queue[tuple[str, bytes]] = field(default_factory=queue.Queue)

    def __post_init__(self) -> None:
        self.server = Server(("127.0.0.1", 0), _runtime_api(self))
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        variables = {**self.variables, "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{self.server.server_address[1]}"}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.command, cwd=self.folder, env=variables, stdout=log, stderr=log)

    def ready(self) -> bool:
        """Whether the module was imported: then the runtime asks for its first invocation."""
        deadline = time.monotonic() + INIT_S
        while not self.asked.wait(0.02):
            if self.process.poll() is not None or time.monotonic() > deadline:
                return False
        return True

    def answer(self, deadline: float) -> tuple[str, bytes]:
        """The result of the invocation. Raises `queue.Empty` at the deadline and `ChildProcessError` if the process died."""
        while (left := deadline - time.monotonic()) > 0:
            died = self.process.poll() is not None
            try:
                return self.answers.get(timeout=min(left, 0.2))
            except queue.Empty:
                if died:
                    raise ChildProcessError from None
        raise queue.Empty

    def freeze(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.server.shutdown()
        self.server.server_close()


def _trace() -> str:
    return f"Root=1-{int(time.time()):08x}-{uuid4().hex[:24]};Parent={uuid4().hex[:16]};Sampled=1"  # noqa: TID251 - what AWS says


def _runtime_api(environment: Environment) -> type[BaseHTTPRequestHandler]:
    class RuntimeApi(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:  # /2018-06-01/runtime/invocation/next
            environment.asked.set()
            request_id, event, deadline_ms = environment.work.get()
            self.send_response(200)
            self.send_header("Lambda-Runtime-Aws-Request-Id", request_id)
            self.send_header("Lambda-Runtime-Deadline-Ms", str(deadline_ms))
            self.send_header("Lambda-Runtime-Invoked-Function-Arn", environment.variables["FUNCTION_ARN"])
            self.send_header("Lambda-Runtime-Trace-Id", _trace())
            self._body(event)

        def do_POST(self) -> None:  # …/invocation/{id}/response, …/invocation/{id}/error, …/init/error
            data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            environment.answers.put((self.path.rpartition("/")[2], data))
            self.send_response(202)
            self._body(b'{"status":"OK"}')

        def _body(self, data: bytes) -> None:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            return

    return RuntimeApi


class LambdaFunction:
    """A deployed function: `folder` has `app.py`, `path` the layers. `credentials` is called at every cold start."""

    def __init__(
        self, name: str, folder: Path, path: Sequence[Path], variables: Mapping[str, str], *, timeout_s: float, logs: Path,
        memory: int = 512, python: Path = Path(sys.executable), credentials: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self.name = name
        self.log = logs / f"{name}.log"
        self.cold_starts = 0
        self.killed = 0
        self._folder = folder
        self._variables = {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TZ": ":UTC",
            "PYTHONPATH": os.pathsep.join(map(str, (folder, *path))),
            "LAMBDA_TASK_ROOT": str(folder),
            "_HANDLER": "app.handler",
            "FUNCTION_ARN": f"arn:aws:lambda:us-east-1:000000000000:function:{name}",
            "AWS_LAMBDA_FUNCTION_NAME": name,
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(memory),
            "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
            "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{name}",
            "AWS_LAMBDA_LOG_STREAM_NAME": uuid4().hex,
            **variables,
        }
        self._timeout_s = timeout_s
        self._credentials = credentials
        self._command = [str(python), "-m", "awslambdaric", "app.handler"]
        self._idle: list[Environment] = []
        self._all: list[Environment] = []
        self._lock = threading.Lock()

    def invoke(self, event: Any, timeout_s: float | None = None) -> Answer:
        """One invocation. At the deadline the environment is killed, and the answer's error is `Sandbox.Timedout`. What is longer
        than PAYLOAD_BYTES is refused, as on AWS."""
        sent = json.dumps(event).encode()
        if len(sent) > PAYLOAD_BYTES:
            return Answer(None, {"errorType": "RequestTooLargeException", "errorMessage": f"{len(sent)} bytes"}, False, 0)
        with self._lock:
            environment = self._idle.pop() if self._idle else None
        cold = environment is None
        if environment is None:
            environment = self._start()
        else:
            environment.thaw()
        started, seconds = time.monotonic(), timeout_s or self._timeout_s
        deadline_ms = int((time.time() + seconds) * 1000)  # noqa: TID251 - what AWS would say
        environment.work.put((str(uuid4()), sent, deadline_ms))
        try:
            how, data = environment.answer(started + seconds)
        except queue.Empty:
            self.killed += 1
            self._drop(environment)
            how, data = "error", b'{"errorType": "Sandbox.Timedout", "errorMessage": "Task timed out"}'
        except ChildProcessError:
            self._drop(environment)
            how, data = "error", b'{"errorType": "Runtime.ExitError", "errorMessage": "Runtime exited"}'
        else:
            environment.freeze()
            with self._lock:
                self._idle.append(environment)
        if how == "response" and len(data) > PAYLOAD_BYTES:
            how, data = "error", b'{"errorType": "Function.ResponseSizeTooLarge", "errorMessage": "%d bytes"}' % len(data)
        value = json.loads(data) if data else None
        duration_ms = (time.monotonic() - started) * 1000
        return Answer(value, None, cold, duration_ms) if how == "response" else Answer(None, value, cold, duration_ms)

    def _start(self) -> Environment:
        environment = Environment(self._command, {**self._variables, **self._credentials()}, self._folder, self.log)
        with self._lock:
            self._all.append(environment)
            self.cold_starts += 1
        if not environment.ready():
            self._drop(environment)
            raise RuntimeError(f"{self.name} does not start:\n{self.log.read_text()[-4000:]}")
        return environment

    def _drop(self, environment: Environment) -> None:
        environment.kill()
        with self._lock:
            if environment in self._all:  # `close` may have dropped it while it started
                self._all.remove(environment)

    def close(self) -> None:
        for environment in list(self._all):
            self._drop(environment)
