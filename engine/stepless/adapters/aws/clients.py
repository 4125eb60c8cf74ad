"""Clients of the services: one of each per process, made when it is first asked for, all with the same stated behaviour."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import boto3
from botocore.config import Config

# standard, not adaptive: adaptive slows every run of a process down because one partition is throttled. Three tries; above
# them the runner has its own, and a message that comes again. A read that takes 5 s is lost: a request takes 10 ms. Connections
# are kept for as many threads as a listing uses.
CONFIG: Final = Config(
    retries={"mode": "standard", "total_max_attempts": 3},
    connect_timeout=2,
    read_timeout=5,
    max_pool_connections=32,
    tcp_keepalive=True,
)


@cache
def client(service: str) -> Any:
    """The client of `dynamodb`, `sqs`, `scheduler`, `s3`, `ssm`, `secretsmanager`… Region, credentials and endpoint come from
    the environment, as boto3 finds them. Safe to use from several threads."""
    return _session().client(service, config=CONFIG)


@cache
def _session() -> Any:
    return boto3.session.Session()
