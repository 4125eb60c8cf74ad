"""W11: webhook in, three functions, answer out, on `stepless dev` with SQLite, and on plain FastAPI with a commit per function.

    python -m benchmarks.door        prints one line of JSON per case and variant

Both servers run at the same time, in processes of their own, and are asked in turn. `one connection` is the median of requests one
after the other on one kept connection; `50 connections` is the time of many requests divided by their number. The requests that do
not wait are measured until the server has answered all of them; their runs go on afterwards, and have ended before the next round.
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

from benchmarks.door import client, loads
from benchmarks.sample import Sample

ROOT = Path(__file__).parents[2]
ROUNDS = 5
ONE, MANY, CONNECTIONS = 100, 500, 50
START_S = 30
BODY = json.dumps({"pieces": 5}).encode()
PATHS = {"wait": ("/hooks/quotes", 200), "start": ("/hooks/orders", 202)}
VARIANTS = ("floor, FastAPI and SQLite NORMAL", "stepless dev, SQLite NORMAL")


@contextmanager
def served(command: list[str], folder: Path) -> Iterator[str]:
    """The URL of a server in a process of its own."""
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
        yield port_file.read_text().strip()
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
            [sys.executable, "-m", "stepless", "dev", str(ours), "--port", "0", "--modules", "benchmarks.door.loads", "--port-file"],
        )
        with served(commands[0], bare) as floor, served(commands[1], ours) as engine:
            for round_ in range(ROUNDS + 1):
                for variant, url in zip(VARIANTS, (floor, engine), strict=True):
                    for what, (path, status) in PATHS.items():
                        each = asyncio.run(client.one_after_the_other(url, path, BODY, status, ONE))
                        many = asyncio.run(client.at_once(url, path, BODY, status, MANY, CONNECTIONS))
                        for case, seconds in ((f"W11 {what}, one connection", statistics.median(each)),
                                              (f"W11 {what}, {CONNECTIONS} connections", many / MANY)):
                            sample = samples.setdefault((case, variant), Sample(case, variant, 1, 1))
                            if round_:
                                sample.wall.append(seconds)
                                sample.cpu.append(0.0)
    return list(samples.values())


def main() -> int:
    for sample in measure():
        print(sample.line(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
