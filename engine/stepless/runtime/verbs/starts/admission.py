"""Limits the starts of a workflow (docs/write/reference.md#the-workflow). It applies to starts only: a run that exists is never
refused. Limits for which attempts wait: `runtime/session/permits/limiting.py`."""

from __future__ import annotations

import logging
from hashlib import sha256
from json import dumps

from stepless.core.state import RUN_TERMINAL, RunStatus
from stepless.errors import Refused
from stepless.model.graph import Graph, RateLimit
from stepless.model.json import JSON, read_path
from stepless.ports import RunFilter
from stepless.runtime.metering import FAIL_OPENS
from stepless.runtime.world import World

_log = logging.getLogger(__name__)
_LIVE = tuple(status.value for status in RunStatus if status not in RUN_TERMINAL)


def admit(world: World, graph: Graph, inputs: JSON) -> None:
    """Returns if another run may be started. Raises `Refused` (rate_limited, too_many_runs).

    The rate limit fails open: if the start cannot be counted, or its key cannot be evaluated, the run is started. The concurrency
    limit counts runs that have not ended, which the runner keeps due. Concurrent starts may exceed the limit by their number.
    """
    if graph.rate_limit is not None:
        _count(world, graph, graph.rate_limit, inputs)
    if graph.concurrency is not None:
        _check_active(world, graph.workflow_id, graph.concurrency)


def _count(world: World, graph: Graph, limit: RateLimit, inputs: JSON) -> None:
    now_ms = world.clock.now_ms()
    window = now_ms // limit.per_ms
    ends_ms = (window + 1) * limit.per_ms
    try:
        group = _group(limit, inputs, now_ms)
        number = world.store.count(f"rate:{graph.workflow_id}:{window}:{group}", now_ms, ends_ms)
    except Exception as error:  # fail open: no error of the counter may prevent a start
        _log.warning("the rate limit of %s could not be counted, so the start is allowed: %s", graph.workflow_id, error)
        world.meter.count(FAIL_OPENS)
        return
    if number > limit.max:
        message = f"{graph.workflow_id} may be started {limit.max} times per {limit.per_ms / 1000:g} s"
        raise Refused(message, code="rate_limited", mend="try again later", retry_after_ms=ends_ms - now_ms)


def _group(limit: RateLimit, inputs: JSON, now_ms: int) -> str:
    """A short text for the key of a start: without it, a caller could bypass the limit with a value that is not a valid key."""
    if not limit.by:
        return ""
    if isinstance(limit.by, tuple):
        return _digest(dumps(read_path(inputs, limit.by), sort_keys=True))
    from stepless.core.limits.input_scope import OfInputs  # imported late: few workflows have limits
    from stepless.core.limits.permits import canonical

    return _digest(canonical(limit.by.evaluate(OfInputs(inputs, now_ms))))


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _check_active(world: World, workflow_id: str, most: int) -> None:
    active = 0
    for status in _LIVE:
        active += len(world.store.list_runs(RunFilter(workflow_id, status, due=True), limit=most).items)
        if active >= most:
            message = f"{workflow_id} has {most} active runs, which is its limit"
            raise Refused(message, code="too_many_runs", mend="try again when one has ended", retry_after_ms=1_000)
