"""Where a local process keeps runs: memory, a file, or a store that a package announces."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from stepless import run
from stepless.adapters.memory.run_database import MemoryRunDatabase
from stepless.adapters.sqlite.run_database import SqliteRunDatabase
from stepless.errors import ConfigError, InvalidRequest
from stepless.runtime.wiring.local import attached
from stepless.runtime.wiring.stores import database_of, scheme_of, shown

SHELF = """
from stepless.adapters.sqlite.run_database import SqliteRunDatabase

def database(url):
    return SqliteRunDatabase(url.removeprefix("shelf://"))

def nothing(url):
    return object()
"""
SMALL = {"id": "small", "nodes": {"a": {"type": "transform", "with": {"value": 1}}}}


def test_a_path_is_a_file_and_nothing_is_memory(tmp_path: Path) -> None:
    assert isinstance(database_of(None), MemoryRunDatabase)
    for path in (tmp_path / "runs.db", "runs.db", "./a:/b", "C:\\runs.db"):
        assert isinstance(database_of(path), SqliteRunDatabase)
    database = MemoryRunDatabase()
    assert database_of(database) is database


def test_a_url_is_kept_by_the_package_that_announces_its_scheme(tmp_path: Path, install: Callable[..., None]) -> None:
    install("stepless-shelf", "stepless.stores", {"shelf": "shelf:database"}, shelf=SHELF)
    url = f"shelf://{tmp_path}/runs.db"
    assert run(SMALL, db=url).outputs == {"a": 1}
    built = attached(url)
    assert (len(built.service.world.store.list_workflows().items), built.holder) == (1, "")
    built.close()


def test_an_unknown_scheme_is_refused_with_those_that_are_installed(install: Callable[..., None]) -> None:
    install("stepless-shelf", "stepless.stores", {"shelf": "shelf:database"}, shelf=SHELF)
    with pytest.raises(InvalidRequest) as refused:
        database_of("postgresql://me:pass@db/runs")
    assert (refused.value.code, refused.value.place) == ("unknown_store", "postgresql://")
    assert "installed: shelf://" in refused.value.mend
    assert "pass" not in str(refused.value)


@pytest.mark.parametrize(("value", "code"), [
    ("nowhere_to_be_found", "module_not_loaded"), ("shelf:SHELF", "module_not_loaded"), ("shelf:nothing", "invalid_plugin"),
    ("shelf", "invalid_plugin"),
])
def test_a_package_that_cannot_be_used_is_named(value: str, code: str, install: Callable[..., None]) -> None:
    install("stepless-shelf", "stepless.stores", {"shelf": value}, shelf=SHELF)
    assert isinstance(database_of("runs.db"), SqliteRunDatabase), "nothing is loaded for a file"
    with pytest.raises(ConfigError) as refused:
        database_of("shelf://x")
    assert refused.value.code == code
    assert "stepless-shelf 1.2" in refused.value.place


def test_two_packages_with_one_scheme_are_both_named(install: Callable[..., None]) -> None:
    install("shelf-one", "stepless.stores", {"shelf": "shelf:database"}, shelf=SHELF)
    install("shelf-two", "stepless.stores", {"shelf": "shelf:database"})
    with pytest.raises(ConfigError) as refused:
        database_of("shelf://x")
    assert refused.value.code == "plugin_taken"
    assert all(name in str(refused.value) for name in ("shelf-one", "shelf-two"))


@pytest.mark.parametrize(("kept", "printed"), [
    ("runs.db", "runs.db"), ("a://b/c", "a://b/c"), ("a://me:zq7@b/c", "a://me:***@b/c"), ("a://me@b:5/c", "a://me@b:5/c"),
    ("a://:zq7@b", "a://:***@b"),
])
def test_a_password_is_not_printed(kept: str, printed: str) -> None:
    assert shown(kept) == printed
    assert (scheme_of(kept) is None) == (kept == "runs.db")
