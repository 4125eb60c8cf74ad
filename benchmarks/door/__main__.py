"""W11: webhook in, three functions, answer out, on `stepless dev` with SQLite, and on plain FastAPI with a commit per function.

    python -m benchmarks.door        prints one line of JSON per case and variant

Both servers run at the same time, in processes of their own, and are asked in turn. `one connection` is the median of requests
one after the other on one kept connection; `50 connections` is the time of many requests divided by their number. The requests
that do not wait are measured until the server has answered all of them; their runs go on meanwhile and afterwards, and have ended
before the next round. CPU is the CPU time of the server, per request, until its runs have ended.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks.door import CASES, CONNECTIONS, client, loads
from benchmarks.sample import Sample

ROOT = Path(__file__).parents[2]
ROUNDS = 9
ONE, MANY = 60, 300
START_S = 30
BODY = json.dumps({"pieces": 5}).encode()
PATHS = {"wait": ("/hooks/quotes", 200), "start": ("/hooks/orders", 202)}
VARIANTS = ("floor, SQLite NORMAL", "SQLite NORMAL")
IDLE_S, SETTLE_S = 0.1, 10  # a server is done when it used no CPU time for so long


class Server(NamedTuple):
    url: str
    pid: int

    def cpu_s(self) -> float:
        """The CPU time of the process so far; 0 where the system has no /proc."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def settle(self) -> None:
        """Waits until the server has nothing more to do, at most SETTLE_S."""
        end = time.monotonic() + SETTLE_S
        used, now = -1.0, self.cpu_s()
        while now > used and time.monotonic() < end:
            time.sleep(IDLE_S)
            used, now = now, self.cpu_s()


@contextmanager
def served(command: list[str], folder: Path) -> Iterator[Server]:
    """A server in a process of its own."""
    port_file = folder / "url"
    paths = os.pathsep.join([str(ROOT / "engine"), str(ROOT)])
    variables = {**os.environ, "PYTHONPATH": paths, "STEPLESS_API_KEY": "benchmark"}
    log = (folder / "log").open("wb")
    process = subprocess.Popen([*command, str(port_file)], cwd=folder, env=variables, stdout=log, stderr=log)
    try:
        until = time.monotonic() + START_S
        while not port_file.exists():
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{command} did not start: {(folder / 'log').read_text()[-500:]}")
            time.sleep(0.02)
        yield Server(port_file.read_text().strip(), process.pid)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        log.close()


def measure() -> list[Sample]:
    samples: dict[tuple[str, str], Sample] = {}
    with tempfile.TemporaryDirectory() as scratch:
        bare, ours = Path(scratch) / "bare", Path(scratch) / "ours"
        bare.mkdir()
        ours.mkdir()
        for name, workflow in loads.workflows().items():
            (ours / f"{name}.json").write_text(json.dumps(workflow))
        commands = (
            [sys.executable, "-m", "benchmarks.door.bare_server", str(bare)],
            [sys.executable, "-m", "stepless", "dev", str(ours), "--port", "0", "--modules", loads.__name__, "--port-file"],
        )
        with served(commands[0], bare) as floor, served(commands[1], ours) as engine:
            for round_ in range(ROUNDS + 1):
                for case in CASES:
                    for variant, server in zip(VARIANTS, (floor, engine), strict=True):
                        sample = samples.setdefault((case, variant), Sample(case, variant, 1, 1))
                        wall, cpu = _asked(case, server)
                        if round_:
                            sample.wall.append(wall)
                            sample.cpu.append(cpu)
    return list(samples.values())


def _asked(case: str, server: Server) -> tuple[float, float]:
    """Seconds of a request, and of the server's CPU time."""
    path, status = PATHS[case.split()[1].strip(",")]
    requests, before = (ONE, server.cpu_s()) if case.endswith("one connection") else (MANY, server.cpu_s())
    if requests == ONE:
        wall = statistics.median(asyncio.run(client.one_after_the_other(server.url, path, BODY, status, ONE)))
    else:
        wall = asyncio.run(client.at_once(server.url, path, BODY, status, MANY, CONNECTIONS)) / MANY
    server.settle()
    return wall, (server.cpu_s() - before) / requests


def main() -> int:
    for sample in measure():
        print(sample.line(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
