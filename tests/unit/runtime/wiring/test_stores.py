"""Where a local process keeps runs: memory, a file, or a store that a package announces."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from stepless import run
from stepless.adapters.memory.place import MemoryPlace
from stepless.adapters.sqlite.place import SqlitePlace
from stepless.errors import ConfigError, InvalidRequest
from stepless.runtime.wiring.local import attached
from stepless.runtime.wiring.stores import place_of, scheme_of, shown

SHELF = """
from stepless.adapters.sqlite.place import SqlitePlace

def place(url):
    return SqlitePlace(url.removeprefix("shelf://"))

def nothing(url):
    return object()
"""
SMALL = {"id": "small", "nodes": {"a": {"type": "transform", "with": {"value": 1}}}}


def test_a_path_is_a_file_and_nothing_is_memory(tmp_path: Path) -> None:
    assert isinstance(place_of(None), MemoryPlace)
    for path in (tmp_path / "runs.db", "runs.db", "./a:/b", "C:\\runs.db"):
        assert isinstance(place_of(path), SqlitePlace)
    place = MemoryPlace()
    assert place_of(place) is place


def test_a_url_is_kept_by_the_package_that_announces_its_scheme(tmp_path: Path, install: Callable[..., None]) -> None:
    install("stepless-shelf", "stepless.stores", {"shelf": "shelf:place"}, shelf=SHELF)
    url = f"shelf://{tmp_path}/runs.db"
    assert run(SMALL, db=url).outputs == {"a": 1}
    built = attached(url)
    assert (len(built.service.world.store.list_workflows().items), built.holder) == (1, "")
    built.close()


def test_an_unknown_scheme_is_refused_with_those_that_are_installed(install: Callable[..., None]) -> None:
    install("stepless-shelf", "stepless.stores", {"shelf": "shelf:place"}, shelf=SHELF)
    with pytest.raises(InvalidRequest) as refused:
        place_of("postgresql://me:pass@db/runs")
    assert (refused.value.code, refused.value.place) == ("unknown_store", "postgresql://")
    assert "installed: shelf://" in refused.value.mend
    assert "pass" not in str(refused.value)


@pytest.mark.parametrize(("value", "code"), [
    ("nowhere_to_be_found", "module_not_loaded"), ("shelf:SHELF", "module_not_loaded"), ("shelf:nothing", "invalid_plugin"),
    ("shelf", "invalid_plugin"),
])
def test_a_package_that_cannot_be_used_is_named(value: str, code: str, install: Callable[..., None]) -> None:
    install("stepless-shelf", "stepless.stores", {"shelf": value}, shelf=SHELF)
    assert isinstance(place_of("runs.db"), SqlitePlace), "nothing is loaded for a file"
    with pytest.raises(ConfigError) as refused:
        place_of("shelf://x")
    assert refused.value.code == code
    assert "stepless-shelf 1.2" in refused.value.place


def test_two_packages_with_one_scheme_are_both_named(install: Callable[..., None]) -> None:
    install("shelf-one", "stepless.stores", {"shelf": "shelf:place"}, shelf=SHELF)
    install("shelf-two", "stepless.stores", {"shelf": "shelf:place"})
    with pytest.raises(ConfigError) as refused:
        place_of("shelf://x")
    assert refused.value.code == "plugin_taken"
    assert all(name in str(refused.value) for name in ("shelf-one", "shelf-two"))


@pytest.mark.parametrize(("kept", "printed"), [
    ("runs.db", "runs.db"), ("a://b/c", "a://b/c"), ("a://me:zq7@b/c", "a://me:***@b/c"), ("a://me@b:5/c", "a://me@b:5/c"),
    ("a://:zq7@b", "a://:***@b"),
])
def test_a_password_is_not_printed(kept: str, printed: str) -> None:
    assert shown(kept) == printed
    assert (scheme_of(kept) is None) == (kept == "runs.db")
