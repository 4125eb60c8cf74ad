"""Calls of the service from a request: in the event loop or in a thread, alone or in a transaction with the commits of runs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from stepless.api.calls import call
from stepless.errors import Refused, StoreUnavailable
from stepless.limits import NEAR_REQUEST_BYTES
from stepless.runtime.commits import Commits
from stepless.runtime.world import World

pytestmark = pytest.mark.anyio


class Transactions:
    """Counts the transactions, and fails the first ones on request."""

    def __init__(self, failing: int = 0) -> None:
        self.begun = 0
        self._failing = failing

    @contextmanager
    def __call__(self) -> Iterator[None]:
        self.begun += 1
        yield
        if self.begun <= self._failing:
            raise StoreUnavailable("not now")


def world_of(door: Any, transactions: Transactions, *, near: bool = True) -> World:
    world: World = replace(door.local.world, near=near, commits=Commits(transactions))
    return world


def where() -> threading.Thread:
    return threading.current_thread()


@pytest.mark.parametrize(
    ("near", "size", "is_in_loop"),
    [
        (True, 0, True),
        (True, NEAR_REQUEST_BYTES, True),
        (True, NEAR_REQUEST_BYTES + 1, False),
        (True, None, False),
        (False, 0, False),
    ],
)
async def test_only_a_small_request_to_a_near_store_is_handled_in_the_event_loop(
    door: Any, near: bool, size: int | None, is_in_loop: bool
) -> None:
    used = await call(world_of(door, Transactions(), near=near), where, size=size)
    assert (used is threading.current_thread()) is is_in_loop


async def test_requests_beside_runs_share_one_transaction(door: Any) -> None:
    transactions = Transactions()
    world = world_of(door, transactions)
    with world.commits.writer(), world.commits.writer():
        assert await asyncio.gather(*(call(world, lambda number=number: number) for number in range(5))) == [*range(5)]
    assert transactions.begun == 1


async def test_a_refusal_reaches_its_own_request_only(door: Any) -> None:
    world = world_of(door, Transactions())

    def refused() -> str:
        raise Refused("too many", code="rate_limited")

    with world.commits.writer(), world.commits.writer():
        ends = await asyncio.gather(call(world, lambda: "a"), call(world, refused), return_exceptions=True)
    assert ends[0] == "a" and isinstance(ends[1], Refused)


async def test_a_request_whose_transaction_fails_is_handled_again_alone(door: Any) -> None:
    transactions = Transactions(failing=1)
    world = world_of(door, transactions)
    called: list[str] = []
    with world.commits.writer(), world.commits.writer():
        await call(world, lambda: called.append("write"))
    assert called == ["write", "write"] and transactions.begun == 1


async def test_a_start_whose_message_is_not_sent_does_not_undo_the_commits_of_others(door: Any) -> None:
    transactions = Transactions()
    world = world_of(door, transactions)
    called: list[str] = []

    def delayed() -> None:
        called.append("start")
        raise StoreUnavailable("the run exists and will start later", code="start_delayed")

    with world.commits.writer(), world.commits.writer():
        ends = await asyncio.gather(call(world, delayed), world.commits.make(lambda: "a"), return_exceptions=True)
    assert ends[1] == "a" and isinstance(ends[0], StoreUnavailable) and ends[0].code == "start_delayed"
    assert called == ["start"] and transactions.begun == 1


async def test_another_event_loop_shares_no_transaction_with_the_runs(door: Any) -> None:
    transactions = Transactions()
    world = world_of(door, transactions)

    def elsewhere(write: Callable[[], str]) -> str:
        return asyncio.run(call(world, write))

    with world.commits.writer(), world.commits.writer():
        assert await asyncio.to_thread(elsewhere, lambda: "a") == "a"
    assert transactions.begun == 0
