"""Implements child runs: the code of the `workflow` kind, and the signals between a child and its parent
(docs/understand/semantics.md#pauses).

The run id of a child is derived from its parent's id and the calling instance, so a repeated start has no effect. An attempt
after the end of a child run calls another one, whose id is also derived from the number of the attempt. The child sends its
parent a signal when it pauses, continues and ends.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from functools import partial
from hashlib import sha256
from typing import Final, TypeVar

from stepless.core.deciding.ending import outputs
from stepless.core.deciding.pauses import CHILD_ENDS
from stepless.core.events import NODE_FAILURES, RUN_ENDS, Event, EventType
from stepless.core.fold import fold
from stepless.core.state import RunStatus, State
from stepless.errors import SteplessError, StoreUnavailable, TransientError
from stepless.limits import MAX_CALL_DEPTH, MAX_INPUT_BYTES
from stepless.model.effects.call import token_of
from stepless.model.graph import Graph
from stepless.model.json import JSON
from stepless.model.kind import Pause
from stepless.model.runs.statuses import ENDED
from stepless.model.runs.traceparent import TRACE, attempt_span_id
from stepless.model.work import NodeFailure, Result
from stepless.nodes import KindCode
from stepless.ports import ERASED, SHARD, Call, Message, RunHead, Version
from stepless.runtime import inbox
from stepless.runtime.commits import backoff_s, tries_for
from stepless.runtime.header_notes import meta_of
from stepless.runtime.headers import create_run
from stepless.runtime.id_suggestions import near_workflow
from stepless.runtime.inbox import ChildOutcome
from stepless.runtime.related_runs import note_rerun
from stepless.runtime.runlog import RunLog
from stepless.runtime.session.execution.execute import REPEATS
from stepless.runtime.signalling import put_signal
from stepless.runtime.world import World

T = TypeVar("T")
CALLERS: Final = frozenset({"workflow", "distributed"})  # the kinds whose nodes wait for runs of their own


def child_id(token: str) -> str:
    """Returns the run id of the child that an instance calls. `token` is the instance's idempotency token."""
    return f"run_{sha256(token.encode()).hexdigest()[:20]}"


def distribution_id(token: str) -> str:
    """Returns the run id of the distribution that a `distributed` node waits for."""
    from stepless.runtime.shards.plans import DISTRIBUTION, shard_id  # imported late: few runs have `distributed` nodes

    return shard_id(token, DISTRIBUTION)


def caller(world: World) -> KindCode:
    """Returns the code of the `workflow` kind."""

    async def run(call: Call) -> Result | Pause:
        depth = int(call.facts.get("depth", 0)) + 1
        if depth > MAX_CALL_DEPTH:
            message = f"workflows call each other more than {MAX_CALL_DEPTH} levels deep"
            raise NodeFailure("config", "call_depth_exceeded", message, retryable=False, mend="check for a cycle of calls")
        target = str(call.params["workflow"])
        run_id = await reach_run(partial(_start, world, call, target, depth))
        return Pause("subrun", exits=(), details={"workflow": target, "run": run_id})

    return run


async def reach_run(request: Callable[[], Awaitable[T]]) -> T:
    """Returns the result of an idempotent request of a node to another run. Repeats it while the store is unavailable for a
    moment. Raises `NodeFailure` (provider_error) for what else it raises."""
    failed = 0
    while True:
        try:
            return await request()
        except SteplessError as error:
            failed += 1
            if not isinstance(error, TransientError) or failed >= tries_for(error):
                raise NodeFailure("provider_error", error.code, str(error)) from error
        await asyncio.sleep(backoff_s(failed))


def newest(world: World, target: str) -> Version:
    """Returns the newest version of a workflow that a node runs. Raises `NodeFailure` (unknown_workflow)."""
    version = world.store.newest_version(target)
    if version is None:
        message = f"there is no workflow {target}"
        mend = near_workflow(world.store, target) or "publish it first"
        raise NodeFailure("config", "unknown_workflow", message, retryable=False, mend=mend)
    return version


def encoded(inputs: JSON) -> bytes:
    """Returns the inputs of a run that a node starts, as its header stores them. Raises `NodeFailure` (inputs_too_large)."""
    data = json.dumps(inputs, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    if len(data) > MAX_INPUT_BYTES:
        message = f"the inputs take {len(data):,} bytes; {MAX_INPUT_BYTES:,} is the limit"
        raise NodeFailure("config", "inputs_too_large", message, retryable=False)
    return data


async def _start(world: World, call: Call, target: str, depth: int) -> str:
    version, inputs = newest(world, target), encoded(call.params.get("inputs"))
    run_id = child_id(call.token)
    meta: dict[str, JSON] = {"parent": {"run": call.run_id, "instance": call.instance}, "depth": depth}
    repeats = call.facts.get(REPEATS)
    if repeats is not None and (former := _former_child(world, str(repeats))) is not None:
        from stepless.runtime.verbs.starts.reruns import FAILED, former_meta, former_version  # imported late: few runs are reruns

        version, inputs, meta = former_version(world, former), former.inputs, {**former_meta(former, FAILED, {}), **meta}
        if world.store.get_run(run_id) is None:
            note_rerun(world, former.run_id, run_id)
    if call.trace is not None:
        meta[TRACE] = call.trace.stored(attempt_span_id(call.run_id, call.instance, call.attempt))
    numbered = world.versions.graph(version.workflow_id, version.hash).numbered
    if not numbered or world.store.get_run(run_id) is None:  # else an earlier attempt has created it, with its number
        await world.commits.make(partial(create_run, world, run_id, version, inputs, meta, numbered=numbered))
    world.queue.send(Message(run_id, "start"))
    return run_id


def _former_child(world: World, repeats: str) -> RunHead | None:
    """The child run that a call of a rerun repeats; None if the former call did not create one. A child run that is still ending
    is awaited: raises `StoreUnavailable`, so that the call tries again. Raises `NodeFailure` (run_erased)."""
    former = world.store.get_run(child_id(repeats) if ":" in repeats else repeats)
    if former is None or former.status in ENDED:
        return former
    if former.status == ERASED:
        message = f"the child run {former.run_id} was erased, so it cannot be run again from what failed"
        raise NodeFailure("config", "run_erased", message, retryable=False, mend="rerun the run from the start")
    cancel(world, former.run_id)
    raise StoreUnavailable(f"the former child run {former.run_id} is still ending", code="run_not_ended", run_id=former.run_id)


def notify_parent(world: World, meta: Mapping[str, JSON], state: State) -> None:
    """Sends the status of a child run to its parent; does nothing for a run without a parent."""
    parent = meta.get("parent")
    if not isinstance(parent, dict) or state.status is RunStatus.CREATED:
        return
    now_ms = world.clock.now_ms()
    first = state.run_id == child_id(token_of(parent["run"], parent["instance"]))
    signal = inbox.child_signal(parent["instance"], state.run_id, state.sequence, state.status.value, now_ms, first=first)
    if put_signal(world, parent["run"], signal, now_ms):  # else the parent was removed
        world.queue.send(Message(parent["run"], "child"))


def outcome(world: World, run_id: str) -> ChildOutcome:
    """Returns the outcome of a run that has ended."""
    if run_id.startswith(SHARD):
        from stepless.runtime.shards.outcomes import outcome_of  # imported late: few runs have `distributed` nodes

        return outcome_of(world, run_id)
    head = world.store.get_run(run_id)
    if head is None or head.status == ERASED:
        return ChildOutcome()
    state = State(world.versions.graph(head.workflow_id, head.version, meta_of(head).get("entry")), run_id)
    last: deque[Event] = deque(maxlen=1)

    def take(event: Event) -> None:
        fold(state, event)
        last.append(event)

    RunLog(world.store, world.blobs, run_id).replay(take)
    ended = last[0].data if last and last[0].type in RUN_ENDS else {}
    error = ended.get("error")
    return ChildOutcome(outputs(state), error, str(ended.get("cause") or (error or {}).get("code", "")))


def orphans(graph: Graph, run_id: str, events: Iterable[Event]) -> Iterator[str]:
    """Yields the child runs whose caller has ended without them: cancelled, or failed for another reason than the child's own
    end, or that an attempt no longer waits for. The child may not exist: an attempt that timed out may or may not have created
    it. Of an instance with several attempts, all child runs that it can have called are meant; cancelling one that has ended
    changes nothing."""
    abandoning = [event for event in events if _abandons_child(event)]
    if not abandoning:
        return
    from stepless.core.history.trace import locate  # imported late: few runs need it

    for event in abandoning:
        node = locate(graph, event.instance)
        if not node.kind.calls_runs:
            continue
        if event.type is EventType.NODE_RETRIED:
            yield str(event.data["run"])
            continue
        called = distribution_id if node.kind.distributes else child_id
        yield from (called(token_of(run_id, event.instance, ended)) for ended in range(node.retry.attempts))


def _abandons_child(event: Event) -> bool:
    if event.type in NODE_FAILURES:
        return event.data["error"]["code"] not in CHILD_ENDS
    if event.type is EventType.NODE_RETRIED:
        return "run" in event.data and event.data["code"] not in CHILD_ENDS
    return event.type is EventType.NODE_CANCELLED


def cancel(world: World, run_id: str) -> None:
    """Cancels a child run whose parent no longer waits for it; does nothing if it was never created."""
    head = world.store.get_run(run_id)
    if head is None or head.status in inbox.OVER:
        return
    now_ms = world.clock.now_ms()
    if put_signal(world, run_id, inbox.cancel_signal(None, "its parent no longer waits for it", now_ms), now_ms):
        world.queue.send(Message(run_id, "signal"))
