"""Runs the sweeper on Lambda: reads its settings, sweeps, and divides a sweep that finds more than one page of overdue runs."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from stepless.adapters.aws.clients import client
from stepless.adapters.aws.fan_out import decode_part, send_parts
from stepless.errors import ConfigError, SteplessError
from stepless.limits import MAX_PAGE_ITEMS, SWEEP_PART_MS
from stepless.runtime.hosting.sweep import parts_of, sweep, sweep_part
from stepless.runtime.world import World

_log = logging.getLogger(__name__)
_RATE: Final = "STEPLESS_SWEEP_RATE"
_QUEUE: Final = "STEPLESS_SWEEP_QUEUE_URL"


def due(world: World, sqs: Callable[[], Any] = lambda: client("sqs")) -> int:
    """Sweeps one page. If it is full, sends a message for each part, and returns the number of runs of the page.
    STEPLESS_SWEEP_RATE is the number of hints per minute. `sqs` makes the client. Raises `ConfigError`."""
    found, rate = sweep(world), _number(_RATE, 100_000)
    url = os.environ.get(_QUEUE)
    if found >= MAX_PAGE_ITEMS and url and rate > found:
        send_parts(sqs(), url, parts_of(world), rate)
    return found


def sweep_parts(world: World, records: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Sweeps the parts of the messages. Returns those that failed, which SQS delivers again."""
    failed = []
    for record in records:
        try:
            part, limit = decode_part(record["body"])
            sweep_part(world, part, limit=limit, until_ms=world.clock.now_ms() + SWEEP_PART_MS)
        except SteplessError as error:
            _log.error("a part of the sweep comes again: %s", error)
            failed.append({"itemIdentifier": record["messageId"]})
    return failed


def _number(name: str, default: int) -> int:
    value = os.environ.get(name) or str(default)
    if not value.isdecimal():
        raise ConfigError(f"{name} is {value!r}, not a number", place=name, mend="deploy template.yaml, which sets it")
    return int(value)
