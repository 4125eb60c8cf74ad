"""Traces an invocation's AWS requests with X-Ray. Imported only if tracing is enabled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from aws_lambda_powertools import Tracer

H = TypeVar("H", bound=Callable[..., Any])


def traced(handler: H) -> H:
    """Wraps a Lambda handler so that X-Ray records it and its AWS requests, without their contents."""
    tracer = Tracer(patch_modules=["botocore"])
    return cast(H, tracer.capture_lambda_handler(handler, capture_response=False, capture_error=False))
