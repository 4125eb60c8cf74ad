"""Services to test against, and errors as botocore raises them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from aws_services import Service, dynoxide, moto, or_skip
from botocore.exceptions import ClientError

from stepless.adapters.aws.capacity import CapacityMeter
from stepless.adapters.aws.dynamo.table.layout import create_table_arguments


@pytest.fixture
def aws() -> Iterator[Service]:
    yield from or_skip(moto)


@pytest.fixture(scope="session")
def dynamo() -> Iterator[Any]:
    for service in or_skip(dynoxide):
        yield service("dynamodb")


@pytest.fixture
def table(dynamo: Any, request: pytest.FixtureRequest) -> Iterator[str]:
    name = f"stepless-{abs(hash(request.node.nodeid))}"
    dynamo.create_table(**create_table_arguments(name))
    yield name
    dynamo.delete_table(TableName=name)


@pytest.fixture
def meter(dynamo: Any) -> Iterator[CapacityMeter]:
    meter = CapacityMeter()
    meter.watch(dynamo)
    yield meter
    meter.unwatch(dynamo)


@pytest.fixture
def refusal() -> Callable[..., ClientError]:
    """`refusal(code, status=400)`: a service's error response."""

    def make(code: str, status: int = 400, operation: str = "PutItem") -> ClientError:
        answer: Any = {"Error": {"Code": code, "Message": "said so"}, "ResponseMetadata": {"HTTPStatusCode": status}}
        return ClientError(answer, operation)

    return make
