"""Repetitions of a delivery that started a run with a key: the rerun has the key, and at most one run of a key is live."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from stepless.errors import Conflict, Refused
from stepless.runtime.messages.keys import RunKey
from stepless.runtime.related_runs import reruns_of
from stepless.runtime.verbs.starts.repeated_deliveries import retried
from stepless.runtime.verbs.starts.starting import Started

LIFE_MS = 86_400_000
RUN_KEY = RunKey("order", "A-1")


def document(rule: str, **more: Any) -> dict[str, Any]:
    return {
        "id": "order", "key": "<input.id>", "on_conflict": rule, "messages": {"go": {}}, **more,
        "nodes": {
            "order": {"type": "manual"},
            "pay": {"type": "function", "after": "order", "with": {"call": "test.echo"}},
            "wait": {"type": "receive", "after": "pay", "with": {"message": "go", "timeout": "10m"}},
        },
    }  # fmt: skip


async def declined(call: Any) -> Any:
    raise RuntimeError("the card was declined")


def deliver(machine: Any, delivery: str = "evt_1", service: Any = None) -> Started:
    """One delivery of a provider, as `triggers/webhooks.py` takes it."""
    world = (service or machine.service).world
    meta = {"trigger": {"kind": "webhook", "path": "/orders"}}
    started = (service or machine.service).start("order", {"id": "A-1", "of": delivery}, key=delivery, meta=meta)
    return retried(world, started, LIFE_MS)


def failed(machine: Any, rule: str, **more: Any) -> str:
    """A run that a delivery has started, and that failed."""
    machine.service.publish(document(rule, **more))
    machine.behaviours["pay"] = declined
    run_id = deliver(machine).run_id
    machine.settle()
    assert machine.view(run_id).status == "failed"
    del machine.behaviours["pay"]
    return run_id


@pytest.mark.parametrize("rule", ["join", "refuse", "replace"])
def test_the_rerun_has_the_key_of_its_run(machine: Any, rule: str) -> None:
    former = failed(machine, rule)
    again = deliver(machine)
    assert (again.run_id, again.key, again.replay, again.joined) == (RUN_KEY.run_id(2), "A-1", False, False)
    machine.settle()
    assert machine.service.runs_of_key("order", "A-1").live == again.run_id
    assert machine.service.send("order", "go", None, key="A-1").delivered == (again.run_id,)
    repeated = deliver(machine)
    assert (repeated.run_id, repeated.replay) == (again.run_id, True)
    view = machine.view(again.run_id)
    assert (view.head.meta.count(former.encode()) > 0, machine.calls["pay"]) == (True, 2)
    assert [head.run_id for head in reruns_of(machine.world, former)] == [again.run_id]


@pytest.mark.parametrize("rule", ["join", "replace"])
def test_a_repetition_joins_the_run_that_has_the_key_meanwhile(machine: Any, rule: str) -> None:
    """Also where a start replaces the live run: the repeated delivery is the older one."""
    failed(machine, rule)
    other = deliver(machine, "evt_2").run_id
    machine.settle()
    for _ in range(2):
        joined = deliver(machine)
        assert (joined.run_id, joined.joined, joined.replay) == (other, True, False)
    machine.drain()
    assert deliver(machine).run_id == other  # also after its end
    assert [machine.store.get_run(RUN_KEY.run_id(number)) is not None for number in (1, 2, 3)] == [True, True, False]


def test_a_repetition_is_refused_while_another_run_has_the_key(machine: Any) -> None:
    failed(machine, "refuse")
    other = deliver(machine, "evt_2").run_id
    machine.settle()
    with pytest.raises(Conflict) as refused:
        deliver(machine)
    assert (refused.value.code, refused.value.facts["run_id"]) == ("key_taken", other)
    machine.service.cancel(other)
    machine.settle()
    assert deliver(machine).run_id == RUN_KEY.run_id(3)


def test_a_run_that_was_replaced_is_not_repeated(machine: Any) -> None:
    machine.service.publish(document("replace"))
    first = deliver(machine).run_id
    machine.settle()
    second, third = deliver(machine, "evt_2").run_id, deliver(machine, "evt_3").run_id
    machine.settle()
    assert machine.view(first).status == "cancelled"
    for _ in range(2):
        told = deliver(machine)
        assert (told.run_id, told.joined) == (third, True)
        machine.drain()  # and after the end of its successor
    assert [machine.view(run).status for run in (first, second)] == ["cancelled"] * 2
    assert RUN_KEY.number(machine.world) == 3


def test_a_run_that_was_cancelled_without_a_successor_is_repeated(machine: Any) -> None:
    machine.service.publish(document("replace"))
    first = deliver(machine).run_id
    machine.settle()
    machine.service.cancel(first)
    machine.settle()
    assert deliver(machine).run_id == RUN_KEY.run_id(2)


def test_the_limit_of_starts_holds_for_a_rerun_and_not_for_a_repetition_that_joins(machine: Any) -> None:
    failed(machine, "join", rate_limit={"max": 2, "per": "1h"})
    other = deliver(machine, "evt_2").run_id
    machine.settle()
    assert deliver(machine).run_id == other
    machine.service.cancel(other)
    machine.settle()
    with pytest.raises(Refused):
        deliver(machine, "evt_3")
    assert deliver(machine).run_id == other


def test_a_rerun_that_was_erased_is_not_started_again(machine: Any) -> None:
    failed(machine, "join")
    again = deliver(machine).run_id
    machine.settle()
    machine.service.cancel(again)
    machine.settle()
    machine.service.erase(again)
    with pytest.raises(Conflict) as refused:
        deliver(machine)
    assert refused.value.code == "run_erased"


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("rule", ["join", "refuse", "replace"])
def test_a_death_at_any_call_is_mended_by_the_next_repetition(make_machine: Any, rule: str, after: bool) -> None:
    """A repetition dies, another delivery may start a run of its own, and the sender repeats once more."""
    for other in (False, True):
        for at in range(1, 30):
            machine = make_machine()
            former = failed(machine, rule)
            try:
                deliver(machine, service=machine.dying_service(at, after))
            except Exception as error:
                if type(error).__name__ != "Died":
                    raise
            second = _told(machine, "evt_2") if other else None
            told = _told(machine, "evt_1")
            machine.drain()
            check(machine, rule, former, second, told, (at, other))


def _told(machine: Any, delivery: str) -> Started | None:
    """What a delivery is told; None if it is refused."""
    try:
        return deliver(machine, delivery)
    except Conflict as error:
        assert error.code == "key_taken"
        return None


def check(machine: Any, rule: str, former: str, second: Started | None, told: Started | None, where: Any) -> None:
    heads = [machine.store.get_run(RUN_KEY.run_id(number)) for number in range(1, RUN_KEY.number(machine.world) + 1)]
    reruns = [head.run_id for head in heads if head is not None and f'"of":"{former}"'.encode() in head.meta]
    assert len(reruns) <= 1, where
    if told is None:
        assert rule == "refuse" and second is not None, where
    elif not told.joined:
        assert [told.run_id] == reruns, where
    else:
        assert rule != "refuse" and second is not None and told.run_id == second.run_id, where
    if second is not None and not second.joined:
        assert f'"of":"{former}"'.encode() not in machine.store.get_run(second.run_id).meta, where
    for before, following in pairwise(heads):
        if before is not None and following is not None:
            assert machine.log(before.run_id)[-1].at_ms <= machine.log(following.run_id)[0].at_ms, where
