"""What the rooms of drafts cost, as DynamoDB bills them. The figures of benchmarks/editing_cost.py are counted here."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import editing_cost
from stepless.adapters.aws.capacity import CapacityMeter
from stepless.adapters.aws.dynamo.draft_connections import DynamoDraftConnections
from stepless.adapters.aws.dynamo.store import DynamoStore
from stepless.adapters.memory.clock import SettableClock
from stepless.limits import CONNECTION_LIFE_MS, SILENT_MS
from stepless.ports import Connection
from stepless.runtime.access.roles import Role
from stepless.runtime.access.tickets import Tickets
from stepless.runtime.access.tokens import Key, Signer

NOW_MS = 1_700_000_000_000


def person(number: int) -> Connection:
    """As API Gateway and an issuer name one."""
    return Connection(
        f"JMwlrdZ3IAMCJ{number:02}=", "refund-approval", f"jwt 8f3a0c52-1f0e-4f0e-9d8f-{number:012} ada.lovelace@example.com",
        ("edit", "read"), NOW_MS + CONNECTION_LIFE_MS, "", NOW_MS + 3_600_000, f"client-{number:026}", 12, NOW_MS,
    )  # fmt: skip


def test_a_visit(dynamo: Any, table: str, meter: CapacityMeter) -> None:
    rooms, clock = DynamoDraftConnections(dynamo, table), SettableClock(NOW_MS)
    tickets = Tickets(Signer([Key("k", b"1" * 32)]), DynamoStore(dynamo, table, shards=1), clock)
    ticket = tickets.issue("refund-approval", "ada", frozenset({Role.EDIT}))
    meter.take()
    tickets.spend(ticket)
    rooms.enter(person(1)._replace(client="", epoch=0))
    assert rooms.join(person(1)) and rooms.leave(person(1))
    assert meter.take().tally.write_units == editing_cost.VISIT_WRITES


def test_being_heard(dynamo: Any, table: str, meter: CapacityMeter) -> None:
    rooms = DynamoDraftConnections(dynamo, table)
    rooms.enter(person(1))
    rooms.join(person(1))
    meter.take()
    rooms.touch(person(1), NOW_MS + 1)
    assert meter.take().tally.write_units == 1
    assert 3_600_000 / (SILENT_MS / 2) == editing_cost.SEEN_WRITES


@pytest.mark.parametrize("people", editing_cost.MEMBER_READS)
def test_a_look_at_who_is_here(dynamo: Any, table: str, meter: CapacityMeter, people: int) -> None:
    rooms = DynamoDraftConnections(dynamo, table)
    for number in range(people):
        rooms.enter(person(number))
        rooms.join(person(number))
    meter.take()
    assert len(rooms.members("refund-approval")) == people
    assert meter.take().tally.read_units == editing_cost.MEMBER_READS[people]
