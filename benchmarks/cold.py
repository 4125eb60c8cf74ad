"""How long a fresh interpreter takes to import what the functions import, with and without bytecode; and how large it all is.

    python -m benchmarks.cold        prints one line of JSON each

Without bytecode every module is compiled again: its cache is looked for in a folder that is empty. The baseline is boto3 and
the clients that the runner makes, which whoever calls AWS from a function pays anyway.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from benchmarks.sample import Sample

ROOT = Path(__file__).parents[1]
REPEAT = 7
WITHOUT_REPEAT = 2
SERVICES = ("dynamodb", "sqs", "scheduler", "ssm", "s3")
SETTINGS = {
    "AWS_DEFAULT_REGION": "us-east-1", "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
    "STEPLESS_TABLE": "t", "STEPLESS_QUEUE_URL": "https://sqs.us-east-1.amazonaws.com/1/q", "STEPLESS_SCHEDULE_GROUP": "g",
    "STEPLESS_SCHEDULE_ROLE_ARN": "r", "STEPLESS_SCHEDULE_TARGET_ARN": "q", "STEPLESS_SCHEDULE_DEAD_LETTER_ARN": "d",
    "STEPLESS_SECRETS_PREFIX": "/p/", "STEPLESS_BUCKET": "b", "STEPLESS_BASE_URL": "https://example.com",
    "POWERTOOLS_SERVICE_NAME": "runner", "POWERTOOLS_METRICS_NAMESPACE": "Stepless",
}  # fmt: skip
IMPORTS: Mapping[str, str] = {
    "boto3 and its clients": f"import boto3\nfor name in {SERVICES!r}: boto3.client(name)",
    "functions/runner": "import app",
    "stepless.runtime.runner": "import stepless.runtime.runner",
    "stepless.runtime.bootstrap": "import stepless.runtime.bootstrap",
    "stepless.api.app": "import stepless.api.app",
    "pydantic": "import pydantic",
}
_TIMED = "import time\nbefore = time.perf_counter()\n{}\nprint(time.perf_counter() - before, time.process_time())"
PACKAGES = (
    "boto3", "botocore", "pydantic", "pydantic_core", "fastapi", "jsonschema_rs", "google-re2", "orjson", "httpx", "PyYAML",
)  # fmt: skip


def imports() -> list[Sample]:
    """Wall seconds of each import, in turn. CPU seconds are those of the whole process."""
    samples = [Sample("import", name, 1, 1) for name in IMPORTS]
    for round_ in range(REPEAT + 1):
        for sample in samples:
            _once(sample, counts=round_ > 0)  # the first round writes what bytecode is missing
    bare = [Sample("import without bytecode", name, 1, 1) for name in IMPORTS]
    for _ in range(WITHOUT_REPEAT):
        for sample in bare:
            with tempfile.TemporaryDirectory() as empty:
                _once(sample, {"PYTHONPYCACHEPREFIX": empty, "PYTHONDONTWRITEBYTECODE": "1"})
    return samples + bare


def _once(sample: Sample, environment: Mapping[str, str] | None = None, counts: bool = True) -> None:
    paths = os.pathsep.join([str(ROOT / "engine"), str(ROOT / "functions" / "runner")])
    variables = {**os.environ, **SETTINGS, "PYTHONPATH": paths, **(environment or {})}
    command = [sys.executable, "-c", _TIMED.format(IMPORTS[sample.variant])]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode != 0:
        sample.error = done.stderr.strip().splitlines()[-1]
    elif counts:
        wall, cpu = done.stdout.split()[-2:]
        sample.wall.append(float(wall))
        sample.cpu.append(float(cpu))


def sizes() -> list[Sample]:
    """Source of the engine, and the installed packages that a function carries (bytecode not counted)."""
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
