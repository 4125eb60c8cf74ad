"""How long a new interpreter takes to import the modules of the functions, with and without bytecode, and their sizes.

    python -m benchmarks.cold        prints one line of JSON each

Without bytecode every module is compiled again: the bytecode cache is an empty folder. The baseline is boto3 and the clients
that the runner creates, which every function that calls AWS pays for anyway.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from benchmarks import first_run
from benchmarks.sample import Sample

ROOT = Path(__file__).parents[1]
REPEAT = 11
WITHOUT_REPEAT = 2
SERVICES = ("dynamodb", "sqs", "scheduler", "ssm", "s3")
SETTINGS = {
    "AWS_DEFAULT_REGION": "us-east-1", "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
    "STEPLESS_TABLE": "t", "STEPLESS_QUEUE_URL": "https://sqs.us-east-1.amazonaws.com/1/q", "STEPLESS_SCHEDULE_GROUP": "g",
    "STEPLESS_SCHEDULE_ROLE_ARN": "r", "STEPLESS_SCHEDULE_TARGET_ARN": "q", "STEPLESS_SCHEDULE_DEAD_LETTER_ARN": "d",
    "STEPLESS_CALENDAR_GROUP": "g", "STEPLESS_CALENDAR_ROLE_ARN": "r", "STEPLESS_TRIGGER_QUEUE_ARN": "q",
    "STEPLESS_TRIGGER_DEAD_LETTER_ARN": "d", "STEPLESS_SECRETS_PREFIX": "/p/", "STEPLESS_BUCKET": "b",
    "STEPLESS_AUTH": "api-key", "STEPLESS_BASE_URL": "https://example.com",
    "POWERTOOLS_SERVICE_NAME": "runner", "POWERTOOLS_METRICS_NAMESPACE": "Stepless",
}  # fmt: skip
FIRST_RUN = "functions/runner, to the end of its first run"
LIBRARIES = "boto3, its clients, FastAPI and Mangum"  # the least that the API can take
IMPORTS: Mapping[str, str] = {
    "boto3 and its clients": f"import boto3\nfor name in {SERVICES!r}: boto3.client(name)",
    LIBRARIES: f"import boto3\nfor name in {SERVICES!r}: boto3.client(name)\nimport fastapi, mangum",
    "functions/runner": "import app",
    "functions/api": "import app",
    FIRST_RUN: "import app\nfrom benchmarks.first_run import finish\nfinish(app.CLOUD, {path!r}, {run!r})",
    "stepless": "import stepless",
    "stepless.runtime.session.runner": "import stepless.runtime.session.runner",
    "stepless.runtime.wiring.local": "import stepless.runtime.wiring.local",
    "stepless.api.app": "import stepless.api.app",
    "pydantic": "import pydantic",
}
_TIMED = (
    "import time\nbefore, cpu = time.perf_counter(), time.process_time()\n{}\n"
    "print(time.perf_counter() - before, time.process_time() - cpu)"
)
PACKAGES = (
    "boto3", "botocore", "pydantic", "pydantic_core", "fastapi", "jsonschema_rs", "google-re2", "orjson", "httpx", "PyYAML",
)  # fmt: skip


def imports() -> list[Sample]:
    """Wall and CPU seconds of each import, in turn, without the interpreter's own start."""
    samples = [Sample("import", name, 1, 1) for name in IMPORTS]
    bare = [Sample("import without bytecode", name, 1, 1) for name in IMPORTS]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        runs = first_run.prepare(path)
        for round_ in range(REPEAT + 1):
            for sample in samples:
                _once(sample, path, runs, counts=round_ > 0)  # the first round writes the missing bytecode
        for _ in range(WITHOUT_REPEAT):
            for sample in bare:
                with tempfile.TemporaryDirectory() as empty:
                    _once(sample, path, runs, {"PYTHONPYCACHEPREFIX": empty, "PYTHONDONTWRITEBYTECODE": "1"})
    return samples + bare


def _once(
    sample: Sample, path: Path, runs: Iterator[str], environment: Mapping[str, str] | None = None, counts: bool = True
) -> None:
    function = "api" if sample.variant == "functions/api" else "runner"
    paths = os.pathsep.join([str(ROOT / "engine"), str(ROOT / "functions" / function), str(ROOT)])
    warm = {"PYTHONDONTWRITEBYTECODE": ""}  # else an environment that sets it would never have the bytecode
    variables = {**os.environ, **SETTINGS, "PYTHONPATH": paths, **warm, **(environment or {})}
    statement = IMPORTS[sample.variant]
    if sample.variant == FIRST_RUN:
        statement = statement.format(path=str(path), run=next(runs))
    command = [sys.executable, "-c", _TIMED.format(statement)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode != 0:
        sample.error = done.stderr.strip().splitlines()[-1]
    elif counts:
        wall, cpu = done.stdout.split()[-2:]
        sample.wall.append(float(wall))
        sample.cpu.append(float(cpu))


def sizes() -> list[Sample]:
    """The sizes of the engine's source and of the installed packages of a function (without bytecode)."""
    ours = sum(file.stat().st_size for file in (ROOT / "engine" / "stepless").rglob("*.py"))
    samples = [Sample("size", "stepless", 1, 1, facts={"bytes": ours})]
    for name in PACKAGES:
        try:
            files = distribution(name).files or []
        except PackageNotFoundError:
            continue
        paths = (Path(str(file.locate())) for file in files)
        size = sum(path.stat().st_size for path in paths if path.is_file() and path.suffix != ".pyc")
        samples.append(Sample("size", name, 1, 1, facts={"bytes": size}))
    return samples


def main() -> int:
    for sample in (*imports(), *sizes()):
        print(sample.line(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
