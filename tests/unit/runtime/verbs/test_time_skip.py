"""Skip: the timer of one run is due now, and no other run is affected."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from stepless.errors import Conflict, NotFound
from stepless.limits import STAY_MS
from stepless.model.work import NodeFailure
from stepless.ports import Call, Message
from stepless.runtime.service import Service
from stepless.runtime.session.pauses.children import caller
from stepless.runtime.session.runner import InvocationEnd, Runner
from stepless.runtime.verbs.changes.time_skip import own_times
from stepless.runtime.versions import Versions

DAY_MS = 24 * 3_600_000
NAP: dict[str, Any] = {
    "nap": {"type": "wait", "with": {"for": "2d"}},
    "then": {"type": "transform", "after": "nap", "with": {"value": "rested"}},
}
ASK: dict[str, Any] = {
    "boss": {"type": "approval", "with": {"message": "?", "timeout": "3d", "notify": "https://example.com", "reminders": ["1d"]}},
    "late": {"type": "transform", "after": "boss.timeout", "with": {"value": "too late"}},
}


async def told(*notice: Any) -> None:
    """Everybody is told of everything."""


@pytest.fixture
def machine(machine: Any) -> Any:
    """One on which runs have a time of their own, and call each other."""
    runs = dict(machine.world.kind_code)
    machine.world = replace(machine.world, ahead_ms=own_times(machine.store, machine.clock), kind_code=runs, notify=told)
    runs["workflow"] = caller(machine.world)
    machine.service = Service(machine.world, machine.service.signer)
    machine.runner = Runner(machine.world)
    return machine


def rest(machine: Any) -> None:
    """Everything that happens before the clock would have to move."""
    now_ms = machine.clock.now_ms()
    while (message := machine.queue.receive(now_ms)) is not None:
        machine.invoke(message)
    assert machine.clock.now_ms() == now_ms


def test_a_wait_ends_now_and_its_run_is_as_much_older(machine: Any) -> None:
    run_id = machine.start(NAP)
    rest(machine)
    assert machine.view(run_id).status == "paused"
    skipped = machine.service.skip(run_id)
    assert (skipped.run_id, skipped.skipped_ms) == (run_id, 2 * DAY_MS)
    rest(machine)
    view = machine.view(run_id)
    assert (view.status, view.outputs) == ("completed", {"then": "rested"})
    assert view.ended_ms - view.started_ms == 2 * DAY_MS


def test_no_other_run_notices(machine: Any) -> None:
    run_id, other = machine.start(NAP), machine.start(NAP)
    rest(machine)
    machine.service.skip(run_id)
    rest(machine)
    assert machine.view(other).status == "paused"
    machine.clock.advance(2 * DAY_MS - 1)
    assert machine.timers.due(machine.clock.now_ms()) == ()
    machine.clock.advance(1)
    assert machine.timers.due(machine.clock.now_ms()) == (other,)


def test_a_skipped_run_still_waits_as_long_as_it_says(machine: Any) -> None:
    nodes = {"one": NAP["nap"], "two": {**NAP["nap"], "after": "one", "with": {"for": "1h"}}}
    run_id = machine.start(nodes)
    rest(machine)
    machine.service.skip(run_id)
    rest(machine)
    assert machine.view(run_id).nodes["two"].status == "waiting"
    assert machine.timers.next_ms() == machine.clock.now_ms() + 3_600_000
    head = machine.store.get_run(run_id)
    assert head.due_ms == machine.clock.now_ms() + 3_600_000
    machine.drain()
    assert machine.view(run_id).status == "completed"


def test_every_instant_that_changes_something_is_a_stop(machine: Any) -> None:
    run_id = machine.start(ASK)
    rest(machine)
    assert machine.service.skip(run_id).skipped_ms == DAY_MS  # the reminder
    rest(machine)
    assert machine.view(run_id).status == "paused"
    assert machine.service.skip(run_id).skipped_ms == 2 * DAY_MS  # the deadline
    rest(machine)
    assert machine.view(run_id).outputs == {"late": "too late"}


def test_a_timer_whose_wait_is_over_is_no_stop(machine: Any) -> None:
    run_id = machine.start({**ASK, "nap": {**NAP["nap"], "after": "boss.approved", "with": {"for": "9d"}}})
    rest(machine)
    machine.service.answer_pause(run_id, "boss", "approved", {})
    rest(machine)
    assert machine.service.skip(run_id).skipped_ms == 9 * DAY_MS
    rest(machine)
    assert machine.view(run_id).status == "completed"


def test_a_retry_is_tried_now(machine: Any, node: Any) -> None:
    async def second_time(call: Call) -> str:
        if call.attempt == 1:
            raise NodeFailure("provider_error", "busy", "busy")
        return "done"

    machine.behaviours["work"] = second_time
    run_id = machine.start({"work": node(retry={"attempts": 2, "backoff_ms": 3_600_000, "max_backoff_ms": 3_600_000})})
    rest(machine)
    assert machine.view(run_id).nodes["work"].status == "waiting"
    machine.service.skip(run_id)
    rest(machine)
    assert machine.view(run_id).outputs == {"work": "done"}


def test_the_run_that_is_waited_for_is_the_one_to_skip(machine: Any) -> None:
    machine.service.publish({"id": "child", "nodes": NAP})
    run_id = machine.start({"call": {"type": "workflow", "with": {"workflow": "child"}}})
    rest(machine)
    skipped = machine.service.skip(run_id)
    assert skipped.run_id != run_id and skipped.skipped_ms == 2 * DAY_MS
    rest(machine)
    assert machine.view(run_id).outputs == {"call": {"then": "rested"}}


def test_another_process_goes_on_with_the_time_that_the_run_has(machine: Any) -> None:
    run_id = machine.start(NAP)
    rest(machine)
    machine.service.skip(run_id)
    machine.clock.advance(STAY_MS)
    again = Runner(replace(machine.world, versions=Versions(machine.store, machine.world.kinds)))
    machine.runner = again
    assert machine.invoke(Message(run_id, "sweep")) is InvocationEnd.ENDED
    assert machine.view(run_id).status == "completed"


def test_a_run_that_waits_for_people_alone_has_nothing_to_skip(machine: Any) -> None:
    run_id = machine.start({"boss": {"type": "approval", "with": {"message": "?"}}})
    rest(machine)
    with pytest.raises(Conflict, match="does not wait for a time") as refused:
        machine.service.skip(run_id)
    assert refused.value.code == "nothing_due"


def test_a_run_that_is_over_or_unknown_is_refused(machine: Any, node: Any) -> None:
    run_id = machine.start({"work": node()})
    rest(machine)
    with pytest.raises(Conflict, match="has ended: completed"):
        machine.service.skip(run_id)
    with pytest.raises(NotFound):
        machine.service.skip("run_of_nobody")
