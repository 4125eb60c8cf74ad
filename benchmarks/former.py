"""Measures a case on the engine of an earlier commit and on this one, in turns on one machine: this engine's own progress.

    python -m benchmarks.former W7      prints one line of JSON per engine
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from benchmarks.cases import REPEAT, SIZES
from benchmarks.sample import Sample, read

FORMER = "72d6882"
CASE = "W7"
BESIDE = f"{CASE} beside {FORMER}"
VARIANT = "SQLite NORMAL"
TURNS = 5
SECONDS = 2.0  # by turn
TURN_TIMEOUT_S = 60
ROOT = Path(__file__).parents[1]


def beside(case: str = CASE, commit: str = FORMER) -> list[Sample]:
    """One sample of each engine. Each is measured by the benchmark of its own commit, with the libraries of this one. Raises
    `RuntimeError` without the history of this repository."""
    with tempfile.TemporaryDirectory() as folder:
        _extract(commit, Path(folder))
        ours, theirs = Sample(BESIDE, VARIANT, SIZES[case], 1), Sample(BESIDE, f"{VARIANT}, {commit}", SIZES[case], 1)
        for _ in range(TURNS):
            for sample, tree in ((theirs, Path(folder)), (ours, ROOT)):
                turn = _measured(case, tree)
                sample.units, sample.wall, sample.cpu = turn.units, sample.wall + turn.wall, sample.cpu + turn.cpu
    return [ours, theirs]


def _extract(commit: str, folder: Path) -> None:
    done = subprocess.run(["git", "archive", commit, "engine", "benchmarks"], cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"commit {commit} cannot be read: {done.stderr.decode().strip()}")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as files:
        files.extractall(folder, filter="data")


def _measured(case: str, tree: Path) -> Sample:
    command = [sys.executable, "-m", "benchmarks.cases", case, str(SIZES[case]), str(REPEAT.get(case, 9)), str(SECONDS)]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tree / "engine"), str(tree)])}
    done = subprocess.run(
        command, cwd=tree, env=variables, capture_output=True, text=True, timeout=TURN_TIMEOUT_S, check=False
    )
    found = [sample for sample in read(done.stdout) if sample.variant == VARIANT]
    if not found:
        raise RuntimeError(f"{case} was not measured in {tree}: {done.stderr.strip()[-300:]}")
    return found[0]


def main() -> int:
    for sample in beside(*sys.argv[1:]):
        print(sample.line(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
