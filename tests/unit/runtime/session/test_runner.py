"""The loop: what holds whichever process dies, races or runs out of time (docs/understand/durability.md#append,
docs/understand/durability.md#the-runner, docs/understand/durability.md#what-must-hold)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from stepless.errors import Conflict, Gone, StoreUnavailable
from stepless.limits import LEASE_MS, MAX_BATCH_BYTES
from stepless.ports import Call, Message
from stepless.runtime.commits import Commits
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.runner import InvocationEnd, Runner

Node = Callable[..., dict[str, Any]]
Wide = Callable[[int], dict[str, Any]]
HOUR_MS = 3_600_000


def approval(after: Any = None, **more: Any) -> dict[str, Any]:
    return {"type": "approval", "with": {"message": "Go on?", **more}, **({"after": after} if after else {})}


# -- commit before effect ---------------------------------------------------------------------------------------------


def test_a_chain_costs_one_batch_more_than_its_nodes(machine: Any, node: Node) -> None:
    run_id = machine.start({"n0": node(), **{f"n{i}": node(f"n{i - 1}") for i in range(1, 10)}})
    machine.drain()
    assert machine.view(run_id).status == "completed"
    assert len(machine.store.read_log(run_id)) == 10 + 1


def test_pure_nodes_cost_no_batch(machine: Any, node: Node) -> None:
    pure = {f"t{i}": {"type": "transform", "after": f"t{i - 1}" if i else "a", "with": {"value": i}} for i in range(50)}
    run_id = machine.start({"a": node(), **pure, "z": node("t49")})
    machine.drain()
    assert len(machine.store.read_log(run_id)) == 2 + 1


def test_what_ends_together_is_committed_together(machine: Any, node: Node) -> None:
    run_id = machine.start({"s": node(), **{f"m{i}": node("s") for i in range(50)}})
    machine.drain()
    assert machine.completions(run_id).total() == 51
    assert len(machine.store.read_log(run_id)) <= 4


def heavy(after: str) -> dict[str, Any]:
    """A pure node whose evaluation takes a good part of the steps of one decision."""
    return {"type": "transform", "after": after, "with": {"value": "{{ query(<n0.numbers>, 'map(&[@], @)|[0]') }}"}}


def test_others_get_their_turn_between_the_pure_nodes_of_a_run(machine: Any) -> None:
    nodes = {"n0": {"type": "manual"}, **{f"n{i}": heavy(f"n{i - 1}") for i in range(1, 13)}}
    run_id = machine.start(nodes, {"numbers": list(range(5_000))})
    seen: set[int] = set()

    async def beside() -> None:
        """What another run, or the server, would see of this one."""
        while True:
            seen.add(sum(batch.last - batch.first + 1 for batch in machine.store.read_log(run_id)))
            await asyncio.sleep(0)

    async def both() -> None:
        other = asyncio.create_task(beside())
        await machine.runner.run(Message(run_id, "start"), Budget(60_000))
        other.cancel()

    asyncio.run(both())
    assert machine.view(run_id).status == "completed"
    assert len(seen) > 4, "the run was seen on its way"
    assert len(machine.store.read_log(run_id)) > 4


def test_a_run_of_heavy_pure_nodes_is_handed_over_in_time(machine: Any) -> None:
    nodes = {"n0": {"type": "manual"}, **{f"n{i}": heavy(f"n{i - 1}") for i in range(1, 13)}}
    run_id = machine.start(nodes, {"numbers": list(range(5_000))})
    machine.drain(lambda: Budget(0))
    assert machine.view(run_id).status == "completed"
    assert "run.continued" in machine.types(run_id)


# -- hand-over --------------------------------------------------------------------------------------------------------


def test_a_long_chain_goes_through_many_short_invocations(machine: Any, node: Node) -> None:
    run_id = machine.start({"n0": node(), **{f"n{i}": node(f"n{i - 1}") for i in range(1, 40)}})
    machine.drain(lambda: Budget(0))
    assert machine.view(run_id).status == "completed"
    assert machine.calls == Counter({f"n{i}": 1 for i in range(40)})
    assert machine.completions(run_id) == machine.calls
    assert 35 <= sum(type == "run.continued" for type in machine.types(run_id)) <= 40
    hops = [event.data["hops"] for event in machine.log(run_id) if event.type == "run.continued"]
    assert hops == list(range(1, len(hops) + 1))


def test_a_wide_fork_is_handed_over_with_what_did_not_fit(machine: Any, node: Node) -> None:
    ticks = iter(range(0, 10**6, 3))  # the budget's own clock: three seconds pass at every look
    run_id = machine.start({f"n{i}": node() for i in range(30)} | {"z": node([f"n{i}" for i in range(30)])})
    machine.drain(lambda: Budget(10_000, clock=lambda: next(ticks)))
    assert machine.view(run_id).status == "completed"
    assert machine.completions(run_id) == machine.calls == Counter({f"n{i}": 1 for i in range(30)} | {"z": 1})


def test_a_hard_budget_begins_nothing_that_cannot_end_in_it(machine: Any, node: Node) -> None:
    """And what does not fit is handed over, never parked: a next invocation has room for it."""
    elapsed = [0.0]

    async def slow(call: Call) -> str:
        elapsed[0] += 50
        return "done"

    machine.behaviours["a"] = machine.behaviours["b"] = slow
    run_id = machine.start({"a": node(), "b": node("a"), "c": node("b")})
    assert machine.invoke(machine.queue.receive(machine.clock.now_ms()), Budget(90_000, hard=True, clock=lambda: elapsed[0])) \
        is InvocationEnd.CONTINUED  # fmt: skip
    assert machine.calls == {"a": 1}
    assert machine.view(run_id).nodes["b"].status == "queued"
    machine.drain(lambda: Budget(90_000, hard=True, clock=lambda: elapsed[0]))
    assert machine.view(run_id).status == "completed"
    assert machine.calls == {"a": 1, "b": 1, "c": 1}


def test_an_attempt_that_no_invocation_has_room_for_never_begins_and_the_run_says_so(machine: Any, node: Node) -> None:
    """The first of an invocation included: its effect would take place again and again, cut off every time."""
    run_id = machine.start({"a": node(timeout_ms=70_000)})
    machine.drain(lambda: Budget(60_000, hard=True, clock=lambda: 0.0))
    assert machine.calls == Counter()
    view = machine.view(run_id)
    assert (view.status, view.error["code"]) == ("failed", "no_progress")
    assert sum(type == "run.continued" for type in machine.types(run_id)) == 9


def test_stopping_drains_and_hands_over(machine: Any, node: Node) -> None:
    run_id = machine.start({"a": node(), "b": node("a")})
    assert machine.stop_during("a", run_id) is InvocationEnd.CONTINUED
    assert machine.calls == {"a": 1}
    machine.drain()
    assert machine.calls == {"a": 1, "b": 1}


def test_a_timer_that_cannot_be_armed_leaves_a_run_that_an_answer_reaches_at_once(machine: Any, node: Node) -> None:
    class Refusing:
        def arm(self, run_id: str, at_ms: int) -> None:
            raise StoreUnavailable("the scheduler is out of reach")

    run_id = machine.start({"a": node(), "ask": approval("a", timeout="3d"), "z": node("ask.approved")})
    world = replace(machine.world, timers=Refusing())
    with pytest.raises(StoreUnavailable, match="scheduler"):
        asyncio.run(Runner(world).run(machine.queue.receive(machine.clock.now_ms()), Budget(60_000)))
    head = machine.store.get_run(run_id)
    assert head.owner is None and head.due_ms == machine.clock.now_ms() + 3 * 24 * HOUR_MS, "the sweep finds it then"
    machine.service.answer_pause(run_id, "ask", "approved", {})
    assert machine.invoke(machine.queue.receive(machine.clock.now_ms())) is InvocationEnd.ENDED
    assert machine.view(run_id).status == "completed"


# -- two processes ----------------------------------------------------------------------------------------------------


def test_a_process_that_lost_its_lease_leaves_without_a_trace(machine: Any, node: Node) -> None:
    """The first holder's work ends after another process has recovered and finished the run."""

    async def scene() -> tuple[InvocationEnd, InvocationEnd, InvocationEnd]:
        begun, release = asyncio.Event(), asyncio.Event()

        async def held(call: Call) -> str:
            if machine.calls["a"] == 1:
                begun.set()
                await release.wait()
                return "late"
            return "in time"

        machine.behaviours["a"] = held
        run_id = machine.start({"a": node(), "b": node("a")})
        message = Message(run_id, "start")
        first = asyncio.create_task(machine.runner.run(message, Budget(60_000)))
        await begun.wait()
        busy = await machine.process().run(Message(run_id, "continue"), Budget(60_000))
        late = await machine.process().run(message, Budget(60_000))
        assert late is InvocationEnd.FENCED  # it was granted the same lease, and its first append fails
        machine.clock.advance(LEASE_MS + 1)
        second = await machine.process().run(message, Budget(60_000))
        before = machine.log(run_id), machine.store.get_run(run_id)
        release.set()
        ending = await first
        assert (machine.log(run_id), machine.store.get_run(run_id)) == before
        assert machine.view(run_id).nodes["a"].output == "in time"
        return busy, second, ending

    assert asyncio.run(scene()) == (InvocationEnd.BUSY, InvocationEnd.ENDED, InvocationEnd.FENCED)
    assert machine.calls == {"a": 2, "b": 1}


def test_two_messages_in_one_process_are_one_session(machine: Any, node: Node) -> None:
    async def scene() -> list[InvocationEnd]:
        message = Message(machine.start({"a": node(), "b": node("a")}), "start")
        return await asyncio.gather(*(machine.runner.run(message, Budget(60_000)) for _ in range(3)))

    assert sorted(ending.value for ending in asyncio.run(scene())) == ["busy", "busy", "ended"]
    assert machine.calls == {"a": 1, "b": 1}


def test_a_session_that_was_overtaken_in_its_own_process_leaves_the_other_in_place(machine: Any, node: Node) -> None:
    """The process was frozen between two messages for one run: the second takes the lease after it expired for the first."""

    async def scene() -> list[InvocationEnd]:
        message = Message(machine.start({"a": node(), "b": node("a")}), "start")
        machine.clock.advance(LEASE_MS)  # the granted lease is over
        runner = Runner(replace(machine.world, commits=Commits(nullcontext)))
        with runner._world.commits.writer():
            first = asyncio.create_task(runner.run(message, Budget(60_000)))
            await asyncio.sleep(0)
            machine.clock.advance(LEASE_MS + 1)
            second = asyncio.create_task(runner.run(message, Budget(60_000)))
            ends = await asyncio.gather(first, second)
        assert runner.sessions == {}
        return ends

    assert asyncio.run(scene()) == [InvocationEnd.FENCED, InvocationEnd.ENDED]
    assert machine.calls["b"] == 1


def test_hints_for_what_is_over_or_never_was_do_nothing(machine: Any, node: Node) -> None:
    run_id = machine.start({"a": node()})
    machine.drain()
    before = machine.log(run_id)
    for reason in ("start", "continue", "signal", "timer", "sweep"):
        machine.invoke(Message(run_id, reason))
        assert machine.invoke(Message("run_nobody", reason)) is InvocationEnd.GONE
    assert machine.log(run_id) == before
    assert machine.store.get_run(run_id).due_ms is None


# -- pauses -----------------------------------------------------------------------------------------------------------


def test_a_parked_run_wakes_at_its_instant_and_never_before(machine: Any, node: Node) -> None:
    run_id = machine.start({"t": {"type": "wait", "with": {"for": "1h"}}, "z": node("t")})
    machine.invoke(machine.queue.receive(machine.clock.now_ms()))
    began_ms = machine.clock.now_ms()
    assert machine.timers.next_ms() == began_ms + HOUR_MS
    for early_ms in (began_ms + HOUR_MS - 2_001, began_ms - 50_000, began_ms):  # clocks differ by less than their tolerance
        machine.clock.set(early_ms)
        assert machine.invoke(Message(run_id, "timer")) is InvocationEnd.PARKED
        assert machine.view(run_id).nodes["t"].status == "waiting"
    machine.drain()
    assert machine.view(run_id).nodes["t"].ended_ms >= began_ms + HOUR_MS
    assert machine.view(run_id).status == "completed"


def test_an_answer_before_its_question_is_kept(machine: Any, node: Node) -> None:
    run_id = machine.start({"a": node(), "w": approval("a"), "y": node("w.approved"), "n": node("w.rejected")})
    machine.service.answer_pause(run_id, "w", "rejected", {}, "Ada")
    machine.drain()
    assert machine.view(run_id).status == "completed"
    assert machine.calls == {"a": 1, "n": 1}
    assert machine.view(run_id).nodes["w"].output["by"] == "Ada"


def test_an_answer_for_a_turn_that_has_not_begun_is_kept(machine: Any, node: Node) -> None:
    body = {"nodes": {"w": approval(), "y": node("w.approved"), "n": node("w.rejected")}}
    run_id = machine.start({"l": {"type": "loop", "with": {"times": 2, "body": body}}})
    machine.drain()
    machine.service.answer_pause(run_id, "w@l[1]", "rejected", {})
    machine.drain()
    assert machine.view(run_id).status == "paused"
    machine.service.answer_pause(run_id, "w@l[0]", "approved", {})
    machine.drain()
    assert machine.view(run_id).status == "completed"
    assert machine.calls == {"y@l[0]": 1, "n@l[1]": 1}


def test_an_answer_for_a_turn_that_is_gone_or_never_comes_is_refused(machine: Any, node: Node) -> None:
    ask = {"nodes": {"w": approval(), "a": node(), "j": node(["a", "w.approved"], join={"mode": "any", "losers": "cancel"})}}
    run_id = machine.start({"l": {"type": "loop", "with": {"times": 1, "body": ask}}, "w2": approval()})
    machine.drain()
    assert machine.view(run_id).status == "paused"
    for pause in ("w@l[0]", "w@l[1]"):
        with pytest.raises(Gone):
            machine.service.answer_pause(run_id, pause, "approved", {})


@pytest.mark.parametrize("answered_first", [True, False])
def test_an_answer_and_the_deadline_have_one_winner(machine: Any, node: Node, answered_first: bool) -> None:
    """Both happen at once: the one whose signal is first in the inbox, whoever is looked at first."""
    run_id = machine.start({"w": approval(timeout="1h"), "y": node("w.approved"), "t": node("w.timeout")})
    machine.invoke(machine.queue.receive(machine.clock.now_ms()))
    machine.clock.advance(HOUR_MS)
    if answered_first:
        machine.service.answer_pause(run_id, "w", "approved", {}, "Ada")
        machine.drain()
    else:
        machine.drain()
        with pytest.raises(Conflict) as told:
            machine.service.answer_pause(run_id, "w", "approved", {}, "Ada")
        assert told.value.facts["first"]["decision"] == "timeout"
    assert machine.view(run_id).status == "completed"
    assert machine.calls == ({"y": 1} if answered_first else {"t": 1})
    assert machine.types(run_id).count("node.resumed w") == 1


def test_the_second_answer_is_told_the_first(machine: Any, node: Node) -> None:
    run_id = machine.start({"w": approval(), "y": node("w.approved")})
    machine.drain()
    machine.service.answer_pause(run_id, "w", "approved", {}, "Ada")
    for _ in range(2):
        with pytest.raises(Conflict) as told:
            machine.service.answer_pause(run_id, "w", "rejected", {}, "Bob")
        assert told.value.facts["first"]["by"] == "Ada"
        machine.drain()
    assert machine.calls == {"y": 1}


def test_a_cancel_reaches_work_under_way_and_discards_its_result(machine: Any, node: Node) -> None:
    async def scene() -> InvocationEnd:
        begun, cancelled = asyncio.Event(), asyncio.Event()

        async def held(call: Call) -> str:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()
            return "never"

        machine.behaviours["a"] = held
        run_id = machine.start({"a": node(), "b": node("a"), "w": approval()})
        running = asyncio.create_task(machine.runner.run(Message(run_id, "start"), Budget(60_000)))
        await begun.wait()
        machine.service.cancel(run_id, by="Ada", reason="changed my mind")
        machine.service.cancel(run_id, by="Bob")
        await machine.runner.run(Message(run_id, "signal"), Budget(60_000))
        ending = await running
        await cancelled.wait()
        view = machine.view(run_id)
        assert view.status == "cancelled"
        assert {name: record.status for name, record in view.nodes.items()} == dict.fromkeys("abw", "cancelled")
        with pytest.raises(Conflict):
            machine.service.cancel(run_id)
        return ending

    assert asyncio.run(scene()) is InvocationEnd.ENDED


# -- what is large ----------------------------------------------------------------------------------------------------


def test_large_values_are_kept_beside_the_log_and_come_back(machine: Any, node: Node) -> None:
    large = Random(1).randbytes(50_000).hex()  # nothing compresses it

    async def say(call: Call) -> Any:
        return {"text": large}

    machine.behaviours["a"] = say
    reader = {"type": "transform", "after": "a", "with": {"value": "{{ len(<a.text>) }}"}}
    run_id = machine.start({"a": node(), "w": approval("a"), "t": {**reader, "after": "w.approved"}}, {"big": large})
    machine.drain()
    machine.service.answer_pause(run_id, "w", "approved", {})
    machine.runner = machine.process()
    machine.drain()
    view = machine.view(run_id)
    assert view.outputs["t"] == len(large)
    assert view.inputs == {"big": large}
    assert view.nodes["a"].output == {"text": large}
    assert max(len(batch.data) for batch in machine.store.read_log(run_id)) < 2_000


def test_what_does_not_fit_into_one_batch_is_split(machine: Any, wide: Wide) -> None:
    run_id = machine.start(wide(40))
    machine.drain()
    batches = machine.store.read_log(run_id)
    assert machine.view(run_id).status == "completed"
    assert max(len(batch.data) for batch in batches) <= MAX_BATCH_BYTES
    assert [batch.first for batch in batches] == [1, *(batch.last + 1 for batch in batches[:-1])]
