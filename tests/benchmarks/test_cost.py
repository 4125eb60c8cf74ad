"""Bills of the workloads: counted requests, and the estimate from the log alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from emulators import Missing

from benchmarks import bills, cost, message_units
from benchmarks.bars import WRITE_UNITS
from benchmarks.cost import Account
from benchmarks.sample import Sample
from stepless.adapters.aws.capacity import CapacityMeter
from stepless.model.runs.tally import decode_tally
from stepless.ports import Announcement
from stepless.runtime.announcing.run_events import RunEvents
from stepless.runtime.exporting.relay import Relay
from stepless.runtime.metering import NullMeter

FLOWS = cost.flows()


@pytest.fixture(scope="module")
def there() -> Iterator[Account]:
    try:
        with cost.account() as account:
            for document in FLOWS.values():
                account.service.publish(document)
                account.run(document)
            yield account
    except Missing as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("name", FLOWS)
def test_the_header_tells_every_unit_that_the_table_was_asked_for(there: Account, name: str) -> None:
    meter = CapacityMeter()
    meter.watch(there.dynamo)
    run_id = there.run(FLOWS[name])
    used = meter.take().tally
    meter.unwatch(there.dynamo)
    head = there.world.store.get_run(run_id)
    assert head is not None
    told = decode_tally(head.spent)
    assert (told.write_units, told.index_units) == (used.write_units, used.index_units)
    assert 0 < told.read_units <= used.read_units  # whoever looked how it ended read more


def test_hand_overs_and_a_cancel_are_told_as_well(there: Account) -> None:
    meter, chain, ask = CapacityMeter(), FLOWS["chain of 10"]["id"], FLOWS["approval"]["id"]
    meter.watch(there.dynamo)
    handed = there.ask(lambda: there.service.start(chain, {})).run_id
    there.work(budget_ms=0)
    cancelled = there.ask(lambda: there.service.start(ask, {})).run_id
    there.work()
    there.ask(lambda: there.service.cancel(cancelled, by="ada"))
    there.work()
    used = meter.take().tally
    meter.unwatch(there.dynamo)
    heads = [head for run_id in (handed, cancelled) if (head := there.world.store.get_run(run_id)) is not None]
    told = decode_tally(heads[0].spent) + decode_tally(heads[1].spent)
    assert (heads[0].status, heads[1].status) == ("completed", "cancelled")
    assert heads[0].epoch > 5  # leases: it was handed over
    assert (told.write_units, told.index_units) == (used.write_units, used.index_units)
    assert told.invocations == heads[0].epoch + heads[1].epoch + 3  # two starts and the cancel
    assert told.queue_requests == 3 * (heads[0].epoch + heads[1].epoch)


@pytest.mark.parametrize("name", FLOWS)
def test_the_log_alone_tells_nearly_the_same(there: Account, name: str) -> None:
    found = cost.bill(there, name, FLOWS[name]).facts
    counted, estimated = ({line["what"]: line["count"] for line in found[basis]["lines"]} for basis in ("counted", "estimated"))
    assert counted.keys() == estimated.keys()
    assert estimated["DynamoDB write units"] == pytest.approx(counted["DynamoDB write units"], abs=1)
    assert estimated["DynamoDB read units"] == pytest.approx(counted["DynamoDB read units"], rel=0.1)
    for what in ("SQS requests", "Lambda requests", "HTTP API requests"):
        assert estimated[what] == counted[what]
    assert estimated.get("Scheduler schedules") == counted.get("Scheduler schedules")
    assert found["counted"]["basis"] == "counted"


@pytest.mark.parametrize(("name", "most"), [
    *WRITE_UNITS.items(), ("approval", 14), ("approval, wait and node", 19), ("deadline, wait and node", 21),
])
def test_a_workload_stays_below_its_write_units(there: Account, name: str, most: int) -> None:
    assert 12 < cost.bill(there, name, FLOWS[name]).facts["write_units"] <= most


@pytest.mark.parametrize(("name", "more"), [("chain of 10", 0), ("fan-out of 50", 0), ("approval and wait", 1)])
def test_a_retention_adds_no_write_unit_to_a_run_of_less_than_a_day(there: Account, name: str, more: int) -> None:
    """The expiry is part of the update that ends the run. The first run of a process announces it, once. The approval is answered
    after two days: such a run stays in the index of due runs."""
    document = {**FLOWS[name], "id": f"{FLOWS[name]['id']}-kept", "retention": "90d"}
    there.service.publish(document)
    there.run(document)
    meter, used = CapacityMeter(), []
    for each in (FLOWS[name], document):
        meter.watch(there.dynamo)
        run_id = there.run(each)
        tally = meter.take().tally
        meter.unwatch(there.dynamo)
        used.append((tally.write_units, tally.index_units))
    head = there.world.store.get_run(run_id)
    assert head is not None and head.expires_ms is not None
    assert used[1] == (used[0][0] + more, used[0][1] + more)


@pytest.fixture(scope="module")
def talked(there: Account) -> dict[str, Sample]:
    return {sample.variant: sample for sample in message_units.measured(there)}


@pytest.mark.parametrize(("name", "most"), message_units.MOST_UNITS.items())
def test_keys_and_messages_take_the_units_that_are_documented(talked: dict[str, Sample], name: str, most: float) -> None:
    """A message to a run takes the mark beside what an answer takes; a key, and a further key, two more."""
    assert most - 1 < talked[name].facts["write_units"] <= most


def test_a_session_does_not_read_the_messages_that_were_taken_before(talked: dict[str, Sample]) -> None:
    """At most MAX_TAKEN_BESIDE of them, which are less than 20 KB. Each that waits is looked up among those moved."""
    assert talked[message_units.ENTITY].facts["read_units"] < 9


class Bus:
    """Accepts every event."""

    def __init__(self) -> None:
        self.types: list[str] = []

    async def announce(self, announcements: Sequence[Announcement]) -> int:
        self.types += [each.type for each in announcements]
        return len(announcements)


@pytest.mark.parametrize("name", FLOWS)
def test_exporting_adds_no_unit(there: Account, name: str) -> None:
    """The cursor is part of writes that are made anyway. Two exporters, as with a bus and notices of failures."""
    bus, meter, used = Bus(), CapacityMeter(), []
    events = [RunEvents(each, bus, lambda: "https://flows.example", at_once=10) for each in ("bus", "also")]
    for relay in (None, Relay(events, NullMeter(), lambda: there.clock.now_ms() / 1000)):
        there.export(relay)
        meter.watch(there.dynamo)
        run_id = there.run(FLOWS[name])
        tally = meter.take().tally
        meter.unwatch(there.dynamo)
        used.append((tally.write_units, tally.index_units, tally.read_units))
    there.export(None)
    head = there.world.store.get_run(run_id)
    assert head is not None and head.exported
    assert bus.types.count("run.completed") == 2 and used[0] == used[1]


def test_removing_a_chain_of_ten_costs_what_is_documented(there: Account) -> None:
    document = {**FLOWS["chain of 10"], "id": "chain-erased", "retention": "90d"}
    there.service.publish(document)
    run_id = there.run(document)
    meter = CapacityMeter()
    meter.watch(there.dynamo)
    there.world.store.erase_run(run_id)
    tally = meter.take().tally
    meter.unwatch(there.dynamo)
    assert (there.world.store.get_run(run_id), tally.write_units) == (None, 13)
    assert tally.read_units <= 4


def test_bills_are_told_as_tables(there: Account) -> None:
    sample = cost.bill(there, "approval, wait and node", FLOWS["approval, wait and node"])
    text = "\n".join(bills.section([sample, Sample("cost", "chain of 10", 1, 1, error="no emulator")]))
    assert "| the same, and a node after the wait |" in text
    assert "| state transitions | $25 per million | 4 |" in text and "| **100.00** |" in text
    assert "| Scheduler schedules | $1 per million | 1 |" in text


def test_without_an_emulator_nothing_is_told() -> None:
    samples: list[Any] = [Sample("cost", "chain of 10", 1, 1, error="no emulator")]
    assert list(bills.section(samples)) == ["not measured"]
