"""Starting a run once, whoever asks how often (2.12, 3.5)."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stepless.adapters.memory.store import MemoryStore
from stepless.adapters.sqlite.store import SqliteStore
from stepless.errors import Conflict, InvalidRequest, LimitExceeded, NotFound, StoreUnavailable
from stepless.limits import IDEMPOTENCY_KEY_LIFE_MS
from stepless.ports import RunFilter
from stepless.runtime.headers import create_run, number_of, version_of
from stepless.runtime.service import Service

NODES = {"a": {"type": "function", "with": {"call": "test.echo"}}}


@pytest.fixture(params=["memory", "sqlite"])
def either(request: pytest.FixtureRequest, machine: Any, tmp_path: Path) -> Iterator[Any]:
    """The same machine over both stores of one process."""
    store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "runs.db")
    built = type(machine)(store)
    built.service.publish({"id": "small", "nodes": NODES})
    yield built
    if isinstance(store, SqliteStore):
        store.close()


def test_twenty_at_once_are_one_run(either: Any) -> None:
    with ThreadPoolExecutor(20) as threads:
        started = list(threads.map(lambda _: either.service.start("small", {"n": 1}, key="order 7"), range(20)))
    assert len({start.run_id for start in started}) == 1
    assert sum(not start.replay for start in started) == 1
    assert len(either.service.runs(RunFilter()).items) == 1
    either.drain()
    assert either.calls == {"a": 1}


def test_the_same_key_with_other_inputs_is_a_conflict(either: Any) -> None:
    first = either.service.start("small", {"a": 1, "b": [1]}, key="k")
    assert either.service.start("small", {"b": [1], "a": 1}, key="k") == replace(first, replay=True), "key order means nothing"
    with pytest.raises(Conflict) as told:
        either.service.start("small", {"a": 2}, key="k")
    assert told.value.facts["run_id"] == first.run_id


def test_a_key_lives_for_a_day(either: Any) -> None:
    first = either.service.start("small", {}, key="k")
    either.clock.advance(IDEMPOTENCY_KEY_LIFE_MS - 1)
    assert either.service.start("small", {}, key="k").run_id == first.run_id
    either.clock.advance(1)
    assert either.service.start("small", {}, key="k").run_id != first.run_id


def test_a_key_whose_owner_died_before_it_made_the_run_makes_it_now(machine: Any) -> None:
    machine.service.publish({"id": "small", "nodes": NODES})
    faults = type(machine.faults)()
    dying = replace(machine.world, store=faults.before(machine.store))
    service = Service(dying, machine.service.versions, machine.service.signer)
    service.start("small", {}, key="counted")
    faults.at = faults.calls + faults.names.index("create_run") + 1
    with pytest.raises(type(faults.error)):
        service.start("small", {}, key="k")
    assert len(machine.service.runs(RunFilter()).items) == 1
    started = machine.service.start("small", {}, key="k")
    assert started.replay
    machine.drain()
    assert machine.view(started.run_id).status == "completed"


def test_a_run_whose_message_was_lost_starts_a_little_later(machine: Any) -> None:
    machine.service.publish({"id": "small", "nodes": NODES})
    faults = type(machine.faults)()
    faults.at, faults.error = 1, StoreUnavailable("the queue is away")
    dying = replace(machine.world, queue=faults.before(machine.queue))
    service = Service(dying, machine.service.versions, machine.service.signer)
    with pytest.raises(StoreUnavailable) as told:
        service.start("small", {})
    machine.drain()
    assert machine.view(told.value.facts["run_id"]).status == "completed"


def test_what_cannot_be_started_leaves_no_run(either: Any) -> None:
    with pytest.raises(NotFound):
        either.service.start("nobody", {})
    with pytest.raises(InvalidRequest):
        either.service.start("small", {"n": float("nan")})
    with pytest.raises(InvalidRequest):
        either.service.start("small", {}, key="k" * 500)
    with pytest.raises(LimitExceeded):
        either.service.start("small", "x" * 300_000)
    assert either.service.runs(RunFilter()).items == ()


# -- numbers ----------------------------------------------------------------------------------------------------------

NEWER = {"a": {"type": "function", "with": {"call": "test.newer"}}}


def publish(machine: Any, nodes: dict[str, Any], **top: Any) -> int:
    return int(machine.service.publish({"id": "small", "nodes": nodes, **top}).version.number)


def test_a_run_keeps_the_number_of_the_version_that_it_began_with(either: Any) -> None:
    """Also when the same content is published again as a later version."""
    first = either.service.start("small", {}, key="k")
    assert (publish(either, NEWER), publish(either, NODES)) == (2, 3)
    assert version_of(either.service.run(first.run_id).head) == first.version == 1
    assert either.service.start("small", {}, key="k").version == 1, "a start that is answered again"
    assert either.service.rerun(first.run_id).version == 1
    assert either.service.redeliver(first.run_id).version == 3
    assert either.service.start("small", {}).version == 3


def test_the_runs_of_a_numbered_workflow_are_counted(either: Any) -> None:
    publish(either, NODES, numbered=True)
    with ThreadPoolExecutor(10) as threads:
        started = list(threads.map(lambda _: either.service.start("small", {}), range(10)))
    assert sorted(start.number for start in started) == list(range(1, 11))
    assert {number_of(head) for head in either.service.runs(RunFilter()).items} == set(range(1, 11))
    again = either.service.rerun(started[0].run_id)
    assert again.number == 11
    publish(either, NEWER, numbered=True)
    assert either.service.start("small", {}).number == 12, "versions share the count"
    either.clock.advance(400 * 24 * 3_600_000)
    assert either.service.start("small", {}).number == 13


def test_a_start_that_is_answered_again_keeps_its_number(either: Any) -> None:
    publish(either, NODES, numbered=True)
    first = either.service.start("small", {}, key="k")
    assert either.service.start("small", {}, key="k") == replace(first, replay=True)
    assert either.service.start("small", {}).number == 2


def test_a_workflow_that_is_not_numbered_counts_nothing(machine: Any) -> None:
    machine.service.publish({"id": "small", "nodes": NODES})
    faults = type(machine.faults)()
    counting = replace(machine.world, store=faults.before(machine.store))
    started = Service(counting, machine.service.versions, machine.service.signer).start("small", {})
    assert started.number is None
    assert "count" not in faults.names


def test_of_two_that_make_the_same_run_both_are_told_the_number_that_stands(machine: Any) -> None:
    machine.service.publish({"id": "small", "nodes": NODES})
    version = machine.store.newest_version("small")
    one, other = (create_run(machine.world, "run_1", version, b"{}", {}, numbered=True) for _ in range(2))
    assert number_of(one) == number_of(other) == 1
