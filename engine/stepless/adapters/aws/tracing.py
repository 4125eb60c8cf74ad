"""X-Ray: what an invocation asked of AWS, and for how long. Imported only where it is switched on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from aws_lambda_powertools import Tracer

H = TypeVar("H", bound=Callable[..., Any])


def traced(handler: H) -> H:
    """The handler of a Lambda function, seen by X-Ray with every request to AWS in it; never with what is in them."""
    tracer = Tracer(patch_modules=["botocore"])
    return cast(H, tracer.capture_lambda_handler(handler, capture_response=False, capture_error=False))
