"""Runs a document on the engine's pure core, with the real functions in place of an outside world; the run is discarded after
every decision and loaded again, as another process would."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from comparing import Outcome, outcome_of
from program_steps import LOG

from stepless.compile import compile_document
from stepless.core.decide import decide
from stepless.core.deciding.ending import outputs
from stepless.core.deciding.pauses import next_due_ms
from stepless.core.decision import Dispatch
from stepless.core.events import EventType
from stepless.core.facts import Begin, Completed, Fact, Failed, Failure, Received, Tick
from stepless.core.fold import fold
from stepless.core.state import State
from stepless.core.stored.snapshot import decode_state, encode_state
from stepless.flow.outgoing import Sent, Started
from stepless.flow.words import NodeError, code_of
from stepless.model.kind import Outcome as Put
from stepless.model.runs.keys import key_of
from stepless.model.work import NodeFailure
from stepless.nodes import KINDS
from stepless.nodes.function.registry import find
from stepless.nodes.json_value import NotJson, to_json

RUN = "run"


def simulated(
    document: Mapping[str, Any], given: Any, reload: str, sent: Sequence[Mapping[str, Any]] = ()
) -> tuple[Outcome, list[Any]]:
    """The outcome of a run, and its effects. At every instant messages come first, then the ends of steps, then timers."""
    LOG.clear()
    graph = compile_document(document, KINDS)
    state, events, now_ms = State(graph, RUN), list[Any](), 0
    agenda: deque[Fact] = deque([Begin(given)])
    mail = deque(_received(sent))
    while not state.ended:
        due_ms = next_due_ms(state)
        if state.sequence and mail and mail[0].at_ms <= (now_ms if agenda or due_ms is None else max(now_ms, due_ms)):
            now_ms = max(now_ms, mail[0].at_ms)
            agenda.appendleft(mail.popleft())
        elif not agenda and due_ms is not None:
            now_ms = due_ms
            agenda.append(Tick())
        elif not agenda and mail:
            now_ms = mail[0].at_ms
            agenda.append(mail.popleft())
        elif not agenda:
            break
        decision = decide(state, [agenda.popleft()], now_ms)
        events += decision.events
        agenda.extend(_attempt(dispatch) for dispatch in decision.dispatches)
        if not state.ended and decision.events:
            state = _loaded(state, events, reload)
    last = events[-1]
    error = last.data.get("error") if last.type is EventType.RUN_FAILED else None
    return outcome_of(state.status.value, outputs(state), error), list(LOG)


def _received(sent: Sequence[Mapping[str, Any]]) -> list[Received]:
    found = [Received(f"message-{number}", one["name"], one["data"], None, None, one["at"]) for number, one in enumerate(sent, 1)]
    return sorted(found, key=lambda one: one.at_ms)


def _loaded(state: State, events: list[Any], reload: str) -> State:
    if reload == "snapshot":
        loaded = decode_state(encode_state(state), state.graph, RUN)
        assert loaded is not None
        return loaded
    loaded = State(state.graph, RUN)
    for event in events:
        fold(loaded, event)
    loaded.notes.clear()
    return loaded


def _passed_on(dispatch: Dispatch, kind: str, params: Mapping[str, Any]) -> Fact:
    key = params.get("key")
    if key is not None and (key := key_of(key)) is None:
        return Failed(dispatch.id, dispatch.attempt, Failure("provider_error", "key_invalid", "a key"))
    try:
        if kind == "send":
            sent = Sent(**{**params, "key": key})
            return Completed(dispatch.id, dispatch.attempt, Put({"delivered": reached(sent)}))
        given = {"at" if name == "begin_at" else name: params.get(name) for name in ("workflow", "inputs", "delay", "begin_at")}
        return Completed(dispatch.id, dispatch.attempt, Put({"run": begun(Started("", key=key, **given))}))
    except NodeError as error:
        return Failed(dispatch.id, dispatch.attempt, Failure("provider_error", error.code, error.message))


def _told(done: Sent | Started) -> str:
    """What was sent or started, as JSON tells it: whole numbers and floats are one there."""
    return json.dumps(_plain(asdict(done)), sort_keys=True)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def reached(sent: Sent) -> list[str]:
    """The runs that a message reaches, in a run and in plain Python. Of some it reaches none."""
    LOG.append(("send", _told(sent)))
    if sent.key == "a" and not sent.start and sent.keep is None:
        raise NodeError("nobody", code="no_receiver")
    return [sent.to] if sent.to is not None else [f"{sent.workflow} {sent.key}"]


def begun(started: Started) -> str:
    """The id of a run that is started."""
    LOG.append(("start", _told(started)))
    if started.key == "a":
        raise NodeError("taken", code="key_taken")
    return f"run {started.workflow} {started.key}"


def _attempt(dispatch: Dispatch) -> Fact:
    """Does the work of a node, as the runner does. Nothing leaves the run: what it sends and starts is noted in LOG."""
    if (kind := dispatch.instance.node.kind.name) in ("send", "workflow"):
        return _passed_on(dispatch, kind, json.loads(json.dumps({**dispatch.params})))
    function = find(dispatch.instance.node.config.literals["call"])
    arguments = {
        name: check.adapter.validate_python(value) if (check := function.binding.checks.get(name)) else value
        for name, value in json.loads(json.dumps(dispatch.params.get("args", {}))).items()
    }
    try:
        value = function.callable(**arguments)
        value = asyncio.run(value) if inspect.iscoroutine(value) else value
        value = to_json(value if function.result is None else function.result(value))
        return Completed(dispatch.id, dispatch.attempt, Put(value))
    except NodeFailure as error:
        family = "processing" if error.cause == "config" else "execution"
        return Failed(dispatch.id, dispatch.attempt, Failure(error.cause, error.code, error.message, family))
    except NotJson as error:
        return Failed(dispatch.id, dispatch.attempt, Failure("execution", "result_not_json", str(error)))
    except Exception as error:
        return Failed(dispatch.id, dispatch.attempt, Failure("provider_error", code_of(type(error)), str(error)))
