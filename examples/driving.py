"""What the demos of the examples share: a server as a child process, checks that print a line each, and signed requests."""

from __future__ import annotations

import hashlib
import hmac
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx

HERE = Path(__file__).resolve().parent
API_KEY = "a-key-of-the-demo"
START_S, STEP_S = 30, 20


class Broken(Exception):
    """A check that failed."""


def check(holds: bool, said: str) -> None:
    if not holds:
        raise Broken(said)
    print(f"  ✓ {said}")


def chapter(text: str) -> None:
    print(f"\n{text}")


class Server:
    """`stepless dev` as a child process, over one file; stopped only by SIGKILL. `settings` are variables of its environment."""

    def __init__(self, example: str, folder: Path, settings: Mapping[str, str]) -> None:
        self.folder = folder
        self.port = "0"
        self.process: subprocess.Popen[bytes] | None = None
        self._example, self._settings = example, {**settings, "STEPLESS_API_KEY": API_KEY}

    def start(self) -> str:
        """Its URL, once it listens. Later starts use the same port again, so that links stay valid."""
        port_file = self.folder / "url"
        port_file.unlink(missing_ok=True)
        command = [
            sys.executable, "-m", "stepless", "dev", str(HERE / self._example), "--db", str(self.folder / "demo.db"),
            "--port", self.port, "--port-file", str(port_file),
        ]  # fmt: skip
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env={**os.environ, **self._settings}
            )
        deadline = time.monotonic() + START_S
        while not port_file.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Broken(f"the server did not start:\n{(self.folder / 'server.log').read_text()}")
            time.sleep(0.02)
        url = port_file.read_text()
        self.port = url.rpartition(":")[2]
        return url

    @property
    def pid(self) -> int:
        return self.process.pid if self.process is not None else 0

    def kill(self) -> None:
        """SIGKILL: the process cannot flush or close anything."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(START_S)
            self.process = None


def signed_by(secret: str, header: str, body: bytes) -> Mapping[str, str]:
    """The headers of a signed webhook: a time, and the MAC of time and body."""
    seconds = int(time.time())
    mac = hmac.new(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
    return {"Content-Type": "application/json", header: f"t={seconds},v1={mac}"}


def asked(client: httpx.Client, method: str, url: str, **more: Any) -> Any:
    response = client.request(method, url, **more)
    if response.is_error:
        raise Broken(f"{method} {url} was answered {response.status_code}: {response.text}")
    return response.json()


def played(example: str, settings: Callable[[Path], Mapping[str, str]], play: Callable[[Server, httpx.Client], None]) -> int:
    """Plays a demo over a temporary folder. Returns the exit status: 0 only if every check held."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="stepless-demo-") as name:
        folder = Path(name)
        server = Server(example, folder, settings(folder))
        try:
            with httpx.Client(headers={"Authorization": f"Bearer {API_KEY}"}, timeout=STEP_S, trust_env=False) as client:
                play(server, client)
        except (Broken, httpx.HTTPError) as error:
            print(f"\n✗ {error}", file=sys.stderr)
            return 1
        finally:
            server.kill()
    print(f"\nAll checks passed, in {time.monotonic() - began:.1f} s.")
    return 0
