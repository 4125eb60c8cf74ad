"""Creates boto3 clients: one per service and process, on first use, all with the same configuration."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import boto3
from botocore.config import Config

# `standard`, not `adaptive`: `adaptive` slows down every run of a process because one partition is throttled. botocore tries
# three times; beyond that the runner retries, and the queue redelivers its message. A request takes about 10 ms: a response that
# takes more than 5 s is considered lost. The pool holds a connection for each thread that a listing uses.
CONFIG: Final = Config(
    retries={"mode": "standard", "total_max_attempts": 3},
    connect_timeout=2,
    read_timeout=5,
    max_pool_connections=32,
    tcp_keepalive=True,
)


@cache
def client(service: str) -> Any:
    """Returns the client of `dynamodb`, `sqs`, `scheduler`, `s3`, `ssm`, `secretsmanager`… boto3 takes region, credentials and
    endpoint from the environment. Safe to use from several threads."""
    return _session().client(service, config=CONFIG)


@cache
def _session() -> Any:
    return boto3.session.Session()
