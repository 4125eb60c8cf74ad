"""Opens the table and the bucket of a stack for an operator, with the credentials of this machine."""

from __future__ import annotations

from stepless.adapters.aws.blobs import S3Blobs
from stepless.adapters.aws.clients import client
from stepless.adapters.aws.dynamo.drafts import DynamoDrafts
from stepless.adapters.aws.dynamo.inspection import DynamoInspection
from stepless.adapters.aws.dynamo.store import DynamoStore
from stepless.ports import OpenStore


def of_stack(table: str, bucket: str) -> OpenStore:
    """Returns the runs in a table and their values in a bucket."""
    dynamodb = client("dynamodb")
    return OpenStore(
        DynamoStore(dynamodb, table), S3Blobs(client("s3"), bucket), drafts=DynamoDrafts(dynamodb, table),
        inspection=DynamoInspection(dynamodb, table),
    )  # fmt: skip
