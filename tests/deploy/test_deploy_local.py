"""`make deploy-local`: template.yaml on an emulator that enforces IAM, driven over HTTP alone, as a user would."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

import httpx
import pytest
from emulators import Missing
from local_cloud import Cloud, deployed

from stepless.adapters.system import SystemClock
from stepless.runtime.signatures import sign

HERE = Path(__file__).resolve().parent
API_KEY = "try-it"
PATIENCE_S = 60  # schedules of the emulator fire every ten seconds, the sweeper every minute
SECRET = "shared-with-the-shop"


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    parameters = {
        "ApiKeyHashes": f"sha256:{sha256(API_KEY.encode()).hexdigest()}",
        "FunctionModules": "deploy_steps",
        "RunnerTimeout": "10",  # with five seconds of margin: every longer run hands over
        "QueueVisibility": "15",
    }
    try:
        with deployed(tmp_path_factory.mktemp("cloud"), HERE / "functions", parameters) as built:
            _tell(f"deployed: {built.url}")
            yield built
    except Missing as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def http(cloud: Cloud) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {API_KEY}"}
    with httpx.Client(base_url=cloud.url, headers=headers, timeout=40) as client:
        yield client


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
    _tell(f"{run['workflow']}: {run['status']}")
    return dict(run)


def event_types(http: httpx.Client, run_id: str) -> list[str]:
    return [event["type"] for event in http.get(f"/runs/{run_id}/events").json()["events"]]


def step(after: str | list[str] | None = None, call: str = "steps.work", **args: Any) -> dict[str, Any]:
    return {"type": "function", **({"after": after} if after else {}), "timeout_ms": 2_000, "with": {"call": call, "args": args}}


def _tell(line: str) -> None:
    sys.stderr.write(f"  {line}\n")


def test_who_has_no_key_gets_no_answer(cloud: Cloud) -> None:
    assert httpx.get(f"{cloud.url}/health", timeout=40).status_code == 200
    assert httpx.get(f"{cloud.url}/runs", timeout=40).status_code == 401


def test_a_signed_webhook_starts_a_run_that_fans_out(cloud: Cloud, http: httpx.Client) -> None:
    cloud.service("ssm").put_parameter(Name=f"/{cloud.stack}/SHOP_SECRET", Value=SECRET, Type="SecureString")
    nodes = {
        "order": {"type": "webhook", "with": {"path": "/orders", "method": "POST", "auth": {"hmac": "${SHOP_SECRET}"}}},
        "each": {
            "type": "parallel",
            "after": "order",
            "with": {"items": "<order.body.lines>", "body": {"nodes": {"pack": step(name="<parallel.item>")}}},
        },
        "label": step("order", name="label"),
        "ship": step(["each", "label"], name="shipped"),
    }
    publish(http, "orders", nodes, env=["SHOP_SECRET"])
    body = json.dumps({"lines": ["ink", "paper", "pens"]}).encode()
    assert httpx.post(f"{cloud.url}/hooks/orders", content=body, timeout=40).status_code == 401
    answer = httpx.post(f"{cloud.url}/hooks/orders", content=body, headers=_signed(body), timeout=40)
    assert answer.status_code == 202, answer.text
    run = ended(http, answer.json()["run_id"])
    assert (run["status"], run["outputs"]) == ("completed", {"ship": "shipped"})
    records = http.get(f"/runs/{run['id']}/nodes").json()["nodes"]
    packed = [record["output"] for record in records if record["instance"].startswith("pack@")]
    assert sorted(packed) == ["ink", "paper", "pens"]


def _signed(body: bytes) -> dict[str, str]:
    return {"X-Signature": sign(SECRET, body, SystemClock().now_ms()), "Content-Type": "application/json"}


def test_a_run_that_is_longer_than_an_invocation_hands_over_through_the_queue(http: httpx.Client) -> None:
    names = [f"n{number}" for number in range(8)]
    publish(http, "long", {name: step(names[i - 1] if i else None, name=name, seconds=1) for i, name in enumerate(names)})
    run = ended(http, start(http, "long"))
    assert (run["status"], run["outputs"]) == ("completed", {"n7": "n7"})
    types = event_types(http, run["id"])
    assert types.count("run.continued") >= 1
    assert types.count("node.started") == types.count("node.completed") == 8


def test_an_approval_waits_for_its_link(cloud: Cloud, http: httpx.Client) -> None:
    nodes = {
        "ask": {"type": "approval", "with": {"message": "Ship it?", "timeout": "2d"}},
        "yes": step("ask.approved", name="yes"),
        "no": step(["ask.rejected", "ask.timeout"], name="no"),
    }
    publish(http, "ask", nodes)
    run_id = start(http, "ask")
    pause = until(lambda: http.get(f"/runs/{run_id}").json()["pauses"], "the question")[0]
    token = pause["resume"].rpartition("/")[2]
    schedules = cloud.service("scheduler").list_schedules(GroupName=f"{cloud.stack}-timers")["Schedules"]
    assert len(schedules) == 1  # the deadline, two days ahead
    page = httpx.get(f"{cloud.url}/resume/{token}", headers={"Accept": "text/html"}, timeout=40)
    assert "Ship it?" in page.text
    answered = httpx.post(f"{cloud.url}/resume/{token}", json={"decision": "approved"}, timeout=40)
    assert answered.status_code == 200, answered.text
    assert ended(http, run_id)["outputs"] == {"yes": "yes"}
    again = httpx.post(f"{cloud.url}/resume/{token}", json={"decision": "rejected"}, timeout=40)
    assert again.status_code == 409
    assert cloud.service("scheduler").list_schedules(GroupName=f"{cloud.stack}-timers")["Schedules"] == []


def test_a_wait_ends_by_itself_and_every_event_is_replayed(http: httpx.Client) -> None:
    publish(http, "wait", {"pause": {"type": "wait", "with": {"for": "4s"}}, "after": step("pause", name="awake")})
    run = ended(http, start(http, "wait"))
    assert run["outputs"] == {"after": "awake"}
    stream = http.get(f"/runs/{run['id']}/events", headers={"Accept": "text/event-stream"})
    numbers = [int(line[4:]) for line in stream.text.splitlines() if line.startswith("id: ")]
    assert numbers == list(range(1, len(numbers) + 1))
    rest = http.get(f"/runs/{run['id']}/events?afterEventId={numbers[-2]}", headers={"Accept": "text/event-stream"})
    assert [line for line in rest.text.splitlines() if line.startswith("event: ")] == ["event: run.completed"]
    over = http.get(f"/runs/{run['id']}/events", headers={"Accept": "text/event-stream", "Last-Event-ID": str(numbers[-1])})
    assert over.status_code == 204


def test_a_large_value_goes_to_the_bucket_and_comes_back(cloud: Cloud, http: httpx.Client) -> None:
    publish(http, "large", {"make": step(call="steps.large", size=100_000)})
    run = ended(http, start(http, "large"))
    assert run["outputs"] == {"make": "x" * 100_000}
    assert cloud.service("s3").list_objects_v2(Bucket=cloud.outputs["Bucket"])["KeyCount"] >= 1


def test_a_schedule_of_the_group_wakes_a_run_through_its_role(cloud: Cloud, http: httpx.Client) -> None:
    """What a timer beyond fifteen minutes is, with its instant brought forward: the scheduler sends, as TimerRole."""
    publish(http, "far", {"pause": {"type": "wait", "with": {"for": "20m"}}, "after": step("pause", name="awake")})
    run_id = start(http, "far")
    scheduler, group = cloud.service("scheduler"), f"{cloud.stack}-timers"
    listed = until(lambda: scheduler.list_schedules(GroupName=group)["Schedules"], "the schedule")
    armed = scheduler.get_schedule(GroupName=group, Name=listed[0]["Name"])
    kept = ("Name", "GroupName", "FlexibleTimeWindow", "ActionAfterCompletion", "Target")
    soon = datetime.fromtimestamp(SystemClock().now_ms() / 1000 + 3, UTC)
    scheduler.update_schedule(**{name: armed[name] for name in kept}, ScheduleExpression=f"at({soon:%Y-%m-%dT%H:%M:%S})")

    def armed_again() -> bool:
        """It fired, which deletes it; the runner looked at its clock, found the hint early and armed the timer anew."""
        try:
            found = scheduler.get_schedule(GroupName=group, Name=armed["Name"])
        except scheduler.exceptions.ResourceNotFoundException:
            return False
        return bool(found["ScheduleExpression"] == armed["ScheduleExpression"])

    until(armed_again, "the firing")
    assert http.get(f"/runs/{run_id}").json()["status"] == "paused"
    assert http.post(f"/runs/{run_id}/cancel", json={}).status_code == 202
    assert ended(http, run_id)["status"] == "cancelled"


def test_what_nobody_can_work_off_becomes_a_dead_letter_that_is_told(cloud: Cloud) -> None:
    cloud.service("sqs").send_message(QueueUrl=cloud.outputs["DeadLetters"], MessageBody='{"run":"run_x","reason":"start"}')
    log = cloud.logs / f"{cloud.stack}-deadletter.log"
    until(lambda: log.exists() and "run_x" in log.read_text(), "the dead letter's line")


def test_the_sweeper_is_invoked_by_its_schedule(cloud: Cloud) -> None:
    log = cloud.logs / f"{cloud.stack}-sweeper.log"
    until(lambda: log.exists() and "OldestDueAge" in log.read_text(), "the sweep", 90)


def test_no_function_was_refused_anything(cloud: Cloud) -> None:
    """IAM is enforced: a permission that a role lacks would be in the logs."""
    for name in cloud.functions:
        log = cloud.logs / f"{name}.log"
        assert log.exists(), name
        assert "AccessDenied" not in log.read_text(), name
        assert "is not authorized" not in log.read_text(), name
