"""Emulators of AWS, each a child process of its caller, on a free port of this machine only.

They are installed on first use into .tools/, from the lock files beside this module; where that is not possible `Missing` says
why. Neither is AWS: a behaviour that only one of them shows is not yet proven.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

HERE = Path(__file__).resolve().parent
TOOLS = HERE.parents[2] / ".tools" / "emulators"
INSTALL_SECONDS = 300
START_SECONDS = 30


class Missing(Exception):
    """An emulator cannot be installed or started here."""


@contextmanager
def dynoxide() -> Iterator[str]:
    """Yields the address of a DynamoDB: one static binary over SQLite, in memory."""
    program = _installed("dynoxide", HERE / "package-lock.json")
    port = _free_port()
    with _serving([str(program), "--host", "127.0.0.1", "--port", str(port)], port, {}) as address:
        yield address


@contextmanager
def ministack(**further: str) -> Iterator[str]:
    """Yields the address of all services; `further` are settings of the emulator, as environment variables."""
    program = _installed("ministack", HERE / "ministack.txt")
    port = _free_port()
    settings = {"GATEWAY_PORT": str(port), "BIND_HOST": "127.0.0.1", "IOT_MTLS_ENABLED": "0", "LOG_LEVEL": "ERROR", **further}
    with _serving([str(program), str(HERE / "corrected_ministack.py")], port, settings) as address:
        yield address


# -- installing ------------------------------------------------------------------------------------------------------


def _installed(name: str, lock: Path) -> Path:
    """The program of an emulator. One process at a time installs it, and again when its lock file has changed."""
    folder = TOOLS / name
    folder.mkdir(parents=True, exist_ok=True)
    with (TOOLS / f"{name}.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        stamp = folder / "installed"
        if not stamp.exists() or stamp.read_bytes() != lock.read_bytes():
            _INSTALL[name](folder)
            stamp.write_bytes(lock.read_bytes())
    return folder / _PROGRAM[name]


def _install_dynoxide(folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise Missing("dynoxide, an emulator of DynamoDB, is installed by npm, which is missing: install Node.js")
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, folder / name)
    _run([npm, "ci", "--no-audit", "--no-fund", "--prefix", str(folder)])
    if not (folder / _PROGRAM["dynoxide"]).exists():
        raise Missing("dynoxide, an emulator of DynamoDB, has no build for this machine (Linux on x86-64 has one), or npm failed")


def _install_ministack(folder: Path) -> None:
    """Installed in a separate environment, since it pins another botocore."""
    shutil.rmtree(folder / "venv", ignore_errors=True)
    _run([sys.executable, "-m", "venv", str(folder / "venv")])
    pip = [str(folder / "venv/bin/python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
    _run([*pip, "-r", str(HERE / "ministack.txt")])


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Missing(f"an emulator cannot be installed, it needs {command[0]} and a package registry: {error}") from error
    if done.returncode != 0:
        said = done.stderr.strip()[-300:]
        raise Missing(f"an emulator cannot be installed, it needs a package registry; {' '.join(command[:3])} says: {said}")


_INSTALL = {"dynoxide": _install_dynoxide, "ministack": _install_ministack}
_PROGRAM = {"dynoxide": "node_modules/@dynoxide/linux-x64/dynoxide", "ministack": "venv/bin/python"}


# -- running ---------------------------------------------------------------------------------------------------------


@contextmanager
def _serving(command: list[str], port: int, settings: dict[str, str]) -> Iterator[str]:
    """A server that accepts connections on the port, until the block ends."""
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(TOOLS), **settings}
    server = subprocess.Popen(command, cwd=TOOLS, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_for(server, port)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        try:
            server.wait(5)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait(5)


def _wait_for(server: subprocess.Popen[bytes], port: int) -> None:
    pause = Event()
    for _ in range(START_SECONDS * 20):
        if server.poll() is not None:
            break
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            pause.wait(0.05)
    raise Missing(f"an emulator did not start within {START_SECONDS} s: {server.args}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
