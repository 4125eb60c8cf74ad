"""Every error of botocore becomes an error of the engine, by what the caller can do about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from botocore import exceptions as boto
from botocore.exceptions import ClientError

from stepless.adapters.aws.errors import FAILED, LOST, MISSING, NEVER, THROTTLED, translate, translated
from stepless.errors import EngineBug, SteplessError, StoreUnavailable, StoreUnusable

Refusal = Callable[..., ClientError]


@pytest.mark.parametrize("code", sorted(THROTTLED))
def test_what_was_throttled_was_not_done_and_may_be_tried_again(refusal: Refusal, code: str) -> None:
    error = translate(refusal(code), "table")
    assert isinstance(error, StoreUnavailable)
    assert (error.place, error.facts) == ("table", {"unsure": False})


@pytest.mark.parametrize("code", sorted(FAILED))
def test_where_the_service_failed_nobody_knows_whether_it_was_done(refusal: Refusal, code: str) -> None:
    assert translate(refusal(code), "table").facts == {"unsure": True}


def test_an_unknown_failure_of_the_service_may_be_tried_again(refusal: Refusal) -> None:
    assert isinstance(translate(refusal("Novelty", 503), "table"), StoreUnavailable)


@pytest.mark.parametrize("code", sorted(NEVER))
def test_what_never_heals_tells_the_operator_what_to_do(refusal: Refusal, code: str) -> None:
    error = translate(refusal(code), "table")
    assert isinstance(error, StoreUnusable)
    assert error.mend == NEVER[code]


@pytest.mark.parametrize("code", ["ValidationException", "Novelty"])
def test_a_request_that_the_service_does_not_understand_is_our_fault(refusal: Refusal, code: str) -> None:
    error = translate(refusal(code), "table")
    assert isinstance(error, EngineBug)
    assert "said so" in str(error)


def test_no_code_stands_in_two_classes() -> None:
    classes: list[Any] = [LOST, MISSING, THROTTLED, FAILED, NEVER]
    assert len(set().union(*classes)) == sum(map(len, classes))


@pytest.mark.parametrize(
    ("error", "expected", "unsure"),
    [
        (boto.EndpointConnectionError(endpoint_url="x"), StoreUnavailable, False),
        (boto.ConnectTimeoutError(endpoint_url="x"), StoreUnavailable, False),
        (boto.ReadTimeoutError(endpoint_url="x"), StoreUnavailable, True),
        (boto.ConnectionClosedError(endpoint_url="x"), StoreUnavailable, True),
        (boto.NoCredentialsError(), StoreUnusable, None),
        (boto.NoRegionError(), StoreUnusable, None),
        (boto.SSLError(endpoint_url="x", error="expired"), StoreUnusable, None),
        (boto.ParamValidationError(report="no"), EngineBug, None),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_errors_of_the_client(error: Exception, expected: type[SteplessError], unsure: bool | None) -> None:
    with pytest.raises(expected) as raised, translated("table"):
        raise error
    assert raised.value.facts.get("unsure") is unsure
    assert raised.value.__cause__ is error


def test_an_error_of_ours_passes() -> None:
    with pytest.raises(KeyError), translated("table"):
        raise KeyError
