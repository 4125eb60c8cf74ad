"""Child runs: the `workflow` kind's code, and the news between a child and its parent (docs/semantics.md#pauses).

A child's run id follows from its parent's and the instance that calls it, so that starting it twice starts it once. The
child tells its parent by signals: when it pauses, goes on after that, and ends.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256

from stepless.core.ending import outputs
from stepless.core.events import NODE_FAILURES, RUN_ENDS, Event, EventType
from stepless.core.fold import fold
from stepless.core.pauses import CHILD_ENDS
from stepless.core.state import RunStatus, State
from stepless.errors import SteplessError, TransientError
from stepless.limits import COMMIT_TRIES, MAX_CALL_DEPTH, MAX_INPUT_BYTES, START_GRACE_MS, TRANSIENT_BACKOFF_MS
from stepless.model.graph import Graph
from stepless.model.json import JSON
from stepless.model.kind import Pause
from stepless.model.work import NodeFailure, Result
from stepless.nodes import KindCode
from stepless.ports import Call, Message
from stepless.runtime import inbox
from stepless.runtime.headers import create_run
from stepless.runtime.nearest import near_workflow
from stepless.runtime.runlog import RunLog
from stepless.runtime.world import World


def child_id(token: str) -> str:
    """The run id of the child that an instance calls; `token` is the instance's idempotency token."""
    return f"run_{sha256(token.encode()).hexdigest()[:20]}"


def caller(world: World) -> KindCode:
    """The code of the `workflow` kind."""

    async def run(call: Call) -> Result | Pause:
        depth = int(call.facts.get("depth", 0)) + 1
        if depth > MAX_CALL_DEPTH:
            message = f"workflows call each other more than {MAX_CALL_DEPTH} levels deep"
            raise NodeFailure("config", "call_depth_exceeded", message, retryable=False, mend="look for a cycle of calls")
        target = str(call.params["workflow"])
        for tries in range(1, COMMIT_TRIES + 1):
            try:
                run_id = _start(world, call, target, depth)
                break
            except SteplessError as error:
                if tries == COMMIT_TRIES or not isinstance(error, TransientError):
                    raise NodeFailure("provider_error", error.code, str(error)) from error
            await asyncio.sleep(TRANSIENT_BACKOFF_MS / 1000 * 2**tries)
        return Pause("subrun", exits=(), details={"workflow": target, "run": run_id})

    return run


def _start(world: World, call: Call, target: str, depth: int) -> str:
    version = world.store.newest_version(target)
    if version is None:
        message = f"there is no workflow {target}"
        mend = near_workflow(world.store, target) or "publish it first"
        raise NodeFailure("config", "unknown_workflow", message, retryable=False, mend=mend)
    inputs = json.dumps(call.params.get("inputs"), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    if len(inputs) > MAX_INPUT_BYTES:
        message = f"the inputs take {len(inputs):,} bytes; {MAX_INPUT_BYTES:,} is the limit"
        raise NodeFailure("config", "inputs_too_large", message, retryable=False)
    run_id, meta = child_id(call.token), {"parent": {"run": call.run_id, "instance": call.instance}, "depth": depth}
    numbered = world.versions.graph(target, version.hash).numbered
    if not numbered or world.store.get_run(run_id) is None:  # else an attempt before this one has made it, with its number
        create_run(world, run_id, version, inputs, meta, numbered=numbered)
    world.queue.send(Message(run_id, "start"))
    return run_id


def tell_parent(world: World, meta: Mapping[str, JSON], state: State) -> None:
    """Lets the parent know what has become of its child; a run without a parent tells nobody."""
    parent = meta.get("parent")
    if not isinstance(parent, dict) or state.status is RunStatus.CREATED:
        return
    now_ms = world.clock.now_ms()
    signal = inbox.child_signal(parent["instance"], state.run_id, state.sequence, state.status.value, now_ms)
    world.store.touch_run(parent["run"], now_ms + START_GRACE_MS)
    world.store.put_signal(parent["run"], signal)
    world.queue.send(Message(parent["run"], "child"))


def outcome(world: World, run_id: str) -> tuple[JSON, Mapping[str, JSON] | None]:
    """The output and the error of a run that has ended."""
    head = world.store.get_run(run_id)
    if head is None:
        return None, None
    state = State(world.versions.graph(head.workflow_id, head.version, json.loads(head.meta).get("entry")), run_id)
    last: deque[Event] = deque(maxlen=1)

    def take(event: Event) -> None:
        fold(state, event)
        last.append(event)

    RunLog(world.store, world.blobs, run_id).replay(take)
    return outputs(state), last[0].data.get("error") if last and last[0].type in RUN_ENDS else None


def orphans(graph: Graph, run_id: str, events: Iterable[Event]) -> Iterator[str]:
    """The children, made or not, of the callers that these events of a run cancel, or fail for any reason but their child's own
    end: an attempt that ran out of time may have made one."""
    gone = [event for event in events if _lets_go(event)]
    if not gone:
        return
    from stepless.core.history.trace import locate  # with all that a trace shows, which no run needs

    for event in gone:
        if locate(graph, event.instance).kind.name == "workflow":
            yield child_id(f"{run_id}:{event.instance}")


def _lets_go(event: Event) -> bool:
    if event.type in NODE_FAILURES:
        return event.data["error"]["code"] not in CHILD_ENDS
    return event.type is EventType.NODE_CANCELLED


def cancel(world: World, run_id: str) -> None:
    """Cancels a child whose parent no longer waits for it; one that was never made needs nothing."""
    head = world.store.get_run(run_id)
    if head is None or head.status in inbox.ENDED:
        return
    now_ms = world.clock.now_ms()
    world.store.touch_run(run_id, now_ms + START_GRACE_MS)
    world.store.put_signal(run_id, inbox.cancel_signal(None, "its parent no longer waits for it", now_ms))
    world.queue.send(Message(run_id, "signal"))
