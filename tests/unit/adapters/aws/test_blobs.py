"""Values in S3, beyond the contract."""

from __future__ import annotations

from typing import Any

import pytest
from aws_services import Service

from stepless.adapters.aws.blobs import S3Blobs
from stepless.errors import StoreUnavailable, StoreUnusable


def test_a_value_that_this_process_knows_is_not_sent_again(aws: Service) -> None:
    aws("s3").create_bucket(Bucket="values")
    sent: list[str] = []

    class Client:
        def put_object(self, **given: Any) -> Any:
            sent.append(given["Key"])
            return aws("s3").put_object(**given)

    blobs, others = S3Blobs(Client(), "values"), S3Blobs(Client(), "values")
    key = blobs.put(b"x")
    assert blobs.put(b"x") == others.put(b"x") == key
    assert sent == [f"blobs/{key}"] * 2
    assert S3Blobs(aws("s3"), "values").get(key) == b"x"


def test_a_bucket_that_is_not_there_never_heals(aws: Service) -> None:
    with pytest.raises(StoreUnusable):
        S3Blobs(aws("s3"), "nobody-made-this").put(b"x")


def test_a_bucket_that_asks_for_patience_gets_it(refusal: Any) -> None:
    class Client:
        def get_object(self, **_: Any) -> Any:
            raise refusal("SlowDown", 503)

    with pytest.raises(StoreUnavailable):
        S3Blobs(Client(), "values").get("x")
