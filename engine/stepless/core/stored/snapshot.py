"""Encodes a state as a snapshot and decodes it. A snapshot is a cache of the fold that can be read without the log.

Every live scope is a list of rows, one per existing instance. Most instances share their variables, so each set of variables is
stored once and referenced by number. Queues, timers and the agenda are derived from the instances and not stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heapify
from typing import Any

from stepless.core.folding.causes import note_failure, root_cause
from stepless.core.folding.clocks import arm_limit
from stepless.core.folding.iterations import NotACollection, collection
from stepless.core.limits.queue import PACED, restore_limited, restore_ready
from stepless.core.mailbox import Mail, digests_of
from stepless.core.state import (
    MESSAGE,
    RUN_TERMINAL,
    SUBRUN,
    Cell,
    Cells,
    Instance,
    Iterations,
    RunStatus,
    Scope,
    State,
    Status,
    Timer,
    Wait,
    is_child_at_work,
    is_effect,
)
from stepless.core.stored.formats import FORMATS, WITH_MESSAGES
from stepless.core.values.inputs import merged_inputs
from stepless.core.values.reference_values import DECIDED, Reading
from stepless.errors import EngineBug, ExpressionError
from stepless.model.graph import Graph
from stepless.model.json import equal
from stepless.model.stored.packing import dump, pack, unpack

_OLDEST = 1
_STATUSES = list(Status)
_PLAIN = ("inputs", "meta", "sequence", "steps", "failures", "ending", "ending_error", "halting", "response", "started_ms",
          "ended_ms", "paused_since_ms", "paused_ms", "continued", "reused", "held", "holds")  # fmt: skip
_FIELDS = ("taken", "pruned", "dead", "last_taken", "index", "predecessor", "attempt", "handle", "value", "error", "reason",
           "arrived", "answer", "last_sequence", "settled_sequence", "since_ms", "substituted", "deltas", "streamed")  # fmt: skip
_DEFAULTS = (0, 0, 0, -1, 0, -1, 0, None, None, None, "", None, None, 0, 0, 0, False, 0, 0)


def encode_state(state: State) -> bytes:
    """Encodes the state. Its time is linear in the state's size."""
    views = _Views(state)
    root = _encode_scope(state.root, views)
    document = {
        "format": FORMATS.snapshot.writes if not state.mailbox.known else WITH_MESSAGES,
        "version": state.graph.version,
        "status": state.status,
        "run": {name: getattr(state, name) for name in _PLAIN},
        "sweeps": [join.id for join in state.sweeps if _has_losers(join)],
        "root": root,
        "views": views.rows,
        "usage": state.usage,
        "cut_off": [state.idle_hops, state.recoveries],
        "first_starts": state.first_starts,
        "used": views.used,
        "causes": views.causes,
        **({"deaths": [state.deaths, state.lone_deaths, state.exclusive]} if state.deaths else {}),
    }
    if state.kept:
        document["kept"] = state.kept
    if state.mailbox.known:
        document["mailbox"] = {"unread": list(map(list, state.mailbox)), "known": state.mailbox.known}
    return pack(dump(document))


def _has_losers(join: Instance) -> bool:
    """Whether a join still has losers to end: after folding a log, the list also contains joins whose losers have ended."""
    losers = (join.scope.instances[position] for position in join.node.losers)
    return any(loser is None or not loser.settled for loser in losers)


class _Views:
    """Sets of variables by identity, numbered in the order of first use, and fields that few instances have."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.rows: list[dict[str, list[Any]]] = []
        self.used: dict[str, int] = {}  # by instance, like `causes`: earlier releases know neither
        self.causes: dict[str, str] = {}
        self._numbers: dict[int, int] = {}

    def number(self, cells: Cells) -> int:
        known = self._numbers.get(id(cells))
        if known is None:
            known = self._numbers[id(cells)] = len(self.rows)
            self.rows.append({name: list(cell) for name, cell in cells.items()})
        return known


def _encode_scope(scope: Scope, views: _Views) -> dict[str, Any]:
    rows = [_encode_instance(instance, views) for instance in scope.touched()]
    head = [scope.index, scope.unsettled, scope.bad, scope.error, scope.error_index, scope.wrote, scope.started_ms, scope.broke]
    return {"head": head, "cells": views.number(scope.cells), "rows": rows}


def _encode_instance(instance: Instance, views: _Views) -> list[Any]:
    """Position, status and variables, then only the fields that differ from a new instance."""
    changed = {}
    for number, name in enumerate(_FIELDS):
        value = getattr(instance, name)
        if value != _DEFAULTS[number] or type(value) is not type(_DEFAULTS[number]):
            changed[str(number)] = value
    if instance.used:
        views.used[instance.id] = instance.used
    if instance.error is not None and instance.cause != instance.error["code"]:
        views.causes[instance.id] = instance.cause
    row = [instance.node.position, _STATUSES.index(instance.status), views.number(instance.cells), changed]
    if instance.wait is not None or instance.iterations is not None:
        row.append(list(instance.wait) if instance.wait is not None else None)
    if instance.iterations is not None:
        row.append(_encode_iterations(instance, instance.iterations, views))
    return row


def _items(state: State, instance: Instance, total: int | None) -> list[Any] | None:
    """A container's `items`, evaluated now. They usually equal those from when the container began."""
    container = instance.node.container
    if container is None:
        return None
    try:
        reading = Reading(state, instance, merged_inputs(state, instance), instance.since_ms)
        reading.left = DECIDED
        return collection(container, reading)[:total]
    except (ExpressionError, NotACollection):
        return None


def _encode_items(state: State, instance: Instance, iterations: Iterations) -> bool | list[Any]:
    """True if decoding can evaluate the items again; otherwise the items themselves. They change, for example, when a branch
    arrives late. False for a container without items, and for a settled one, which no longer needs them."""
    if iterations.items is None or instance.settled:
        return False
    return equal(_items(state, instance, iterations.total), iterations.items) or iterations.items


def _encode_iterations(instance: Instance, iterations: Iterations, views: _Views) -> dict[str, Any]:
    return {
        "total": iterations.total,
        "items": _encode_items(views.state, instance, iterations),
        "started": iterations.started,
        **({"first": iterations.first} if iterations.first else {}),
        **({"cause": iterations.cause} if iterations.cause else {}),
        "live": [_encode_scope(scope, views) for scope in iterations.live.values()],
        "results": list(iterations.results.items()),
        "failed": [iterations.failed, sorted(iterations.failed_indexes), iterations.consecutive, iterations.error],
        "error_index": iterations.error_index,
        "flags": [iterations.broke, iterations.stopped],
        "cells": views.number(iterations.cells),
        "writes": [[index, {name: list(cell) for name, cell in cells.items()}] for index, cells in iterations.writes.items()],
    }


def decode_state(data: bytes, graph: Graph, run_id: str) -> State | None:
    """Decodes a state. None for an unknown format and for damaged bytes: the caller then folds the log instead. Raises
    `EngineBug` for a snapshot of another version of the workflow."""
    try:
        document = unpack(data)
        readable = _OLDEST <= document["format"] <= FORMATS.snapshot.reads
        return _decode(document, graph, run_id) if readable else None
    except (ValueError, LookupError, TypeError, AttributeError):
        return None


def _decode(document: Mapping[str, Any], graph: Graph, run_id: str) -> State:
    if document["version"] != graph.version:
        raise EngineBug("the snapshot belongs to another version of the workflow", place=run_id)
    state = State(graph, run_id)
    for name, value in document["run"].items():
        setattr(state, name, value)
    if state.reused or "kept" in document:  # those that were applied are found to have settled
        state.take_over({"reused": state.reused, "kept": document.get("kept", {})})
    state.status = RunStatus(document["status"])
    state.ended = state.status in RUN_TERMINAL
    state.usage = document.get("usage")  # earlier releases neither write nor read this, nor the next two fields
    state.idle_hops, state.recoveries = document.get("cut_off", [0, {}])
    state.first_starts = document.get("first_starts", {})
    deaths = max(state.recoveries.values(), default=0)  # at least; releases before this one do not store the next fields
    state.deaths, state.lone_deaths, state.exclusive = document.get("deaths", [deaths, {}, ""])
    views = [_cells(row) for row in document["views"]]
    _decode_scope(state, state.root, document["root"], views)
    for name, used in document.get("used", {}).items():
        state.get(name).used = used
    for name, cause in document.get("causes", {}).items():
        _correct_cause(state.get(name), cause)
    if "mailbox" in document:
        _decode_mailbox(state, document["mailbox"])
    state.sweeps = [state.get(join) for join in document["sweeps"]]
    _restore_queues(state)
    return state


def _decode_mailbox(state: State, document: Mapping[str, Any]) -> None:
    for row in document["unread"]:
        state.mailbox.add(Mail(*row))
    known = document["known"]  # the first logs with messages have a list of ids
    state.mailbox.known = known if isinstance(known, str) else digests_of(known)


def _correct_cause(instance: Instance, cause: str) -> None:
    instance.cause = cause
    if instance.error is not None and instance.scope.error is root_cause(instance.error):
        instance.scope.cause = cause


def _cells(row: Mapping[str, list[Any]]) -> dict[str, Cell]:
    return {name: Cell(*cell) for name, cell in row.items()}


def _decode_scope(state: State, scope: Scope, document: Mapping[str, Any], views: list[dict[str, Cell]]) -> None:
    (_, scope.unsettled, scope.bad, scope.error, scope.error_index, scope.wrote, scope.started_ms, scope.broke) = document["head"]
    scope.cells = views[document["cells"]]
    containers = []
    for row in document["rows"]:
        instance = scope.at(row[0])
        instance.status = _STATUSES[row[1]]
        instance.cells = views[row[2]]
        for number, value in row[3].items():
            setattr(instance, _FIELDS[int(number)], value)
        if instance.arrived is not None:
            instance.arrived = tuple(instance.arrived)
        if instance.error is not None:
            instance.cause = str(instance.error["code"])
        if len(row) > 4 and row[4] is not None:
            reason, since_ms, resume_at_ms, deadline_ms, handle, exits, *rest = row[4]
            instance.wait = Wait(reason, since_ms, resume_at_ms, deadline_ms, handle, tuple(exits), *rest)
        if len(row) > 5:
            containers.append((instance, row[5]))
    scope.error, scope.error_index, scope.cause = None, 0, ""  # earlier releases also stored failures that an error edge handled
    for instance in scope.touched():
        note_failure(scope, instance)
    for instance, iterations in containers:  # after their siblings: items are evaluated from upstream values
        _decode_iterations(state, instance, iterations, views)


def _decode_iterations(state: State, instance: Instance, document: Mapping[str, Any], views: list[dict[str, Cell]]) -> None:
    container = instance.node.container
    if container is None:
        raise EngineBug("the snapshot has iterations of a node that is not a container", place=instance.id)
    kept = document["items"]
    items = kept if isinstance(kept, list) else _items(state, instance, document["total"]) if kept else None
    iterations = instance.iterations = Iterations(items, document["total"], views[document["cells"]], document.get("first", 0))
    iterations.started = document["started"]
    iterations.results = dict(document["results"])
    iterations.failed, indexes, iterations.consecutive, iterations.error = document["failed"]
    iterations.failed_indexes = set(indexes)
    iterations.cause = document.get("cause", "")
    # earlier releases stored the error of the iteration that failed first in time
    iterations.error_index = document.get("error_index", 0)
    iterations.broke, iterations.stopped = document["flags"]
    iterations.writes = {index: _cells(cells) for index, cells in document["writes"]}
    for row in document["live"]:
        index = row["head"][0]
        item = items[index - iterations.first] if items is not None else None
        scope = iterations.live[index] = Scope(container.body, instance, index, item, iterations.cells, 0)
        _decode_scope(state, scope, row, views)


def _restore_queues(state: State) -> None:
    """Restores the queues and timers that `fold` keeps, from the instances."""
    stack = [state.root] if state.sequence else []
    while stack:
        scope = stack.pop()
        for position in (*scope.body.root_clocks, *(clock for i in scope.touched() if i.settled for clock in i.node.clocks)):
            _restore_clock(state, scope.at(position))
        for instance in list(scope.touched()):
            _restore_instance(state, instance)
            if instance.iterations is not None:
                stack.extend(instance.iterations.live.values())
    deadline_ms = state.deadline_ms
    if deadline_ms is not None and not state.ended:
        state.timers.append(Timer(deadline_ms, state.paused_ms, "run", ""))
    heapify(state.timers)
    _sort_receivers(state)


def _sort_receivers(state: State) -> None:
    """Puts the instances that wait for a message into the order in which they began to wait."""
    for name, waiting in state.receivers.items():
        state.receivers[name] = dict(sorted(waiting.items(), key=lambda one: one[1].last_sequence))


def _restore_clock(state: State, join: Instance) -> None:
    timeout_ms = join.node.join.rule.timeout_ms
    if join.status is not Status.PENDING or timeout_ms is None:
        return
    dominator = join.node.dominator
    fork = join.scope.instances[dominator] if dominator is not None else None
    since_ms = fork.since_ms if fork is not None else join.scope.started_ms
    state.timers.append(Timer(since_ms + timeout_ms, 0, "join", join.id))


def _restore_instance(state: State, instance: Instance) -> None:
    status, wait = instance.status, instance.wait
    if status is Status.PENDING:
        state.agenda.append(instance)
    elif status is Status.QUEUED and wait is not None and "cell" in wait.details:
        restore_limited(state, instance, wait)
        if wait.resume_at_ms is not None:
            state.timers.append(Timer(wait.resume_at_ms, 0, PACED, instance.id))
    elif status is Status.QUEUED:
        restore_ready(state, instance)
    elif status is Status.WAITING and wait is not None:
        _restore_wait(state, instance, wait)
    elif status is Status.RUNNING:
        if instance.iterations is not None or instance.answer is not None:
            state.agenda.append(instance)
            arm_limit(state, instance)
        elif is_effect(instance):
            state.running[instance.id] = instance


def _restore_wait(state: State, instance: Instance, wait: Wait) -> None:
    backing_off = wait.reason == "retry_backoff"
    (state.backing_off if backing_off else state.waiting)[instance.id] = instance
    if is_child_at_work(wait):
        state.children[instance.id] = instance
    if wait.reason == SUBRUN:
        arm_limit(state, instance)
    if wait.reason == MESSAGE:
        state.receivers.setdefault(str(wait.details["message"]), {})[instance.id] = instance
    if wait.due_ms is not None:
        kind = "retry" if backing_off else "wait"
        state.timers.append(Timer(wait.due_ms, instance.last_sequence, kind, instance.id))
    if wait.notice_ms is not None:
        state.timers.append(Timer(wait.notice_ms, instance.last_sequence, "notice", instance.id))
