"""Starts whose writes share a transaction: each gets its own answer, and a message is sent only for a run that is durable."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stepless.adapters.sqlite.store import SqliteStore
from stepless.errors import Conflict, NotFound, StoreUnavailable
from stepless.runtime.commits import Commits
from stepless.runtime.service import Service
from stepless.runtime.verbs.starts.starting import Started

NODES = {"a": {"type": "function", "with": {"call": "test.echo"}}}


class Shared:
    """A service over one file. `seen` has each transaction and each message that is sent. `fault` is raised at the end of a
    transaction, after its changes are undone."""

    def __init__(self, machine: Any, path: Path) -> None:
        self.store = SqliteStore(path)
        self.seen: list[str] = []
        self.fault: Exception | None = None
        built = type(machine)(self.store)
        built.service.publish({"id": "small", "nodes": NODES})
        built.service.publish({"id": "numbers", "numbered": True, "nodes": NODES})
        self.queue = built.queue
        world = replace(built.world, commits=Commits(self.together), queue=self)
        self.service = Service(world, built.service.signer)

    def send(self, message: Any, delay_ms: int = 0) -> None:
        assert not self.store.database._connection.in_transaction
        assert self.store.get_run(message.run_id) is not None
        self.seen.append("message")
        self.queue.send(message, delay_ms)

    @contextmanager
    def together(self) -> Iterator[None]:
        with self.store.together():
            yield
            if self.fault is not None:
                raise self.fault
        self.seen.append("transaction")

    def at_once(self, *starts: dict[str, Any]) -> list[Any]:
        async def scene() -> list[Any]:
            given = [{"workflow_id": "small", "inputs": {}, **start} for start in starts]
            with self.service.world.commits.writer(), self.service.world.commits.writer():  # runs that are active
                return await asyncio.gather(*(self.service.start_shared(**start) for start in given), return_exceptions=True)

        return asyncio.run(scene())


@pytest.fixture
def shared(machine: Any, tmp_path: Path) -> Iterator[Shared]:
    made = Shared(machine, tmp_path / "runs.db")
    yield made
    made.store.close()


def test_starts_of_one_turn_share_a_transaction_and_their_messages_follow_it(shared: Shared) -> None:
    started = shared.at_once(*({} for _ in range(5)))
    assert len({each.run_id for each in started}) == 5
    assert shared.seen == ["transaction", *["message"] * 5]


def test_each_start_gets_its_own_answer(shared: Shared) -> None:
    one, same, other, missing, next_one = shared.at_once(
        {"key": "order 7", "inputs": {"n": 1}}, {"key": "order 7", "inputs": {"n": 1}}, {"key": "order 7", "inputs": {"n": 2}},
        {"workflow_id": "nothing"}, {},
    )  # fmt: skip
    assert isinstance(one, Started) and not one.replay
    assert same == replace(one, replay=True)
    assert isinstance(other, Conflict) and isinstance(missing, NotFound)
    assert next_one.run_id != one.run_id
    assert shared.seen == ["transaction", "message", "message"]


def test_runs_are_counted_one_after_the_other(shared: Shared) -> None:
    started = shared.at_once(*({"workflow_id": "numbers"} for _ in range(4)))
    assert [each.number for each in started] == [1, 2, 3, 4]
    assert {each.version for each in started} == {1}


def test_without_its_transaction_a_start_leaves_no_run_and_sends_nothing(shared: Shared) -> None:
    shared.fault = StoreUnavailable("the disk is full")
    assert {type(each) for each in shared.at_once({}, {})} == {StoreUnavailable}
    assert shared.seen == []
    assert shared.store.list_due(2**62) == []


def test_a_start_that_is_cancelled_before_its_transaction_creates_nothing(shared: Shared) -> None:
    async def scene() -> None:
        with shared.service.world.commits.writer(), shared.service.world.commits.writer():
            task = asyncio.ensure_future(shared.service.start_shared("small", {}))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])

    asyncio.run(scene())
    assert shared.store.list_due(2**62) == []


def test_a_start_that_is_alone_is_made_at_once(shared: Shared) -> None:
    started = asyncio.run(shared.service.start_shared("small", {"n": 1}))
    assert shared.seen == ["message"]
    head = shared.store.get_run(started.run_id)
    assert head is not None and head.inputs == b'{"n":1}'
