"""A terminal for the commands of a page: its own folder, variables that persist from block to block, and servers in the
background, on a free port instead of the one that the page names."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path
from threading import Thread, Timer

from pages import ROOT

PATIENCE_S = 120
PROGRAMS = {"stepless": "-m stepless", "python": "", "python3": "", "pytest": "-m pytest -p no:cacheprovider"}
PORTS = ("8400", "8500")  # that pages name: that of `stepless dev`, and one for others. Free ones stand for them
READY = "Ctrl-C stops."
SERVER = re.compile(r"^(?:(?P<variables>(?:\w+=\S+ )*))(?P<command>stepless dev\b[^>&]*)(?:>+ ?(?P<log>\S+) )?&$")


class Terminal:
    """Runs one command after the other, as a shell does. No command uses the network beyond this machine."""

    def __init__(self, folder: Path, state: Path) -> None:
        self.folder = folder
        self._state = state
        self._servers: list[subprocess.Popen[str]] = []
        with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
            self._ports = dict(zip(PORTS, (str(free.getsockname()[1]) for free in (one, other)), strict=True))
        (state / "bin").mkdir(parents=True)
        for name, start in PROGRAMS.items():
            program = state / "bin" / name
            program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {start} "$@"\n')
            program.chmod(0o755)
        kept = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ}
        self._environment = {
            **kept, "PATH": f"{state / 'bin'}:/usr/local/bin:/usr/bin:/bin", "PYTHONPATH": str(ROOT / "engine"), "COLUMNS": "80",
            "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1",
        }  # fmt: skip

    def run(self, command: str) -> tuple[str, int]:
        """The output of a command, errors included, and its exit code. Waits until a server in the background listens,
        and until it has ended after it was killed."""
        command = self.here(command)
        if (server := SERVER.match(command)) is not None:
            return self._serve(server["variables"] + server["command"].strip(), server["log"]), 0
        killed = self._servers[-1:] if command.startswith("kill ") else []
        for running in self._servers[-1:]:
            command = command.replace("$!", str(running.pid))
        script = f'set -a; . {self._file("variables")}; cd "$(cat {self._file("folder")})"\n{command}\n' + self._keep()
        ended = subprocess.run(
            ["bash", "-c", self._begin() + script], cwd=self.folder, env=self._environment, text=True, check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE_S,
        )  # fmt: skip
        for server in killed:
            server.wait(PATIENCE_S)
        return ended.stdout, ended.returncode

    def python(self, text: str) -> tuple[str, int]:
        """The output of a program, and its exit code. Not a file of the folder: a server that watches it would load it."""
        program = self._state / "program.py"
        program.write_text(self.here(text), "utf-8")
        return self.run(f"PYTHONPATH=.:$PYTHONPATH python {shlex.quote(str(program))}")

    def here(self, text: str) -> str:
        """A text with the ports of this terminal instead of those that pages name."""
        return re.sub(rf"\b({'|'.join(PORTS)})\b", lambda named: self._ports[named[1]], text)

    def _file(self, name: str) -> str:
        return shlex.quote(str(self._state / name))

    def _begin(self) -> str:
        if (self._state / "variables").exists():
            return ""
        return f"export -p > {self._file('variables')}; pwd > {self._file('folder')}\n"

    def _keep(self) -> str:
        return f"status=$?; export -p > {self._file('variables')}; pwd > {self._file('folder')}; exit $status"

    def _serve(self, command: str, log: str | None) -> str:
        self.run("true")  # so that there are variables to begin with
        variables, _, words = command.rpartition("stepless dev")
        script = f'set -a; . {self._file("variables")}; cd "$(cat {self._file("folder")})"; {variables}\n'
        server = subprocess.Popen(
            ["bash", "-c", f"{script}exec stepless dev --port {self._ports[PORTS[0]]}{words}"],
            cwd=self.folder, env=self._environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self._servers.append(server)
        watchdog = Timer(PATIENCE_S, server.kill)
        watchdog.start()
        assert server.stdout is not None
        said = []
        for line in server.stdout:
            said.append(line)
            if READY in line:
                break
        watchdog.cancel()
        if not said or READY not in said[-1]:
            server.stdout.close()
            raise AssertionError("".join(said))
        target = self.folder / log if log else None
        if target is not None:
            target.write_text("".join(said))
        Thread(target=_drain, args=(server, target), daemon=True).start()
        return "" if log else "".join(said)

    def close(self) -> None:
        """Ends what is still running in the background."""
        for server in self._servers:
            if server.poll() is None:
                server.send_signal(signal.SIGKILL)
            server.wait(PATIENCE_S)


def _drain(server: subprocess.Popen[str], target: Path | None) -> None:
    assert server.stdout is not None
    with server.stdout as lines:
        for line in lines:
            if target is not None:
                with target.open("a") as log:
                    log.write(line)


# -- comparing what is shown with what was said -----------------------------------------------------------------------

_SAME = (  # values that differ from run to run, and their placeholders
    (re.compile(r"\brun_[0-9a-f]{12,}"), "run_…"),
    (re.compile(r"\bkey_[0-9a-f]{12}"), "key_…"),
    (re.compile(r"/resume/[\w.-]+"), "/resume/…"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ][\d:.]+(?:Z|[+-]\d\d:\d\d)?"), "…"),
    (re.compile(r"\bProcess \d+"), "Process …"),
    (re.compile(r"\b\d+(?:\.\d+)? ?(?:ms|s)\b"), "…"),
    (re.compile(r"[ \t▏▎▍▌▋▊▉█░▒]+"), " "),
    (re.compile(r"(127\.0\.0\.1):\d+"), r"\1:…"),
)


def plain(text: str) -> list[str]:
    """The lines of an output without values that differ from run to run."""
    for pattern, instead in _SAME:
        text = pattern.sub(instead, text)
    return [line.strip() for line in text.splitlines() if line.strip()]


def agrees(shown: str, said: str) -> bool:
    """Whether an output is what a page shows. There `…` stands for any text, and alone in a line for any lines."""
    pattern = ["(?:.*\n)*?" if line == "…" else ".*?".join(map(re.escape, line.split("…"))) + "\n" for line in plain(shown)]
    return re.fullmatch("".join(pattern), "".join(f"{line}\n" for line in plain(said))) is not None
