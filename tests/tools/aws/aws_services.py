"""Clients of emulated services. Each emulator is a context manager that yields `service`, a function from a service's name to
its boto3 client."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from threading import Lock
from typing import Any, TypeAlias

import boto3
import emulators
import pytest
from botocore.config import Config
from moto import mock_aws

Service: TypeAlias = Callable[[str], Any]

_CONFIG = Config(
    retries={"total_max_attempts": 1}, read_timeout=30, max_pool_connections=32, s3={"addressing_style": "path"}
)


def client(name: str, address: str | None = None) -> Any:
    """A client that tries once, with invalid credentials."""
    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    return boto3.client(name, region_name="us-east-1", endpoint_url=address, config=_CONFIG, **keys)


@contextmanager
def moto() -> Iterator[Service]:
    """moto, in this process. Its conditional writes are not atomic across threads, so calls are serialised."""
    with mock_aws():
        yield _mocked


@cache
def _mocked(name: str) -> Any:
    """One client for all tests: what it reaches is new in each block of moto's, and making it takes longer than most calls."""
    return OneAtATime(client(name))


@contextmanager
def dynoxide() -> Iterator[Service]:
    """DynamoDB only, with the capacity that AWS would bill."""
    with emulators.dynoxide() as address:
        yield _kept(lambda name: client(name, address))


@contextmanager
def ministack() -> Iterator[Service]:
    with emulators.ministack() as address:
        yield _kept(lambda name: client(name, address))


def or_skip(emulator: Callable[[], AbstractContextManager[Service]]) -> Iterator[Service]:
    """For a fixture: skips the tests that need an emulator which is not available, with the reason."""
    try:
        with emulator() as service:
            yield service
    except emulators.Missing as missing:
        pytest.skip(str(missing))


class OneAtATime:
    """A client whose calls are serialised."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._lock = Lock()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)
        if not callable(found):
            return found

        def call(**given: Any) -> Any:
            with self._lock:
                return found(**given)

        return call


def _kept(make: Service) -> Service:
    made: dict[str, Any] = {}

    def service(name: str) -> Any:
        if name not in made:
            made[name] = make(name)
        return made[name]

    return service
