"""What the functions import before their first message: their import graphs, each in a new interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
LIST = "import sys\n{}\nprint(*sys.modules, sep='\\n')"
SETTINGS = {
    "AWS_DEFAULT_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "STEPLESS_TABLE": "t",
    "STEPLESS_QUEUE_URL": "https://sqs.us-east-1.amazonaws.com/1/q", "STEPLESS_SCHEDULE_GROUP": "g", "STEPLESS_BUCKET": "b",
    "STEPLESS_SCHEDULE_ROLE_ARN": "r", "STEPLESS_SCHEDULE_TARGET_ARN": "q", "STEPLESS_SCHEDULE_DEAD_LETTER_ARN": "d",
    "STEPLESS_CALENDAR_GROUP": "g", "STEPLESS_CALENDAR_ROLE_ARN": "r", "STEPLESS_TRIGGER_QUEUE_ARN": "q",
    "STEPLESS_TRIGGER_DEAD_LETTER_ARN": "d", "STEPLESS_SECRETS_PREFIX": "/p/", "POWERTOOLS_METRICS_NAMESPACE": "Stepless",
}  # fmt: skip
COMPILE = """
from stepless.compile.stored import compile_stored
from stepless.nodes import KINDS
compile_stored(b'{"id": "w", "nodes": {"a": {"type": "manual"}, "b": {"type": "transform", "after": "a", "with": {"value": 1}}}}',
               "v", KINDS)
"""


@cache
def imported(statement: str, *folders: str) -> frozenset[str]:
    """The modules that an interpreter holds which was asked for this alone."""
    return frozenset(_told(LIST.format(statement), folders, SETTINGS).split())


def _told(code: str, folders: tuple[str, ...], settings: Mapping[str, str]) -> str:
    path = os.pathsep.join(str(ROOT / folder) for folder in ("engine", *folders))
    command, environment = [sys.executable, "-c", code], {**settings, "PYTHONPATH": path}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=60).stdout


def function(name: str) -> frozenset[str]:
    """What the function holds once it has wired its world: what a cold start loads."""
    return imported("import app", f"functions/{name}")


def of(package: str, modules: frozenset[str]) -> list[str]:
    return sorted(module for module in modules if module == package or module.startswith(f"{package}."))


@pytest.mark.parametrize(
    "package",
    ["fastapi", "starlette", "mangum", "uvicorn", "yaml", "rich", "boto3", "botocore", "httpx", "sqlite3", "argparse"],
)
def test_the_runner_starts_without(package: str) -> None:
    assert not of(package, imported("import stepless.runtime.session.runner"))


@pytest.mark.parametrize("room", ["adapters", "api", "cli", "imports", "testing"])
def test_the_runner_knows_no_room_that_it_does_not_use(room: str) -> None:
    runner = imported("import stepless.runtime.session.runner")
    assert "stepless.runtime.session.runner" in runner
    assert not of(f"stepless.{room}", runner)


@pytest.mark.parametrize(
    "package",
    ["pydantic", "jsonschema_rs", "re2", "httpx", "fastapi", "yaml", "zoneinfo", "sqlite3",
     "aws_lambda_powertools.utilities.parameters"],
)  # fmt: skip
def test_the_runners_function_starts_without(package: str) -> None:
    assert "boto3" in function("runner")
    assert not of(package, function("runner"))


@pytest.mark.parametrize(
    "room",
    ["stepless.expressions", "stepless.compile.parsed", "stepless.compile.compiler", "stepless.model.declaration.validation",
     "stepless.runtime.service", "stepless.adapters.openai", "stepless.adapters.memory", "stepless.adapters.sqlite"],
)  # fmt: skip
def test_the_runners_function_leaves_what_only_some_runs_need_until_they_do(room: str) -> None:
    assert "stepless.core.decide" in function("runner")
    assert not of(room, function("runner"))


def test_no_kind_is_loaded_before_a_workflow_has_it() -> None:
    loaded = of("stepless.nodes", function("runner"))
    needed = ("", ".function", ".function.registry", ".lazy_mapping", ".plugins")
    assert loaded == [f"stepless.nodes{module}" for module in needed]


def test_whoever_runs_a_published_version_loads_its_kinds_alone_and_judges_nothing() -> None:
    held = imported(COMPILE)
    assert {"stepless.compile.link", "stepless.nodes.entries.manual", "stepless.nodes.control.transform"} <= held
    judging = {"stepless.model.declaration.validation", "stepless.compile.compiler", "stepless.compile.shape"}
    assert not held & {*judging, "stepless.nodes.control.set"}


@pytest.mark.parametrize("name", ["sweeper", "deadletter"])
@pytest.mark.parametrize(
    "package", ["pydantic", "stepless.compile.parsed", "stepless.core.decide", "stepless.runtime.session.runner"]
)
def test_a_function_that_runs_nothing_loads_nothing_that_runs(name: str, package: str) -> None:
    assert not of(package, function(name))


def test_a_laptop_starts_without_aws() -> None:
    held = imported("import stepless.runtime.wiring.local")
    assert "stepless.adapters.sqlite.store" in held
    assert not held & {"boto3", "botocore", "aws_lambda_powertools", "fastapi", "yaml", "rich", "stepless.adapters.aws"}


def test_importing_the_package_loads_nothing_but_itself() -> None:
    assert of("stepless", imported("import stepless")) == ["stepless"]
    brought = imported("import stepless") - imported("import importlib, typing, __future__")
    assert brought == {"stepless"}


def test_registering_a_function_does_not_load_what_calls_it() -> None:
    held = imported("from stepless import FunctionCall, NodeFailure, function")
    assert "stepless.nodes.function.registry" in held
    assert not of("pydantic", held)
    assert not held & {"stepless.nodes.function.kind", "stepless.runtime.wiring.single_run", "asyncio"}
