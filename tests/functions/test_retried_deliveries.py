"""Repetitions of a delivery through the API function: a failed run is rerun from what failed, in the runner function."""

from __future__ import annotations

import json
from typing import Any

from lambda_stack import Ask, Stack, asked, records, sample, step


def work_off(stack: Stack, run_id: str) -> None:
    (message,) = [message for message in stack.messages() if message["run"] == run_id]
    assert stack.function("runner").invoke(records(run_id, spent=message["spent"])).value == {"batchItemFailures": []}


def test_the_retry_of_a_failed_delivery_runs_only_what_failed(stack: Stack, api: Ask) -> None:
    node: dict[str, Any] = {"type": "function", "timeout_ms": 2_000}
    nodes = {
        "hook": {"type": "webhook", "with": {"path": "/retried", "auth": "none"}},
        "first": {**node, "after": "hook", "with": step("steps.mark", name="retried-first")},
        "second": {**node, "after": "first", "with": step("steps.fail_once", name="retried-second")},
    }  # fmt: skip
    status, answer = api(asked("PUT", "/workflows/retried", {"id": "retried", "nodes": nodes}))
    assert status in (200, 201), answer
    delivery = sample("api-hook")
    delivery["rawPath"] = delivery["requestContext"]["http"]["path"] = "/hooks/retried"
    delivery["pathParameters"]["path"] = "retried"
    delivery["headers"]["idempotency-key"] = "delivery-1"
    delivery["body"] = json.dumps({"n": 1})
    stack.messages()
    runs = []
    for expected in ("failed", "completed"):
        status, answer = api(delivery)
        assert status == 202, answer
        runs.append(answer["run_id"])
        work_off(stack, runs[-1])
        assert api(asked("GET", f"/runs/{runs[-1]}"))[1]["status"] == expected
    assert api(delivery)[1]["run_id"] == runs[1] != runs[0]
    done = (stack.folder / "effects").read_text().split()
    assert (done.count("retried-first"), done.count("retried-second")) == (1, 2)
