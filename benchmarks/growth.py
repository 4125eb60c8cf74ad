"""How time, stored bytes and memory grow with the size of a run. Each size is measured in a separate process, over a SQLite file.

    python -m benchmarks.growth publish W4 10000 FILE      publishes the workflow; prints one line of JSON when done
    python -m benchmarks.growth measure W4 10000 FILE      runs it; prints one line of JSON

One process publishes the workflow and another runs it, so that the time to check the document is not part of the run's.
"""

from __future__ import annotations

import asyncio
import gc
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.cases import CASES
from benchmarks.engine import Engine
from benchmarks.sample import Sample

NODES = (100, 1_000, 10_000, 100_000)  # of a graph
DYNAMIC_NODES = (*NODES, 1_000_000)  # of the turns of a loop
REPEAT = {100: 60, 1_000: 12, 10_000: 4, 100_000: 2}
CASES_THAT_GROW = {"W1": NODES, "W2": NODES, "W4": NODES, "W5": DYNAMIC_NODES}
_BARE = "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"


def size(case: str, nodes: int) -> int:
    """The `n` of a case for a number of nodes: a loop counts its turns, a fan-out the nodes between its ends."""
    return {"W2": nodes - 2, "W5": nodes // 3}.get(case, nodes)


def publish(case: str, nodes: int, path: Path) -> None:
    Engine(CASES[case](size(case, nodes)).document, path).close()


def measure(case: str, nodes: int, path: Path, repeat: int) -> Sample:
    """Runs a workflow that was published to `path`. Bytes are those of the file and of the log in it, per run; memory is that
    of the first run, above a bare interpreter."""
    sample = Sample(case, "SQLite NORMAL", nodes, nodes)
    bare = int(subprocess.run([sys.executable, "-c", _BARE], capture_output=True, check=True).stdout)
    empty = path.stat().st_size
    engine = Engine(None, path)
    sample.facts["load_s"] = _load(engine)
    sample.facts["graph_memory_bytes"] = (peak_kb() - bare) * 1024
    for number in range(repeat):
        gc.collect()
        cpu = time.process_time()
        sample.wall.append(engine.run_once())
        sample.cpu.append(time.process_time() - cpu)
        if number == 0:
            sample.facts["memory_bytes"] = (peak_kb() - bare) * 1024
            gc.collect()
            sample.facts["left_memory_bytes"] = (status_kb("VmRSS") - bare) * 1024
    engine.close()
    sample.facts["file_bytes"] = (path.stat().st_size - empty) / repeat
    sample.facts["log_bytes"], sample.facts["events"] = (total / repeat for total in stored(path))
    return sample


def _load(engine: Engine) -> float:
    """Seconds to read and compile what was published."""
    before = time.perf_counter()
    version = engine.local.world.store.newest_version("benchmark")
    if version is None:
        raise RuntimeError("nothing was published")
    engine.local.world.versions.graph("benchmark", version.hash, None)
    return time.perf_counter() - before


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
    return status_kb("VmHWM")


def status_kb(name: str) -> int:
    """A line of the status of this process."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(f"{name}:"))


def main() -> int:
    what, case, nodes, path = sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4])
    if what == "publish":
        publish(case, nodes, path)
        print(Sample(case, "SQLite NORMAL", nodes, nodes).line(), flush=True)
        return 0
    asyncio.run(asyncio.sleep(0))  # what the first event loop imports is not part of the first repetition
    print(measure(case, nodes, path, REPEAT.get(nodes, 1)).line(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
