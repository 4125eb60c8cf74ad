"""A machine over each of the three stores."""


from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dynamo_table import DirectClient, Table

from stepless.adapters.aws.dynamo.store import DynamoStore
from stepless.adapters.sqlite.blobs import SqliteBlobs
from stepless.adapters.sqlite.store import SqliteStore


@pytest.fixture(params=["memory", "sqlite", "dynamo"])
def machine(request: pytest.FixtureRequest, make_machine: Any, tmp_path: Path) -> Any:
    match request.param:
        case "sqlite":
            store = SqliteStore(tmp_path / "runs.db")
            request.addfinalizer(store.close)
            return make_machine(store, SqliteBlobs(store.database))
        case "dynamo":
            return make_machine(DynamoStore(DirectClient(Table()), "table", shards=3))
    return make_machine()
