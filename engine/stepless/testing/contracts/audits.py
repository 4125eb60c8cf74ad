"""Tests the contract of the audit log."""

from __future__ import annotations

from stepless.limits import AUDIT_PERIOD_MS
from stepless.ports import AuditEntry, Store

NOW = 40 * AUDIT_PERIOD_MS
FAR = NOW + AUDIT_PERIOD_MS


def entries(store: Store, since_ms: int = 0, until_ms: int = NOW + 1, now_ms: int = NOW, limit: int = 100) -> list[AuditEntry]:
    """All pages. The search begins at the oldest period that the test writes to."""
    found: list[AuditEntry] = []
    cursor = None
    for _ in range(100):
        page = store.list_audit(now_ms, max(since_ms, NOW - 13 * AUDIT_PERIOD_MS), until_ms, limit=limit, cursor=cursor)
        found += page.items
        assert len(page.items) <= limit
        cursor = page.cursor
        if cursor is None:
            return found
    raise AssertionError("the listing does not end")


def test_entries_are_listed_newest_first_over_all_pages(store: Store) -> None:
    wanted = [AuditEntry(NOW - number * AUDIT_PERIOD_MS // 3, f"a{number % 7}", b"%d" % number) for number in range(30)]
    for entry in reversed(wanted):
        store.put_audit(entry, FAR)
    for limit in (1, 4, 100):
        assert entries(store, limit=limit) == sorted(wanted, reverse=True)


def test_entries_of_one_instant_are_each_kept(store: Store) -> None:
    wanted = [AuditEntry(NOW, f"a{number}", b"{}") for number in range(12)]
    for entry in wanted:
        store.put_audit(entry, FAR)
    assert entries(store, limit=5) == sorted(wanted, reverse=True)


def test_an_entry_is_replaced_by_one_with_its_key(store: Store) -> None:
    store.put_audit(AuditEntry(NOW, "a", b"asked"), FAR)
    store.put_audit(AuditEntry(NOW, "a", b"refused"), FAR)
    assert entries(store) == [AuditEntry(NOW, "a", b"refused")]


def test_a_listing_has_the_asked_time_only(store: Store) -> None:
    for at_ms in (NOW - 2, NOW - 1, NOW):
        store.put_audit(AuditEntry(at_ms, "a", b"{}"), FAR)
    assert [entry.at_ms for entry in entries(store, since_ms=NOW - 1)] == [NOW, NOW - 1]
    assert [entry.at_ms for entry in entries(store, until_ms=NOW)] == [NOW - 1, NOW - 2]


def test_an_expired_entry_is_not_listed(store: Store) -> None:
    store.put_audit(AuditEntry(NOW - 5, "a", b"{}"), NOW - 1)
    store.put_audit(AuditEntry(NOW, "b", b"{}"), FAR)
    assert [entry.id for entry in entries(store)] == ["b"]
