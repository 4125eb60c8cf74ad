"""`make size`: how large the functions and layers are, and how long a cold process takes to import them.

Imports are measured on a build for this machine, by an interpreter with only Lambda's runtime: with the bytecode of the
build, and without it.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from statistics import median
from time import perf_counter

LAYERS = ("Dependencies", "Engine", "Functions")
IMPORTS = {
    "api": "import mangum, stepless.api.app, stepless.runtime.wiring.aws",
    "runner": "import stepless.runtime.wiring.aws, stepless.runtime.session.runner, stepless.runtime.session.budget",
    "sweeper": "import stepless.runtime.wiring.aws, stepless.runtime.hosting.sweep",
    "deadletter": "import stepless.runtime.wiring.aws, stepless.runtime.hosting.deadletter",
    "trigger": "import stepless.runtime.wiring.aws, stepless.runtime.triggers.deliveries",
    "sandbox": "import stepless.runtime.wiring.sandbox",
}
ROUNDS = 5
MAX_UNZIPPED_MB = 250  # of a function with its layers
NO_BYTECODE = ("-X", "pycache_prefix=/dev/null/none")


def main(build: str, local: str, python: str) -> int:
    """Prints two tables; fails if a function is too large to deploy."""
    print(f"{'artifact':<22}{'MB':>8}{'zipped MB':>12}{'.pyc files':>12}")
    total = 0.0
    for folder in sorted(path for path in Path(build).iterdir() if path.is_dir()):
        files = [path for path in folder.rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files) / 1e6
        total += size if folder.name in LAYERS else 0
        compiled = sum(path.suffix == ".pyc" for path in files)
        print(f"{folder.name:<22}{size:>8.2f}{_zipped(folder, files):>12.2f}{compiled:>12}")
    print(f"{'all layers':<22}{total:>8.2f}   of {MAX_UNZIPPED_MB} MB\n")
    print(f"{'cold import':<22}{'ms':>8}{'without .pyc':>14}")
    for name, statement in IMPORTS.items():
        print(f"{name:<22}{_cold_ms(local, python, statement):>8.0f}{_cold_ms(local, python, statement, NO_BYTECODE):>14.0f}")
    return 0 if total < MAX_UNZIPPED_MB else 1


def _zipped(folder: Path, files: list[Path]) -> float:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            archive.write(path, path.relative_to(folder))
    return len(data.getvalue()) / 1e6


def _cold_ms(local: str, python: str, statement: str, flags: tuple[str, ...] = ()) -> float:
    """Median over processes, without the interpreter's own start."""
    path = os.pathsep.join(str(Path(local, layer, "python")) for layer in LAYERS)
    return _ms(python, flags, statement, path) - _ms(python, flags, "pass", path)


def _ms(python: str, flags: tuple[str, ...], statement: str, path: str) -> float:
    times = []
    for _ in range(ROUNDS):
        started = perf_counter()
        subprocess.run([python, *flags, "-c", statement], env={"PYTHONPATH": path, "AWS_REGION": "us-east-1"}, check=True)
        times.append((perf_counter() - started) * 1000)
    return median(times)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
