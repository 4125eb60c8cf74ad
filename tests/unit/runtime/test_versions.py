"""Graphs in memory: compiled once, and the least recently used is evicted first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.adapters.memory.store import MemoryStore
from stepless.errors import DamagedVersion, NewerVersion
from stepless.nodes import KINDS
from stepless.runtime.versions import _MAX_GRAPHS, Versions

DOCUMENT = {"id": "small", "nodes": {"a": {"type": "manual"}, "b": {"type": "manual"}}}


def test_a_graph_is_compiled_once_for_each_choice_of_entries() -> None:
    store = MemoryStore()
    store.put_version("small", "h", json.dumps(DOCUMENT).encode(), 1)
    versions = Versions(store, KINDS)
    whole = versions.graph("small", "h")
    assert versions.graph("small", "h") is whole
    assert versions.graph("small", "h", ["a"]) is versions.graph("small", "h", ["a"]) is not whole
    assert versions.graph("small", "h", []) is not whole
    assert versions.document("small", "h") == DOCUMENT
    with pytest.raises(DamagedVersion, match="the store does not have it"):
        versions.graph("small", "another")


def test_a_version_whose_name_is_not_known_here_is_of_a_newer_release() -> None:
    versions = Versions(MemoryStore(), KINDS, MemoryBlobs())
    with pytest.raises(NewerVersion, match="form that is not known here"):
        versions.graph("small", "elsewhere:run_1/abc")
    with pytest.raises(DamagedVersion, match="the blob with the version of a test run is missing"):
        versions.graph("small", "draft:run_1/abc")


def test_of_more_graphs_than_are_kept_the_one_that_was_not_asked_for_longest_goes() -> None:
    store = MemoryStore()
    for number in range(_MAX_GRAPHS + 1):
        store.put_version("small", f"h{number}", json.dumps({**DOCUMENT, "name": f"{number}"}).encode(), 1)
    versions = Versions(store, KINDS)
    kept = [versions.graph("small", f"h{number}") for number in range(_MAX_GRAPHS)]
    assert versions.graph("small", "h0") is kept[0], "as many as are kept are all there"
    versions.graph("small", f"h{_MAX_GRAPHS}")
    assert versions.graph("small", "h0") is kept[0], "it was asked for since"
    assert versions.graph("small", "h2") is kept[2]
    assert versions.graph("small", "h1") is not kept[1]


def test_a_graph_is_compiled_inside_what_the_owner_of_the_process_set() -> None:
    seen: list[str] = []

    @contextmanager
    def watched() -> Iterator[None]:
        seen.append("begins")
        yield
        seen.append("ends")

    store = MemoryStore()
    store.put_version("small", "h", json.dumps(DOCUMENT).encode(), 1)
    versions = Versions(store, KINDS)
    versions.while_compiling = watched
    versions.graph("small", "h")
    versions.graph("small", "h")
    assert seen == ["begins", "ends"]
