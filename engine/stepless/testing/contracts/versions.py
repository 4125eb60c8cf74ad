"""Tests the contract of published versions: numbers, roll-backs, listings, and concurrent publications."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.errors import VersionMoved
from stepless.ports import PublishedVersion, Store, Version


def test_versions_count_from_one_per_workflow(store: Store) -> None:
    one = store.put_version("wf", "h1", b"{1}", 10)
    two = store.put_version("wf", "h2", b"{2}", 20)
    assert (one.number, two.number, store.put_version("other", "h1", b"{1}", 30).number) == (1, 2, 1)
    assert store.get_version("wf") == two
    assert store.get_version("wf", 1) == one
    assert store.get_version("wf", hash="h1") == one
    assert store.get_version("wf", 1, hash="h2") is store.get_version("wf", 3) is store.get_version("none") is None


def test_the_newest_version_is_known_by_number_and_hash(store: Store) -> None:
    assert store.newest_version("wf") is None
    for number, hash in enumerate(("h1", "h2", "h1"), start=1):
        store.put_version("wf", hash, b"{}", 10)
        assert store.newest_version("wf") == Version("wf", number, hash)


def test_publishing_the_newest_version_again_changes_nothing(store: Store) -> None:
    first = store.put_version("wf", "h1", b"{}", 10)
    assert store.put_version("wf", "h1", b"{}", 99) == first
    assert store.get_version("wf") == first


def test_a_roll_back_is_a_new_version(store: Store) -> None:
    for number, hash in enumerate(("h1", "h2", "h1"), start=1):
        assert store.put_version("wf", hash, hash.encode(), number * 10).number == number
    assert [found.number for found in (store.get_version("wf", hash="h1"), store.get_version("wf", 1)) if found] == [3, 1]


def test_one_document_published_by_many_at_once_is_one_version(store: Store, race: Any) -> None:
    assert {version.number for version in race(lambda i: store.put_version("wf", "h1", b"{}", i))} == {1}


def test_different_documents_published_at_once_all_get_a_number(store: Store, race: Any) -> None:
    assert sorted(version.number for version in race(lambda i: store.put_version("wf", f"h{i}", b"{}", i))) == [*range(1, 21)]


def test_workflows_are_listed_by_id_with_their_newest_version(store: Store) -> None:
    for name in ("c", "a", "B", "d"):
        store.put_version(name, "h1", b"{}", 0)
    newest = store.put_version("a", "h2", b"{}", 1)
    page = store.list_workflows(limit=2)
    assert [item.workflow_id for item in page.items] == ["B", "a"]
    assert page.items[1] == newest
    rest = store.list_workflows(limit=2, cursor=page.cursor)
    assert [item.workflow_id for item in rest.items] == ["c", "d"]
    assert rest.cursor is None


def test_workflows_are_listed_by_the_kinds_of_their_entries(store: Store) -> None:
    for name, entries in (("c", ["event"]), ("a", ["event", "schedule"]), ("d", []), ("b", ["schedule"]), ("e", ["event"])):
        store.put_version(name, "h1", b"{}", 0, entries)
    page = store.list_entries("event", limit=2)
    assert [item.workflow_id for item in page.items] == ["a", "c"]
    assert [item.workflow_id for item in store.list_entries("event", limit=2, cursor=page.cursor).items] == ["e"]
    store.put_version("b", "h2", b"{}", 2, ["event"])
    assert Version("b", 2, "h2") in store.list_entries("event").items
    assert store.list_entries("webhook").items == ()


def test_a_version_that_is_published_again_with_its_entries_is_found_by_them(store: Store) -> None:
    first = store.put_version("wf", "h1", b"{}", 0)
    assert store.put_version("wf", "h1", b"{}", 1, ["event"]) == first
    assert store.list_entries("event").items == (Version("wf", 1, "h1"),)


def test_what_is_attached_to_a_version_stays_beside_it(store: Store) -> None:
    first = store.put_version("wf", "h1", b"{}", 0, attached=b"one")
    assert store.put_version("wf", "h2", b"{}", 1).number == 2
    assert [store.get_attached("wf", number) for number in (1, 2, 3)] == [b"one", None, None]
    assert store.get_attached("none", 1) is None
    assert store.get_version("wf", 1) == first


def test_versions_are_listed_newest_first_with_what_is_attached(store: Store) -> None:
    for number in range(1, 6):
        store.put_version("wf", f"h{number}", b"{}", number * 10, attached=b"one" if number % 2 else None)
    store.put_version("other", "h1", b"{}", 1)
    assert store.list_versions("wf", limit=2) == [
        PublishedVersion("wf", 5, "h5", 50, b"one"), PublishedVersion("wf", 4, "h4", 40, None)]  # fmt: skip
    assert [one.number for one in store.list_versions("wf", before=4, limit=2)] == [3, 2]
    assert [one.number for one in store.list_versions("wf")] == [5, 4, 3, 2, 1]
    assert list(store.list_versions("wf", before=1)) == list(store.list_versions("none")) == []


def test_another_attachment_of_the_newest_version_replaces_it_without_a_new_number(store: Store) -> None:
    store.put_version("wf", "h1", b"{}", 0, attached=b"one")
    assert store.put_version("wf", "h1", b"{}", 1, attached=b"two").number == 1
    assert store.get_attached("wf", 1) == b"two"
    assert store.put_version("wf", "h1", b"{}", 2).number == 1
    assert store.get_attached("wf", 1) == b"two", "without an attachment, the former one stays"
    assert store.put_version("wf", "h1", b"{}", 3, attached=b"").number == 1
    assert store.get_attached("wf", 1) == b""


def test_a_large_attachment_is_kept_whole(store: Store) -> None:
    data = bytes(range(256)) * 4_000 + b"end"
    store.put_version("wf", "h1", b"{}", 0, attached=data)
    assert store.get_attached("wf", 1) == data
    assert store.list_versions("wf")[0].attached == data


def test_a_version_is_stored_only_after_the_one_that_was_expected(store: Store) -> None:
    with pytest.raises(VersionMoved) as moved:
        store.put_version("wf", "h1", b"{}", 0, expected=1)
    assert (moved.value.code, moved.value.facts) == ("version_moved", {"expected": 1, "newest": 0})
    assert store.get_version("wf") is None and store.list_workflows().items == ()
    assert store.put_version("wf", "h1", b"{}", 0, expected=0).number == 1
    assert store.put_version("wf", "h2", b"{}", 0, expected=1).number == 2
    with pytest.raises(VersionMoved):
        store.put_version("wf", "h3", b"{}", 0, attached=b"lost", expected=1)
    assert store.newest_version("wf") == Version("wf", 2, "h2") and store.get_attached("wf", 3) is None
    assert store.put_version("wf", "h2", b"{}", 0, expected=1).number == 2, "a repeat finds its own version"


def test_of_many_that_expect_the_same_version_one_is_stored(store: Store, race: Any) -> None:
    store.put_version("wf", "h", b"{}", 0)

    def publish(i: int) -> int:
        try:
            return store.put_version("wf", f"h{i}", b"{}", 1, attached=f"{i}".encode(), expected=1).number
        except VersionMoved:
            return 0

    assert sorted(race(publish)) == [*[0] * 19, 2]
    newest = store.newest_version("wf")
    assert newest is not None and store.get_attached("wf", 2) == newest.hash.removeprefix("h").encode()
