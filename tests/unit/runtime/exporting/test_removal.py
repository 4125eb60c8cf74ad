"""Removals wait for exporters: an erasure is refused, the removal of an expired run is put off, for a bounded time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dynamo_table import DirectClient, Table

from stepless.adapters.aws.dynamo.store import DynamoStore
from stepless.adapters.sqlite.store import SqliteStore
from stepless.errors import Conflict, Gone
from stepless.limits import EXPIRY_SLACK_MS, EXPORT_RETRY_MS, EXPORTS_WAIT_MS, SHORT_RUN_MS
from stepless.ports import ERASED, Message
from stepless.runtime.hosting.sweep import sweep
from stepless.runtime.removal import exports_left, remove_expired

Node = Callable[..., dict[str, Any]]
DAY = 24 * 3_600_000


@pytest.fixture(params=["memory", "sqlite", "dynamo"])
def machine(request: pytest.FixtureRequest, exporting: Any, receiver: Any, tmp_path: Path) -> Any:
    match request.param:
        case "sqlite":
            store = SqliteStore(tmp_path / "runs.db")
            request.addfinalizer(store.close)
            return exporting(receiver, store=store)
        case "dynamo":
            return exporting(receiver, store=DynamoStore(DirectClient(Table()), "table", shards=2))
    return exporting(receiver)


def left_over(machine: Any, receiver: Any, node: Node, **more: Any) -> str:
    """A run that has ended, and whose exporter has confirmed nothing."""
    receiver.fails = 10**9
    run_id: str = machine.start({"a": node()}, **more)
    machine.step()
    head = machine.store.get_run(run_id)
    assert head.status == "completed" and exports_left(head) == ["rec"]
    return run_id


def test_an_erasure_is_refused_until_the_events_are_exported(machine: Any, receiver: Any, node: Node) -> None:
    run_id = left_over(machine, receiver, node)
    for dry in (True, False):
        with pytest.raises(Conflict) as refused:
            machine.service.erase(run_id, dry=dry)
        assert (refused.value.code, refused.value.facts["exporters"]) == ("exports_pending", ["rec"])
        assert refused.value.facts["retry_after_ms"] == EXPORT_RETRY_MS
        assert "force" in refused.value.mend
    assert machine.view(run_id).status == "completed"
    receiver.fails = 0
    machine.drain()
    log = machine.log(run_id)
    assert receiver.received == [event.sequence for event in log]
    machine.service.erase(run_id)
    assert machine.store.get_run(run_id).status == ERASED


def test_force_drops_the_events(machine: Any, receiver: Any, node: Node) -> None:
    run_id = left_over(machine, receiver, node)
    machine.service.erase(run_id, force=True)
    receiver.fails = 0
    machine.drain()
    assert machine.store.get_run(run_id) is None or machine.store.get_run(run_id).status == ERASED
    assert receiver.received == []


def test_what_was_given_up_does_not_keep_a_run(machine: Any, receiver: Any, node: Node) -> None:
    run_id = left_over(machine, receiver, node)
    machine.drain()  # all tries
    assert exports_left(machine.store.get_run(run_id)) == ()
    machine.service.erase(run_id)


def test_the_cursor_of_an_exporter_that_was_turned_off_does_not_keep_a_run(machine: Any, receiver: Any, node: Node) -> None:
    run_id = left_over(machine, receiver, node)
    machine.world = replace(machine.world, relay=None)
    machine.service.world, machine.runner = machine.world, machine.process()
    machine.drain()  # the next session has nothing to export
    assert machine.store.get_run(run_id).exported == "rec0/1"
    machine.service.erase(run_id)


def test_the_removal_of_an_expired_run_waits_for_a_bounded_time(machine: Any, receiver: Any, node: Node) -> None:
    """Its exporter is tried again all the time, with the clock moved past the expiry and no session in between."""
    run_id = left_over(machine, receiver, node, retention="2d")
    other = machine.start({"a": node()}, retention="2d", id="other")
    receiver.wants = lambda event: False
    while machine.store.get_run(other).status != "completed":
        assert machine.step()
    receiver.wants = lambda event: True
    machine.clock.set(machine.store.get_run(other).expires_ms + SHORT_RUN_MS + EXPIRY_SLACK_MS)
    with pytest.raises(Gone):
        machine.view(run_id)
    sweep(machine.world)
    remove_expired(machine.world)
    assert machine.store.get_run(other) is None, "the others do not wait"
    head = machine.store.get_run(run_id)
    assert exports_left(head) == ["rec"]
    receiver.fails = 0
    machine.clock.set(head.expires_ms + EXPORTS_WAIT_MS - 1)
    sweep(machine.world)
    assert machine.store.get_run(run_id) is not None
    machine.invoke(Message(run_id, "sweep"))
    assert receiver.received and exports_left(machine.store.get_run(run_id)) == ()
    for _ in range(2):  # the first finds the other's rows
        machine.clock.advance(DAY)
        sweep(machine.world)
        remove_expired(machine.world)
    assert machine.store.get_run(run_id) is None


def test_after_that_time_the_run_is_removed_with_its_events(machine: Any, receiver: Any, node: Node) -> None:
    run_id = left_over(machine, receiver, node, retention="2d")
    machine.clock.set(machine.store.get_run(run_id).expires_ms + EXPORTS_WAIT_MS)
    sweep(machine.world)
    remove_expired(machine.world)
    assert machine.store.get_run(run_id) is None and receiver.received == []
