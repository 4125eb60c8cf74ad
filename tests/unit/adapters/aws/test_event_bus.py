"""The events of runs on EventBridge: the requests, their limits, and entries that a request does not accept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import Any

import boto3
import pytest
from moto import mock_aws

from stepless.adapters.aws.effects.operations import BotoOperations
from stepless.adapters.aws.event_bus import EventBridgeAnnouncer
from stepless.limits import MAX_BUS_REQUEST_BYTES
from stepless.model.work import NodeFailure
from stepless.ports import Announcement
from stepless.runtime.metering import NullMeter


class Bus:
    """The port `Aws` with one operation. `codes` are the errors of entries, by id, each for one request."""

    def __init__(self, **codes: list[str]) -> None:
        self.codes = codes
        self.requests: list[list[dict[str, Any]]] = []
        self.fails = 0

    def check(self, *given: Any) -> list[Any]:
        return []

    async def call(self, service: str, action: str, params: Mapping[str, Any], *, token: str, timeout_ms: int) -> Any:
        assert (service, action) == ("events", "PutEvents")
        if self.fails:
            self.fails -= 1
            raise NodeFailure("rate_limit", "aws_throttling", "slow down")
        self.requests.append(params["Entries"])
        results = []
        for entry in params["Entries"]:
            waiting = self.codes.get(json.loads(entry["Detail"])["id"], [])
            results.append({"ErrorCode": waiting.pop(0)} if waiting else {"EventId": "e"})
        return {"FailedEntryCount": sum("ErrorCode" in result for result in results), "Entries": results}


class Reports(NullMeter):
    def __init__(self) -> None:
        self.reports: list[tuple[str, Any]] = []

    def report(self, what: str, facts: Any) -> None:
        self.reports.append((what, facts))


def events(number: int, size: int = 0) -> list[Announcement]:
    return [Announcement(f"e{i}", "run.started", 1_000 * i, json.dumps({"id": f"e{i}", "x": "x" * size})) for i in range(number)]


def announce(bus: Any, some: list[Announcement], meter: Any = None) -> int:
    made = EventBridgeAnnouncer(bus, meter or NullMeter(), bus="main", source="stepless.shop")
    return asyncio.run(made.announce(some))


def test_an_entry_names_its_bus_source_type_and_time() -> None:
    bus = Bus()
    assert announce(bus, events(2)) == 2
    assert bus.requests[0][1] == {
        "Time": "1970-01-01T00:00:01+00:00", "Source": "stepless.shop", "DetailType": "run.started",
        "Detail": '{"id": "e1", "x": ""}', "EventBusName": "main",
    }  # fmt: skip


@pytest.mark.parametrize(("number", "size", "requests"), [(0, 0, []), (10, 0, [10]), (25, 0, [10, 10, 5]), (5, 60_000, [4, 1])])
def test_a_request_stays_within_the_limits(number: int, size: int, requests: list[int]) -> None:
    bus = Bus()
    assert announce(bus, events(number, size)) == number
    assert [len(entries) for entries in bus.requests] == requests
    for entries in bus.requests:
        assert sum(len(str(entry)) for entry in entries) <= MAX_BUS_REQUEST_BYTES + 1_000 * len(entries)


@pytest.mark.parametrize("code", ["ThrottlingException", "InternalFailure", "InternalException", "NotAuthorizedForSource"])
def test_entries_that_were_not_accepted_are_put_again(code: str) -> None:
    bus = Bus(e3=[code])
    assert announce(bus, events(5)) == 3
    assert announce(bus, events(5)[3:]) == 2


def test_a_request_whose_first_entry_was_not_accepted_fails() -> None:
    with pytest.raises(NodeFailure):
        announce(Bus(e0=["InternalFailure"]), events(3))


def test_an_entry_that_can_never_be_accepted_is_reported_and_passed_over() -> None:
    bus, meter = Bus(e1=["MalformedDetail"]), Reports()
    assert announce(bus, events(3), meter) == 3
    assert meter.reports == [("export.refused", {"event": "e1", "code": "MalformedDetail"})]


def test_what_was_put_before_a_failed_request_is_confirmed() -> None:
    class Second(Bus):
        async def call(self, *given: Any, **named: Any) -> Any:
            if self.requests:
                raise NodeFailure("provider_error", "aws_internal", "")
            return await super().call(*given, **named)

    assert announce(Second(), events(15)) == 10
    broken = Bus()
    broken.fails = 1
    with pytest.raises(NodeFailure):
        announce(broken, events(15))


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[BotoOperations]:
    for name, value in {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": "eu-central-1"}.items():
        monkeypatch.setenv(name, value)
    with mock_aws():
        yield BotoOperations()


def test_a_request_has_the_form_of_the_service(calls: BotoOperations) -> None:
    boto3.client("events").create_event_bus(Name="main")
    assert announce(calls, events(12)) == 12
