"""What callers do with a deployed stack over HTTP, and what its table, its bucket and its logs have of a run."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

import httpx
from local_cloud import Cloud, Machine

from stepless.model.stored.packing import unpack

API_KEY = "try-it"
API_KEY_HASH = f"sha256:{sha256(API_KEY.encode()).hexdigest()}"
KEYED = {"Authorization": f"Bearer {API_KEY}"}
PARAMETERS = {
    "ApiKeyHashes": API_KEY_HASH, "FunctionModules": "deploy_steps", "EventSources": "shop.orders", "Release": "first",
}  # fmt: skip
ASKED = {
    "make": {"type": "function", "timeout_ms": 2_000, "with": {"call": "steps.large", "args": {"size": 100_000}}},
    "ask": {"type": "approval", "after": "make", "with": {"message": "Go on?", "timeout": "2d"}},
    "after": {"type": "transform", "after": "ask.approved", "with": {"value": "{{ len(<make>) }} characters, approved"}},
}
PATIENCE_S = 60  # schedules of the emulator fire every ten seconds, the sweeper every minute


def client_of(cloud: Cloud) -> httpx.Client:
    return httpx.Client(base_url=cloud.url, headers=KEYED, timeout=40)


def publish(http: httpx.Client, workflow_id: str, nodes: dict[str, Any], **top: Any) -> None:
    answer = http.put(f"/workflows/{workflow_id}", json={"id": workflow_id, "nodes": nodes, **top})
    assert answer.status_code in (200, 201), answer.text


def start(http: httpx.Client, workflow_id: str, inputs: Any = None) -> str:
    answer = http.post(f"/workflows/{workflow_id}/runs", json={"inputs": inputs or {}})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["run_id"])


def until(look: Callable[[], Any], what: str, seconds: float = PATIENCE_S) -> Any:
    """The first truth that `look` answers."""
    deadline, pause = monotonic() + seconds, Event()
    while not (found := look()):
        assert monotonic() < deadline, f"waited in vain for {what}"
        pause.wait(0.2)
    return found


def ended(http: httpx.Client, run_id: str, seconds: float = PATIENCE_S) -> dict[str, Any]:
    def look() -> Any:
        run = http.get(f"/runs/{run_id}").json()
        return run if run["status"] in ("completed", "failed", "cancelled", "timed_out") else None

    run = until(look, f"the end of {run_id}", seconds)
    tell(f"{run['workflow']}: {run['status']}")
    return dict(run)


def step(after: str | list[str] | None = None, call: str = "steps.work", **args: Any) -> dict[str, Any]:
    return {"type": "function", **({"after": after} if after else {}), "timeout_ms": 2_000, "with": {"call": call, "args": args}}


def event_types(http: httpx.Client, run_id: str) -> list[str]:
    return [event["type"] for event in http.get(f"/runs/{run_id}/events").json()["events"]]


def runs_of(http: httpx.Client, workflow_id: str) -> list[dict[str, Any]]:
    return list(http.get(f"/runs?workflow={workflow_id}").json()["runs"])


def listed(http: httpx.Client, status: str) -> list[str]:
    return [run["id"] for run in http.get(f"/runs?status={status}").json()["runs"]]


def ask(http: httpx.Client, workflow_id: str) -> tuple[str, str]:
    """A run that has worked and waits for an answer, and the token that answers it."""
    run_id = start(http, workflow_id)
    pause = until(lambda: http.get(f"/runs/{run_id}").json()["pauses"], "the question")[0]
    return run_id, pause["resume"].rpartition("/")[2]


def answered(http: httpx.Client, run_id: str, token: str) -> None:
    """The answer is given, and the run ends. What it had done before is not done again."""
    answer = http.post(f"/resume/{token}", json={"decision": "approved"})
    assert answer.status_code == 200, answer.text
    run = ended(http, run_id)
    assert (run["status"], run["outputs"]) == ("completed", {"after": "100000 characters, approved"})
    assert event_types(http, run_id).count("node.completed") == 3


def hint(cloud: Cloud, run_id: str) -> None:
    body = json.dumps({"run": run_id, "reason": "sweep", "hops": 0})
    cloud.service("sqs").send_message(QueueUrl=cloud.outputs["Queue"], MessageBody=body)


def kept(cloud: Cloud, run_id: str) -> dict[str, Any]:
    """What the table and the bucket have of a run."""
    found = cloud.service("s3").list_objects_v2(Bucket=cloud.outputs["Bucket"], Prefix=f"blobs/{run_id}/").get("Contents", [])
    query = {"KeyConditionExpression": "pk = :run", "ExpressionAttributeValues": {":run": {"S": f"RUN#{run_id}"}}}
    items = cloud.service("dynamodb").query(TableName=cloud.outputs["Table"], **query)["Items"]
    content = sum(len(item.get("b", {}).get("B", b"")) for item in items)
    return {"objects": [each["Key"] for each in found], "items": [item["sk"]["S"] for item in items], "content": content}


def formats(cloud: Cloud, run_id: str) -> set[int]:
    """Of the batches of a run, as they are in the table."""
    key = {":run": {"S": f"RUN#{run_id}"}, ":log": {"S": "LOG#"}}
    query = {"KeyConditionExpression": "pk = :run AND begins_with(sk, :log)", "ExpressionAttributeValues": key}
    batches = cloud.service("dynamodb").query(TableName=cloud.outputs["Table"], **query)["Items"]
    assert batches
    firsts = [unpack(max((value["B"] for value in batch.values() if "B" in value), key=len))[1] for batch in batches]
    return {first[5] if len(first) > 5 else 1 for first in firsts}


def lines(log: Path) -> list[str]:
    return log.read_text().splitlines()


def check_permissions(machine: Machine, stack: str) -> None:
    """IAM is enforced: a permission that a role lacks is in the log of the function that needed it. Checked while the roles are
    there: an invocation that has begun before its stack is deleted may outlive them."""
    written = {log.stem: log.read_text() for log in machine.logs.glob(f"{stack}-*.log")}
    assert written, "no function has been invoked"
    lines = [(name, line) for name, text in written.items() for line in text.splitlines()]
    refused = [(name, line[-600:]) for name, line in lines if "AccessDenied" in line or "is not authorized" in line]
    assert not refused, refused


def tell(line: str) -> None:
    sys.stderr.write(f"  {line}\n")
