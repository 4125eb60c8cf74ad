"""docs/understand/measurements/cost.md is what `benchmarks/monthly.py` computes, from counted requests and from what
template.yaml deploys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from emulators import Missing

from benchmarks import cost, monthly
from benchmarks.cost import Account
from stepless.core.events import Event
from stepless.model.runs.tally import decode_tally
from stepless.runtime.announcing.details import type_of
from stepless.runtime.runlog import RunLog

ROOT = Path(__file__).parents[2]
TEMPLATE = (ROOT / "template.yaml").read_text("utf-8")


def test_the_page_is_what_the_module_computes() -> None:
    text = (ROOT / "docs/understand/measurements/cost.md").read_text("utf-8")
    anew = ".venv/bin/python -m benchmarks.monthly > docs/understand/measurements/cost.md"
    assert text == "\n".join([*monthly.page(), ""]), f"make it anew: {anew}"


def test_an_idle_stack_is_the_one_that_is_deployed() -> None:
    found = re.findall(r"^  \w+:.*\n    Type: AWS::CloudWatch::Alarm\n(?:(?:    .*)?\n)*", TEMPLATE, re.MULTILINE)
    alarms = [alarm for alarm in found if "Condition: WithConsole" not in alarm]
    assert len(alarms) > 10
    metrics = sum(max(1, alarm.count("MetricStat:")) for alarm in alarms)
    assert monthly.Idle().alarms == metrics
    assert monthly.Idle().queues == len(re.findall(r"^ +Type: SQS$", TEMPLATE, re.MULTILINE))
    assert monthly.Idle().secrets == TEMPLATE.count("Type: AWS::SecretsManager::Secret\n")


@pytest.fixture(scope="module")
def there() -> Iterator[Account]:
    try:
        with cost.account() as account:
            yield account
    except Missing as missing:
        pytest.skip(str(missing))


def logged(there: Account, run_id: str) -> list[Event]:
    found: list[Event] = []
    RunLog(there.world.store, there.world.blobs, run_id).replay(found.append)
    return found


@pytest.mark.parametrize("name", monthly.COUNTED)
def test_the_usage_of_a_run_is_counted(there: Account, name: str) -> None:
    document = cost.flows()[name]
    there.service.publish(document)
    there.run(document)
    head = there.world.store.get_run(there.run(document))
    assert head is not None
    counted, stated = decode_tally(head.spent), monthly.COUNTED[name]
    assert (stated.write_units, stated.index_units) == (counted.write_units, counted.index_units)
    assert stated.read_units == pytest.approx(counted.read_units, abs=2)
    for field in ("queue_requests", "schedules", "http_requests", "invocations"):
        assert getattr(stated, field) == getattr(counted, field), field
    announced = [event for event in logged(there, head.run_id) if type_of(event) is not None]
    assert len(announced) == monthly.ANNOUNCED[name]


def test_storage_and_logs_are_not_stated_too_low(there: Account) -> None:
    """The bytes of all items of a run, and of its index rows, are at most what the page computes with."""
    document = cost.flows()["chain of 10"]
    there.service.publish(document)
    run_id = there.run(document)
    found = there.dynamo.query(
        TableName="costs", KeyConditionExpression="pk = :pk", ExpressionAttributeValues={":pk": {"S": f"RUN#{run_id}"}}
    )["Items"]
    size = sum(100 + sum(len(name) + len(str(*value.values())) for name, value in item.items()) for item in found)
    assert len(found) == 12
    assert size + 300 < monthly.STORED_BYTES["chain of 10"] < 3 * size


def test_parts_add_up() -> None:
    parts = monthly.run_usd("approval", 1_000_000)
    assert set(parts) == {"requests", "storage", "logs"} and all(usd > 0 for usd in parts.values())
    rest = monthly.month_usd("approval", 1_000_000) - sum(parts.values())
    assert rest == pytest.approx(monthly.Idle().usd(5) + monthly.METRICS_IN_USE * 0.30)
    assert monthly.Idle().usd(2, free=True) < monthly.Idle().usd(2) < monthly.Idle().usd(5)
