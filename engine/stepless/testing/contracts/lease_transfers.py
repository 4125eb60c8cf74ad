"""Tests the contract of a lease that its holder passes on."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.errors import LeaseLost
from stepless.ports import SUCCESSOR, Lease, Store
from stepless.testing.contracts.leases import head


def test_a_lease_is_passed_on_in_the_write_that_changes_the_header(store: Store) -> None:
    store.create_run(head("r", due_ms=10))
    lease = store.take_lease("r", "me", 0, 100)
    assert lease
    given: dict[str, Any] = {"sequence": 7, "spent": b"[1]", "waits": "time", "exported": "bus3"}
    passed = store.update_run(lease, 50, grant_ms=300, **given)
    assert passed == Lease("r", SUCCESSOR, 2, 300, b"[1]", "bus3")
    expected = head("r", updated_ms=50, epoch=2, owner=SUCCESSOR, lease_until_ms=300, due_ms=300, **given)
    assert store.get_run("r") == expected
    assert [run.run_id for run in store.list_due(300)] == ["r"] and not store.list_due(299)
    assert store.take_lease("r", "other", 299, 400) is None and not store.grant_lease("r", 400)
    store.update_run(passed, 60, status="completed", release=True, waits="")
    changed: dict[str, Any] = {"status": "completed", "owner": None, "lease_until_ms": 0, "due_ms": None, "waits": ""}
    assert store.get_run("r") == expected._replace(updated_ms=60, **changed)


def test_a_lease_is_passed_on_once_and_its_former_holder_is_fenced(store: Store) -> None:
    store.create_run(head("r"))
    lease = store.take_lease("r", "me", 0, 100)
    assert lease
    passed = store.update_run(lease, 50, grant_ms=300)
    kept = store.get_run("r")
    assert store.update_run(lease, 51, sequence=9, grant_ms=300) == passed and store.get_run("r") == kept  # the answer was lost
    for given in ({"grant_ms": 301}, {"release": True}, {"until_ms": 900}):
        with pytest.raises(LeaseLost):
            store.update_run(lease, 52, **given)
    assert store.get_run("r") == kept
    again = store.update_run(passed, 60, grant_ms=400)
    assert again == Lease("r", SUCCESSOR, 3, 400)
    taken = store.take_lease("r", "other", 400, 500)
    assert taken and taken.epoch == 4
    with pytest.raises(LeaseLost):
        store.update_run(passed, 401, grant_ms=400)


def test_a_lease_that_was_released_is_not_passed_on(store: Store) -> None:
    store.create_run(head("r"))
    lease = store.take_lease("r", "me", 0, 100)
    assert lease
    store.update_run(lease, 20, status="paused", release=True)
    kept = store.get_run("r")
    for lost in (lease, lease._replace(run_id="none")):
        with pytest.raises(LeaseLost):
            store.update_run(lost, 30, grant_ms=300)
    assert store.get_run("r") == kept


@pytest.mark.parametrize("touched", [40, 350])
def test_a_touch_outlives_a_lease_that_is_passed_on(store: Store, touched: int) -> None:
    store.create_run(head("r"))
    lease = store.take_lease("r", "me", 0, 100)
    assert lease and store.touch_run("r", touched)
    passed = store.update_run(lease, 20, grant_ms=300)
    kept = store.get_run("r")
    assert kept and kept.due_ms == 300
    store.update_run(passed, 50, status="paused", release=True)
    assert [run.run_id for run in store.list_due(touched)] == ["r"] and not store.list_due(touched - 1)


def test_a_run_that_was_touched_later_than_its_lease_is_due_with_the_next_one(store: Store) -> None:
    """The row of due runs moves: the former lease ended later than the next one does."""
    store.create_run(head("r", due_ms=900))
    lease = store.take_lease("r", "me", 0, 800)
    assert lease
    store.update_run(lease, 20, grant_ms=300)
    assert [run.run_id for run in store.list_due(300)] == ["r"] and not store.list_due(299)
