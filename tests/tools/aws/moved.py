"""A stack and its data, on their way to another account and region."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aws_commands
from local_cloud import Cloud

from stepless.adapters.aws.dynamo.table.layout import create_table_arguments


def copy_data(old: Cloud, new: Cloud, page: str, folder: Path) -> str:
    """Runs the commands of the page. Returns the address of the new signing keys. The emulator exports nothing: this writes what
    AWS would."""
    outputs, s3 = old.outputs, new.service("s3")
    for bucket in ("copy-of-the-table", "moved-values", "moved-code"):
        s3.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    dynamodb = old.service("dynamodb")
    variables = {"COPY": "copy-of-the-table", "BUCKET": outputs["Bucket"], "NEW_BUCKET": "moved-values"}
    variables["TABLE_ARN"] = dynamodb.describe_table(TableName=outputs["Table"])["Table"]["TableArn"]
    variables["SIGNING_KEYS"] = outputs["SigningKeys"]
    (folder / "table.json").write_text(json.dumps(create_table_arguments("stepless-moved")))
    commands = aws_commands.printed(page, "Another account or region")
    assert len(commands) == 11
    for command in commands:
        answer = aws_commands.run(command, variables, lambda name, profile="": (new if profile else old).service(name), folder)
        if "export-table" in command:
            variables["EXPORT_ARN"] = answer["ExportDescription"]["ExportArn"]
            variables["EXPORT"] = variables["EXPORT_ARN"].rpartition("/")[2]
            exported = gzip.compress(b"".join(lines_of(dynamodb, outputs["Table"])))
            key = f"AWSDynamoDB/{variables['EXPORT']}/data/1.json.gz"
            s3.put_object(Bucket="copy-of-the-table", Key=key, Body=exported)
        if "import-table" in command:
            variables["IMPORT_ARN"] = answer["ImportTableDescription"]["ImportArn"]
        if "create-secret" in command:
            keys = answer["ARN"]
    return str(keys)


def copy_code(old: Cloud, new: Cloud) -> dict[str, Any]:
    """Copies the packages of the functions to a bucket of the new account. Returns the template that names them there."""
    s3 = new.service("s3")
    template = old.template()
    for resource in template["Resources"].values():
        for name in {"CodeUri", "ContentUri"} & set(resource.get("Properties", {})):
            _, _, bucket, key = resource["Properties"][name].split("/", 3)
            resource["Properties"][name] = f"s3://moved-code/{key}"
            uploaded = old.service("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
            s3.put_object(Bucket="moved-code", Key=key, Body=uploaded)
    return template


def lines_of(dynamodb: Any, table: str) -> Iterator[bytes]:
    """The items of a table, in the format of an export."""
    for page in dynamodb.get_paginator("scan").paginate(TableName=table):
        for item in page["Items"]:
            yield json.dumps({"Item": item}, default=lambda data: b64encode(data).decode()).encode() + b"\n"

