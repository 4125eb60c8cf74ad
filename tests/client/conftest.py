"""A server, and a client of it; a proxy between them that breaks connections as a test says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from faulty_proxy import Fault, Proxy
from served_api import KEY, Served

from stepless.client import Client

MakeProxy = Callable[..., tuple[Proxy, Client]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def memory_server() -> Iterator[Served]:
    """A server whose event streams stay open."""
    with Served() as served:
        yield served


@pytest.fixture(scope="session")
def file_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The same over a file."""
    with Served(tmp_path_factory.mktemp("client") / "runs.db") as served:
        yield served


@pytest.fixture
def server(memory_server: Served) -> Served:
    return memory_server


@pytest.fixture(scope="session")
def lambda_like() -> Iterator[Served]:
    """A server whose event streams are finite pieces, as on Lambda."""
    with Served(stream_seconds=1) as served:
        yield served


@pytest.fixture
def client(server: Served) -> Iterator[Client]:
    with Client(server.url, KEY) as client:
        yield client


@pytest.fixture
def behind(server: Served) -> Iterator[MakeProxy]:
    """Makes a proxy with faults before the server, and a client that calls it."""
    with ExitStack() as stack:

        def make(*faults: Fault, **options: Any) -> tuple[Proxy, Client]:
            proxy = stack.enter_context(Proxy(server.url, *faults))
            return proxy, stack.enter_context(Client(proxy.url, KEY, **options))

        yield make
