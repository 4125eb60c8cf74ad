"""W9, reload of a large run from its snapshot and the tail of its log; W10, the ends of a long replay.

    python -m benchmarks.reload 10000        prints one line of JSON
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import shapes, workloads
from benchmarks.engine import Engine, timed
from benchmarks.growth import peak_kb
from benchmarks.sample import Sample
from stepless.runtime.runlog import RunLog

EVENTS = 100_000
EVENTS_PER_TURN = 8  # approximate: three starts, three ends, and the events of the loop
PAGE = 500
_PAUSE = "import sys; from benchmarks.reload import pause; pause(int(sys.argv[1]), sys.argv[2])"


def document(nodes: int) -> workloads.Document:
    """A layered DAG, then two questions in a row: the snapshot is taken at the first, and the events after it are the tail."""
    made = workloads.graph(shapes.layered(nodes))
    above = {parent for node in made["nodes"].values() for parent in node.get("after", ())}
    leaves = [name for name in made["nodes"] if name not in above]
    ask = {"type": "approval", "with": {"message": "Go on?"}}
    step = {"type": "function", "with": {"call": "benchmark.echo"}}
    made["nodes"] |= {"first": {**ask, "after": leaves}, "second": {**ask, "after": "first.approved"}}
    made["nodes"]["last"] = {**step, "after": "second.approved"}
    return made


def pause(nodes: int, path: str) -> None:
    """Runs to the second question, and prints the run's id."""
    engine = Engine(document(nodes), Path(path))

    async def both() -> str:
        run_id = await engine.run("paused")
        await engine.decide(run_id, "first", "paused")
        return run_id

    print(asyncio.run(both()))
    engine.close()


def reload(nodes: int) -> Sample:
    """Time to load a run, then from the answer to its end, in a process that has not loaded it before."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        paused = subprocess.run([sys.executable, "-c", _PAUSE, str(nodes), str(path)], check=True, capture_output=True, text=True)
        run_id = paused.stdout.strip()
        engine, sample = Engine(None, path), Sample("W9", "SQLite NORMAL", nodes, 1)
        world = engine.local.world
        head = world.store.get_run(run_id)
        snapshot = world.store.get_snapshot(run_id)
        if head is None or snapshot is None:
            raise RuntimeError("there is no run, or no snapshot of it")
        before = time.perf_counter()
        graph = world.versions.graph(head.workflow_id, head.version, None)
        sample.facts["graph_s"] = time.perf_counter() - before
        without = peak_kb()
        cpu, before = time.process_time(), time.perf_counter()
        state = RunLog(world.store, world.blobs, run_id).load(graph)
        sample.wall.append(time.perf_counter() - before)
        sample.cpu.append(time.process_time() - cpu)
        sample.facts |= {"state_memory_mb": (peak_kb() - without) / 1024, "snapshot_bytes": len(snapshot[1])}
        sample.facts["tail_events"] = state.sequence - snapshot[0]
        sample.facts["step_s"] = asyncio.run(timed(engine.decide(run_id, "second")))
        sample.facts["peak_mb"] = peak_kb() / 1024
        engine.close()
        return sample


def replay(events: int) -> Sample:
    """The first and the last tenth of a replay, page by page, as the API reads it. `late` over `early` is the extra cost of
    pages at the end of the log."""
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine(workloads.loop(events // EVENTS_PER_TURN), Path(folder) / "runs.db")
        run_id = asyncio.run(engine.run())
        head = engine.local.world.store.get_run(run_id)
        total = head.sequence if head is not None else 0
        tenth = total // 10
        sample = Sample("W10", "SQLite NORMAL", total, tenth)
        early, late = ([_read(engine, run_id, after, tenth) for _ in range(3)] for after in (0, total - tenth))
        sample.wall = early
        sample.facts = {"early_s": sorted(early)[1], "late_s": sorted(late)[1]}
        engine.close()
        return sample


def _read(engine: Engine, run_id: str, after: int, events: int) -> float:
    before, end = time.perf_counter(), after + events
    while after < end:
        page = engine.local.service.events(run_id, after=after, limit=min(PAGE, end - after))
        after = page.cursor
    return time.perf_counter() - before


def main() -> int:
    print(reload(int(sys.argv[1])).line(), flush=True)
    print(replay(int(sys.argv[2])).line(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
