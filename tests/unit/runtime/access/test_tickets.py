"""Tickets to the room of a draft."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode

import pytest

from stepless.adapters.memory.clock import SettableClock
from stepless.adapters.memory.store import MemoryStore
from stepless.errors import Forbidden
from stepless.limits import TICKET_LIFE_MS
from stepless.runtime.access.roles import Role
from stepless.runtime.access.tickets import Tickets, Visitor
from stepless.runtime.access.tokens import Key, Signer

ROLES = frozenset({Role.READ, Role.EDIT})


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(1_700_000_000_000)


@pytest.fixture
def tickets(clock: SettableClock) -> Tickets:
    return Tickets(Signer([Key("k", b"1" * 32)]), MemoryStore(), clock)


def refused(tickets: Tickets, ticket: str, workflow: str = "w") -> None:
    with pytest.raises(Forbidden) as caught:
        tickets.spend(ticket, workflow)
    error = caught.value
    assert (error.code, error.http_status, error.place) == ("invalid_ticket", 401, "ticket")
    assert str(error) == "ticket: the ticket is not valid (ask for a new one: a ticket is valid once, for a minute)"


def test_a_ticket_lets_in_whom_it_names(tickets: Tickets) -> None:
    assert tickets.spend(tickets.issue("w", "key k Ada ✓", ROLES, "k"), "w") == Visitor("w", "key k Ada ✓", ROLES, "k")


def test_it_is_valid_once(tickets: Tickets) -> None:
    ticket = tickets.issue("w", "ada", ROLES)
    tickets.spend(ticket, "w")
    refused(tickets, ticket)


def test_it_expires_at_its_instant(tickets: Tickets, clock: SettableClock) -> None:
    early, late = tickets.issue("w", "ada", ROLES), tickets.issue("w", "ada", ROLES)
    clock.advance(TICKET_LIFE_MS - 1)
    tickets.spend(early, "w")
    clock.advance(1)
    refused(tickets, late)


def test_it_is_for_one_draft_and_is_not_spent_at_another(tickets: Tickets) -> None:
    ticket = tickets.issue("w", "ada", ROLES)
    refused(tickets, ticket, "v")
    assert tickets.spend(ticket, "w").person == "ada"


@pytest.mark.parametrize("ticket", ["", ".", "a", "a.b", "a.b.c", "é.é", "a" * 100_000, "eyJ9.AA", "\0.\0"])
def test_what_is_no_ticket_is_refused(tickets: Tickets, ticket: str) -> None:
    refused(tickets, ticket)


def test_claims_that_were_changed_are_refused(tickets: Tickets) -> None:
    body, mac = tickets.issue("w", "ada", {Role.READ}).split(".")
    claims = json.loads(urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    for changed in ({"r": ["admin"]}, {"w": "v"}, {"x": 2**60}, {"n": "other"}, {"p": "eve"}):
        forged = urlsafe_b64encode(json.dumps({**claims, **changed}).encode()).rstrip(b"=").decode()
        refused(tickets, f"{forged}.{mac}", changed.get("w", "w"))


def test_a_ticket_of_another_server_and_a_resume_token_are_refused(tickets: Tickets, clock: SettableClock) -> None:
    other = Tickets(Signer([Key("k", b"2" * 32)]), MemoryStore(), clock)
    refused(tickets, other.issue("w", "ada", ROLES))
