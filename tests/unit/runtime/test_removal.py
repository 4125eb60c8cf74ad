"""Runs whose time is over, over a real store, queue and runner (docs/understand/durability.md#removal)."""

from __future__ import annotations

from typing import Any

import pytest
from dynamo_table import DirectClient, Table
from removing import APPROVAL, CALLING, DAY, LATE, Node, died, ended, head, keep_for, sweep_all, traces, with_children

from stepless.adapters.aws.dynamo.store import DynamoStore
from stepless.errors import Gone, NotFound
from stepless.limits import MAX_CLAIM_LIFE_MS
from stepless.ports import RunFilter
from stepless.runtime.hosting.sweep import sweep
from stepless.runtime.removal import remove_expired


@pytest.fixture
def machine(stored_machine: Any) -> Any:
    return stored_machine


def test_without_a_setting_a_run_is_kept_for_ever(machine: Any, node: Node) -> None:
    run_id = ended(machine, node)
    assert head(machine, run_id).expires_ms is None
    machine.clock.advance(10_000 * DAY)
    sweep_all(machine)
    assert machine.view(run_id).status == "completed"


@pytest.mark.parametrize(("workflow", "stack", "days"), [("2d", None, 2), (None, 3, 3), ("5d", 3, 5), ("2d", 30, 2)])
def test_a_run_is_removed_after_the_retention_of_its_workflow_or_else_of_the_stack(
    machine: Any, node: Node, workflow: str | None, stack: int | None, days: int
) -> None:
    keep_for(machine, stack * DAY if stack else None)
    kept = ended(machine, node, retention="3650d")
    run_id = ended(machine, node, **({"retention": workflow} if workflow else {}))
    ends_ms = machine.clock.now_ms()
    found = head(machine, run_id)
    assert (found.expires_ms, found.due_ms) == (ends_ms + days * DAY, None)
    machine.clock.set(ends_ms + days * DAY - 1)
    sweep_all(machine)
    assert machine.view(run_id).status == "completed"
    machine.clock.advance(1)
    with pytest.raises(Gone) as gone:  # whether the sweeper was there or not
        machine.view(run_id)
    assert gone.value.code == "run_erased"
    machine.clock.advance(LATE)
    sweep_all(machine)
    assert machine.store.get_run(run_id) is None and traces(machine, run_id) == []
    assert [each.run_id for each in machine.store.list_runs(RunFilter()).items] == [kept]
    assert len(traces(machine, kept)) > 3
    with pytest.raises(NotFound):
        machine.view(run_id)


def test_a_run_that_took_longer_than_a_day_is_removed_as_well(machine: Any, node: Node) -> None:
    keep_for(machine, 2 * DAY)
    run_id = machine.start({"ask": APPROVAL})
    machine.drain()
    machine.clock.advance(9 * DAY)
    machine.service.answer_pause(run_id, "ask", "approved", {}, "ada")
    machine.drain()
    assert machine.store.get_run(run_id) is None  # `drain` moves on to what is due and sweeps
    assert traces(machine, run_id) == []


def test_the_expiry_is_fixed_at_the_end_and_no_later_visit_moves_it(machine: Any, node: Node) -> None:
    keep_for(machine, 2 * DAY)
    run_id = ended(machine, node)
    expires_ms = head(machine, run_id).expires_ms
    keep_for(machine, 90 * DAY)
    machine.clock.advance(DAY)
    machine.store.touch_run(run_id, machine.clock.now_ms())
    sweep(machine.world)
    while (message := machine.queue.receive(machine.clock.now_ms())) is not None:
        machine.invoke(message)
    assert head(machine, run_id).expires_ms == expires_ms


def test_no_claim_outlives_its_run(machine: Any, node: Node) -> None:
    """A start with the key of a run that was removed would create that run again."""
    keep_for(machine, DAY)
    run_id = ended(machine, node)
    found = head(machine, run_id)
    assert found.expires_ms is not None and found.expires_ms >= found.created_ms + MAX_CLAIM_LIFE_MS


def test_a_child_run_stays_until_its_parent_has_ended(machine: Any, node: Node) -> None:
    keep_for(machine, 2 * DAY)
    with_children(machine)
    machine.service.publish({"id": "small", "nodes": {"a": node()}})
    machine.service.publish({"id": "outer", "nodes": {"c": CALLING, "ask": {**APPROVAL, "after": "c"}}})
    parent = machine.service.start("outer", {}).run_id
    while machine.view(parent).status != "paused" or machine.view(parent).nodes["c"].status != "completed":
        assert machine.step()
    child = machine.store.list_runs(RunFilter("small")).items[0].run_id
    for _ in range(4):
        machine.clock.advance(2 * DAY)
        sweep_all(machine)
    assert machine.store.get_run(child) is not None
    machine.service.answer_pause(parent, "ask", "approved", {}, "ada")
    machine.drain()
    machine.clock.advance(4 * DAY)
    sweep_all(machine)
    assert machine.store.get_run(child) is None and machine.store.get_run(parent) is None


@pytest.mark.parametrize("after", [False, True])
def test_a_removal_that_dies_at_any_step_is_completed_by_the_next_sweep(make_machine: Any, node: Node, after: bool) -> None:
    for at in range(1, 40):
        machine = make_machine(DynamoStore(DirectClient(Table()), "table", shards=3))
        keep_for(machine, 2 * DAY)
        run_id = ended(machine, node)
        machine.clock.advance(2 * DAY + LATE)
        if not died(machine, at, after, remove_expired):
            break
        sweep_all(machine)
        assert machine.store.get_run(run_id) is None and traces(machine, run_id) == [], f"it died at call {at}"
    assert at > 6
