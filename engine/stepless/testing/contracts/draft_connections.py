"""Tests the contract of the sessions of drafts: who is connected to which."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from stepless.ports import Connection, DraftConnections

FAR = 4_000_000_000_000
ADA = Connection("c1=", "wf", "key k Ada ✓", ("edit", "read"), FAR, "k", 1_700_000_000_123)
BO = Connection("c2=", "wf", "bo", ("read",), FAR)


def joined(connection: Connection, client: str, epoch: int = 1) -> Connection:
    return connection._replace(client=client, epoch=epoch, seen_ms=7)


def test_a_connection_is_found_as_it_was_stored(registry: DraftConnections) -> None:
    assert registry.find(ADA.id) is None
    for connection in (ADA, BO):
        registry.enter(connection)
        assert registry.find(connection.id) == connection
    assert list(registry.members("wf")) == []


def test_members_are_those_who_have_joined_this_session(registry: DraftConnections) -> None:
    other = BO._replace(id="c3=", workflow_id="wf#1")
    for connection in (ADA, BO, other):
        registry.enter(connection)
    for connection in (joined(BO, "b"), joined(ADA, "a"), joined(other, "o", 4)):
        assert registry.join(connection)
        assert registry.find(connection.id) == connection
    assert list(registry.members("wf")) == [joined(ADA, "a"), joined(BO, "b")]
    assert list(registry.members("wf#1")) == [joined(other, "o", 4)]
    assert list(registry.members("w")) == []


def test_one_who_has_left_does_not_join(registry: DraftConnections) -> None:
    registry.enter(ADA)
    assert not registry.leave(ADA)  # it was in no session
    assert registry.find(ADA.id) is None
    assert not registry.join(joined(ADA, "a"))
    assert registry.find(ADA.id) is None and list(registry.members("wf")) == []


def test_of_those_who_remove_a_member_at_once_one_is_answered_so(registry: DraftConnections) -> None:
    for number in range(3):
        member = joined(ADA._replace(id=f"m{number}"), f"c{number}")
        registry.enter(member)
        registry.join(member)
        with ThreadPoolExecutor(4) as threads:
            assert sorted(threads.map(lambda _, member=member: registry.leave(member), range(4))) == [False, False, False, True]
        assert registry.find(member.id) is None and list(registry.members("wf")) == []


def test_a_member_is_noted_when_it_is_heard_and_nothing_else(registry: DraftConnections) -> None:
    registry.enter(ADA)
    registry.touch(ADA, 9)
    assert list(registry.members("wf")) == []
    registry.join(joined(ADA, "a"))
    registry.touch(joined(ADA, "a"), 1_700_000_000_000)
    assert list(registry.members("wf")) == [joined(ADA, "a")._replace(seen_ms=1_700_000_000_000)]
    registry.leave(joined(ADA, "a"))
    registry.touch(joined(ADA, "a"), 1_700_000_000_001)
    assert list(registry.members("wf")) == []


def test_a_full_session_is_listed_whole(registry: DraftConnections) -> None:
    for number in range(60):
        member = joined(BO._replace(id=f"m{number:02}"), f"c{number}")
        registry.enter(member)
        registry.join(member)
    assert [member.id for member in registry.members("wf")] == [f"m{number:02}" for number in range(60)]
