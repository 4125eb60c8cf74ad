"""Every alarm of the template has a line in the runbook, and every line has its alarm; what alarms watch exists."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from stepless.adapters.aws.dynamo.table.shards import DEFAULT_SHARDS
from stepless.limits import MAX_PAGE_ITEMS, MAX_SHARDS, SWEEP_PART_MS
from stepless.runtime import metering

ROOT = Path(__file__).resolve().parents[2]
RUNBOOK = (ROOT / "docs/run/operations.md").read_text("utf-8").partition("\n## Alarms")[2].partition("\n## ")[0]
SERVICES = {"AWS/SQS", "AWS/Lambda", "AWS/ApiGateway", "AWS/DynamoDB", "AWS/Scheduler"}


def alarms(template: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found = template["Resources"].items()
    return {name: resource["Properties"] for name, resource in found if resource["Type"] == "AWS::CloudWatch::Alarm"}


def watched(alarm: dict[str, Any]) -> list[tuple[str, str]]:
    metrics = [one["MetricStat"]["Metric"] for one in alarm.get("Metrics", ()) if "MetricStat" in one] or [alarm]
    return [(metric["Namespace"], str(metric["MetricName"])) for metric in metrics]


def test_the_runbook_has_every_alarm_and_no_other(template: dict[str, Any]) -> None:
    rows = [line for line in RUNBOOK.splitlines() if line.startswith("| `")]
    named = [name for row in rows for name in re.findall(r"`(\w+Alarm)`", row.split("|")[1])]
    assert sorted(named) == sorted(alarms(template))
    for row in rows:
        _, _, means, do, _ = row.split("|")
        assert len(means.strip()) > 10 and len(do.strip()) > 10, row


def test_alarms_are_sent_to_the_operators_topic_and_survive_missing_data(template: dict[str, Any]) -> None:
    for name, alarm in alarms(template).items():
        conditional = template["Resources"][name].get("Condition") == "WithAlarmTopic"
        topic = [{"Ref": "AlarmTopic"}]
        optional = {"If": ["WithAlarmTopic", topic, {"Ref": "AWS::NoValue"}]}
        assert alarm["AlarmActions"] == (topic if conditional else optional), name
        assert alarm["TreatMissingData"] == ("breaching" if name == "SweeperSilentAlarm" else "notBreaching"), name


def test_what_an_alarm_watches_is_reported_by_the_engine_or_by_a_service(template: dict[str, Any]) -> None:
    own = {value for value in vars(metering).values() if isinstance(value, str)} | set(metering.OUTCOMES.values())
    filters = [one["Properties"] for one in template["Resources"].values() if one["Type"] == "AWS::Logs::MetricFilter"]
    own |= {str(one["MetricName"]) for each in filters for one in each["MetricTransformations"]}
    for name, alarm in alarms(template).items():
        for namespace, metric in watched(alarm):
            assert namespace in SERVICES or (namespace == "Stepless" and metric in own), (name, metric)


@pytest.mark.parametrize(("what", "namespace"), [
    ("ThrottledRequests", "AWS/DynamoDB"), ("RunsFailed", "Stepless"), ("RunsTimedOut", "Stepless"),
    ("ApproximateAgeOfOldestMessage", "AWS/SQS"), ("TargetErrorCount", "AWS/Scheduler"),
])  # fmt: skip
def test_what_a_growing_deployment_runs_into_is_watched(template: dict[str, Any], what: str, namespace: str) -> None:
    assert (namespace, what) in [metric for alarm in alarms(template).values() for metric in watched(alarm)]


def test_refused_requests_are_counted_where_the_gateway_logs_them(template: dict[str, Any]) -> None:
    refusals = template["Resources"]["RefusedRequests"]["Properties"]
    log_format = template["Resources"]["ApiStage"]["Properties"]["AccessLogSettings"]["Format"]
    assert refusals["FilterPattern"] == '{ $.status = "429" }' and '"status":"$context.status"' in log_format
    (metric,) = refusals["MetricTransformations"]
    assert watched(alarms(template)["RefusalAlarm"]) == [(metric["MetricNamespace"], str(metric["MetricName"]))]


def test_the_sizes_of_the_page_are_within_the_parameters(template: dict[str, Any]) -> None:
    lines = (ROOT / "docs/understand/measurements/scale.md").read_text("utf-8").splitlines()
    sized = [line for line in lines if re.match(r"\| `\w+` \| [\d,]+ \| [\d,]+ \| [\d,]+ \|", line)]
    rows = [re.findall(r"`(\w+)`|([\d,]+)", line) for line in sized]
    assert len(rows) == 7
    for (name, _), *cells in rows:
        parameter = template["Parameters"][name]
        for value in (int(cell.replace(",", "")) for _, cell in cells):
            if "AllowedPattern" in parameter:
                assert re.fullmatch(parameter["AllowedPattern"], str(value)), (name, value)
            else:
                assert parameter["MinValue"] <= value <= parameter.get("MaxValue", value), (name, value)


def test_the_parameters_fit_what_the_engine_bounds(template: dict[str, Any]) -> None:
    shards = template["Parameters"]["IndexShards"]
    assert (shards["Default"], shards["MinValue"], shards["MaxValue"]) == (DEFAULT_SHARDS, DEFAULT_SHARDS, MAX_SHARDS)
    sweeper, queue = (template["Resources"][name]["Properties"] for name in ("SweeperFunction", "SweepQueue"))
    assert SWEEP_PART_MS < 1_000 * sweeper["Timeout"] <= 1_000 * queue["VisibilityTimeout"]
    assert template["Parameters"]["SweepRate"]["MinValue"] >= MAX_PAGE_ITEMS


def test_the_mapping_has_pollers_or_a_limit_but_not_both(template: dict[str, Any]) -> None:
    hints = template["Resources"]["RunnerFunction"]["Properties"]["Events"]["Hints"]["Properties"]
    assert hints["ScalingConfig"]["If"][:2] == ["WithPollers", {"Ref": "AWS::NoValue"}]
    assert hints["ProvisionedPollerConfig"]["If"][0] == "WithPollers"
    assert hints["ProvisionedPollerConfig"]["If"][2] == {"Ref": "AWS::NoValue"}
