"""What a process finds that wrote while the clock was days ahead, after the clock was set back
(docs/understand/durability.md#clocks)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from stepless.core.limits.slots import Holder, doubtful
from stepless.limits import LEASE_MS, LIMIT_CHECK_MS
from stepless.ports import Call, Message, RunHead
from stepless.runtime.hosting.sweep import adopt, sweep
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.permits.limit_claims import next_in

Node = Callable[..., dict[str, Any]]
START_MS = 1_700_000_000_000
DAYS_MS = 3 * 86_400_000


class Dies(KeyboardInterrupt):
    """The process ends at once."""


def died_ahead(machine: Any, **a: Any) -> str:
    """A run whose process died during its node `a` while the clock was ahead. The clock is set back."""
    attempts: list[Any] = []

    async def dies(call: Call) -> None:
        attempts.append(asyncio.current_task())
        raise Dies

    machine.behaviours["a"] = dies
    machine.clock.set(START_MS + DAYS_MS)
    run_id: str = machine.start({"a": {"type": "function", "with": {"call": "test.echo"}, **a}})
    with pytest.raises(Dies):
        machine.step()
    assert isinstance(attempts.pop().exception(), Dies)  # read here: asyncio would log it whenever the task is collected
    del machine.behaviours["a"]
    machine.runner = machine.process()
    machine.clock.set(START_MS)
    return run_id


def test_a_lease_that_ends_days_ahead_is_taken_over(stored_machine: Any) -> None:
    machine = stored_machine
    run_id = died_ahead(machine)
    machine.invoke(Message(run_id, "sweep"))
    assert (machine.view(run_id).status, machine.clock.now_ms()) == ("completed", START_MS)


def test_a_lease_that_another_process_holds_now_is_not_taken_over(machine: Any, node: Node) -> None:
    run_id = machine.start({"a": node()})
    assert machine.store.take_lease(run_id, "other", START_MS + LEASE_MS, START_MS + 2 * LEASE_MS) is not None
    machine.invoke(Message(run_id, "sweep"))
    assert machine.calls == {}


@pytest.mark.parametrize("step_ms", [0, DAYS_MS])
def test_a_process_that_begins_after_the_step_examines_what_was_left_before(stored_machine: Any, step_ms: int) -> None:
    """The header of a run says that it is due days ahead: the next process looks at it nevertheless, and at no other."""
    machine = stored_machine
    machine.clock.set(START_MS + step_ms)
    run_id = machine.start({"w": {"type": "wait", "with": {"for": "10m"}}})
    machine.step()
    machine.timers.disarm(run_id)
    machine.clock.set(START_MS)
    adopt(machine.world)
    assert sweep(machine.world) == (1 if step_ms else 0)
    machine.drain()
    assert (machine.view(run_id).status, machine.clock.now_ms()) == ("completed", START_MS + 600_000)


def test_an_ended_run_that_waits_for_its_removal_is_left_alone(machine: Any) -> None:
    ended = RunHead("r", "wf", "h", "completed", START_MS + DAYS_MS, START_MS + DAYS_MS, b"{}", due_ms=START_MS + 2 * DAYS_MS,
                    expires_ms=START_MS + 2 * DAYS_MS)  # fmt: skip
    assert machine.store.create_run(ended)
    adopt(machine.world)
    assert machine.store.get_run("r").due_ms == START_MS + 2 * DAYS_MS


# -- limits -----------------------------------------------------------------------------------------------------------


def test_instants_that_were_reserved_ahead_hold_up_no_other_run(machine: Any, node: Node) -> None:
    machine.clock.set(START_MS + DAYS_MS)
    rate = {"max": 1, "per": "10s"}
    machine.start({"a": node(rate=rate)})
    machine.drain()
    begun_ms = machine.clock.now_ms() - DAYS_MS
    machine.clock.set(begun_ms)
    run_id = machine.start({"a": node(rate=rate)})
    machine.step()
    paced = next(event.data["paced"] for event in machine.log(run_id) if "paced" in event.data)
    assert 10_000 <= paced - begun_ms <= 20_000, "one at a time, as before the step"


def test_what_is_reserved_keeps_its_distances() -> None:
    ahead_ms = START_MS + DAYS_MS
    claim = b"%d abcd %d" % ((ahead_ms + 7_000) * 1_000, ahead_ms)
    assert next_in(claim, START_MS) == (START_MS + 7_000) * 1_000
    assert next_in(claim, ahead_ms - 20_000) == (ahead_ms + 7_000) * 1_000, "clocks of processes differ"
    assert next_in(b"%d abcd" % (ahead_ms * 1_000), START_MS) == ahead_ms * 1_000, "written by an earlier release"
    assert next_in(None, START_MS) == 0
    with pytest.raises(ValueError, match="no instant"):
        next_in(b"1 abcd -5", START_MS)


def test_slots_of_a_process_that_died_ahead_are_free(machine: Any, node: Node) -> None:
    concurrency = {"max": 1}
    died_id = died_ahead(machine, concurrency=concurrency)
    run_id = machine.start({"a": node(concurrency=concurrency)})
    machine.invoke(Message(run_id, "start"))
    machine.invoke(Message(died_id, "sweep"))
    machine.drain()
    assert [machine.view(one).status for one in (died_id, run_id)] == ["completed", "completed"]
    assert machine.clock.now_ms() < START_MS + 2 * LIMIT_CHECK_MS


def test_a_lease_counts_until_its_end_and_no_later_than_any_that_begins_now() -> None:
    holders = {"over": Holder(1, 1, 1_000), "now": Holder(1, 1, 1_000 + LEASE_MS), "ahead": Holder(1, 1, DAYS_MS)}
    assert doubtful(holders, "me", 1_000) == ["over", "ahead"]


def test_a_place_in_line_that_was_taken_ahead_is_taken_anew(machine: Any, node: Node) -> None:
    """All later runs would come before it."""
    concurrency = {"max": 1}
    begun, release = asyncio.Event(), asyncio.Event()

    async def scene() -> tuple[list[str], list[str]]:
        async def held(call: Call) -> str:
            begun.set()
            await release.wait()
            return "done"

        machine.behaviours["a"] = held
        machine.clock.set(START_MS + DAYS_MS)
        first = machine.start({"a": node(concurrency=concurrency)})
        working = asyncio.create_task(machine.runner.run(Message(first, "start"), Budget(60_000)))
        await begun.wait()
        second = machine.start({"a": node(concurrency=concurrency)})
        other = machine.process()
        await other.run(Message(second, "start"), Budget(60_000))
        cell_id = next(str(event.data["cell"]) for event in machine.log(second) if "cell" in event.data)
        before = list(machine.store.read_line(cell_id, limit=10))
        machine.clock.set(START_MS)
        await other.run(Message(second, "sweep"), Budget(60_000))
        after = list(machine.store.read_line(cell_id, limit=10))
        release.set()
        await working
        return before, after

    before, after = asyncio.run(scene())
    assert [place[:15] for place in before] == [f"{START_MS + DAYS_MS:015d}"]
    assert [place[:15] for place in after] == [f"{START_MS:015d}"]
