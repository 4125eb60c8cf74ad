"""A function that starts from a snapshot: what two copies of one initialization must not share, and that both do their work."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from lambda_stack import ROOT, STEPS, Ask, Stack, asked, chain, records, status_of, step


def restored(stack: Stack, name: str, *events: dict[str, Any], initialization: str = "snap-start") -> list[dict[str, Any]]:
    """What the snapshot and each copy print."""
    path = ":".join(str(folder) for folder in (ROOT / "engine", ROOT / "layers/functions", STEPS))
    variables = {
        **stack.variables, "POWERTOOLS_SERVICE_NAME": name, "PYTHONPATH": path, "PATH": "/usr/bin:/bin",
        "AWS_LAMBDA_INITIALIZATION_TYPE": initialization,
    }  # fmt: skip
    command = [sys.executable, str(STEPS / "restored.py"), str(ROOT / "functions" / name), *map(json.dumps, events)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return [line for line in lines if "sockets" in line or "random" in line]  # the others are the function's own log


def test_two_copies_of_one_runner_finish_their_runs_and_share_no_randomness(stack: Stack, api: Ask) -> None:
    runs = [chain(api, f"restored-{number}", step("hello.greet", name="Ada")) for number in range(2)]
    snapshot, *copies = restored(stack, "runner", *map(records, runs))
    assert snapshot == {"sockets": [], "keys": False}
    assert [copy["answer"] for copy in copies] == [{"batchItemFailures": []}] * 2
    assert [status_of(api, run_id) for run_id in runs] == ["completed"] * 2
    for what in ("random", "token", "uuid"):
        assert copies[0][what] != copies[1][what], what


def test_without_the_seeding_two_copies_share_their_randomness(stack: Stack) -> None:
    _, *copies = restored(stack, "runner", {"Records": []}, {"Records": []}, initialization="on-demand")
    assert copies[0]["random"] == copies[1]["random"] and copies[0]["token"] != copies[1]["token"]


def test_two_copies_of_one_api_read_the_keys_after_the_snapshot(stack: Stack, api: Ask) -> None:
    approval = {"type": "approval", "with": {"message": "Go on?"}}
    assert api(asked("PUT", "/workflows/snap", {"id": "snap", "nodes": {"ask": approval}}))[0] in (200, 201)
    run_id = api(asked("POST", "/workflows/snap/runs", {"inputs": {}}))[1]["run_id"]
    stack.function("runner").invoke(records(run_id))
    snapshot, *copies = restored(stack, "api", *[asked("GET", f"/runs/{run_id}")] * 2)
    assert snapshot == {"sockets": [], "keys": False}
    assert [copy["keys"] for copy in copies] == [True, True]
    links = [json.loads(copy["answer"]["body"])["pauses"][0] for copy in copies]
    assert links[0] == links[1] and status_of(api, run_id) == "paused"
