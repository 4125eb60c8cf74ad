"""Tests the contract of leases, and of the instant at which a run is checked next."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.errors import LeaseLost
from stepless.ports import RECEIVER, Lease, RunFilter, RunHead, Store


def head(run_id: str, created_ms: int = 0, **more: Any) -> RunHead:
    given: dict[str, Any] = {"workflow_id": "wf", "version": "h1", "status": "running", "updated_ms": created_ms, "inputs": b"{}"}
    return RunHead(run_id=run_id, created_ms=created_ms, **{**given, **more})


# -- due -------------------------------------------------------------------------------------------------------------


def test_due_runs_come_with_the_longest_overdue_first(store: Store) -> None:
    for run_id, due_ms in (("a", 30), ("b", 10), ("c", None), ("d", 31), ("e", 20)):
        store.create_run(head(run_id, due_ms=due_ms))
    assert [run.run_id for run in store.list_due(30)] == ["b", "e", "a"]
    assert [run.run_id for run in store.list_due(30, limit=1)] == ["b"]
    assert store.list_due(9) in ([], ())


def test_due_runs_can_be_paged_through(store: Store) -> None:
    for number in range(7):
        store.create_run(head(f"r{number}", due_ms=10 + number // 3))
    found: list[str] = []
    after = None
    while page := store.list_due(12, limit=2, after=after):
        found += [run.run_id for run in page]
        after = (page[-1].due_ms or 0, page[-1].run_id)
    assert found == [f"r{number}" for number in range(7)]


@pytest.mark.parametrize(("before", "touched", "after"), [(None, 50, 50), (60, 50, 50), (50, 50, 50), (40, 50, 40)])
def test_a_touch_brings_due_forward_and_never_back(store: Store, before: int | None, touched: int, after: int) -> None:
    store.create_run(head("r", due_ms=before))
    assert store.touch_run("r", touched)
    assert store.get_run("r") == head("r", due_ms=after)
    assert not store.touch_run("none", touched)


# -- what a run waits for ----------------------------------------------------------------------------------------------


def test_what_a_run_waits_for_is_kept_until_it_is_told_anew(store: Store) -> None:
    store.create_run(head("r"))
    lease = store.take_lease("r", "me", 0, 100)
    assert lease is not None

    def waits() -> str:
        kept = store.get_run("r")
        assert kept is not None
        return kept.waits

    store.update_run(lease, 10, until_ms=200, waits="answer time")
    assert waits() == "answer time"
    store.update_run(lease, 20, until_ms=300)
    assert waits() == "answer time"
    store.update_run(lease, 30, until_ms=100, waits="")
    assert waits() == ""
    store.update_run(lease, 40, release=True, waits="child")
    again = store.take_lease("r", "you", 50, 100)
    assert again is not None and waits() == "child"
    store.update_run(again, 60, status="completed", release=True, waits="")
    assert waits() == ""


def test_runs_are_found_by_what_they_wait_for(store: Store) -> None:
    waits = {"a": "answer", "b": "held answer", "c": "", "d": "time retry", "e": "answer"}
    for number, (run_id, word) in enumerate(waits.items()):
        store.create_run(head(run_id, number, waits=word, workflow_id="other" if run_id == "e" else "wf"))

    def found(word: str, **more: Any) -> list[str]:
        return [run.run_id for run in store.list_runs(RunFilter(waiting=word, **more)).items]

    assert (found("answer"), found("held"), found("retry"), found("child")) == (["e", "b", "a"], ["b"], ["d"], [])
    assert found("answer", workflow_id="wf", since_ms=1) == ["b"]
    assert found("answer", status="paused") == []
    assert found("answ") == found("") == []
    first = store.list_runs(RunFilter(waiting="answer"), limit=2)
    assert [run.run_id for run in store.list_runs(RunFilter(waiting="answer"), limit=2, cursor=first.cursor).items] == ["a"]


# -- the lease -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("owner", "now_ms", "taken"), [
    ("me", 50, True),  # mine
    ("you", 50, False),  # held by another owner
    ("you", 99, False),
    ("you", 100, True),  # expired
])
def test_a_lease_is_taken_when_it_is_mine_or_expired(store: Store, owner: str, now_ms: int, taken: bool) -> None:
    store.create_run(head("r", due_ms=5))
    first = store.take_lease("r", "me", 0, 100)
    assert first and (first.epoch, first.until_ms) == (1, 100)
    second = store.take_lease("r", owner, now_ms, 200)
    assert (second is not None) == taken
    kept = store.get_run("r")
    assert kept
    assert (kept.owner, kept.epoch, kept.lease_until_ms, kept.due_ms) == ((owner, 2, 200, 200) if taken else ("me", 1, 100, 100))


def test_there_is_no_lease_of_a_run_that_does_not_exist(store: Store) -> None:
    assert store.take_lease("none", "me", 0, 100) is None


def test_of_twenty_that_want_the_lease_one_gets_it(store: Store, race: Any) -> None:
    store.create_run(head("r"))
    assert len([lease for lease in race(lambda i: store.take_lease("r", f"o{i}", 0, 100)) if lease]) == 1


def test_the_holder_of_an_older_epoch_changes_nothing(store: Store) -> None:
    store.create_run(head("r"))
    old = store.take_lease("r", "me", 0, 100)
    new = store.take_lease("r", "you", 100, 200)
    assert old and new
    before = store.get_run("r")
    for given in ({"status": "failed"}, {"release": True}, {"until_ms": 900}):
        with pytest.raises(LeaseLost):
            store.update_run(old, 150, **given)
    with pytest.raises(LeaseLost):
        store.update_run(new._replace(run_id="none"), 150)
    assert store.get_run("r") == before


def test_an_update_changes_what_is_given_and_due_follows_the_lease(store: Store) -> None:
    store.create_run(head("r"))
    lease = store.take_lease("r", "me", 0, 100)
    assert lease
    longer = store.update_run(lease, 50, status="paused", sequence=9, until_ms=300)
    assert longer == lease._replace(until_ms=300)
    expected = head("r", status="paused", sequence=9, updated_ms=50, epoch=1, owner="me", lease_until_ms=300, due_ms=300)
    assert store.get_run("r") == expected
    store.touch_run("r", 60)
    assert store.update_run(longer, 70) == longer
    assert store.get_run("r") == expected._replace(updated_ms=70)


@pytest.mark.parametrize("due_ms", [None, 500])
def test_a_released_lease_is_free_and_due_is_as_given(store: Store, due_ms: int | None) -> None:
    store.create_run(head("r"))
    lease = store.take_lease("r", "me", 0, 100)
    assert lease
    store.update_run(lease, 50, status="paused", due_ms=due_ms, release=True)
    assert store.get_run("r") == head("r", status="paused", updated_ms=50, epoch=1, due_ms=due_ms)
    again = store.take_lease("r", "you", 51, 100)
    assert again and again.epoch == 2


@pytest.mark.parametrize(("touches", "due_ms", "after"), [
    ([60], None, 60),
    ([60], 500, 60),
    ([60], 40, 40),
    ([80, 60, 70], None, 60),
    ([900], None, 900),  # later than the lease's end
    ([900, 950], 920, 900),
    ([900, 60], None, 60),
])
@pytest.mark.parametrize("status", ["paused", "completed"])
def test_a_touch_outlives_the_lease_that_was_held(
    store: Store, touches: list[int], due_ms: int | None, after: int, status: str
) -> None:
    store.create_run(head("r"))
    lease = store.take_lease("r", "me", 0, 100)
    assert lease
    for touched in touches:
        assert store.touch_run("r", touched)
    lease = store.update_run(lease, 20, until_ms=300)
    store.update_run(lease, 50, status=status, due_ms=due_ms, release=True)
    assert store.get_run("r") == head("r", status=status, updated_ms=50, epoch=1, due_ms=after)
    assert [run.run_id for run in store.list_due(after)] == ["r"]
    assert not store.list_due(after - 1)


def test_a_touch_before_and_after_an_extension_keeps_the_earlier_one(store: Store) -> None:
    store.create_run(head("r"))
    lease = store.take_lease("r", "me", 0, 100)
    assert lease
    store.touch_run("r", 50)
    lease = store.update_run(lease, 20, until_ms=300)
    store.touch_run("r", 60)
    store.update_run(lease, 70, release=True)
    kept = store.get_run("r")
    assert kept and kept.due_ms == 50


def test_whoever_takes_the_lease_after_a_touch_has_been_told(store: Store) -> None:
    store.create_run(head("r", due_ms=None))
    store.touch_run("r", 60)
    lease = store.take_lease("r", "me", 0, 100)
    assert lease
    store.update_run(lease, 50, status="paused", release=True)
    assert store.get_run("r") == head("r", status="paused", updated_ms=50, epoch=1, due_ms=None)


def test_of_touches_and_a_release_at_once_no_touch_is_lost(store: Store, race: Any) -> None:
    for turn in range(5):
        store.create_run(head(f"r{turn}"))
        lease = store.take_lease(f"r{turn}", "me", 0, 100)
        assert lease

        def one(i: int, run_id: str = f"r{turn}", lease: Lease = lease) -> Any:
            return store.touch_run(run_id, 50 + i) if i else store.update_run(lease, 10, status="paused", release=True)

        assert not [answer for answer in race(one, 6) if isinstance(answer, Exception)]
        kept = store.get_run(f"r{turn}")
        assert kept and kept.due_ms == 51 and kept.owner is None


def test_what_was_spent_stays_until_it_is_replaced(store: Store) -> None:
    store.create_run(head("r"))
    first = store.take_lease("r", "me", 1, 10)
    assert first and first.spent == b""
    store.update_run(first, 2, until_ms=20, spent=b"[1]")
    store.update_run(first, 3, due_ms=4, release=True)
    second = store.take_lease("r", "me", 5, 10)
    assert second and second.spent == b"[1]"
    store.update_run(second, 6, status="completed", release=True, spent=b"[2,0,3.5]")
    kept = store.get_run("r")
    assert kept and kept.spent == b"[2,0,3.5]"


def test_how_far_a_run_was_exported_stays_until_it_is_replaced(store: Store) -> None:
    store.create_run(head("r"))
    first = store.take_lease("r", "me", 1, 10)
    assert first and first.exported == ""
    store.update_run(first, 2, until_ms=20, exported="bus3")
    store.update_run(first, 3, due_ms=4, release=True)
    second = store.take_lease("r", "me", 5, 10)
    assert second and second.exported == "bus3"
    store.update_run(second, 6, status="completed", release=True, exported="bus9 otel4/2")
    kept = store.get_run("r")
    assert kept and (kept.exported, kept.due_ms) == ("bus9 otel4/2", None)


def test_the_meta_of_a_header_stays_until_it_is_replaced(store: Store) -> None:
    store.create_run(head("r", meta=b'{"tags":["a"]}'))

    def meta() -> bytes:
        kept = store.get_run("r")
        assert kept is not None
        return kept.meta

    first = store.take_lease("r", "me", 1, 10)
    assert first and meta() == b'{"tags":["a"]}'
    store.update_run(first, 2, until_ms=20, meta=b'{"n":1}')
    assert meta() == b'{"n":1}'
    store.update_run(first, 3, until_ms=30)
    assert meta() == b'{"n":1}'
    passed = store.update_run(first, 4, grant_ms=40, meta=b'{"n":2}')
    assert meta() == b'{"n":2}'
    store.update_run(passed, 5, status="failed", release=True, meta='{"n":"ü"}'.encode())
    assert meta() == '{"n":"ü"}'.encode()
    with pytest.raises(LeaseLost):
        store.update_run(first, 6, meta=b'{"n":3}', until_ms=50)
    assert [run.meta for run in store.list_runs(RunFilter()).items] == ['{"n":"ü"}'.encode()]


def test_a_run_that_has_ended_can_be_due(store: Store) -> None:
    store.create_run(head("r"))
    lease = store.take_lease("r", "me", 1, 10)
    assert lease
    store.update_run(lease, 2, status="completed", due_ms=50, release=True, exported="bus0/1")
    assert [run.run_id for run in store.list_due(49)] == []
    assert [(run.run_id, run.status) for run in store.list_due(50)] == [("r", "completed")]
    again = store.take_lease("r", "other", 60, 70)
    assert again and again.exported == "bus0/1"
    store.update_run(again, 61, status="completed", release=True, exported="bus4")
    assert [run.run_id for run in store.list_due(2**60)] == []


def test_a_header_is_created_with_what_was_exported(store: Store) -> None:
    store.create_run(head("r", exported="bus1"))
    kept = store.get_run("r")
    assert kept and kept.exported == "bus1"


# -- a lease for the receiver of a hint --------------------------------------------------------------------------------


def test_a_granted_lease_is_held_for_its_receiver(store: Store) -> None:
    store.create_run(head("r", due_ms=10_000))
    store.touch_run("r", 50)
    assert store.grant_lease("r", 100)
    assert store.get_run("r") == head("r", epoch=1, owner=RECEIVER, lease_until_ms=100, due_ms=100)
    assert [run.run_id for run in store.list_due(100)] == ["r"]
    assert store.take_lease("r", "other", 99, 200) is None
    lease = Lease("r", RECEIVER, 1, 100)
    assert store.update_run(lease, 20, until_ms=300) == lease._replace(until_ms=300)
    store.update_run(lease, 50, status="paused", due_ms=10_000, release=True)
    assert store.get_run("r") == head("r", status="paused", updated_ms=50, epoch=1, due_ms=10_000)
    assert [run.run_id for run in store.list_due(10_000)] == ["r"]
    assert not store.list_due(9_999)


def test_a_run_may_be_created_with_a_granted_lease(store: Store) -> None:
    store.create_run(head("r", epoch=1, owner=RECEIVER, lease_until_ms=100, due_ms=100))
    assert store.take_lease("r", "other", 99, 200) is None
    assert [run.run_id for run in store.list_due(100)] == ["r"]
    taken = store.take_lease("r", "other", 100, 200)
    assert taken and taken.epoch == 2
    with pytest.raises(LeaseLost):
        store.update_run(Lease("r", RECEIVER, 1, 100), 101, release=True)


def test_a_lease_is_granted_only_if_no_owner_is_recorded(store: Store) -> None:
    assert not store.grant_lease("none", 100)
    store.create_run(head("r"))
    lease = store.take_lease("r", "me", 0, 100)
    assert lease and not store.grant_lease("r", 500)
    store.update_run(lease, 20, release=True)
    assert store.grant_lease("r", 500)
    taken = store.take_lease("r", "you", 500, 600)
    assert taken and taken.epoch == 3


def test_a_second_release_changes_nothing(store: Store) -> None:
    store.create_run(head("r"))
    lease = store.take_lease("r", "me", 0, 100)
    assert lease
    store.update_run(lease, 20, status="paused", due_ms=900, release=True)
    store.touch_run("r", 60)
    store.update_run(lease, 30, status="running", due_ms=900, release=True)
    assert store.get_run("r") == head("r", status="paused", updated_ms=20, epoch=1, due_ms=60)


def test_of_grants_at_once_one_succeeds(store: Store, race: Any) -> None:
    store.create_run(head("r"))
    assert sorted(race(lambda i: store.grant_lease("r", 100 + i), 6)) == [False] * 5 + [True]
    kept = store.get_run("r")
    assert kept and kept.epoch == 1 and kept.owner == RECEIVER


# -- the parts of a sweep ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 7])
def test_the_parts_of_a_sweep_hold_every_due_run_once(store: Store, count: int) -> None:
    for number in range(30):
        store.create_run(head(f"r{number}", due_ms=number if number % 3 else None))
    found = [run for part in range(count) for page in store.each_due(20, (part, count)) for run in page]
    assert sorted(run.run_id for run in found) == sorted(f"r{number}" for number in range(21) if number % 3)
    assert store.due_parts() >= 1


def test_a_sweep_ignores_a_run_whose_lease_was_taken_since(store: Store) -> None:
    store.create_run(head("r", due_ms=10))
    assert store.take_lease("r", "me", 10, 500)
    assert not [run for page in store.each_due(20) for run in page]
