"""Runs that are removed or erased: what belongs to them, and what is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from stepless.limits import EXPIRY_SLACK_MS, SHORT_RUN_MS
from stepless.ports import RunHead
from stepless.runtime.hosting.sweep import sweep
from stepless.runtime.removal import remove_expired
from stepless.runtime.session.pauses.children import caller

Node = Callable[..., dict[str, Any]]
DAY = 24 * 3_600_000
LATE = SHORT_RUN_MS + EXPIRY_SLACK_MS
APPROVAL = {"type": "approval", "with": {"message": "Go on?"}}
CALLING = {"type": "workflow", "with": {"workflow": "small"}}


def keep_for(machine: Any, retention_ms: int | None) -> None:
    """Sets the retention of the deployment."""
    machine.world = replace(machine.world, retention_ms=retention_ms)
    machine.service.world, machine.runner = machine.world, machine.process()


def with_children(machine: Any) -> None:
    """Lets `workflow` nodes start runs in the world of the machine."""
    machine.world = replace(machine.world, kind_code={**machine.world.kind_code, "workflow": caller(machine.world)})
    machine.service.world, machine.runner = machine.world, machine.process()


def head(machine: Any, run_id: str) -> RunHead:
    found = machine.store.get_run(run_id)
    assert found is not None
    return found  # type: ignore[no-any-return]


def sweep_all(machine: Any) -> None:
    sweep(machine.world)
    for _ in range(20):
        if remove_expired(machine.world) == 0:
            return


def traces(machine: Any, run_id: str) -> list[str]:
    """What is left of a run, besides its header."""
    store, blobs = machine.store, machine.world.blobs
    left = [f"batch {batch.first}" for batch in store.read_log(run_id) if batch.data]
    left += ["snapshot"] * (store.get_snapshot(run_id) is not None)
    left += [f"signal {each.identity}" for each in store.read_inbox(run_id)]
    return left + [f"blob {key}" for key in KEYS.get(run_id, ()) if blobs.get(key) is not None]


KEYS: dict[str, list[str]] = {}


def ended(machine: Any, node: Node, **more: Any) -> str:
    """A run with a blob and a signal in its inbox, which has ended."""

    async def large(call: Any) -> str:
        return call.run_id * 3_000  # type: ignore[no-any-return]

    machine.behaviours["big"] = large
    run_id: str = machine.start({"ask": APPROVAL, "big": node("ask.approved")}, **more)
    machine.drain()
    machine.service.answer_pause(run_id, "ask", "approved", {}, "ada")
    machine.drain()
    assert head(machine, run_id).status == "completed"
    keys = [key for event in events(machine, run_id) for key, _ in event.data.get("blobs", {}).values()]
    assert keys and all(key.startswith(f"{run_id}/") for key in keys)
    KEYS[run_id] = keys
    return run_id


def events(machine: Any, run_id: str) -> list[Any]:
    from stepless.core.stored.codec import decode_batch

    return [event for batch in machine.store.read_log(run_id) for event in decode_batch(batch.data, batch.first)]


def died(machine: Any, at: int, after: bool, work: Callable[[Any], Any]) -> bool:
    """Whether the process died in the work, before or after its `at`-th request of the store, the table or the blobs."""
    faults = type(machine.faults)()
    store, client = machine.store, None
    wire = getattr(store, "_wire", None)
    if wire is not None:
        client, wire._client = wire._client, faults.before(wire._client)
    faults.at, faults.after = at, after
    world = replace(machine.world, blobs=faults.before(machine.world.blobs))
    if wire is None:
        world = replace(world, store=faults.before(store))
    try:
        work(world)
    except Exception as error:
        assert error is faults.error, error
        return True
    finally:
        if wire is not None:
            wire._client = client
    return False
