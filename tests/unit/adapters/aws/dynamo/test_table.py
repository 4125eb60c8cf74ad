"""The table in template.yaml is the one that the store was written for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from aws_services import Service

from stepless.adapters.aws.dynamo.table.layout import create_table_arguments, time_to_live_arguments

TEMPLATE = Path(__file__).resolve().parents[5] / "template.yaml"


class Loader(yaml.SafeLoader):
    """Reads CloudFormation's short forms as what they stand before."""


Loader.add_multi_constructor("!", lambda loader, suffix, node: f"!{suffix}")


def test_the_template_defines_the_same_table() -> None:
    resources = yaml.load(TEMPLATE.read_text(encoding="utf-8"), Loader)["Resources"].values()
    (drawn,) = [resource["Properties"] for resource in resources if resource["Type"] == "AWS::DynamoDB::Table"]
    expected = create_table_arguments("x") | time_to_live_arguments("x")
    for name in ("AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes", "BillingMode", "TimeToLiveSpecification"):
        assert by_name(drawn[name]) == by_name(expected[name]), name


def by_name(value: Any) -> Any:
    """Lists of named things in one order."""
    if isinstance(value, list) and value and isinstance(value[0], dict) and {"AttributeName", "IndexName"} & set(value[0]):
        return sorted(map(by_name, value), key=str)
    return {name: by_name(part) for name, part in value.items()} if isinstance(value, dict) else value


def test_time_to_live_is_switched_on(aws: Service) -> None:
    client = aws("dynamodb")
    client.create_table(**create_table_arguments("runs"))
    client.update_time_to_live(**time_to_live_arguments("runs"))
    assert client.describe_time_to_live(TableName="runs")["TimeToLiveDescription"]["AttributeName"] == "x"
