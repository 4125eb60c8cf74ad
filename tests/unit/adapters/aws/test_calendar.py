"""The calendar: schedules of published workflows in AWS's format, created once and removed again."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from aws_services import Service
from botocore.exceptions import ClientError

from stepless.adapters.aws.calendar import SchedulerCalendar, expressions
from stepless.errors import ConfigError, StoreUnavailable
from stepless.model.triggers.cron import parse_cron
from stepless.ports import Calendar, Rhythm

HOUR_MS = 3_600_000
QUEUE = "arn:aws:sqs:us-east-1:123456789012:trigger"


def calendar(client: Any, queue: str = QUEUE) -> Calendar:
    return SchedulerCalendar(
        client, group="schedules", role_arn="arn:aws:iam::123456789012:role/calendar", queue_arn=queue, dlq_arn=f"{queue}-dead",
        field="firing",
    )  # fmt: skip


class Refusing:
    """A client one of whose verbs fails."""

    def __init__(self, client: Any, verb: str, code: str, times: int = 1) -> None:
        self._client, self._verb, self._code, self._times = client, verb, code, times

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(**given: Any) -> Any:
            if name == self._verb and self._times:
                self._times -= 1
                raise ClientError({"Error": {"Code": self._code, "Message": "not this one"}}, name)
            return getattr(self._client, name)(**given)

        return call


@pytest.fixture
def client(aws: Service) -> Any:
    aws("scheduler").create_schedule_group(Name="schedules")
    return aws("scheduler")


def kept(client: Any) -> dict[str, str]:
    """Expressions by description."""
    listed = client.list_schedules(GroupName="schedules")["Schedules"]
    found = [client.get_schedule(GroupName="schedules", Name=one["Name"]) for one in listed]
    return {one["Description"]: one["ScheduleExpression"] for one in found}


def test_what_is_kept_is_what_was_given_last(client: Any) -> None:
    plans = calendar(client)
    hourly, daily = Rhythm("tick", rate_ms=HOUR_MS), Rhythm("tock", cron="0 9 * * *", timezone="Europe/Berlin")
    for rhythms, expected in (
        ([hourly, daily], {"wf: tick": "rate(1 hour)", "wf: tock": "cron(0 9 * * ? *)"}),
        ([hourly, daily], {"wf: tick": "rate(1 hour)", "wf: tock": "cron(0 9 * * ? *)"}),
        ([Rhythm("tick", rate_ms=2 * HOUR_MS), daily], {"wf: tick": "rate(2 hours)", "wf: tock": "cron(0 9 * * ? *)"}),
        ([daily], {"wf: tock": "cron(0 9 * * ? *)"}),
        ([], {}),
    ):
        plans.keep("wf", rhythms)
        assert kept(client) == expected


def test_a_schedule_sends_its_workflow_node_and_instant_to_the_queue_as_the_role(client: Any) -> None:
    calendar(client).keep("wf", [Rhythm("tick", rate_ms=HOUR_MS, timezone="Asia/Tokyo")])
    [listed] = client.list_schedules(GroupName="schedules")["Schedules"]
    made = client.get_schedule(GroupName="schedules", Name=listed["Name"])
    assert len(listed["Name"]) <= 64
    assert (made["ScheduleExpressionTimezone"], made["FlexibleTimeWindow"]) == ("Asia/Tokyo", {"Mode": "OFF"})
    target = made["Target"]
    assert (target["Arn"], target["RoleArn"][-14:]) == (QUEUE, ":role/calendar")
    assert target["DeadLetterConfig"] == {"Arn": f"{QUEUE}-dead"}
    firing = {"workflow": "wf", "node": "tick", "at": "<aws.scheduler.scheduled-time>"}
    assert json.loads(target["Input"]) == {"firing": firing}


def test_workflows_leave_each_others_schedules_alone(client: Any) -> None:
    plans = calendar(client)
    for name in ("wf", "wf-2", "w"):
        plans.keep(name, [Rhythm("tick", rate_ms=HOUR_MS)])
    plans.keep("wf", [])
    assert set(kept(client)) == {"wf-2: tick", "w: tick"}


def test_more_schedules_than_a_page_of_the_listing_are_all_removed(client: Any) -> None:
    plans = calendar(client)
    plans.keep("wf", [Rhythm(f"n{number}", rate_ms=HOUR_MS) for number in range(101)])
    plans.keep("wf", [])
    assert client.list_schedules(GroupName="schedules")["Schedules"] == []


def test_a_queue_that_has_moved_gets_what_is_published_again(client: Any) -> None:
    rhythms = [Rhythm("tick", rate_ms=HOUR_MS)]
    calendar(client).keep("wf", rhythms)
    calendar(client, f"{QUEUE}-2").keep("wf", rhythms)
    [listed] = client.list_schedules(GroupName="schedules")["Schedules"]
    assert listed["Target"]["Arn"] == f"{QUEUE}-2"


@pytest.mark.parametrize("verb", ["create_schedule", "delete_schedule", "list_schedules"])
def test_what_a_call_left_undone_the_next_one_does(client: Any, verb: str) -> None:
    calendar(client).keep("wf", [Rhythm("old", rate_ms=HOUR_MS)])
    new = [Rhythm("new", rate_ms=HOUR_MS), Rhythm("newer", rate_ms=HOUR_MS)]
    with pytest.raises(StoreUnavailable):
        calendar(Refusing(client, verb, "ThrottlingException")).keep("wf", new)
    calendar(client).keep("wf", new)
    assert set(kept(client)) == {"wf: new", "wf: newer"}


def test_a_schedule_that_somebody_else_made_or_removed_meanwhile_is_fine(client: Any) -> None:
    calendar(client).keep("wf", [Rhythm("old", rate_ms=HOUR_MS)])
    both = [Rhythm("old", rate_ms=HOUR_MS), Rhythm("new", rate_ms=HOUR_MS)]
    calendar(Refusing(client, "create_schedule", "ConflictException")).keep("wf", both)
    calendar(Refusing(client, "delete_schedule", "ResourceNotFoundException")).keep("wf", [])
    assert set(kept(client)) == {"wf: old"}


def test_a_rhythm_that_aws_refuses_names_its_node_and_the_others_are_kept(client: Any) -> None:
    rhythms = [Rhythm("odd", cron="0 9 L-9 * ? 2027"), Rhythm("fine", rate_ms=HOUR_MS)]
    with pytest.raises(ConfigError, match=r"node odd: .*cron\(0 9 L-9 \* \? 2027\).*not this one") as refused:
        calendar(Refusing(client, "create_schedule", "ValidationException")).keep("wf", rhythms)
    assert refused.value.code == "schedule_refused"
    assert set(kept(client)) == {"wf: fine"}


@pytest.mark.parametrize(("cron", "expected"), [
    ("0 9 * * *", ["cron(0 9 * * ? *)"]),
    ("*/15 8-17 * * 1-5", ["cron(0,15,30,45 8-17 ? * 2-6 *)"]),
    ("0 0 1 1,jul *", ["cron(0 0 1 1,7 ? *)"]),
    ("0 22-2 * * sun", ["cron(0 0-2,22-23 ? * 1 *)"]),
    ("30 6 * * 7", ["cron(30 6 ? * 1 *)"]),
    ("0 12 13 * 5", ["cron(0 12 13 * ? *)", "cron(0 12 ? * 6 *)"]),
    ("* * * * *", ["cron(* * * * ? *)"]),
    ("0 10 ? * mon-fri 2027", ["cron(0 10 ? * MON-FRI 2027)"]),
    ("0 10  LW * ? *", ["cron(0 10 LW * ? *)"]),
])  # fmt: skip
def test_a_cron_expression_is_put_into_the_words_of_aws(cron: str, expected: list[str]) -> None:
    assert expressions(Rhythm("n", cron=cron)) == expected


@pytest.mark.parametrize("cron", [
    "7 3 * * *", "*/15 8-17 * * 1-5", "0 22-2 * * sun", "0 12 13 * 5", "5 4 1-7 */3 0,3", "0 0 31 * *",
])  # fmt: skip
def test_both_dialects_fire_at_the_same_instants(cron: str) -> None:
    def firings(text: str) -> set[int]:
        found, after = set(), 1_767_225_600_000
        for _ in range(60):
            after = parse_cron(text).next_ms(after, "America/New_York") or 0
            found.add(after)
        return found

    translated = set().union(*(firings(text[5:-1]) for text in expressions(Rhythm("n", cron=cron))))
    until = max(firings(cron))
    assert {instant for instant in translated if instant <= until} == firings(cron)


@pytest.mark.parametrize(("rate_ms", "expected"), [
    (60_000, "rate(1 minute)"), (90 * 60_000, "rate(90 minutes)"), (24 * HOUR_MS, "rate(1 day)"),
    (36 * HOUR_MS, "rate(36 hours)"),
])  # fmt: skip
def test_a_rate_is_told_in_the_largest_unit_that_fits(rate_ms: int, expected: str) -> None:
    assert expressions(Rhythm("n", rate_ms=rate_ms)) == [expected]
