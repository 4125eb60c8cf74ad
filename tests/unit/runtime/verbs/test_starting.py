"""Starting a run once, for any number of requests (docs/understand/semantics.md#idempotent-starts,
docs/understand/durability.md#starting-a-run)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import rfc8785

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
    assert len(either.service.search(RunFilter()).items) == 1
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
    service = Service(dying, machine.service.signer)
    service.start("small", {}, key="counted")
    faults.at = faults.calls + faults.names.index("create_run") + 1
    with pytest.raises(type(faults.error)):
        service.start("small", {}, key="k")
    assert len(machine.service.search(RunFilter()).items) == 1
    started = machine.service.start("small", {}, key="k")
    assert started.replay
    machine.drain()
    assert machine.view(started.run_id).status == "completed"


def test_a_run_whose_message_was_lost_starts_a_little_later(machine: Any) -> None:
    machine.service.publish({"id": "small", "nodes": NODES})
    faults = type(machine.faults)()
    faults.at, faults.error = 1, StoreUnavailable("the queue is away")
    dying = replace(machine.world, queue=faults.before(machine.queue))
    service = Service(dying, machine.service.signer)
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
    assert either.service.search(RunFilter()).items == ()


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
    assert {number_of(head) for head in either.service.search(RunFilter()).items} == set(range(1, 11))
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
    started = Service(counting, machine.service.signer).start("small", {})
    assert started.number is None
    assert "count" not in faults.names


def test_of_two_that_make_the_same_run_both_are_told_the_number_that_stands(machine: Any) -> None:
    machine.service.publish({"id": "small", "nodes": NODES})
    version = machine.store.newest_version("small")
    one, other = (create_run(machine.world, "run_1", version, b"{}", {}, numbered=True) for _ in range(2))
    assert number_of(one) == number_of(other) == 1
# -- what is one input ------------------------------------------------------------------------------------------------

ALIKE = [
    ({"n": 1.0}, {"n": 1}), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), ([0.0], [-0.0]), (1e2, 100),
    ({"n": 2**53 - 1}, {"n": float(2**53 - 1)}), ([2**53], [str(2**53)]),
]  # fmt: skip
OTHERS = [({"n": 1}, {"n": True}), ({"n": 1}, {"n": "1"}), ([2**60], [2**60 + 1]), ([-(2**60)], [2**60]), ({}, []), (None, 0)]


@pytest.mark.parametrize("by", [{"key": "k"}, {"by_inputs": True}], ids=["key", "inputs"])
def test_one_input_is_one_run_however_it_is_written(either: Any, by: dict[str, Any]) -> None:
    for number, (one, other) in enumerate(ALIKE):
        named = {"key": f"k{number}"} if "key" in by else by
        first = either.service.start("small", one, **named)
        assert either.service.start("small", other, **named) == replace(first, replay=True), one


def test_other_inputs_are_other_keys_and_a_conflict_under_one(either: Any) -> None:
    for number, (one, other) in enumerate(OTHERS):
        first = either.service.start("small", one, by_inputs=True)
        assert either.service.start("small", other, by_inputs=True).run_id != first.run_id, one
        either.service.start("small", one, key=f"k{number}")
        with pytest.raises(Conflict):
            either.service.start("small", other, key=f"k{number}")


@pytest.mark.parametrize("number", [2**53, -(2**53), 2**63, 2**1023, -(2**1023)])
def test_a_large_integer_is_no_error(either: Any, number: int) -> None:
    first = either.service.start("small", {"n": [number]}, by_inputs=True)
    assert either.service.start("small", {"n": [number]}, by_inputs=True) == replace(first, replay=True)
    assert either.service.start("small", {"n": [number]}, key="k").run_id != first.run_id
    assert either.view(first.run_id).inputs == {"n": [number]}


def test_the_word_inputs_is_a_key_like_another(either: Any) -> None:
    first = either.service.start("small", {"a": 1}, key="inputs")
    assert either.service.start("small", {"a": 1}, key="inputs").run_id == first.run_id
    with pytest.raises(Conflict):
        either.service.start("small", {"a": 2}, key="inputs")


def _former(inputs: Any) -> str:
    return sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


def test_a_claim_of_the_former_digest_matches(either: Any) -> None:
    inputs, now_ms = {"b": 1.5, "a": [2**60, "ü"]}, either.clock.now_ms()
    first = either.service.start("small", inputs, key="new")
    for claim in ("start:small:old", f"start:small:{sha256(b'small' + bytes(1) + rfc8785.dumps({'n': 1})).hexdigest()}"):
        was = inputs if claim.endswith("old") else {"n": 1}
        standing = json.dumps({"run": first.run_id, "inputs": _former(was)}).encode()
        either.world.store.claim(claim, standing, now_ms, now_ms + IDEMPOTENCY_KEY_LIFE_MS)
    assert either.service.start("small", inputs, key="old").run_id == first.run_id
    assert either.service.start("small", {"n": 1}, by_inputs=True).run_id == first.run_id
    with pytest.raises(Conflict):
        either.service.start("small", {"b": 1.5}, key="old")


def test_the_release_before_reads_the_claims_of_this_one(either: Any) -> None:
    inputs = {"b": 1.0, "a": [2**60]}
    first = either.service.start("small", inputs, key="k")
    standing = json.loads(either.world.store.get_claim("start:small:k", either.clock.now_ms()))
    assert (standing["run"], standing["inputs"]) == (first.run_id, _former(inputs))
