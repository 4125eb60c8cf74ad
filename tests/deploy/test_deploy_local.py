"""`make deploy-local`: template.yaml on an emulator that enforces IAM, used only over HTTP, as by a user."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from deployed_runs import (
    ASKED,
    PARAMETERS,
    answered,
    ask,
    check_permissions,
    ended,
    event_types,
    kept,
    lines,
    publish,
    runs_of,
    start,
    step,
    tell,
    until,
)
from deployed_schedules import clocks_ahead
from local_cloud import ROOT, Cloud, Machine

from stepless.adapters.system import SystemClock
from stepless.runtime.triggers.signatures import sign

pytestmark = [pytest.mark.long, pytest.mark.story]

PAGE = (ROOT / "docs/run/operations.md").read_text()
SECRET = "shared-with-the-shop"


@pytest.fixture(scope="module")
def cloud(machine: Machine) -> Iterator[Cloud]:
    """The stack with the timeouts of the template."""
    built = Cloud(machine)
    built.deploy(PARAMETERS)
    tell(f"deployed: {built.url}")
    yield built
    check_permissions(machine, built.stack)


@pytest.fixture(scope="module")
def overlooked(cloud: Cloud, http: httpx.Client) -> str:
    """A run whose timer is lost while it waits. Made before every run whose message a purge would remove, too."""
    publish(http, "overlooked", {"pause": {"type": "wait", "with": {"for": "20s"}}, "after": step("pause", name="found")})
    run_id = start(http, "overlooked")
    until(lambda: http.get(f"/runs/{run_id}").json()["status"] == "paused", "the pause")
    cloud.service("sqs").purge_queue(QueueUrl=cloud.outputs["Queue"])
    return run_id


@pytest.fixture(scope="module")
def poisoned(cloud: Cloud, http: httpx.Client, overlooked: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A run that kills every invocation, and the file that makes it do so. So that the tests need not wait for a quarter of an
    hour, messages are delivered again after 50 seconds instead of 180; nothing else is changed."""
    sqs, queue = cloud.service("sqs"), cloud.outputs["Queue"]
    before = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["RedrivePolicy", "VisibilityTimeout"])["Attributes"]
    assert (int(json.loads(before["RedrivePolicy"])["maxReceiveCount"]), before["VisibilityTimeout"]) == (5, "180")
    sqs.set_queue_attributes(QueueUrl=queue, Attributes={"VisibilityTimeout": "50"})
    file = tmp_path_factory.mktemp("poison") / "deadly"
    file.touch()
    publish(http, "poison", {"kill": step(call="steps.deadly", file=str(file)), "after": step("kill.error", name="given up")})
    return start(http, "poison"), file


def test_a_wait_beyond_fifteen_minutes_completes_through_the_scheduler(cloud: Cloud, http: httpx.Client) -> None:
    """The scheduler sends, as TimerRole. A firing that is early wakes the run and ends nothing. Then the instant of the schedule
    is brought forward again, and the clocks of the functions with it: twenty minutes have passed for all of them. Before all
    other tests: a lease that is taken by a clock ahead, and not given back, would last for twenty minutes."""
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
    with clocks_ahead(cloud.machine, seconds=20 * 60):
        assert http.get(f"/runs/{run_id}").json()["status"] == "paused"
        at = f"at({soon:%Y-%m-%dT%H:%M:%S})"
        scheduler.update_schedule(**{name: armed[name] for name in kept}, ScheduleExpression=at)
        assert ended(http, run_id)["outputs"] == {"after": "awake"}
    assert scheduler.list_schedules(GroupName=group)["Schedules"] == []


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
    """A node begins only if its timeout fits into what is left of the 120 seconds, so the last one of these needs another one."""
    names = [f"n{number}" for number in range(3)]
    slow = {"timeout_ms": 111_500}
    nodes = {name: {**step(names[i - 1] if i else None, name=name, seconds=2), **slow} for i, name in enumerate(names)}
    publish(http, "long", nodes)
    run = ended(http, start(http, "long"))
    assert (run["status"], run["outputs"]) == ("completed", {"n2": "n2"})
    types = event_types(http, run["id"])
    assert types.count("run.continued") >= 1
    assert types.count("node.started") == types.count("node.completed") == 3
    too_long = {"id": "longer", "nodes": {"a": {**step(name="a"), "timeout_ms": 112_500}}}
    refused = http.put("/workflows/longer", json=too_long)
    assert (refused.status_code, "timeout_too_long" in refused.text) == (422, True)


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
    assert kept(cloud, run["id"])["objects"]
    kinds = {key.partition("#")[0] for key in kept(cloud, run["id"])["items"]}
    assert {"HEAD", "LOG"} <= kinds

    erased = http.delete(f"/runs/{run['id']}")  # under the permissions of the function `api`
    assert (erased.status_code, erased.json()["erased"]) == (200, True), erased.text
    left = kept(cloud, run["id"])
    assert left["objects"] == [] and left["content"] == 0
    assert {key.partition("#")[0] for key in left["items"]} <= {"HEAD", "LOG"}  # the empty batches keep their places
    gone = [http.get(f"/runs/{run['id']}"), http.post(f"/runs/{run['id']}/rerun", json={})]
    assert [(answer.status_code, answer.json()["code"]) for answer in gone] == [(410, "run_erased")] * 2
    assert http.delete(f"/runs/{run['id']}").json() == erased.json()
    [entry] = [each for each in http.get("/audit?verb=erase_run").json()["entries"] if each["target"] == run["id"]][-1:]
    assert entry["refused"] is None


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


def test_schedules_that_cannot_be_set_are_answered_and_set_by_publishing_again(cloud: Cloud, http: httpx.Client) -> None:
    scheduler, group = cloud.service("scheduler"), cloud.outputs["Schedules"]
    nodes = {"tick": {"type": "schedule", "with": {"cron": "0 3 * * *"}}, "work": step("tick", name="n")}
    scheduler.delete_schedule_group(Name=group)
    refused = http.put("/workflows/nightly", json={"id": "nightly", "nodes": nodes})
    assert refused.status_code in (500, 503), refused.text
    assert refused.json()["code"] == "schedules_not_kept", refused.text
    assert http.get("/workflows/nightly").json()["version"] == 1
    scheduler.create_schedule_group(Name=group)
    publish(http, "nightly", nodes)
    assert len(scheduler.list_schedules(GroupName=group)["Schedules"]) == 1
    assert http.get("/workflows/nightly").json()["version"] == 1


def test_a_run_with_more_output_than_a_response_holds_is_read(http: httpx.Client) -> None:
    """Lambda refuses a response above 6 MB, and so do the functions here."""
    publish(http, "huge", {name: step(call="steps.large", size=2_500_000) for name in ("a", "b", "c")})
    run_id = start(http, "huge")
    assert ended(http, run_id)["status"] == "completed"
    for path in ("", "/nodes", "/events", "?include=nodes"):
        answer = http.get(f"/runs/{run_id}{path}")
        assert answer.status_code == 200, answer.text[:200]


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
    log = cloud.log("trigger")
    until(lambda: sum("run.triggered" in line and '"replay":true' in line for line in lines(log)) >= 2, "both repetitions")
    assert len(runs_of(http, "orders-by-event")) == 2


def test_author_code_runs_in_a_function_that_may_do_nothing(http: httpx.Client) -> None:
    code = "import statistics\ndef main(args):\n  return statistics.mean(args['of'])\n"
    publish(http, "sandboxed", {"mean": {"type": "code", "with": {"code": code, "args": {"of": [1, 2, 6]}}, "timeout_ms": 4_000}})
    assert ended(http, start(http, "sandboxed"))["outputs"] == {"mean": 3}
    broken = "def main(args):\n  return args['nowhere']\n"
    publish(http, "sandboxed", {"mean": {"type": "code", "with": {"code": broken, "args": {}}, "timeout_ms": 4_000}})
    run = ended(http, start(http, "sandboxed"))
    assert (run["status"], run["error"]["code"]) == ("failed", "code_raised")
    assert "line 2: KeyError" in run["error"]["message"]


def test_what_kills_every_invocation_fails_after_three_recoveries_and_its_error_edge_decides(
    http: httpx.Client, poisoned: tuple[str, Path]
) -> None:
    """Hints of the sweeper and repeated messages bring new invocations, before any message was received too often."""
    run_id, file = poisoned
    run = ended(http, run_id, 300)
    assert (file.exists(), run["status"], run["outputs"]) == (True, "completed", {"after": "given up"})
    [killed] = [node for node in http.get(f"/runs/{run_id}/nodes").json()["nodes"] if node["instance"] == "kill"]
    assert (killed["status"], killed["error"]["code"]) == ("failed", "crashed")
    assert event_types(http, run_id).count("run.recovered") in (4, 5)  # a session that hands over in doubt recovers once more


def test_a_dead_letter_is_reported_and_its_run_goes_on(cloud: Cloud, http: httpx.Client) -> None:
    """The message is sent to the queue of dead letters, as SQS does after five deliveries."""
    publish(http, "asked", ASKED)
    run_id, token = ask(http, "asked")
    sqs, queue = cloud.service("sqs"), cloud.outputs["Queue"]
    policy = json.loads(sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["RedrivePolicy"])["Attributes"]["RedrivePolicy"])
    dead = sqs.get_queue_url(QueueName=policy["deadLetterTargetArn"].rpartition(":")[2])["QueueUrl"]
    sqs.send_message(QueueUrl=dead, MessageBody=json.dumps({"run": run_id, "reason": "start", "hops": 0}))
    log = cloud.log("deadletter")
    until(lambda: log.exists() and any(run_id in line and "run.dead_letter" in line for line in lines(log)), "its line", 60)
    answered(http, run_id, token)


def test_a_run_whose_timer_is_lost_is_found_by_the_sweeper(cloud: Cloud, http: httpx.Client, overlooked: str) -> None:
    """The scheduler invokes the sweeper every minute, which sends a hint with the permissions of its role."""
    run = ended(http, overlooked, 90)
    assert run["outputs"] == {"after": "found"}
    swept = [json.loads(line) for line in lines(cloud.log("sweeper")) if "OldestDueAge" in line]
    assert any(sum(each["DueRuns"]) >= 1 for each in swept)
