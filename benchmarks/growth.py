"""How time, stored bytes and memory grow with the size of a run. Every size in a process of its own, over a SQLite file.

    python -m benchmarks.growth W4 10000 3      prints one line of JSON

A run is published by another process than the one that runs it: what checking a document takes is not what running it takes.
"""

from __future__ import annotations

import asyncio
import gc
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.cases import CASES
from benchmarks.engine import Engine
from benchmarks.sample import Sample

NODES = (100, 1_000, 10_000, 100_000)
REPEAT = {100: 20, 1_000: 5, 10_000: 2, 100_000: 1}
CASES_THAT_GROW = ("W1", "W2", "W4", "W5")
_BARE = "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
_PUBLISH = "import sys; from benchmarks.growth import publish; publish(sys.argv[1], int(sys.argv[2]), sys.argv[3])"


def size(case: str, nodes: int) -> int:
    """What a case calls n, for so many nodes: a loop counts its turns, a fan-out what is between its ends."""
    return {"W2": nodes - 2, "W5": nodes // 3}.get(case, nodes)


def publish(case: str, nodes: int, path: str) -> None:
    Engine(CASES[case](size(case, nodes)).document, Path(path)).close()


def measure(case: str, nodes: int, repeat: int) -> Sample:
    """Runs of one size. Bytes are those of the file and of the log in it, memory is the peak above a bare interpreter."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        before = time.perf_counter()
        subprocess.run([sys.executable, "-c", _PUBLISH, case, str(nodes), str(path)], check=True)
        sample = Sample(case, "SQLite NORMAL", nodes, nodes, facts={"publish_s": time.perf_counter() - before})
        empty = path.stat().st_size
        engine = Engine(None, path)
        before = time.perf_counter()
        version = engine.local.service.workflow("benchmark")
        if version is None:
            raise RuntimeError("nothing was published")
        engine.local.service.versions.graph("benchmark", version.hash, None)
        sample.facts["load_s"] = time.perf_counter() - before
        loaded = peak_kb()
        for _ in range(repeat):
            cpu = time.process_time()
            sample.wall.append(engine.run_once())
            sample.cpu.append(time.process_time() - cpu)
        gc.collect()
        left = _status_kb("VmRSS")
        engine.close()
        peak = peak_kb()
        bare = int(subprocess.run([sys.executable, "-c", _BARE], capture_output=True, check=True).stdout)
        sample.facts["memory_bytes"] = (peak - bare) * 1024
        sample.facts["left_memory_bytes"] = (left - bare) * 1024
        sample.facts["graph_memory_bytes"] = (loaded - bare) * 1024
        sample.facts["file_bytes"] = (path.stat().st_size - empty) / repeat
        sample.facts["log_bytes"], sample.facts["events"] = (total / repeat for total in stored(path))
        return sample


def stored(path: Path) -> tuple[int, int]:
    """Bytes of all batches in a file, and how many events they hold."""
    connection = sqlite3.connect(path)
    try:
        found: tuple[int, int] = connection.execute("SELECT sum(length(data)), sum(last - first + 1) FROM log").fetchone()
        return found
    finally:
        connection.close()


def peak_kb() -> int:
    """The most memory that this process has had. (`ru_maxrss` would count that of the process which started it.)"""
    return _status_kb("VmHWM")


def _status_kb(name: str) -> int:
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(f"{name}:"))


def main() -> int:
    case, nodes = sys.argv[1], int(sys.argv[2])
    if nodes >= NODES[-1]:
        asyncio.run(asyncio.sleep(0))  # what the first event loop imports is no part of the only repetition
    print(measure(case, nodes, REPEAT.get(nodes, 1)).line(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
