"""What AWS has: the account of the credentials, the stack with its parameters and outputs, the data of a deleted stack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.exceptions import ClientError
from values import Refused

NOT_THERE = {"REVIEW_IN_PROGRESS", "DELETE_COMPLETE"}  # the first: a change set that was never executed
BROKEN = {"ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED"}
DATA: Mapping[str, str] = {"RestoredTable": "Table", "RestoredBucket": "Bucket", "RestoredSigningKeys": "SigningKeys"}  # outputs


@dataclass(frozen=True, slots=True)
class Stack:
    parameters: dict[str, str]
    outputs: dict[str, str]
    tags: dict[str, str]


class Account:
    def __init__(self, region: str | None) -> None:
        session = boto3.Session(region_name=region)
        if session.region_name is None:
            raise Refused("no region: set AWS_REGION, or the region of your AWS profile")
        self.region: str = session.region_name
        self._client = session.client

    def number(self) -> str:
        return str(self._client("sts").get_caller_identity()["Account"])

    def stack(self, name: str) -> Stack | None:
        try:
            [found] = self._client("cloudformation").describe_stacks(StackName=name)["Stacks"]
        except ClientError as error:
            if error.response["Error"]["Code"] == "ValidationError" and "does not exist" in str(error):
                return None
            raise
        if found["StackStatus"] in NOT_THERE:
            return None
        if found["StackStatus"] in BROKEN:
            raise Refused(
                f"the stack {name} is {found['StackStatus']}. Delete it, its table, bucket and signing keys stay: "
                f"`aws cloudformation delete-stack --stack-name {name}`. Then deploy again"
            )
        tags = {tag["Key"]: tag["Value"] for tag in found.get("Tags", [])}
        return Stack(_pairs(found, "Parameter"), _pairs(found, "Output"), tags)

    def protect(self, name: str) -> None:
        self._client("cloudformation").update_termination_protection(StackName=name, EnableTerminationProtection=True)

    def lacks(self, data: Mapping[str, str]) -> list[str]:
        """Of a table, a bucket and signing keys those that are not there."""
        looks = {
            "RestoredTable": lambda name: self._client("dynamodb").describe_table(TableName=name),
            "RestoredBucket": lambda name: self._client("s3").head_bucket(Bucket=name),
            "RestoredSigningKeys": lambda name: self._client("secretsmanager").describe_secret(SecretId=name),
        }
        return [f"{name}={value}" for name, value in data.items() if name in looks and value and not _exists(looks[name], value)]


def _exists(look: Any, name: str) -> bool:
    try:
        look(name)
    except ClientError as error:
        if error.response["Error"]["Code"] in {"ResourceNotFoundException", "404", "NoSuchBucket"}:
            return False
        raise
    return True


def _pairs(found: Mapping[str, Any], kind: str) -> dict[str, str]:
    return {pair[f"{kind}Key"]: pair[f"{kind}Value"] for pair in found.get(f"{kind}s", [])}
