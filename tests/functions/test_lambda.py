"""The functions in Lambda's own runtime: cold starts, the real time budget, SIGKILL at the deadline, redelivery."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest
from botocore.exceptions import ClientError
from lambda_stack import API_KEY, Ask, Stack, asked, chain, records, sample, status_of, step

from stepless.adapters.aws.dynamo.store import DynamoStore
from stepless.limits import DEAD_LETTER_RETRY_MS
from stepless.ports import RunHead


def logged(stack: Stack, function: str) -> list[dict[str, Any]]:
    lines = (stack.folder / f"{function}.log").read_text().splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


# -- each function's samples ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "status"), [("api-health", 200), ("api-unauthorized", 401)])
def test_the_api_answers_its_samples(api: Ask, name: str, status: int) -> None:
    assert api(sample(name))[0] == status


def test_a_workflow_is_published_by_the_sample(api: Ask) -> None:
    assert api(sample("api-publish"))[0] in (200, 201)  # 200: another test has published the same
    assert api(sample("api-publish"))[0] == 200


def test_a_webhook_is_accepted_and_its_run_ends_with_the_message(stack: Stack, api: Ask) -> None:
    api(sample("api-publish"))
    stack.messages()
    status, started = api(sample("api-hook"))
    assert status == 202
    assert started["links"]["run"] == f"https://stepless.example/runs/{started['run_id']}"
    (message,) = stack.messages()
    spent = message.pop("spent")
    assert message == {"run": started["run_id"], "reason": "start", "hops": 0}
    runner = stack.function("runner", {"POWERTOOLS_SERVICE_NAME": "runner"})
    assert runner.invoke(records(started["run_id"], spent=spent)).value == {"batchItemFailures": []}
    assert api(asked("GET", f"/runs/{started['run_id']}"))[1]["outputs"] == {"greet": "Hello, Ada!"}
    replayed = asked("GET", f"/runs/{started['run_id']}/events")
    replayed["headers"]["accept"] = "text/event-stream"
    assert "event: run.completed" in api(replayed)[1]


def test_a_run_is_billed_for_what_both_functions_asked_for(stack: Stack, api: Ask) -> None:
    run_id = chain(api, "billed", step("steps.mark", name="billed"))
    (message,) = [message for message in stack.messages() if message["run"] == run_id]
    runner = stack.function("runner", {"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512"})
    assert runner.invoke(records(run_id, spent=message["spent"])).value == {"batchItemFailures": []}
    status, bill = api(asked("GET", f"/runs/{run_id}/cost"))
    counts = {line["what"]: line["count"] for line in bill["lines"]}
    assert (status, bill["basis"]) == (200, "counted")
    assert counts["DynamoDB write units"] >= 3 + 1 + 2 + 3  # create, lease, two batches, the end
    assert (counts["SQS requests"], counts["HTTP API requests"], counts["Lambda requests"]) == (3, 1, 2)
    assert counts["Lambda GB-s"] > 0


def test_a_replay_of_no_run_is_no_stream(api: Ask) -> None:
    assert api(sample("api-events"))[0] == 404


def test_a_batch_gives_back_only_what_cannot_be_worked_off(stack: Stack) -> None:
    event = sample("runner-batch")
    answer = stack.function("runner").invoke(event)
    assert answer.error is None
    assert answer.value == {"batchItemFailures": [{"itemIdentifier": event["Records"][2]["messageId"]}]}
    assert any(line.get("hint") == "not a message" for line in logged(stack, "runner"))


def test_the_sweeper_finds_what_nobody_looks_at(stack: Stack) -> None:
    store = DynamoStore(stack.service("dynamodb"), "runs")
    head = RunHead("run_forgotten", "greeting", "hash", "created", 1_000, 1_000, b"{}", due_ms=2_000)
    store.create_run(head)
    stack.messages()
    answer = stack.function("sweeper").invoke(sample("sweeper"))
    assert answer.error is None
    assert answer.value["due"] >= 1
    assert {"run": "run_forgotten", "reason": "sweep", "hops": 0} in stack.messages()
    measured = [line for line in logged(stack, "sweeper") if "_aws" in line][-1]
    assert measured["OldestDueAge"][0] > 1_000_000
    lease = store.take_lease("run_forgotten", "test", 3_000, 4_000)
    assert lease is not None
    store.update_run(lease, 3_000, status="cancelled", release=True)


def test_a_dead_letter_lets_its_run_rest_and_tells_the_operator(stack: Stack) -> None:
    store = DynamoStore(stack.service("dynamodb"), "runs")
    event, run_id = sample("deadletter"), "run_dead"
    record = event["Records"][0]
    record["body"] = json.dumps(json.loads(record["body"]) | {"run": run_id})
    head = RunHead(run_id, "greeting", "hash", "running", 1_000, 1_000, b"{}", due_ms=2_000)
    store.create_run(head)
    answer = stack.function("deadletter").invoke(event)
    assert (answer.error, answer.value) == (None, {"batchItemFailures": []})
    rested = store.get_run(run_id)
    assert rested is not None
    assert rested.due_ms is not None
    assert rested.due_ms > rested.updated_ms == rested.due_ms - DEAD_LETTER_RETRY_MS
    assert rested._replace(due_ms=2_000, updated_ms=1_000, epoch=0, lease_until_ms=0) == head
    lines = logged(stack, "deadletter")
    assert any(line.get("run") == run_id and line["message"] == "run.dead_letter" for line in lines)
    assert any(line.get("DeadLetters") == [1.0] for line in lines)


# -- Lambda's truth ---------------------------------------------------------------------------------------------------


def test_the_first_invocation_is_cold_and_the_next_ones_are_warm(stack: Stack) -> None:
    sweeper = stack.function("sweeper")
    first, second = sweeper.invoke(sample("sweeper")), sweeper.invoke(sample("sweeper"))
    assert (first.cold, second.cold, sweeper.cold_starts) == (True, False, 1)
    assert first.error is None
    assert second.error is None


def test_a_run_hands_over_when_the_invocation_ends_and_goes_on_in_the_next(stack: Stack, api: Ask) -> None:
    steps = [step("steps.work", name=f"over-{number}", seconds=1) for number in range(4)]
    run_id = chain(api, "hand-over", *steps)
    stack.messages()
    runner = stack.function("runner")
    runner.invoke(sample("runner-batch"))  # warm
    assert runner.invoke(records(run_id), timeout_s=9).value == {"batchItemFailures": []}
    assert status_of(api, run_id) != "completed"
    handed = [message for message in stack.messages() if message["run"] == run_id]
    assert [(message["reason"], message["hops"], message["epoch"]) for message in handed] == [("continue", 1, 2)]
    rest = {name: handed[0][name] for name in handed[0].keys() - {"run"}}
    assert runner.invoke(records(run_id, **rest)).value == {"batchItemFailures": []}
    assert status_of(api, run_id) == "completed"
    assert [effect for effect in stack.effects() if effect.startswith("over-")] == [f"over-{n}" for n in range(4)]
    assert runner.killed == 0
    assert any(line.get("HandOvers") for line in logged(stack, "runner"))


def test_a_run_that_is_killed_at_the_deadline_goes_on_when_its_message_comes_again(stack: Stack, api: Ask) -> None:
    steps = [step("steps.mark", name="killed-before"), step("steps.stop_once", name="killed-hung")]
    run_id = chain(api, "killed", *steps, step("steps.mark", name="killed-after"))
    runner = stack.function("runner")
    runner.invoke(sample("runner-batch"))
    killed = runner.invoke(records(run_id), timeout_s=9)
    assert killed.error == {"errorType": "Sandbox.Timedout", "errorMessage": "Task timed out"}
    stack.expire_lease(run_id)
    again = runner.invoke(records(run_id))
    assert (again.cold, again.error) == (True, None)
    assert status_of(api, run_id) == "completed"
    mine = [effect for effect in stack.effects() if effect.startswith("killed-")]
    assert mine == ["killed-before", "killed-hung", "killed-hung", "killed-after"]
    assert any(line.get("message") == "run.recovered" and line.get("run") == run_id for line in logged(stack, "runner"))


def published(api: Ask, workflow_id: str, work: dict[str, Any], **top: Any) -> str:
    """A run of one node with a short timeout."""
    node = {"type": "function", "timeout_ms": 300, "with": work, "retry": {"attempts": 2, "backoff_ms": 0}}
    status, answer = api(asked("PUT", f"/workflows/{workflow_id}", {"id": workflow_id, "nodes": {"n": node}, **top}))
    assert status in (200, 201), answer
    return str(api(asked("POST", f"/workflows/{workflow_id}/runs", {"inputs": {}}))[1]["run_id"])


def test_an_invocation_waits_for_code_that_goes_on_and_then_retries(stack: Stack, api: Ask) -> None:
    (stack.folder / "effects").touch()
    run_id = published(api, "lingers-briefly", step("steps.lingers", name="brief", seconds=1.5))
    runner = stack.function("runner")
    answer = runner.invoke(records(run_id))
    assert (answer.error, answer.value) == (None, {"batchItemFailures": []})
    assert [effect for effect in stack.effects() if effect.startswith("brief")] == ["brief+", "brief-", "brief+", "brief-"]
    assert status_of(api, run_id) == "completed"


@pytest.mark.parametrize("retries", [True, False], ids=["retries", "ends"])
def test_nothing_of_an_attempt_runs_in_another_invocation(stack: Stack, api: Ask, retries: bool) -> None:
    """The function hands over, deletes its message and ends its process before the code returns; the next process does the rest."""
    (stack.folder / "effects").touch()
    name = f"stuck{retries:d}"
    top = {} if retries else {"timeout": "1s"}
    run_id = published(api, f"lingers-{name}", step("steps.lingers", name=name, seconds=60), **top)
    other = chain(api, f"beside-{name}", step("steps.mark", name=f"beside-{name}"))
    stack.messages()
    runner = stack.function("runner")
    runner.invoke(sample("runner-batch"))  # warm
    event = records(run_id, number=2)
    event["Records"][1]["body"] = json.dumps({"run": other, "reason": "start", "hops": 0})
    for record in event["Records"]:
        stack.service("sqs").send_message(QueueUrl=stack.queue_url, MessageBody=record["body"])
    for record, message in zip(event["Records"], taken(stack, 2), strict=True):
        record.update(body=message["Body"], receiptHandle=message["ReceiptHandle"], messageId=message["MessageId"])
    ended = runner.invoke(event, timeout_s=9)
    assert ended.error == {"errorType": "Runtime.ExitError", "errorMessage": "Runtime exited"}
    assert runner.killed == 0, "it ended itself"
    assert status_of(api, other) == "completed"
    lines = logged(stack, "runner")
    assert [line["code"] for line in lines if line.get("message") == "run.code_lingers"][-1] == [f"n of {run_id}"]
    for record in event["Records"]:  # SQS would deliver them again after a failed invocation
        with pytest.raises(ClientError, match="ReceiptHandleIsInvalid"):
            stack.service("sqs").change_message_visibility(
                QueueUrl=stack.queue_url, ReceiptHandle=record["receiptHandle"], VisibilityTimeout=0
            )
    stack.expire_lease(run_id)
    again = runner.invoke(records(run_id, reason="signal"))
    assert (again.cold, again.error) == (True, None)
    mine = [effect for effect in stack.effects() if effect.startswith(name)]
    assert mine == ([f"{name}+", f"{name}+", f"{name}-"] if retries else [f"{name}+"]), "the first call never returned"
    assert status_of(api, run_id) == ("completed" if retries else "timed_out")
    assert not any(line.get("message") == "run.recovered" and line.get("run") == run_id for line in logged(stack, "runner"))


def taken(stack: Stack, number: int) -> list[Any]:
    """Messages as Lambda takes them from the queue."""
    found: list[Any] = []
    while len(found) < number:
        found += stack.service("sqs").receive_message(QueueUrl=stack.queue_url, MaxNumberOfMessages=10).get("Messages", [])
    return found


def test_a_run_that_two_deliveries_reach_at_once_runs_once(stack: Stack, api: Ask) -> None:
    run_id = chain(api, "twice", step("steps.mark", name="once"))
    runner = stack.function("runner")
    assert runner.invoke(records(run_id, number=2)).value == {"batchItemFailures": []}
    assert runner.invoke(records(run_id)).value == {"batchItemFailures": []}
    assert status_of(api, run_id) == "completed"
    assert [effect for effect in stack.effects() if effect == "once"] == ["once"]


def test_a_store_out_of_reach_gives_the_message_back(stack: Stack) -> None:
    runner = stack.function("runner", {"AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:9"})
    event = sample("runner-start")
    failed = [{"itemIdentifier": event["Records"][0]["messageId"]}]
    assert runner.invoke(event).value == {"batchItemFailures": failed}


def test_an_invocation_is_traced_where_tracing_is_on(stack: Stack) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as daemon:
        daemon.bind(("127.0.0.1", 0))
        daemon.settimeout(10)
        address = f"127.0.0.1:{daemon.getsockname()[1]}"
        sweeper = stack.function("sweeper", {"STEPLESS_TRACING": "on", "AWS_XRAY_DAEMON_ADDRESS": address})
        assert sweeper.invoke(sample("sweeper")).error is None
        told = ""
        while "## handler" not in told:
            told += daemon.recv(65_536).decode()
    assert '"name": "dynamodb"' in told


GATEWAYS = {
    "iam": {"STEPLESS_IAM_ROLES": "arn:aws:iam::123456789012:role/ops=admin,arn:aws:iam::123456789012:role/dev=read"},
    "jwt": {
        "STEPLESS_JWT_ISSUER": "https://issuer.example", "STEPLESS_JWT_AUDIENCE": "stepless",
        "STEPLESS_JWT_ROLES_CLAIM": "cognito:groups", "STEPLESS_JWT_ROLES": "ops=admin,dev=read",
    },
}  # fmt: skip


def said(auth: str, group: str) -> dict[str, Any]:
    """What API Gateway says of a caller."""
    if auth == "iam":
        return {"iam": {"accountId": "123456789012", "userArn": f"arn:aws:sts::123456789012:assumed-role/{group}/ada"}}
    claims = {"iss": "https://issuer.example", "aud": "stepless", "exp": "4000000000", "cognito:groups": f"[{group} x]"}
    return {"jwt": {"claims": claims, "scopes": None}}


@pytest.mark.parametrize("auth", ["iam", "jwt"])
def test_a_caller_that_the_gateway_names_has_the_roles_that_are_mapped(stack: Stack, auth: str) -> None:
    function = stack.function("api", {"STEPLESS_AUTH": auth, **GATEWAYS[auth]})

    def asks(method: str, path: str, authorizer: Any) -> tuple[int, str]:
        event = asked(method, path, {"id": "roles", "nodes": {"begin": {"type": "manual"}}} if method == "PUT" else None)
        event["headers"].pop("authorization")
        event["requestContext"]["authorizer"] = authorizer
        answer = function.invoke(event)
        assert answer.error is None, answer.error
        return answer.value["statusCode"], json.loads(answer.value["body"]).get("code", "")

    assert asks("PUT", "/workflows/roles", said(auth, "ops"))[0] in (200, 201)
    assert asks("PUT", "/workflows/roles", said(auth, "dev")) == (403, "role_missing")
    assert asks("GET", "/runs", said(auth, "dev")) == (200, "")
    assert asks("GET", "/runs", said(auth, "ops-evil")) == (403, "no_role")
    assert asks("GET", "/runs", None) == (401, "unauthorized")
    assert asks("GET", "/runs", said({"iam": "jwt", "jwt": "iam"}[auth], "ops")) == (401, "unauthorized")


@pytest.mark.parametrize("variables", [{"STEPLESS_AUTH": "iam", "STEPLESS_IAM_ROLES": "*=admin"}, {"STEPLESS_AUTH": "open"}])
def test_a_malformed_setting_closes_the_api_and_leaves_its_open_routes(stack: Stack, variables: dict[str, str]) -> None:
    function = stack.function("api", variables)
    event = asked("GET", "/runs")
    event["requestContext"]["authorizer"] = said("iam", "ops")
    answer = function.invoke(event).value
    assert (answer["statusCode"], json.loads(answer["body"])["code"]) == (403, "access_misconfigured")
    assert function.invoke(sample("api-health")).value["statusCode"] == 200


def test_the_key_of_the_samples_is_the_one_that_is_accepted() -> None:
    assert sample("api-publish")["headers"]["authorization"] == f"Bearer {API_KEY}"
