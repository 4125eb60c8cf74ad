"""The contract of published versions: numbers, roll-backs, listings, and concurrent publications."""

from __future__ import annotations

from typing import Any

from stepless.ports import Store, Version


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
