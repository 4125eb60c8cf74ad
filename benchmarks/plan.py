"""The plan of the measurements: their order, their processes, and their time limits."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks import cases, floor, growth, reload, talking, wfinstances
from benchmarks.floor import Journal
from benchmarks.peers import environments
from benchmarks.report import kind
from benchmarks.sample import Sample, read

ROOT = Path(__file__).parents[1]
REPEAT, SECONDS = 9, 4.0  # by case: rounds, and the seconds after which no further one begins
CASE_TIMEOUT_S = 120
GROWTH_TIMEOUT_S = 300
TALK_TIMEOUT_S = 300
PEER_REPEAT, PEER_SECONDS, PEER_TIMEOUT_S, SERVER_TIMEOUT_S = 5, 4.0, 60, 240
REAL_TASKS = 900  # smaller real DAGs are too short to measure time per node
RELOAD_NODES = 10_000


def is_ours(sample: Sample) -> bool:
    return kind(sample) != "peer" or sample.case in ("import", "import without bytecode", "W8")


def run(module: str, *arguments: object, seconds: float, python: str | Path = sys.executable) -> tuple[list[Sample], str]:
    """The samples that a module prints, and the error if it failed."""
    command = [str(python), "-m", module, *(str(argument) for argument in arguments)]
    paths = os.pathsep.join([str(ROOT / "engine"), str(ROOT)]) if python == sys.executable else str(ROOT)
    variables = {**os.environ, "PYTHONPATH": paths}
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=ROOT, env=variables, stdout=pipe, stderr=pipe, text=True, process_group=0)
    try:
        output, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # a peer may have started a server
        output, _ = process.communicate()
        return list(read(output)), f"took more than {seconds:.0f} s"
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    samples = list(read(output))
    if process.returncode == 0 and samples:
        return samples, ""
    return samples, (errors.strip().splitlines() or [f"ended with status {process.returncode}"])[-1][:300]


def own(only: Sequence[str]) -> Iterator[Sample]:
    """The engine and the floors. `only` names cases, or: W8, W11 to W14, former, growth, reload, footprint, cost, cold."""
    parts: dict[str, Callable[[], Iterable[Sample]]] = {
        **{case: partial(one_case, case) for case in cases.CASES},
        "W8": real_dags,
        "W11": _module_part("benchmarks.door"),
        "former": _module_part("benchmarks.former"),
        "growth": grown,
        "reload": _module_part("benchmarks.reload", RELOAD_NODES, reload.EVENTS),
        "footprint": _module_part("benchmarks.footprint"),
        "cost": _module_part("benchmarks.cost"),
        "cold": _module_part("benchmarks.cold"),
        "W12": _module_part("benchmarks.round_trips"),
        "W13": talked,
        "W14": _module_part("benchmarks.talking", "keyed", talking.RUNS, seconds=TALK_TIMEOUT_S),
    }
    for part, measure in parts.items():
        if not only or part in only:
            yield from _printed(part, measure())


def _module_part(module: str, *arguments: object, seconds: float = CASE_TIMEOUT_S) -> Callable[[], list[Sample]]:
    def part() -> list[Sample]:
        samples, error = run(module, *arguments, seconds=seconds)
        return samples + ([Sample(module, "SQLite NORMAL", 1, 1, error=error)] if error else [])

    return part


def one_case(case: str) -> list[Sample]:
    """All variants of the engine, over all processes in which the case is measured."""
    n, repeat, processes = cases.SIZES[case], cases.REPEAT.get(case, REPEAT), cases.PROCESSES.get(case, 1)
    found: dict[str, Sample] = {}
    faults: list[Sample] = []
    for _ in range(processes):
        samples, error = run("benchmarks.cases", case, n, repeat, SECONDS / processes, seconds=CASE_TIMEOUT_S)
        faults += [Sample(case, "SQLite NORMAL", n, 1, error=error)] if error else []
        for sample in samples:
            first = found.setdefault(sample.variant, sample)
            if first is not sample:
                first.wall += sample.wall
                first.cpu += sample.cpu
    return [*found.values(), *faults]


def grown() -> Iterator[Sample]:
    """Every size of a case, one after the other, each alone. The workflows are published before, two at a time on two
    processors."""
    todo = [(case, nodes) for case, sizes in growth.CASES_THAT_GROW.items() for nodes in sizes]
    with tempfile.TemporaryDirectory() as folder:

        def act(what: str, case: str, nodes: int) -> tuple[Sample, float]:
            before, path = time.perf_counter(), Path(folder) / f"{case}-{nodes}.db"
            samples, error = run("benchmarks.growth", what, case, nodes, path, seconds=GROWTH_TIMEOUT_S)
            found = samples[0] if samples else Sample(case, "SQLite NORMAL", nodes, nodes, error=error)
            return found, time.perf_counter() - before

        with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
            published = list(pool.map(lambda each: act("publish", *each), todo))
        for (case, nodes), (there, publish_s) in zip(todo, published, strict=True):
            sample = there if there.error else act("measure", case, nodes)[0]
            yield replace(sample, case=f"growth {case}", facts={**sample.facts, "publish_s": publish_s})


def talked() -> Iterator[Sample]:
    """W13 for each number of messages, each alone in a process."""
    for messages in talking.MESSAGES:
        samples, error = run("benchmarks.talking", "entity", messages, seconds=TALK_TIMEOUT_S)
        yield from samples or [Sample(talking.ENTITY, talking.VARIANT, messages, messages, error=error)]


def real_dags() -> Iterator[Sample]:
    """The larger DAGs of the inputs folder, on SQLite and on the durable floor."""
    paths = sorted(wfinstances.INPUTS.glob("0*.json*")) if wfinstances.INPUTS.is_dir() else []
    if not paths:
        yield Sample("W8", "SQLite NORMAL", 1, 1, error="the folder of DAGs is not there")
    for path in paths:
        dag = wfinstances.load(path)
        tasks = len(dag["nodes"])
        if tasks < REAL_TASKS:
            continue
        numbers = {node["id"]: number for number, node in enumerate(dag["nodes"])}
        parents: list[list[int]] = [[] for _ in numbers]
        for source, target in dag["edges"]:
            parents[numbers[target]].append(numbers[source])
        name = path.name.split(".")[0].split("-", 1)[1]
        yield _bare(parents, name)
        for found in wfinstances.lives(path, 0, 1):
            faults = "; ".join(found["faults"])
            yield Sample("W8", f"SQLite NORMAL, {name}", tasks, tasks, [found["run_s"]], facts=found, error=faults)


def _bare(parents: list[list[int]], name: str) -> Sample:
    case = cases.Case({}, lambda journal, run_name: floor.run(parents, journal, run_name), len(parents))
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder) / "floor.db", "NORMAL")
        took = cases.run_bare(case, journal, itertools.count())
        journal.close()
    return Sample("W8", f"floor, SQLite NORMAL, {name}", len(parents), len(parents), [took])


def peers(only: Sequence[str], beside: Sequence[environments.Peer]) -> Iterator[Sample]:
    """Those of the peers that can be installed, and this project's engine in the same run."""
    missing = {peer.name: error for peer in beside if (error := environments.install(peer))}
    there = [peer for peer in beside if peer.name not in missing]
    yield from (Sample("install", name, 1, 1, error=error) for name, error in missing.items())
    for case in cases.CASES:
        if not only or case in only:
            yield from _printed(case, one_case(case))
            yield from _printed(case, (_peer(peer, variant, case) for peer in there for variant in peer.variants))


def _peer(peer: environments.Peer, variant: str, case: str) -> Sample:
    n, repeat = cases.SIZES[case], PEER_REPEAT if case not in cases.REPEAT else 20
    module = f"benchmarks.peers.{peer.module}"
    python = environments.python(peer)
    seconds = SERVER_TIMEOUT_S if peer.server else PEER_TIMEOUT_S
    samples, error = run(module, variant, case, n, repeat, PEER_SECONDS, seconds=seconds, python=python)
    return samples[0] if samples else Sample(case, peer.label(variant), n, 1, error=error)


def _printed(part: str, samples: Iterable[Sample]) -> Iterator[Sample]:
    """Prints each sample as it arrives."""
    for sample in samples:
        if sample.error:
            print(f"{part:<14} {sample.variant:<36} {sample.n:>7,}  {sample.error}", flush=True)
        elif sample.wall:
            low, high = sample.spread
            figures = f"{sample.unit_us:>12,.1f} µs  {low:.2f} to {high:.2f}"
            print(f"{part:<14} {sample.variant:<36} {sample.n:>7,} {figures}", flush=True)
        yield sample
