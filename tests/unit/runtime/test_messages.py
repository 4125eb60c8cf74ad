"""Messages: delivery to runs by id and by key, keys of runs, and what holds after a death at any call."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.errors import Conflict, Gone, InvalidRequest, NotFound
from stepless.limits import LEASE_MS
from stepless.model.json import JSON
from stepless.ports import RunFilter
from stepless.runtime.messages.keys import RunKey
from stepless.runtime.session.pauses.run_kinds import sender
from stepless.runtime.verbs.changes.sending import Delivered
from stepless.runtime.verbs.reads.searching import summary_of, waits_of

ORDER: dict[str, Any] = {
    "id": "order",
    "key": "<input.id>",
    "messages": {"payment": {"data": {"type": "object", "required": ["amount"]}}, "cancelled": {}},
    "cancel_on": ["cancelled"],
    "nodes": {
        "order": {"type": "manual"},
        "paid": {
            "type": "receive", "after": "order",
            "with": {"message": "payment", "where": "<message.amount> >= <order.amount>", "timeout": "3d"},
        },
        "done": {"type": "transform", "after": "paid", "with": {"value": "<paid.message.id>"}},
        "late": {"type": "transform", "after": "paid.timeout", "with": {"value": "late"}},
    },
}  # fmt: skip
FOREVER: dict[str, Any] = {
    "id": "entity", "key": "<input.id>", "messages": {"tick": {"keep": "1h"}},
    "nodes": {
        "start": {"type": "manual"},
        "each": {"type": "loop", "after": "start", "with": {
            "times": 3, "body": {"nodes": {"got": {"type": "receive", "with": {"message": "tick"}}}},
        }},
    },
}  # fmt: skip


def order(machine: Any, id: str = "A-1", amount: int = 5, **options: Any) -> Any:
    if machine.store.newest_version("order") is None:
        machine.service.publish(ORDER)
    return machine.service.start("order", {"id": id, "amount": amount}, **options)


def pay(machine: Any, amount: int = 5, key: str = "A-1", **options: Any) -> Delivered:
    delivered: Delivered = machine.service.send("order", "payment", {"amount": amount}, key=key, **options)
    return delivered


def test_a_message_for_the_key_of_a_run_lets_it_go_on(machine: Any) -> None:
    run = order(machine).run_id
    machine.settle()
    sent = pay(machine, 7)
    assert sent.delivered == (run,)
    machine.drain()
    assert (machine.view(run).status, machine.view(run).outputs) == ("completed", {"done": sent.id})


def test_a_message_may_come_before_its_run_begins_to_wait(machine: Any) -> None:
    run = order(machine).run_id
    sent = pay(machine)
    machine.drain()
    assert machine.view(run).outputs == {"done": sent.id}
    assert "node.waiting paid" not in machine.types(run)


def test_a_message_that_nobody_wants_stays_unread(machine: Any) -> None:
    run = order(machine).run_id
    pay(machine, 1, id="small")
    pay(machine, 9, id="large")
    machine.drain()
    assert machine.view(run).outputs == {"done": "large"}


def test_an_id_is_taken_once(machine: Any) -> None:
    run = order(machine, amount=8).run_id
    for _ in range(3):
        assert pay(machine, 5, id="one").delivered == (run,)
    machine.settle()
    assert machine.types(run).count("message.received") == 1
    with pytest.raises(Conflict, match="other data"):
        pay(machine, 6, id="one")


def test_a_message_cancels_the_run_that_says_so(machine: Any) -> None:
    run = order(machine).run_id
    machine.service.send("order", "cancelled", None, key="A-1", by="shop")
    machine.drain()
    assert machine.view(run).status == "cancelled"


def test_the_time_of_a_receiver_is_over_without_a_message(machine: Any) -> None:
    run = order(machine).run_id
    machine.drain()
    assert machine.view(run).outputs == {"late": "late"}


def test_what_cannot_be_delivered_is_refused(machine: Any) -> None:
    machine.service.publish(ORDER)
    with pytest.raises(NotFound, match="no run of order") as refused:
        pay(machine)
    assert refused.value.code == "no_receiver"
    with pytest.raises(NotFound, match="no message") as refused:
        machine.service.send("order", "paiment", {}, key="A-1")
    assert (refused.value.code, "payment" in refused.value.mend) == ("unknown_message", True)
    for data, code in (({}, "message_invalid"), ({"amount": float("nan")}, "invalid_json")):
        with pytest.raises(InvalidRequest) as invalid:
            machine.service.send("order", "payment", data, key="A-1")
        assert invalid.value.code == code
    for key in ("", "x" * 257, True, None, ["a"], "\ud800"):
        with pytest.raises(InvalidRequest) as invalid:
            machine.service.send("order", "payment", {"amount": 1}, key=key)
        assert invalid.value.code == "key_invalid"


def test_an_ended_run_receives_nothing(machine: Any) -> None:
    run = order(machine).run_id
    machine.drain()
    with pytest.raises(Gone):
        machine.service.send_to_run(run, "payment", {"amount": 1})


# -- keys ---------------------------------------------------------------------------------------------------------------


def test_a_second_start_joins_the_live_run(machine: Any) -> None:
    first, second = order(machine), order(machine)
    assert (second.run_id, second.joined, first.joined) == (first.run_id, True, False)
    machine.drain()
    third = order(machine)
    assert third.run_id != first.run_id and not third.joined


def test_a_second_start_is_refused_where_the_workflow_says_so(machine: Any) -> None:
    machine.service.publish({**ORDER, "on_conflict": "refuse"})
    first = order(machine)
    with pytest.raises(Conflict) as refused:
        order(machine)
    assert (refused.value.code, refused.value.facts["run_id"]) == ("key_taken", first.run_id)


def test_a_second_start_replaces_the_live_run(machine: Any) -> None:
    machine.service.publish({**ORDER, "on_conflict": "replace"})
    first = order(machine)
    machine.settle()
    second = order(machine, amount=6)
    machine.drain()
    assert machine.view(first.run_id).status == "cancelled"
    assert machine.log(first.run_id)[-1].at_ms <= machine.log(second.run_id)[0].at_ms
    assert machine.view(second.run_id).outputs == {"late": "late"}


def test_a_delayed_start_that_is_replaced_is_a_debounce(machine: Any) -> None:
    machine.service.publish({**ORDER, "on_conflict": "replace"})
    runs = [order(machine, amount=n, begins_ms=machine.clock.now_ms() + 60_000 + n).run_id for n in range(3)]
    machine.drain()
    assert [machine.view(run).status for run in runs] == ["cancelled", "cancelled", "completed"]
    assert not any("node.started order" in machine.types(run) for run in runs[:2])


def test_a_delayed_run_begins_at_its_instant(machine: Any) -> None:
    at_ms = machine.clock.now_ms() + 3_600_000
    run = order(machine, begins_ms=at_ms).run_id
    machine.drain()
    assert machine.log(run)[0].at_ms >= at_ms
    assert machine.view(run).status == "completed"


def test_a_delayed_run_waits_to_start(machine: Any) -> None:
    run = order(machine, begins_ms=machine.clock.now_ms() + 60_000).run_id
    waits, said = ("start",), "created, waiting until 2023-11-14T22:14:20.000Z"
    assert (machine.view(run).status, machine.view(run).waits, machine.view(run).summary) == ("created", waits, said)
    (head,) = machine.service.search(RunFilter(waiting="start")).items
    assert (head.run_id, waits_of(head), summary_of(head, machine.clock.now_ms())) == (run, [*waits], said)
    machine.drain()
    assert machine.view(run).waits == ()


def test_a_repetition_is_told_of_the_delivery_also_if_the_message_is_kept(machine: Any) -> None:
    run = order(machine).run_id
    machine.settle()
    for _ in range(2):
        assert pay(machine, id="m", keep_ms=60_000).delivered == (run,)
        machine.drain()
        assert machine.view(run).status == "completed"



def test_a_start_needs_a_key(machine: Any) -> None:
    machine.service.publish(ORDER)
    for inputs, code in (({}, "key_missing"), ({"id": ""}, "key_missing"), ({"id": ["a"]}, "key_invalid")):
        with pytest.raises(InvalidRequest) as refused:
            machine.service.start("order", inputs)
        assert refused.value.code == code


def test_an_idempotent_start_returns_its_run_after_the_end(machine: Any) -> None:
    first = order(machine, key="k")
    pay(machine)
    machine.drain()
    assert order(machine, key="k").run_id == first.run_id


# -- kept messages --------------------------------------------------------------------------------------------------------


def test_a_kept_message_reaches_a_run_that_begins_later(machine: Any) -> None:
    machine.service.publish(FOREVER)
    sent = machine.service.send("entity", "tick", 1, key=7)
    assert (sent.delivered, sent.kept_until_ms) == ((), machine.clock.now_ms() + 3_600_000)
    run = machine.service.start("entity", {"id": 7}).run_id
    machine.settle()
    assert machine.types(run).count("message.received") == 1
    for number in (2, 3):
        machine.service.send("entity", "tick", number, key="7")
    machine.settle()
    view = machine.view(run)
    assert (view.status, [turn["data"] for turn in view.outputs["each"]]) == ("completed", [1, 2, 3])


def test_a_run_answers_to_a_further_key_while_it_waits(machine: Any) -> None:
    machine.service.publish({
        "id": "pays", "messages": {"settled": {}},
        "nodes": {"s": {"type": "manual"}, "w": {
            "type": "receive", "after": "s", "with": {"message": "settled", "key": "<s.payment>"},
        }},
    })  # fmt: skip
    runs = [machine.service.start("pays", {"payment": "pay-9"}).run_id for _ in range(3)]
    machine.settle()
    assert sorted(machine.service.send("pays", "settled", {"ok": True}, key="pay-9").delivered) == sorted(runs)
    machine.drain()
    assert {machine.view(run).status for run in runs} == {"completed"}
    with pytest.raises(NotFound):
        machine.service.send("pays", "settled", {"ok": True}, key="pay-9")


def test_large_data_is_no_burden_for_the_inbox(machine: Any) -> None:
    run = order(machine).run_id
    text = "x" * 200_000
    machine.service.send("order", "payment", {"amount": 5, "text": text}, key="A-1")
    machine.drain()
    assert machine.view(run).status == "completed"


# -- the kind send --------------------------------------------------------------------------------------------------------


def test_a_run_sends_a_message_to_another(machine: Any) -> None:
    machine.world.kind_code["send"] = sender(machine.world)
    run = order(machine).run_id
    machine.settle()
    sent = {"workflow": "order", "key": "A-1", "message": "payment", "data": {"amount": "<input.paid>"}}
    machine.service.publish({"id": "shop", "nodes": {"s": {"type": "send", "with": sent}}})
    shop = machine.service.start("shop", {"paid": 9}).run_id
    machine.drain()
    assert machine.view(shop).outputs["s"]["delivered"] == [run]
    assert machine.view(run).status == "completed"
    (mail,) = [event for event in machine.log(run) if event.type == "message.received"]
    assert mail.data["by"] == f"run {shop}"


def test_a_message_to_nobody_fails_its_node(machine: Any) -> None:
    machine.world.kind_code["send"] = sender(machine.world)
    machine.service.publish(ORDER)
    sent = {"workflow": "order", "key": "B", "message": "payment", "data": {"amount": 1}}
    machine.service.publish({"id": "shop", "nodes": {"s": {"type": "send", "with": sent, "retry": {"attempts": 1}}}})
    shop = machine.service.start("shop", {}).run_id
    machine.drain()
    assert machine.view(shop).nodes["s"].code == "no_receiver"


# -- removal --------------------------------------------------------------------------------------------------------------


def test_the_slot_of_a_key_goes_a_day_after_its_last_run_was_erased(machine: Any) -> None:
    first = order(machine).run_id
    machine.drain()
    machine.service.erase(first)
    assert order(machine).run_id != first
    machine.drain()
    run_key = RunKey("order", "A-1")
    assert run_key.number(machine.world) == 2
    machine.service.erase(run_key.run_id(2))
    machine.clock.set(machine.clock.now_ms() + 2 * 86_400_000)
    assert run_key.number(machine.world) == 0


def test_a_rerun_takes_the_key_of_its_run(machine: Any) -> None:
    first = order(machine).run_id
    machine.drain()
    again = machine.service.rerun(first)
    assert (again.key, again.run_id) == ("A-1", RunKey("order", "A-1").run_id(2))
    with pytest.raises(Conflict) as refused:
        machine.service.rerun(first)
    assert refused.value.code == "key_taken"


def test_a_start_may_give_the_key(machine: Any) -> None:
    nodes = {"w": {"type": "receive", "with": {"message": "go"}}}
    machine.service.publish({"id": "free", "messages": {"go": {}}, "nodes": nodes})
    run = machine.service.start("free", {}, run_key=17).run_id
    assert machine.service.start("free", {}, run_key="17").joined
    assert machine.service.send("free", "go", None, key=17).delivered == (run,)
    machine.drain()
    assert machine.view(run).status == "completed"


# -- deaths ---------------------------------------------------------------------------------------------------------------


def received(machine: Any, runs: list[str]) -> list[list[str]]:
    return [[event.data["id"] for event in machine.log(run) if event.type == "message.received"] for run in runs]


def runs_of(machine: Any, key: str = "A-1", workflow: str = "order") -> list[str]:
    run_key = RunKey(workflow, key)
    return [run_key.run_id(number) for number in range(1, run_key.number(machine.world) + 1)]


@pytest.mark.parametrize("after", [False, True])
def test_a_death_at_any_call_loses_no_message_and_doubles_none(make_machine: Any, after: bool) -> None:
    """Messages that ask for a start, to a run that ends with each: exactly one run has each."""
    for at in range(1, 70):
        machine = make_machine()
        machine.service.publish(ORDER)
        machine.faults.at, machine.faults.after = at, after
        for number in range(3):
            pay(machine, 5, id=f"m{number}", start=True, inputs={"id": "A-1", "amount": 5})
            for _ in range(20):
                try:
                    machine.step()
                except Exception as error:
                    if type(error).__name__ != "Died":
                        raise
                    machine.runner = machine.process()
                    machine.clock.set(machine.clock.now_ms() + LEASE_MS)
        machine.drain()
        runs = runs_of(machine)
        ids = [id for log in received(machine, runs) for id in log]
        assert sorted(ids) == ["m0", "m1", "m2"], (at, after, ids)
        assert {machine.view(run).status for run in runs} == {"completed"}, (at, after)


@pytest.mark.parametrize("after", [False, True])
def test_a_death_of_the_sender_is_mended_by_its_repetition(make_machine: Any, after: bool) -> None:
    for at in range(1, 30):
        machine = make_machine()
        machine.service.publish(ORDER)
        dying = machine.dying_service(at, after)
        sent: JSON = None
        for _ in range(2):
            try:
                inputs = {"id": "A-1", "amount": 1}
                sent = dying.send("order", "payment", {"amount": 5}, key="A-1", id="m", start=True, inputs=inputs)
            except Exception as error:
                if type(error).__name__ != "Died":
                    raise
                machine.drain()
                dying = machine.service
        machine.drain()
        assert sent is not None
        assert [log for log in received(machine, runs_of(machine)) if log] == [["m"]], (at, after)
