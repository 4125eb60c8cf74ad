"""The API against its own description: no request causes a 5xx or a response that is not documented.

Requests, valid and invalid, are generated from /openapi.json; their number is bounded, and they are the same every time.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from stepless.adapters.memory.secrets import MemorySecrets
from stepless.api.app import create_app
from stepless.runtime.wiring.local import Local, local

KEY = "the-key-of-the-fuzzer"
EXAMPLES = 12
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
DOCUMENT = {
    "id": "a",
    "nodes": {
        "begin": {"type": "manual"},
        "said": {"type": "transform", "after": "begin", "with": {"value": "<begin>"}},
        "ask": {"type": "approval", "after": "said", "with": {"message": "Go on?"}},
    },
}

_ENGINE: Local = local(None, secrets=MemorySecrets({}))
_APP = create_app(_ENGINE.service, api_keys=[KEY], stream_seconds=0)
_SCHEMA = schemathesis.openapi.from_asgi("/openapi.json", _APP)


@pytest.fixture(scope="module")
def runs() -> Iterator[list[str]]:
    """An engine at work, with runs that ended, wait and were cancelled; their ids."""
    up, loop = threading.Event(), asyncio.new_event_loop()

    def serve() -> None:
        asyncio.set_event_loop(loop)
        loop.call_soon(up.set)
        loop.run_until_complete(_ENGINE.host.serve())

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    assert up.wait(10)
    _ENGINE.service.publish(DOCUMENT)
    made = [_ENGINE.service.start("a", {}).run_id for _ in range(3)]
    _ENGINE.service.cancel(made[0])
    yield made
    asyncio.run_coroutine_threadsafe(_ENGINE.host.stop(), loop).result(30)
    thread.join(30)
    loop.close()


@_SCHEMA.parametrize()
@settings(max_examples=EXAMPLES, database=None, phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck))
def test_no_request_meets_a_fault_or_an_undocumented_answer(case: Any, runs: list[str]) -> None:
    known = {"run_id": runs[len(repr(case.query)) % 3], "workflow_id": "a"}
    if len(repr(case.path_parameters)) % 3:  # two of three speak of what is there
        case.path_parameters = {**case.path_parameters, **{name: known[name] for name in case.path_parameters if name in known}}
    case.call_and_validate(headers={"Authorization": f"Bearer {KEY}"}, checks=CHECKS)
