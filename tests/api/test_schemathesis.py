"""The API against its own description: no request causes a 5xx or a response that is not documented.

Requests, valid and invalid, are generated from /openapi.json; their number is bounded, and they are the same every time.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.pytest._test_builder import build_operation_test
from schemathesis.python._constants.orchestrator import make_constants_value_source
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from stepless.adapters.memory.secrets import MemorySecrets
from stepless.api.app import create_app
from stepless.limits import MAX_LONG_POLL_MS
from stepless.runtime.wiring.local import Local, local

pytestmark = pytest.mark.check

KEY = "the-key-of-the-fuzzer"
SETTINGS = settings(
    max_examples=12, database=None, phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck),
)  # fmt: skip
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
DOCUMENT = {
    "id": "a",
    "nodes": {
        "begin": {"type": "manual"},
        "said": {"type": "transform", "after": "begin", "with": {"value": "<begin>"}},
        "ask": {"type": "approval", "after": "said", "with": {"message": "Go on?"}},
    },
}


def described_app() -> tuple[Local, FastAPI]:
    engine = local(None, secrets=MemorySecrets({}))
    return engine, create_app(engine.service, api_keys=[KEY], stream_seconds=0)


LONG_POLLS = {"wait", "wait_s"}
METHODS = {"get", "put", "post", "delete", "patch", "head", "options", "trace"}
OPERATIONS = [f"{method.upper()} {path}" for path, operations in described_app()[1].openapi()["paths"].items()
              for method in operations if method in METHODS]  # fmt: skip


class Described(NamedTuple):
    """The API as it is described. `engine` is what is behind it."""

    engine: Local
    schema: Any
    feedback: FeedbackSources


@pytest.fixture(scope="module")
def described() -> Described:
    engine, app = described_app()
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    return Described(engine, schema, FeedbackSources(constants_value_source=make_constants_value_source(schema)))


@pytest.fixture(scope="module")
def runs(described: Described) -> Iterator[list[str]]:
    """An engine at work, with runs that ended, wait and were cancelled; their ids."""
    engine = described.engine
    up, loop = threading.Event(), asyncio.new_event_loop()

    def serve() -> None:
        asyncio.set_event_loop(loop)
        loop.call_soon(up.set)
        loop.run_until_complete(engine.host.serve())

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    assert up.wait(10)
    engine.service.publish(DOCUMENT)
    made = [engine.service.start("a", {}).run_id for _ in range(3)]
    engine.service.cancel(made[0])
    yield made
    asyncio.run_coroutine_threadsafe(engine.host.stop(), loop).result(30)
    thread.join(30)
    loop.close()


@pytest.mark.parametrize("operation", OPERATIONS)
def test_no_request_meets_a_fault_or_an_undocumented_answer(operation: str, described: Described, runs: list[str]) -> None:
    """Schemathesis would make the requests of all operations where the tests are collected, which each process does."""
    method, path = operation.split()

    @SETTINGS
    def sent(case: Any) -> None:
        known = {"run_id": runs[len(repr(case.query)) % 3], "workflow_id": "a"}
        if len(repr(case.path_parameters)) % 3:  # two of three speak of what is there
            found = {name: known[name] for name in case.path_parameters if name in known}
            case.path_parameters = {**case.path_parameters, **found}
        for name in LONG_POLLS & {*(case.query or {})}:
            wait = case.query[name]
            if isinstance(wait, int | float) and 0 < wait <= MAX_LONG_POLL_MS / 1000:  # an answer may come as late as that
                case.query = {**case.query, name: min(wait, 0.5)}
        case.call_and_validate(headers={"Authorization": f"Bearer {KEY}"}, checks=CHECKS)
        counted.append(case)

    counted: list[Any] = []
    schema = described.schema
    build_operation_test(
        config=schema.config, operation=schema[path][method], test_func=sent, given_kwargs={}, feedback=described.feedback,
    )()  # fmt: skip
    assert counted
