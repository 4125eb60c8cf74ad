"""What an hour of editing in the console costs on AWS, from counted units and list prices; a part of
docs/understand/measurements/cost.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from stepless.drafts.sessions.bounds import ON_AWS
from stepless.model.runs import prices
from stepless.model.runs.prices import MILLION, Price

SOCKET_MESSAGE: Final = Price(1.00, MILLION, "messages of the WebSocket API")
CONNECTED_MINUTE: Final = Price(0.25, MILLION, "minutes of connections")

# Counted again by tests/unit/adapters/aws/test_editing_cost.py and test_draft_units.py.
ITEM_WRITES: Final = 2.055  # an item with its share of a checkpoint, if it touches an entity of its own
VISIT_WRITES: Final = 6  # a ticket, a connection that comes and goes
SEEN_WRITES: Final = 24  # of a person in an hour: twice within the time after which silence ends a connection
MEMBER_READS: Final[Mapping[int, float]] = {1: 1, 3: 1, 10: 1, 50: 3}  # of a look at who is in a room

ACTIVE: Final = 0.3  # of the hour, with one edit a second, and the cursor at the rate that the room has
MEMORY_GB: Final = 1
EDIT_S: Final = 0.04  # of the function, for an edit; …
PRESENCE_S: Final = 0.02  # … and for a cursor
PROCESSES: Final = 2  # warm ones, which look up who is here


def hour(people: int) -> Mapping[Price, float]:
    """What is billed in an hour, by price."""
    active_s = 3_600 * ACTIVE
    rates = ON_AWS.rates(people)
    edits = people * active_s * min(1, rates["ops_per_s"])
    cursors = people * active_s * rates["presence_per_s"] if people > 1 else 0
    pings, reads = people * 15, MEMBER_READS[people]
    return {
        SOCKET_MESSAGE: edits * (1 + people) + cursors * people + 2 * pings,
        CONNECTED_MINUTE: people * 60,
        prices.INVOCATION: edits + cursors + pings,
        prices.GB_SECOND: (edits * EDIT_S + (cursors + pings) * PRESENCE_S) * MEMORY_GB,
        prices.WRITE_UNIT: edits * ITEM_WRITES + people * (VISIT_WRITES + SEEN_WRITES),
        prices.READ_UNIT: (edits + PROCESSES * min(3_600, cursors)) * reads,
    }


def usd(people: int) -> float:
    return sum(count * price.usd / price.per for price, count in hour(people).items())


def open_usd() -> float:
    """An open page without edits, for an hour."""
    pings = 15 * (2 * SOCKET_MESSAGE.usd / SOCKET_MESSAGE.per + prices.INVOCATION.usd / prices.INVOCATION.per)
    seen = SEEN_WRITES * prices.WRITE_UNIT.usd / prices.WRITE_UNIT.per
    return pings + seen + 60 * CONNECTED_MINUTE.usd / CONNECTED_MINUTE.per


def lines() -> Iterator[str]:
    yield f"""
## Editing in the console

With `Console: yes`. Each person edits for {ACTIVE:.0%} of an hour, once a second, and moves the cursor all that time; the rates
fall with the number of people. An edit is taken to need {EDIT_S * 1000:g} ms of the function, a cursor {PRESENCE_S * 1000:g} ms,
with 1 GB.

| people in a draft | USD an hour | write units | messages | invocations |
|---|---|---|---|---|"""
    for people in MEMBER_READS:
        used = hour(people)
        counts = " | ".join(f"{used[price]:,.0f}" for price in (prices.WRITE_UNIT, SOCKET_MESSAGE, prices.INVOCATION))
        yield f"| {people} | {usd(people):.2f} | {counts} |"
    yield f"""
An edit takes {ITEM_WRITES} write units, its share of a checkpoint included, and a prompt of 500 characters takes 26: see
[drafts](../drafts.md#what-it-costs). A visit takes {VISIT_WRITES}. Cursors take none. An open page without edits costs a ping
every four minutes, ${open_usd():.5f} an hour.
Without anyone who edits, the console costs its alarm and nothing else."""
