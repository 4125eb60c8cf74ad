"""`make deploy-local`: template.yaml on an emulator that enforces IAM, used only over HTTP, as by a user."""

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
from stepless.runtime.triggers.signatures import sign

pytestmark = [pytest.mark.long, pytest.mark.story]

HERE = Path(__file__).resolve().parent
API_KEY = "try-it"
PATIENCE_S = 60  # schedules of the emulator fire every ten seconds, the sweeper every minute
SECRET = "shared-with-the-shop"


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    parameters = {
        "ApiKeyHashes": f"sha256:{sha256(API_KEY.encode()).hexdigest()}",
        "FunctionModules": "deploy_steps",
        "RunnerTimeout": "12",  # of which eight are margins: every longer run hands over
        "QueueVisibility": "35",
        "EventSources": "shop.orders",
    }
    try:
        with deployed(tmp_path_factory.mktemp("cloud"), HERE / "functions", parameters) as built:
            _tell(f"deployed: {built.url}")
            yield built
            check_permissions(built)
    except Missing as error:
        pytest.skip(str(error))


def check_permissions(cloud: Cloud) -> None:
    """IAM is enforced: a permission that a role lacks is in the log of the function that needed it. Checked after all tests, in
    whatever order they ran."""
    logs = {name: cloud.logs / f"{name}.log" for name in cloud.functions}
    written = {name: log.read_text() for name, log in logs.items() if log.exists()}
    assert written, "no function has been invoked"
    refused = [name for name, text in written.items() if "AccessDenied" in text or "is not authorized" in text]
    assert not refused


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


@pytest.fixture(scope="module")
def poisoned(cloud: Cloud, http: httpx.Client, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A run that kills every invocation, and the file that makes it do so. Its message is a dead letter after two receives
    instead of five (nothing else is changed): each takes a visibility time-out."""
    sqs, queue = cloud.service("sqs"), cloud.outputs["Queue"]
    policy = json.loads(sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["RedrivePolicy"])["Attributes"]["RedrivePolicy"])
    assert int(policy["maxReceiveCount"]) == 5
    sqs.set_queue_attributes(QueueUrl=queue, Attributes={"RedrivePolicy": json.dumps({**policy, "maxReceiveCount": 2})})
    file = tmp_path_factory.mktemp("poison") / "deadly"
    file.touch()
    publish(http, "poison", {"kill": step(call="steps.deadly", file=str(file)), "after": step("kill", name="alive")})
    return start(http, "poison"), file


def test_a_run_that_kills_its_invocation_keeps_nobody_else_from_running(http: httpx.Client, poisoned: tuple[str, Path]) -> None:
    publish(http, "beside", {"a": step(name="a")})
    assert ended(http, start(http, "beside"))["status"] == "completed"
    assert http.get(f"/runs/{poisoned[0]}").json()["status"] in ("created", "running")


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


def test_a_schedule_that_is_made_at_publication_starts_a_run_through_its_role(cloud: Cloud, http: httpx.Client) -> None:
    """Its instant is brought forward, and put into the message as AWS does, which the emulator does not."""
    nodes = {"tick": {"type": "schedule", "with": {"cron": "30 9 * * 1-5", "timezone": "Europe/Berlin"}}}
    publish(http, "weekdays", {**nodes, "work": step("tick", name="<tick.scheduled_at>")})
    scheduler, group = cloud.service("scheduler"), cloud.outputs["Schedules"]
    [listed] = scheduler.list_schedules(GroupName=group)["Schedules"]
    made = scheduler.get_schedule(GroupName=group, Name=listed["Name"])
    assert (made["ScheduleExpression"], made["ScheduleExpressionTimezone"]) == ("cron(30 9 ? * 2-6 *)", "Europe/Berlin")
    soon = datetime.fromtimestamp(SystemClock().now_ms() / 1000 + 2, UTC)
    at = f"{soon:%Y-%m-%dT%H:%M:%S}"
    target = {**made["Target"], "Input": made["Target"]["Input"].replace("<aws.scheduler.scheduled-time>", f"{at}Z")}
    kept = {name: made[name] for name in ("Name", "GroupName", "FlexibleTimeWindow")}
    scheduler.update_schedule(**kept, ScheduleExpression=f"at({at})", ScheduleExpressionTimezone="UTC", Target=target)
    [run] = until(lambda: runs_of(http, "weekdays"), "the firing")
    assert ended(http, run["id"])["outputs"] == {"work": f"{at}.000Z"}
    publish(http, "weekdays", {"tick": {"type": "manual"}, "work": step("tick", name="done")})
    assert scheduler.list_schedules(GroupName=group)["Schedules"] == []


def test_an_event_of_the_bus_starts_the_workflow_that_listens_once(cloud: Cloud, http: httpx.Client) -> None:
    pattern = {"source": ["shop.orders"], "detail": {"total": [{"numeric": [">", 100]}]}}
    nodes = {"order": {"type": "event", "with": {"pattern": pattern}}, "pack": step("order", name="<order.detail.id>")}
    publish(http, "orders-by-event", nodes)
    entries = [
        {"Source": source, "DetailType": "Order Placed", "Detail": json.dumps({"id": source, "total": total})}
        for source, total in (("shop.orders", 129.5), ("shop.orders", 9), ("shop.returns", 500))
    ]
    assert cloud.service("events").put_events(Entries=entries)["FailedEntryCount"] == 0
    [run] = until(lambda: runs_of(http, "orders-by-event"), "the event")
    assert ended(http, run["id"])["outputs"] == {"pack": "shop.orders"}
    event = {"id": "e-1", "source": "shop.orders", "detail-type": "Order Placed", "detail": {"id": "twice", "total": 200}}
    queue = cloud.service("sqs").get_queue_url(QueueName=cloud.outputs["TriggerQueueArn"].rpartition(":")[2])["QueueUrl"]
    for _ in range(3):
        cloud.service("sqs").send_message(QueueUrl=queue, MessageBody=json.dumps(event))
    log = cloud.logs / f"{cloud.stack}-trigger.log"
    until(lambda: sum("run.triggered" in line and '"replay":true' in line for line in lines(log)) >= 2, "both repetitions")
    assert len(runs_of(http, "orders-by-event")) == 2


def runs_of(http: httpx.Client, workflow_id: str) -> list[dict[str, Any]]:
    return list(http.get(f"/runs?workflow={workflow_id}").json()["runs"])


def test_author_code_runs_in_a_function_that_may_do_nothing(http: httpx.Client) -> None:
    code = "import statistics\ndef main(args):\n  return statistics.mean(args['of'])\n"
    publish(http, "sandboxed", {"mean": {"type": "code", "with": {"code": code, "args": {"of": [1, 2, 6]}}, "timeout_ms": 4_000}})
    assert ended(http, start(http, "sandboxed"))["outputs"] == {"mean": 3}
    broken = "def main(args):\n  return args['nowhere']\n"
    publish(http, "sandboxed", {"mean": {"type": "code", "with": {"code": broken, "args": {}}, "timeout_ms": 4_000}})
    run = ended(http, start(http, "sandboxed"))
    assert (run["status"], run["error"]["code"]) == ("failed", "code_raised")
    assert "line 2: KeyError" in run["error"]["message"]


def test_what_kills_every_invocation_is_a_dead_letter_and_goes_on_when_it_is_mended(
    cloud: Cloud, http: httpx.Client, poisoned: tuple[str, Path]
) -> None:
    run_id, file = poisoned
    log = cloud.logs / f"{cloud.stack}-deadletter.log"
    until(lambda: log.exists() and any(run_id in line and "run.dead_letter" in line for line in lines(log)), "its line", 150)
    file.unlink()
    hint = json.dumps({"run": run_id, "reason": "sweep", "hops": 0})
    cloud.service("sqs").send_message(QueueUrl=cloud.outputs["Queue"], MessageBody=hint)
    assert ended(http, run_id)["outputs"] == {"after": "alive"}
    assert "run.recovered" in event_types(http, run_id)


def lines(log: Path) -> list[str]:
    return log.read_text().splitlines()


def test_the_sweeper_is_invoked_by_its_schedule(cloud: Cloud) -> None:
    log = cloud.logs / f"{cloud.stack}-sweeper.log"
    until(lambda: log.exists() and "OldestDueAge" in log.read_text(), "the sweep", 90)
