"""Runs that wait for limits per key: what they cost, what is shown of them, and what happens when something fails."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from stepless.errors import Refused, StoreUnavailable, StoreUnusable
from stepless.limits import LIMIT_CHECK_MS
from stepless.ports import Call, Message
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.invocation_end import InvocationEnd
from stepless.runtime.session.runner import Runner

Node = Callable[..., dict[str, Any]]
BEHIND = {"max": 1, "by": "<go.customer>"}
GO = {"type": "manual"}


def run_of(machine: Any, customer: str, **a: Any) -> str:
    """A run with a node `a`, under a limit."""
    work = {"type": "function", "with": {"call": "test.echo"}, "after": "go", **a}
    run_id: str = machine.start({"go": GO, "a": work}, {"customer": customer})
    return run_id


def rest(machine: Any) -> None:
    """Until the runs wait for nothing but the clock."""
    while machine.queue.next_ms() is not None and machine.queue.next_ms() <= machine.clock.now_ms():
        machine.step()


class Dies(KeyboardInterrupt):
    """The process ends at once."""


def dying(machine: Any, *customers: str) -> list[str]:
    """Runs whose process died during `a`, so that their slots are taken until its lease ends."""
    return [dies_in(machine, lambda customer=customer: run_of(machine, customer, concurrency=BEHIND)) for customer in customers]


def dies_in(machine: Any, begin: Callable[..., str]) -> str:
    """A run whose process died during `a`."""
    attempts: list[Any] = []

    async def dies(call: Call) -> None:
        attempts.append(asyncio.current_task())
        raise Dies

    machine.behaviours["a"] = dies
    run_id = begin()
    with pytest.raises(Dies):
        machine.step()
    assert isinstance(attempts.pop().exception(), Dies)  # read here: asyncio would log it whenever the task is collected
    machine.runner = machine.process()
    del machine.behaviours["a"]
    return run_id


# -- what it costs -----------------------------------------------------------------------------------------------------

CHAIN = {"append": 11, "get_version": 1, "update_run": 1, "disarm": 1}
"""Every call to the store, the queue and the timers that a chain of ten makes. A limit elsewhere adds none. The header
is not read by the process that has just created it."""


def test_a_chain_without_limits_makes_the_same_calls_as_ever(machine: Any, node: Node) -> None:
    nodes = {"n0": node(), **{f"n{place}": node(f"n{place - 1}") for place in range(1, 10)}}
    machine.start(nodes)
    machine.drain()
    calls = Counter(machine.faults.names)
    assert calls.pop("read_inbox") >= 1, "once a second"
    assert calls == CHAIN


RUNS = """
import sys
from stepless.runtime.wiring.local import local
from stepless.runtime.service import Service
import asyncio
made = local(None)
nodes = {"a": {"type": "manual"}, "b": {"type": "transform", "after": "a", "with": {"value": 1}}}
made.service.publish({"id": "w", "nodes": nodes})
run = made.service.start("w", {}).run_id
async def main():
    task = asyncio.create_task(made.host.serve())
    while made.service.run(run).status != "completed":
        await asyncio.sleep(0)
    await made.host.stop()
    await task
asyncio.run(main())
print(*sorted(name for name in sys.modules if "limit" in name and name.startswith("stepless")))
"""


def test_a_document_without_limits_imports_nothing_of_them() -> None:
    """But the part of folding that has to know a queued instance."""
    loaded = subprocess.run([sys.executable, "-c", RUNS], capture_output=True, text=True, check=True, timeout=60).stdout.split()
    assert set(loaded) - {"stepless.compile.checks.limits"} == {
        "stepless.limits", "stepless.core.limits", "stepless.core.limits.queue",
    }  # fmt: skip


def writes_of_waiting(machine: Any, instances: int) -> Counter[str]:
    """The calls that change the store, of a run whose instances of `a` find no free slot."""
    work = {"type": "function", "with": {"call": "test.echo"}, "concurrency": BEHIND}
    each = {"type": "parallel", "after": "go", "with": {"items": "<go.items>", "body": {"nodes": {"a": work}}}}

    def run(items: int) -> str:
        return str(machine.start({"go": GO, "each": each}, {"customer": "acme", "items": list(range(items))}))

    dies_in(machine, lambda: run(1))
    machine.faults.names.clear()
    waiting = run(instances)
    machine.step()
    [limit] = machine.view(waiting).limits
    assert (limit.key, limit.instances) == ("acme", instances)
    return Counter(name for name in machine.faults.names if not name.startswith(("get_", "read_", "list_")))


def test_instances_that_wait_cost_no_write_of_their_own(make_machine: Any) -> None:
    few, many = writes_of_waiting(make_machine(), 1), writes_of_waiting(make_machine(), 20)
    assert few == many and few["join_line"] == 1


# -- what is shown -----------------------------------------------------------------------------------------------------


def test_a_run_shows_for_which_limit_and_key_it_waits_and_who_is_ahead(machine: Any) -> None:
    dying(machine, "acme")
    waiting = []
    for _ in range(2):
        waiting.append(run_of(machine, "acme", concurrency=BEHIND))
        rest(machine)
        machine.clock.set(machine.clock.now_ms() + 1)  # places of one instant have no order
    other = run_of(machine, "other", concurrency=BEHIND)
    rest(machine)
    assert machine.view(other).status == "completed", "another key has slots of its own"
    for ahead, run_id in enumerate(waiting):
        view, head = machine.view(run_id), machine.store.get_run(run_id)
        [limit] = view.limits
        assert (limit.of, limit.key, limit.instances, limit.ahead) == ("nodes.a.concurrency", "acme", 1, ahead)
        assert (head.waits, view.summary, view.status) == ("limit", "waiting for a limit", "running")
        assert (limit.since_ms, limit.until_ms) == (machine.clock.now_ms() - 2 + ahead, None)


def test_a_rate_shows_the_instant_that_it_has_reserved(machine: Any) -> None:
    rate = {"max": 1, "per": "1h", "by": "<go.customer>"}
    first, second = (run_of(machine, "acme", rate=rate) for _ in range(2))
    rest(machine)
    assert machine.view(first).status == "completed"
    [limit] = machine.view(second).limits
    assert (limit.of, limit.key) == ("nodes.a.rate", "acme")
    assert limit.until_ms is not None and limit.until_ms > machine.clock.now_ms() + 3_500_000
    machine.drain()
    assert machine.view(second).status == "completed"
    assert machine.view(second).limits == ()


# -- when something fails ----------------------------------------------------------------------------------------------


def test_the_slots_of_a_runner_that_died_are_free_when_its_lease_ends(machine: Any) -> None:
    [dead] = dying(machine, "acme")
    lease_ends_ms = machine.store.get_run(dead).lease_until_ms
    waiting = run_of(machine, "acme", concurrency=BEHIND)
    rest(machine)
    assert machine.calls["a"] == 1
    machine.drain()
    assert machine.view(dead).status == machine.view(waiting).status == "completed"
    begun = next(event.at_ms for event in machine.log(waiting) if event.type == "node.started" and event.instance == "a")
    assert lease_ends_ms <= begun <= lease_ends_ms + 1.25 * LIMIT_CHECK_MS


def test_a_run_that_finds_only_dead_holders_takes_their_slots(machine: Any) -> None:
    [dead] = dying(machine, "acme")
    machine.clock.set(machine.store.get_run(dead).lease_until_ms + 1)
    late = run_of(machine, "acme", concurrency=BEHIND)
    assert machine.invoke(Message(late, "start")) is InvocationEnd.ENDED
    assert machine.view(late).status == "completed"


def test_a_run_that_is_cancelled_while_it_waits_blocks_nobody(machine: Any) -> None:
    dying(machine, "acme")
    first, second = (run_of(machine, "acme", concurrency=BEHIND) for _ in range(2))
    rest(machine)
    machine.service.cancel(first)
    rest(machine)
    assert machine.view(first).status == "cancelled"
    assert machine.view(second).limits[0].ahead == 0
    machine.drain()
    assert machine.view(second).status == "completed"


def test_a_node_under_a_limit_fails_closed(machine: Any) -> None:
    """No attempt begins that could not be counted."""
    run_id = run_of(machine, "acme", concurrency=BEHIND, rate={"max": 9, "per": "1s"})

    def unavailable(*given: Any) -> None:
        raise StoreUnavailable("the counter is unavailable")

    kept, machine.store.replace_claim = machine.store.replace_claim, unavailable
    with pytest.raises(StoreUnavailable):
        machine.invoke(Message(run_id, "start"))
    assert machine.calls["a"] == 0
    machine.store.replace_claim = kept
    machine.runner = machine.process()
    machine.drain()
    assert (machine.view(run_id).status, machine.calls["a"]) == ("completed", 1)


def test_a_rate_of_starts_fails_open(machine: Any, node: Node) -> None:
    rate = {"max": 1, "per": "1h", "by": "lower(<input.customer>)"}
    machine.start({"a": node()}, {"customer": "Acme"}, rate=rate)
    with pytest.raises(Refused, match="1 times"):
        machine.service.start("small", {"customer": "acme"})
    assert machine.service.start("small", {"customer": 7}), "its key cannot be evaluated"

    def unavailable(*given: Any) -> int:
        raise StoreUnavailable("the counter is unavailable")

    machine.store.count = unavailable
    assert machine.service.start("small", {"customer": "acme"})


def test_a_store_that_cannot_keep_slots_is_refused(machine: Any) -> None:
    run_id = run_of(machine, "acme", concurrency=BEHIND)

    class Older:
        def __getattr__(self, name: str) -> Any:
            if name == "replace_claim":
                raise AttributeError(name)
            return getattr(machine.store, name)

    older = Runner(replace(machine.world, store=Older()))
    with pytest.raises(StoreUnusable, match="limits"):
        asyncio.run(older.run(Message(run_id, "start"), Budget(60_000)))
    assert machine.calls["a"] == 0
