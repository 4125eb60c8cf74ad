"""Collects the code of the kinds that reach other runs, and so need the store: `workflow` starts a run, `send` sends a
message."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from hashlib import sha256

from stepless.model.kind import Pause
from stepless.model.texts.durations import parse_duration_ms
from stepless.model.work import Result
from stepless.nodes import KindCode
from stepless.nodes.lazy_mapping import LayeredMapping
from stepless.ports import Call
from stepless.runtime.session.pauses.children import caller, reach_run
from stepless.runtime.session.pauses.started_runs import starter
from stepless.runtime.world import World


def with_run_kinds(world: World) -> World:
    """Returns the world with the code of these kinds, which starts runs and sends messages in it."""
    own = {"workflow": runner(world), "send": sender(world), "distributed": _later(world)}
    return replace(world, kind_code=LayeredMapping(own, world.kind_code))


def _later(world: World) -> KindCode:
    """The code of the `distributed` kind, loaded by its first use."""

    async def run(call: Call) -> Result | Pause:
        from stepless.runtime.session.pauses.distributing import distributor  # imported late: few runs have such nodes

        return await distributor(world)(call)

    return run


def runner(world: World) -> KindCode:
    """Returns the code of the `workflow` kind."""
    call_child, start_apart = caller(world), starter(world)

    async def run(call: Call) -> Result | Pause:
        return await (start_apart if call.params.get("wait") is False else call_child)(call)

    return run


def sender(world: World) -> KindCode:
    """Returns the code of the `send` kind. All attempts of an instance send one message, whose id follows from the token."""

    async def run(call: Call) -> Result:
        from stepless.nodes.effects.send import SendParams, check
        from stepless.nodes.params import params_of  # imported late: few runs send messages
        from stepless.runtime.verbs.changes.sending import send, send_to_run

        params = params_of(SendParams, call, check=check)
        identity, by = f"msg_{sha256(call.token.encode()).hexdigest()[:40]}", f"run {call.run_id}"
        if params.to is not None:
            deliver = partial(send_to_run, world, params.to, params.message, params.data, id=identity, by=by)
        else:
            keep_ms = None if params.keep is None else parse_duration_ms(params.keep)
            deliver = partial(
                send, world, str(params.workflow), params.message, params.data, key=params.key, id=identity, by=by,
                keep_ms=keep_ms, start=params.start, inputs=params.inputs,
            )  # fmt: skip
        delivered = await reach_run(partial(world.commits.make, deliver))
        kept = {"kept_until": delivered.kept_until_ms} if delivered.kept_until_ms is not None else {}
        started = {"started": delivered.started} if delivered.started is not None else {}
        return Result({"id": delivered.id, "delivered": list(delivered.delivered), **started, **kept})

    return run
