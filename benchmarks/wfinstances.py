"""Real scientific workflow DAGs as workflows of function nodes, on the SQLite store.

    python -m benchmarks.wfinstances                 every DAG of the inputs folder, each in a separate process
    python -m benchmarks.wfinstances --kill 5        each also killed with SIGKILL at five random points and started again
    python -m benchmarks.wfinstances --only bwa

Checked for each: every task ran, none before its parents, the run completed, and (without --kill) each ran exactly once. With
--kill an interrupted task runs again, and a task whose completion was committed never does. The exit status is 0 only if all
of that holds and the time per node does not grow with the size.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stepless.core.events import EventType
from stepless.nodes.function import FunctionCall, function
from stepless.ports import RunFilter
from stepless.runtime.runlog import RunLog
from stepless.runtime.wiring.local import Local, local

INPUTS = Path(__file__).parents[2] / "shared" / "inputs" / "wfinstances"
GROWTH_TASKS = (1_004, 7_055)
GROWTH = 1.5  # time per node of the larger over that of the smaller of these two
PACE_S = 0.003  # how long a task takes if the process will be killed between tasks
MAX_LIVES = 60
LIFE_S = 120



@dataclass
class Life:
    """How the tasks of this process behave: the file that they write to, and how long they take."""

    journal: int = -1
    pace_s: float = 0.0


LIFE = Life()


@function("benchmark.task")
async def task(call: FunctionCall) -> str:
    """A task that only records that it ran."""
    os.write(LIFE.journal, f"{call.instance}\n".encode())
    if LIFE.pace_s:
        await asyncio.sleep(LIFE.pace_s)
    return call.instance


def load(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    dag: dict[str, Any] = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    return dag


def document(dag: Mapping[str, Any]) -> dict[str, Any]:
    """The DAG as a workflow: node `t<number>` for each task, `after` for each edge."""
    names = {node["id"]: f"t{number}" for number, node in enumerate(dag["nodes"])}
    nodes: dict[str, Any] = {name: {"type": "function", "with": {"call": "benchmark.task"}} for name in names.values()}
    for source, target in dag["edges"]:
        nodes[names[target]].setdefault("after", []).append(names[source])
    return {"id": "wfinstance", "nodes": nodes, "max_steps": max(10_000, 2 * len(nodes))}


async def drive(engine: Local, run_id: str) -> None:
    """Serves until the run has ended."""
    ended = asyncio.Event()

    def look(finished: str) -> None:
        head = engine.world.store.get_run(run_id)
        if head is not None and head.status not in ("created", "running", "paused"):
            ended.set()

    engine.host.on_ending = look
    serving = asyncio.create_task(engine.host.serve())
    look(run_id)
    await ended.wait()
    await engine.host.stop()
    await serving


def run_one(path: Path, db: Path, journal: Path, pace_s: float) -> dict[str, Any]:
    """One process: starts the run, or continues it after a killed process, until it ends."""
    LIFE.journal = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    LIFE.pace_s = pace_s
    workflow = document(load(path))
    engine = local(db)
    runs = engine.world.store.list_runs(RunFilter()).items
    before = time.perf_counter()
    if not runs:
        engine.service.publish(workflow)
        started = engine.service.start("wfinstance", {}, key="once").run_id
    else:
        started = runs[0].run_id
    published = time.perf_counter()
    asyncio.run(drive(engine, started))
    done = time.perf_counter()
    report = {"publish_s": published - before, "run_s": done - published, **check(engine, started, workflow)}
    engine.close()
    report["rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return report


def check(engine: Local, run_id: str, workflow: Mapping[str, Any]) -> dict[str, Any]:
    """Checks the log: starts and completions per task, order, gaps."""
    completed: dict[str, int] = {}
    faults: list[str] = []
    sequence = 0
    status = ""
    for event in RunLog(engine.world.store, engine.world.blobs, run_id).read():
        sequence += 1
        if event.sequence != sequence:
            faults.append(f"gap before event {event.sequence}")
        if event.type is EventType.NODE_STARTED:
            parents = workflow["nodes"][event.instance].get("after", [])
            if any(parent not in completed for parent in parents):
                faults.append(f"{event.instance} started before its parents")
            if event.instance in completed:
                faults.append(f"{event.instance} started after it had completed")
        elif event.type is EventType.NODE_COMPLETED:
            completed[event.instance] = completed.get(event.instance, 0) + 1
        elif event.type is EventType.RUN_COMPLETED:
            status = "completed"
    faults += [f"{task} completed {times} times" for task, times in completed.items() if times != 1]
    faults += [f"{task} never ran" for task in workflow["nodes"] if task not in completed]
    return {"status": status, "faults": faults[:5], "events": sequence}




def lives(path: Path, kills: int, seed: int) -> Iterator[dict[str, Any]]:
    """Runs a DAG in child processes, killing the first `kills` of them; yields the report of the last."""
    chance = random.Random(f"{path.name} {seed}")
    with tempfile.TemporaryDirectory() as folder:
        db, journal = Path(folder) / "runs.db", Path(folder) / "journal"
        command = [sys.executable, "-m", "benchmarks.wfinstances", "--one", str(path), "--db", str(db), "--journal", str(journal)]
        command += ["--pace", str(PACE_S if kills else 0)]
        tasks = len(load(path)["nodes"])
        moments = sorted(chance.randint(0, tasks) for _ in range(kills))  # in executions journaled so far
        killed = 0
        for _ in range(MAX_LIVES):
            child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            if moments and _reached(child, journal, moments.pop(0)):
                child.kill()
                child.communicate()
                killed += 1
                continue
            out, _ = child.communicate(timeout=LIFE_S)
            if child.returncode != 0:
                raise SystemExit(f"{path.name}: the child ended with status {child.returncode}")
            report: dict[str, Any] = json.loads(out)
            executions = journal.read_text().split()
            report["killed"], report["executions"] = killed, len(executions)
            if not killed and len(executions) != len(set(executions)):
                report["faults"].append("a task ran twice without a crash")
            yield report
            return
        raise SystemExit(f"{path.name}: not completed after {MAX_LIVES} processes")


def _reached(child: subprocess.Popen[str], journal: Path, executions: int) -> bool:
    """Waits until the journal has that many executions; False if the child ended before."""
    give_up = time.monotonic() + LIFE_S
    while time.monotonic() < give_up and child.poll() is None:
        if journal.exists() and journal.read_bytes().count(b"\n") >= executions:
            return True
        time.sleep(0.001)
    return False


def measure(paths: list[Path], kills: int, seed: int, repeat: int) -> int:
    columns = f"{'publish s':>9} {'run s':>7} {'µs/node':>8} {'RSS MB':>7} {'kills':>5} {'ran':>6}  verdict"
    print(f"{'DAG':<44} {'tasks':>6} {'edges':>6} {columns}")
    per_node: dict[int, float] = {}
    bad = 0
    for path in paths:
        dag = load(path)
        tasks = len(dag["nodes"])
        reports = [report for _ in range(repeat) for report in lives(path, kills, seed)]
        report = min(reports, key=lambda one: one["run_s"])
        good = all(one["status"] == "completed" and not one["faults"] for one in reports)
        bad += not good
        cost = report["run_s"] / tasks * 1e6
        per_node[tasks] = cost
        verdict = "ok" if good else f"WRONG {report['status']} {report['faults']}"
        name = path.name.removesuffix(".gz").removesuffix(".json")
        print(
            f"{name:<44} {tasks:>6} {len(dag['edges']):>6} {report['publish_s']:>9.2f} {report['run_s']:>7.2f} {cost:>8.0f} "
            f"{report['rss_mb']:>7.0f} {report['killed']:>5} {report['executions']:>6}  {verdict}",
            flush=True,
        )
    return bad + _judge_growth(per_node, kills)


def _judge_growth(per_node: Mapping[int, float], kills: int) -> int:
    smaller, larger = GROWTH_TASKS
    if kills or not per_node.keys() >= {smaller, larger}:
        return 0
    ratio = per_node[larger] / per_node[smaller]
    print(f"\ntime per node, {larger:,} tasks over {smaller:,} tasks: {ratio:.2f}x (at most {GROWTH}x)")
    return int(ratio > GROWTH)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kill", type=int, nargs="?", const=5, default=0, metavar="N", help="kill each run N times (5)")
    parser.add_argument("--only", default="", help="only DAGs whose name contains this")
    parser.add_argument("--seed", type=int, default=1, help="seed of the moments of killing")
    parser.add_argument("--repeat", type=int, default=1, help="take the best of this many runs")
    parser.add_argument("--inputs", type=Path, default=INPUTS, help="the folder of DAGs")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--db", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--journal", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--pace", type=float, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(run_one(options.one, options.db, options.journal, options.pace)))
        return 0
    if not options.inputs.is_dir():
        print(f"{options.inputs} is not there: name the folder of DAGs with --inputs", file=sys.stderr)
        return 2
    paths = [path for path in options.inputs.glob("0*.json*") if options.only in path.name]
    return 1 if measure(sorted(paths, key=lambda path: path.name), options.kill, options.seed, options.repeat) else 0


if __name__ == "__main__":
    sys.exit(main())
