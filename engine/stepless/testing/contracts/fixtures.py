"""Provides the fixtures of the contracts: an open database, and threads that call at the same moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from stepless.ports import Blobs, Drafts, OpenStore, RunDatabase, Store


@pytest.fixture
def opened(database: RunDatabase) -> Iterator[OpenStore]:
    runs = database.open()
    yield runs
    runs.close()


@pytest.fixture
def store(opened: OpenStore) -> Store:
    return opened.store


@pytest.fixture
def blobs(opened: OpenStore) -> Blobs:
    return opened.blobs


@pytest.fixture
def drafts(opened: OpenStore) -> Drafts:
    if opened.drafts is None:
        pytest.skip("the database keeps no drafts")
    return opened.drafts


@pytest.fixture
def race() -> Callable[..., list[Any]]:
    """`race(call, n=20)`: n threads call `call(i)` at the same moment. Returns their results, or the errors that they raised."""

    def run(call: Callable[[int], Any], n: int = 20) -> list[Any]:
        start = Barrier(n)

        def one(i: int) -> Any:
            start.wait(30)
            try:
                return call(i)
            except Exception as error:
                return error

        with ThreadPoolExecutor(n) as threads:
            return list(threads.map(one, range(n)))

    return run
