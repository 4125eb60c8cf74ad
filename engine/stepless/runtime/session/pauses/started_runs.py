"""Starts the runs that a `workflow` node with `wait: false` does not wait for.

Such a run has no parent: nothing is sent to the run that started it, and it is not cancelled with it. All attempts of an instance
start one run, since its idempotency key, and its id where it has no key, follow from the token.
"""

from __future__ import annotations

from functools import partial
from hashlib import sha256

from stepless.errors import ConfigError
from stepless.model.json import JSON
from stepless.model.runs.traceparent import TRACE, attempt_span_id
from stepless.model.work import Result, misconfigured
from stepless.nodes import KindCode
from stepless.ports import Call
from stepless.runtime.session.pauses.children import encoded, newest, reach_run
from stepless.runtime.world import World


def starter(world: World) -> KindCode:
    """Returns the code of the `workflow` kind with `wait: false`."""

    async def run(call: Call) -> Result:
        from stepless.nodes.effects.workflow import WorkflowParams, begins_ms, check
        from stepless.nodes.params import params_of  # imported late: few runs start others
        from stepless.runtime.verbs.starts.starting import start_shared

        params = params_of(WorkflowParams, call, check=check)
        newest(world, params.workflow)
        encoded(params.inputs)
        try:
            due_ms = begins_ms(params, world.clock.now_ms())
        except ConfigError as error:
            raise misconfigured(error) from error
        digest = sha256(f"{call.token} started".encode()).hexdigest()
        meta: dict[str, JSON] = {"trigger": {"kind": "workflow", "run": call.run_id, "instance": call.instance}}
        if call.trace is not None:
            meta[TRACE] = call.trace.stored(attempt_span_id(call.run_id, call.instance, call.attempt))
        started = await reach_run(partial(
            start_shared, world, params.workflow, params.inputs, key=f"node:{digest}", same=call.token, meta=meta,
            run_id=f"run_{digest[:20]}", begins_ms=due_ms, run_key=params.key,
        ))  # fmt: skip
        joined = {"joined": True} if started.joined else {}
        return Result({"run": started.run_id, **joined})

    return run
