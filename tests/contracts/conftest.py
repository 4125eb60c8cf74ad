"""Lists the adapters that the contract suites test. A new adapter needs one line in a table below."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from aws_services import Service, dynoxide, ministack, moto, or_skip
from dynamo_table import DirectClient, Table
from memory_connections import MemoryDraftConnections

from stepless.adapters.aws.blobs import S3Blobs
from stepless.adapters.aws.dynamo.draft_connections import DynamoDraftConnections
from stepless.adapters.aws.dynamo.drafts import DynamoDrafts
from stepless.adapters.aws.dynamo.store import DynamoStore
from stepless.adapters.aws.dynamo.table.layout import create_table_arguments
from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.adapters.memory.drafts import MemoryDrafts
from stepless.adapters.memory.store import MemoryStore
from stepless.adapters.sqlite.blobs import SqliteBlobs
from stepless.adapters.sqlite.database import Database
from stepless.adapters.sqlite.drafts import SqliteDrafts
from stepless.adapters.sqlite.store import SqliteStore
from stepless.ports import Blobs, DraftConnections, Drafts, Store
from stepless.testing.contracts.fixtures import race as race

ENGINE = Path(__file__).parents[2] / "engine"
CHILD_SECONDS = 60  # after that a child process is killed, its pipe closes, and the test fails

_numbers = itertools.count(1)  # numbers the tables and buckets of a session


def dynamo(service: Service) -> Store:
    client, table = service("dynamodb"), f"stepless-{next(_numbers)}"
    client.create_table(**create_table_arguments(table))
    return DynamoStore(client, table, shards=3)


def dynamo_drafts(service: Service) -> Drafts:
    client, table = service("dynamodb"), f"stepless-{next(_numbers)}"
    client.create_table(**create_table_arguments(table))
    return DynamoDrafts(client, table)


def dynamo_rooms(service: Service) -> DraftConnections:
    client, table = service("dynamodb"), f"stepless-{next(_numbers)}"
    client.create_table(**create_table_arguments(table))
    return DynamoDraftConnections(client, table)


def s3(service: Service) -> Blobs:
    client, bucket = service("s3"), f"stepless-{next(_numbers)}"
    client.create_bucket(Bucket=bucket)
    return S3Blobs(client, bucket)


STORES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda folder: MemoryStore(),
    "sqlite": lambda folder: SqliteStore(folder / "store.db"),
    "sqlite-full": lambda folder: SqliteStore(folder / "store.db", synchronous="FULL"),
    "dynamo-table": lambda folder: DynamoStore(DirectClient(Table()), "table", shards=3),
}
DRAFTS = ("memory", "sqlite", "dynamo-table")
BLOBS: dict[str, Callable[[Path], Blobs]] = {
    "memory": lambda folder: MemoryBlobs(),
    "sqlite": lambda folder: SqliteBlobs(Database(folder / "store.db")),
}
TOO_MANY_ITEMS = {  # test → stores that are too slow with so many items → the store or test that covers them
    "test_an_inbox_has_a_largest_number_of_waiting_signals": {
        "sqlite-full": "sqlite", "moto": "dynamo-table", "ministack": "dynamo-table",
        "dynoxide": "dynamo-table, and dynoxide itself in test_dynamo_limits.py",
    },
    "test_a_page_has_a_largest_and_a_smallest_size": {"sqlite-full": "sqlite", "moto": "dynoxide", "ministack": "dynoxide"},
}  # fmt: skip
# `make test` asks memory, SQLite and the table of tests/tools/aws/dynamo_table.py; `make check` also what starts a server, or
# writes to the disk at every commit. moto takes longer than the others, and its transactions are not reliable:
# `make check-nightly` asks it, too.
AWS_STORES = ("dynoxide", "ministack", "moto")
AWS_BLOBS = ("ministack", "moto")
IN_CHECK = ("sqlite-full", "dynoxide", "ministack")


def tiered(*names: str) -> list[Any]:
    return [pytest.param(name, marks=_tier(name.removeprefix("s3-"))) for name in names]


def _tier(name: str) -> tuple[pytest.MarkDecorator, ...]:
    if name == "moto":
        return (pytest.mark.nightly,)
    return (pytest.mark.check,) if name in IN_CHECK else ()


# -- AWS -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def aws_moto() -> Iterator[Service]:
    yield from or_skip(moto)


@pytest.fixture(scope="session")
def aws_dynoxide() -> Iterator[Service]:
    yield from or_skip(dynoxide)


@pytest.fixture(scope="session")
def aws_ministack() -> Iterator[Service]:
    yield from or_skip(ministack)


# -- what is tested ----------------------------------------------------------------------------------------------------


@pytest.fixture(params=tiered(*STORES, *AWS_STORES))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    name = request.param
    if shown_by := TOO_MANY_ITEMS.get(request.node.originalname, {}).get(name):
        pytest.skip(f"{name} takes too long with so many items; covered by {shown_by}")
    made: Any = STORES[name](tmp_path) if name in STORES else dynamo(request.getfixturevalue(f"aws_{name}"))
    yield made
    if hasattr(made, "close"):
        made.close()


@pytest.fixture(params=tiered(*DRAFTS, *AWS_STORES))
def drafts(request: pytest.FixtureRequest, path: Path) -> Iterator[Drafts]:
    match request.param:
        case "memory":
            yield MemoryDrafts()
        case "sqlite":
            database = Database(path)
            yield SqliteDrafts(database)
            database.close()
        case "dynamo-table":
            yield DynamoDrafts(DirectClient(Table()), "table")
        case name:
            yield dynamo_drafts(request.getfixturevalue(f"aws_{name}"))


@pytest.fixture(params=tiered("memory", "dynamo-table", *AWS_STORES))
def registry(request: pytest.FixtureRequest) -> DraftConnections:
    match request.param:
        case "memory":
            return MemoryDraftConnections()
        case "dynamo-table":
            return DynamoDraftConnections(DirectClient(Table()), "table")
        case name:
            return dynamo_rooms(request.getfixturevalue(f"aws_{name}"))


@pytest.fixture(params=tiered(*BLOBS, *(f"s3-{name}" for name in AWS_BLOBS)))
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Blobs]:
    name = request.param
    made: Any = BLOBS[name](tmp_path) if name in BLOBS else s3(request.getfixturevalue(f"aws_{name.removeprefix('s3-')}"))
    yield made
    if hasattr(made, "close"):
        made.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The file of a SQLite store."""
    return tmp_path / "store.db"


@pytest.fixture
def spawn() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """`spawn(source, *arguments)`: a Python process with the engine and pipes. It is killed when the test ends."""
    children: list[tuple[subprocess.Popen[str], Timer]] = []

    def start(source: str, *arguments: object) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, "-c", source, *map(str, arguments)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env={"PYTHONPATH": str(ENGINE)},
        )
        timer = Timer(CHILD_SECONDS, child.kill)
        timer.start()
        children.append((child, timer))
        return child

    yield start
    for child, timer in children:
        timer.cancel()
        child.kill()
        child.communicate()
