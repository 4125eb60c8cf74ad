"""A run's log decides, and its snapshot only saves reading it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stepless.core.stored.snapshot import encode_state
from stepless.model.stored.packing import dump, pack, unpack
from stepless.runtime.runlog import RunLog


def test_a_snapshot_of_an_engine_with_another_format_is_left_aside(machine: Any, node: Callable[..., dict[str, Any]]) -> None:
    ask = {"type": "approval", "after": "a", "with": {"message": "Go on?"}}
    run_id = machine.start({"a": node(), "w": ask, "b": node("w.approved")})
    machine.drain()
    head = machine.store.get_run(run_id)
    state = RunLog(machine.store, machine.world.blobs, run_id).load(machine.world.versions.graph("small", head.version))
    foreign = {**unpack(encode_state(state)), "format": 99, "run": {}}
    machine.store.put_snapshot(run_id, head.sequence, pack(dump(foreign)))
    machine.service.answer_pause(run_id, "w", "approved", {})
    machine.runner = machine.process()
    machine.drain()
    assert machine.view(run_id).status == "completed"
    assert machine.calls == {"a": 1, "b": 1}
