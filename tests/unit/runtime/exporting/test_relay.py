"""The relay over the real runner: what is exported, when, and what a failure of the target costs."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from typing import Any

import pytest

from stepless.core.events import RUN_ENDS
from stepless.errors import StoreUnavailable
from stepless.limits import EXPORT_LEAVE_MS, EXPORT_RETRY_MS, MAX_EXPORT_FAILURES, MAX_EXPORT_QUEUE, MAX_EXPORT_RETRY_MS
from stepless.runtime.session.budget import Budget

Node = Callable[..., dict[str, Any]]


def test_every_event_is_exported_once_and_in_order(exporting: Any, receiver: Any, node: Node) -> None:
    machine = exporting(receiver)
    run_id = machine.start({"a": node(), "b": node("a"), "c": node("b")})
    machine.drain()
    log = machine.log(run_id)
    assert receiver.received == [event.sequence for event in log]
    assert receiver.types == [event.type.value for event in log]
    head = machine.store.get_run(run_id)
    assert (head.status, head.exported, head.due_ms) == ("completed", f"rec{len(log)}", None)


def test_only_what_an_exporter_selects_is_exported(exporting: Any, receiver: Any, node: Node) -> None:
    receiver.wants = lambda event: event.type in RUN_ENDS
    machine = exporting(receiver)
    run_id = machine.start({"a": node()})
    machine.drain()
    assert receiver.types == ["run.completed"]
    assert machine.store.get_run(run_id).exported == f"rec{len(machine.log(run_id))}"


def test_a_run_that_waits_exports_what_it_has_before_it_leaves(exporting: Any, receiver: Any) -> None:
    machine = exporting(receiver)
    run_id = machine.start({"a": {"type": "approval", "with": {"message": "Go on?"}}})
    machine.drain()
    assert "node.waiting" in receiver.types
    head = machine.store.get_run(run_id)
    assert (head.status, head.due_ms, head.exported) == ("paused", None, f"rec{len(machine.log(run_id))}")
    before = len(receiver.received)
    machine.service.answer_pause(run_id, "a", "approved", {}, "ada")
    machine.drain()
    assert receiver.received == [event.sequence for event in machine.log(run_id)]
    assert len(receiver.received) > before


def test_exporting_makes_no_call_of_the_store(exporting: Any, receiver: Any, node: Node) -> None:
    names = []
    for exporters in ((), (receiver,)):
        machine = exporting(*exporters)
        machine.start({"a": node(), "b": node("a")})
        machine.drain()
        names.append(machine.faults.names)
    assert names[0] == names[1]
    assert receiver.received


def test_what_was_not_confirmed_at_the_end_is_sent_again_by_the_sweep(exporting: Any, receiver: Any, node: Node) -> None:
    receiver.fails = 2
    machine = exporting(receiver)
    run_id = machine.start({"a": node()})
    machine.step()
    head = machine.store.get_run(run_id)
    assert (head.status, head.exported) == ("completed", "rec0/1")
    assert head.due_ms == machine.clock.now_ms() + EXPORT_RETRY_MS
    machine.drain()
    head, log = machine.store.get_run(run_id), machine.log(run_id)
    assert receiver.received == [event.sequence for event in log]
    assert (head.status, head.exported, head.due_ms) == ("completed", f"rec{len(log)}", None)


def test_the_retry_of_an_ended_run_repeats_nothing_else(exporting: Any, receiver: Any, node: Node) -> None:
    receiver.fails = 3
    machine = exporting(receiver)
    run_id = machine.start({"a": node()})
    machine.drain()
    assert machine.view(run_id).status == "completed"
    assert machine.faults.names.count("take_lease") == 3  # the first was granted with the start
    assert machine.faults.names.count("disarm") == 1


def test_an_interval_of_retries_doubles_and_ends(exporting: Any, receiver: Any, reports: Any, node: Node) -> None:
    receiver.fails = 10**9
    machine = exporting(receiver)
    run_id = machine.start({"a": node()})
    instants = []
    while machine.step():
        due_ms = machine.store.get_run(run_id).due_ms
        if machine.store.get_run(run_id).owner is None and due_ms not in instants[-1:]:
            instants.append(due_ms)
    waits = [after - before for before, after in itertools.pairwise(instants) if after is not None]
    assert waits[:3] == [EXPORT_RETRY_MS * 2, EXPORT_RETRY_MS * 4, EXPORT_RETRY_MS * 8]
    assert max(waits) == MAX_EXPORT_RETRY_MS
    assert instants[-1] is None
    log = machine.log(run_id)
    assert machine.store.get_run(run_id).exported == f"rec{len(log)}"
    dropped = [facts for what, facts in reports.reports if what == "export.dropped"]
    assert dropped == [{"run": run_id, "workflow": "small", "exporter": "rec", "after": 0, "to": len(log)}]
    assert reports.counted.count("ExportsDropped") == 1
    assert receiver.calls <= 2 * (MAX_EXPORT_FAILURES + 1)


def test_an_exporter_that_hangs_delays_the_release_by_its_bound_only(exporting: Any, receiver: Any, node: Node) -> None:
    receiver.hangs = True
    machine = exporting(receiver)
    run_id = machine.start({"a": node()})

    async def go() -> float:
        loop, message = asyncio.get_running_loop(), machine.queue.receive(machine.clock.now_ms())
        offset, real = 0.0, loop.time

        def skipping() -> float:  # time passes at once when every task waits
            return real() + offset

        loop.time = skipping  # type: ignore[method-assign]
        began = loop.time()
        task = asyncio.ensure_future(machine.runner.run(message, Budget(60_000)))
        while not task.done():
            await asyncio.sleep(0)
            offset += 0.05
        return loop.time() - began

    seconds = asyncio.run(go())
    assert seconds < EXPORT_LEAVE_MS / 1000 + 3
    head = machine.store.get_run(run_id)
    assert (head.status, head.exported, head.owner) == ("completed", "rec0/1", None)


def test_an_exporter_that_fails_is_left_alone_for_a_while_by_all_runs_of_the_process(
    exporting: Any, receiver: Any, node: Node
) -> None:
    receiver.fails = 10**9
    machine = exporting(receiver)
    runs = [machine.start({"a": node()}) for _ in range(5)]
    while machine.queue.next_ms() is not None and machine.queue.next_ms() <= machine.clock.now_ms():
        machine.step()
    assert {machine.store.get_run(run_id).status for run_id in runs} == {"completed"}
    assert receiver.calls == 1


def test_an_exporter_that_fails_does_not_delay_another(exporting: Any, receiver: Any, node: Node) -> None:
    broken = type(receiver)("broken")
    broken.fails = 10**9
    machine = exporting(broken, receiver)
    run_id = machine.start({"a": node()})
    machine.step()
    log = machine.log(run_id)
    assert receiver.received == [event.sequence for event in log]
    assert machine.store.get_run(run_id).exported == f"broken0/1 rec{len(log)}"


def test_what_is_confirmed_in_part_is_not_sent_again(exporting: Any, receiver: Any, node: Node) -> None:
    receiver.most = 2
    machine = exporting(receiver)
    run_id = machine.start({"a": node(), "b": node("a")})
    machine.drain()
    assert receiver.received == [event.sequence for event in machine.log(run_id)]


@pytest.mark.parametrize("error", [ConnectionError, KeyError, ZeroDivisionError, RuntimeError])
def test_no_exception_of_an_exporter_reaches_the_run(exporting: Any, receiver: Any, node: Node, error: Any) -> None:
    async def export(run: Any, events: Any) -> int:
        raise error("planted")

    receiver.export = export
    machine = exporting(receiver)
    run_id = machine.start({"a": node()})
    machine.step()
    assert machine.store.get_run(run_id).status == "completed"


@pytest.mark.parametrize("method", ["selects", "concerns"])
def test_no_method_of_an_exporter_can_stop_a_run(exporting: Any, receiver: Any, node: Node, method: str) -> None:
    def raises(given: Any) -> bool:
        raise KeyError("planted")

    setattr(receiver, method, raises)
    machine = exporting(receiver)
    run_id = machine.start({"a": node(), "b": node("a")})
    machine.step()
    assert machine.store.get_run(run_id).status == "completed"
    assert receiver.received == []


@pytest.mark.parametrize("fails", [3, 10**9])
def test_exporters_that_cannot_be_made_are_made_later(exporting: Any, receiver: Any, node: Node, fails: int) -> None:
    machine = exporting(receiver)
    calls = []

    def concerns(graph: Any) -> bool:
        calls.append(graph)
        if len(calls) <= fails:
            raise StoreUnavailable("the secret cannot be read now")
        return True

    receiver.concerns = concerns
    run_id = machine.start({"a": node()})
    machine.step()
    assert (machine.store.get_run(run_id).status, machine.store.get_run(run_id).exported) == ("completed", "all0/1")
    machine.drain()
    log, head = machine.log(run_id), machine.store.get_run(run_id)
    assert head.due_ms is None
    if fails == 3:
        assert receiver.received == [event.sequence for event in log]
        assert head.exported == f"rec{len(log)}"
    else:
        assert len(calls) == MAX_EXPORT_FAILURES + 1


@pytest.mark.parametrize("after", [False, True])
def test_a_crash_at_any_call_loses_no_event(exporting: Any, receiver: Any, node: Node, after: bool) -> None:
    plain = exporting(type(receiver)())
    plain.start({"a": node(), "b": node("a")})
    plain.drain()
    calls = plain.faults.calls
    assert calls >= 7
    for at in range(1, calls + 1):
        target = type(receiver)()
        machine = exporting(target)
        run_id = machine.start({"a": node(), "b": node("a")})
        machine.faults.at, machine.faults.after = at, after
        for _ in range(200):
            try:
                if not machine.step():
                    break
            except Exception as error:
                assert type(error).__name__ == "Died"
                machine.restart()
        log = machine.log(run_id)
        assert list(dict.fromkeys(target.received)) == [event.sequence for event in log], at
        head = machine.store.get_run(run_id)
        assert (head.status, head.due_ms, head.exported) == ("completed", None, f"rec{len(log)}"), at


def test_an_unavailable_store_does_not_confirm_what_was_not_written(exporting: Any, receiver: Any, node: Node) -> None:
    machine = exporting(receiver)
    machine.faults.error = StoreUnavailable("planted")
    machine.faults.at, machine.faults.after = 6, True
    run_id = machine.start({"a": node()})
    machine.drain()
    assert list(dict.fromkeys(receiver.received)) == [event.sequence for event in machine.log(run_id)]


def test_a_run_that_began_before_the_exporter_was_configured_is_exported_from_its_start(
    exporting: Any, receiver: Any, node: Node
) -> None:
    machine = exporting()
    run_id = machine.start({"a": {"type": "approval", "with": {"message": "?"}}, "b": node("a.approved")})
    machine.drain()
    later = exporting(receiver, store=machine.store)
    later.service.answer_pause(run_id, "a", "approved", {}, "ada")
    later.drain()
    assert receiver.received == [event.sequence for event in later.log(run_id)]


def test_the_cursor_of_an_exporter_that_is_turned_off_is_kept(exporting: Any, receiver: Any) -> None:
    machine = exporting(receiver)
    run_id = machine.start({"a": {"type": "approval", "with": {"message": "?"}}})
    machine.drain()
    kept = machine.store.get_run(run_id).exported
    without = exporting(type(receiver)("other"), store=machine.store)
    without.service.answer_pause(run_id, "a", "approved", {}, "ada")
    without.drain()
    assert kept in without.store.get_run(run_id).exported.split()


def test_more_events_than_memory_holds_are_read_from_the_log(exporting: Any, receiver: Any) -> None:
    machine = exporting(receiver)
    body = {"nodes": {"t": {"type": "transform", "with": {"value": "<loop.index>"}}}}
    turns = 2 * MAX_EXPORT_QUEUE  # of two events at least
    nodes = {"l": {"type": "loop", "with": {"times": turns, "max_iterations": turns, "body": body}}}
    run_id = machine.start(nodes)
    machine.drain()
    log = machine.log(run_id)
    assert len(log) > 3 * MAX_EXPORT_QUEUE
    assert receiver.received == [event.sequence for event in log]


def test_a_hand_over_does_not_count_as_a_failure(exporting: Any, receiver: Any, node: Node) -> None:
    receiver.fails = 10**9
    machine = exporting(receiver)
    run_id = machine.start({f"n{i}": node(f"n{i - 1}" if i else None) for i in range(6)})
    machine.step(Budget(0))
    assert machine.store.get_run(run_id).exported == "rec0"


def test_a_dead_letter_leaves_an_ended_run_due_while_events_are_left(exporting: Any, receiver: Any, node: Node) -> None:
    from stepless.ports import Message
    from stepless.runtime.hosting.deadletter import rest

    receiver.fails = 10**9
    machine = exporting(receiver)
    run_id = machine.start({"a": node()})
    machine.step()
    due_ms = machine.store.get_run(run_id).due_ms
    assert rest(machine.world, Message(run_id, "sweep")) is False
    assert machine.store.get_run(run_id).due_ms == due_ms
