"""Messages, starts and ends of runs that race: what the simulation of keys and messages found (tests/simulation/talking.py), each
with the fewest steps that show it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepless.adapters.memory.store import MemoryStore
from stepless.errors import Conflict, Refused
from stepless.limits import MAX_KEPT_MESSAGES, MAX_MESSAGE_RUNS, START_GRACE_MS
from stepless.ports import Message, RunHead
from stepless.runtime import inbox
from stepless.runtime.messages.kept import kept_for
from stepless.runtime.messages.keys import AFTER, RunKey, run_key_of
from stepless.runtime.session.pauses.receiving import waits_to_begin

ORDER: dict[str, Any] = {
    "id": "order",
    "key": "<input.id>",
    "messages": {"payment": {}, "other": {}},
    "nodes": {
        "order": {"type": "manual"},
        "paid": {"type": "receive", "after": "order", "with": {"message": "payment", "timeout": "3d"}},
        "done": {"type": "transform", "after": "paid", "with": {"value": "<order.amount>"}},
        "late": {"type": "transform", "after": "paid.timeout", "with": {"value": "late"}},
    },
}  # fmt: skip
RUN_KEY = RunKey("order", "A-1")


class Interrupted(MemoryStore):
    """A store in which something happens before one removal from a line, or one read of a header comes before its creation."""

    happens: Callable[[], object] | None = None
    is_early = False

    def leave_line(self, line: str, place: str) -> None:
        happens, self.happens = self.happens, None
        if happens is not None:
            happens()
        super().leave_line(line, place)

    def get_run(self, run_id: str) -> RunHead | None:
        was_early, self.is_early = self.is_early, False
        return None if was_early else super().get_run(run_id)


class EndedRuns(MemoryStore):
    """A store in which every run that it does not have has ended, without a message, once `has_ended` is set."""

    has_ended = False

    def get_run(self, run_id: str) -> RunHead | None:
        ended = RunHead(run_id, "order", "h", "completed", 0, 0, b"{}") if self.has_ended else None
        return super().get_run(run_id) or ended


def order(machine: Any, amount: int = 5, by: Any = None, **options: Any) -> Any:
    return (by or machine.service).start("order", {"id": "A-1", "amount": amount}, **options)


def publish(machine: Any, rule: str = "join", **more: Any) -> None:
    machine.service.publish({**ORDER, "on_conflict": rule, **more})


def arrives_late(machine: Any, run_id: str, id: str, start: Any = None) -> None:
    """A sender read the header before the run ended, and puts its message now."""
    now_ms = machine.clock.now_ms()
    signal = inbox.message_signal(id, "payment", {"id": "A-1", "amount": 1}, now_ms, key="A-1", start=start)
    machine.store.touch_run(run_id, now_ms + START_GRACE_MS)
    machine.store.put_signal(run_id, signal)
    machine.queue.send(Message(run_id, "signal"))


def ended(machine: Any) -> str:
    """A run of the key that has ended."""
    run_id: str = order(machine).run_id
    machine.settle()
    machine.service.send("order", "payment", None, key="A-1", id="first")
    machine.drain()
    assert machine.view(run_id).status == "completed"
    return run_id


# -- messages -------------------------------------------------------------------------------------------------------------


def test_a_message_that_comes_after_the_end_is_unread(machine: Any) -> None:
    publish(machine)
    run = ended(machine)
    arrives_late(machine, run, "late")
    machine.drain()
    assert [mail.id for mail in machine.view(run).unread] == ["late"]


def test_a_message_that_asks_for_a_start_and_comes_after_the_end_starts_the_next_run(machine: Any) -> None:
    publish(machine)
    run = ended(machine)
    arrives_late(machine, run, "late", start={})
    machine.drain()
    assert machine.view(RUN_KEY.run_id(2)).outputs == {"done": 1}


def test_what_an_ended_run_hands_on_is_not_refused_by_the_limit_of_starts(machine: Any) -> None:
    publish(machine, rate_limit={"max": 1, "per": "1h"})
    run = ended(machine)
    arrives_late(machine, run, "late", start={})
    machine.drain()
    assert machine.view(RUN_KEY.run_id(2)).outputs == {"done": 1}


def test_a_run_that_begins_late_gets_what_was_kept_when_it_was_created(machine: Any) -> None:
    publish(machine)
    machine.service.send("order", "payment", 1, key="A-1", id="kept", keep_ms=60_000)
    run = order(machine, begins_ms=machine.clock.now_ms() + 7_200_000).run_id
    machine.clock.set(machine.clock.now_ms() + 3_600_000)
    assert list(kept_for(machine.world, RUN_KEY)) == []  # another reader finds that it has expired, and removes it
    machine.drain()
    assert machine.view(run).outputs == {"done": 5}


def test_a_run_whose_hint_was_lost_gets_what_was_kept_when_it_was_created(machine: Any) -> None:
    publish(machine)
    machine.service.send("order", "payment", 1, key="A-1", id="kept", keep_ms=5_000)
    run = order(machine).run_id
    machine.clock.set(machine.clock.now_ms() + 30_000)
    machine.drain()
    assert machine.view(run).outputs == {"done": 5}


def test_what_was_kept_when_a_run_was_created_stays_until_it_begins(stored_machine: Any) -> None:
    """Also if the store forgets what has expired, and other readers remove it: the server was down in the meantime."""
    machine = stored_machine
    publish(machine)
    for number in range(3):
        machine.service.send("order", "payment", number, key="A-1", id=f"kept-{number}", keep_ms=5_000)
    run = order(machine).run_id
    machine.clock.set(machine.clock.now_ms() + 30_000)
    for number in range(9):
        machine.store.claim(f"other {number}", b"", machine.clock.now_ms())
    assert list(kept_for(machine.world, RUN_KEY)) == []
    machine.drain()
    assert [mail.id for mail in machine.view(run).unread] == ["kept-1", "kept-2"]
    assert list(kept_for(machine.world, RUN_KEY)) == machine.store.read_line(f"kept:{RUN_KEY.digest}", limit=9) == []


def test_a_run_that_is_replaced_before_it_begins_gets_what_was_kept_when_it_was_created(machine: Any) -> None:
    publish(machine, "replace")
    machine.service.send("order", "payment", 1, key="A-1", id="kept", keep_ms=5_000)
    first = order(machine).run_id  # its hint is lost
    machine.clock.set(machine.clock.now_ms() + 30_000)
    second = order(machine).run_id
    assert list(kept_for(machine.world, RUN_KEY)) == []
    machine.drain()
    assert [[mail.id for mail in machine.view(run).unread] for run in (first, second)] == [["kept"], []]


def test_expired_messages_leave_room_for_others(machine: Any) -> None:
    """A key that is used for years, and of which no run begins."""
    publish(machine)

    def keep(id: str, keep_ms: int) -> None:
        machine.service.send("order", "payment", None, key="A-1", id=id, keep_ms=keep_ms)

    for number in range(MAX_KEPT_MESSAGES):
        keep(f"m{number}", 1_000 if number >= 10 else 60_000)
    with pytest.raises(Refused) as full:
        keep("more", 1_000)
    assert full.value.code == "mailbox_full"
    machine.clock.set(machine.clock.now_ms() + 2_000)
    keep("more", 1_000)
    assert len(machine.store.read_line(f"kept:{RUN_KEY.digest}", limit=99)) == 11


def test_a_message_that_is_sent_again_is_kept_as_long_as_it_says(machine: Any) -> None:
    publish(machine)
    kept_until = []
    for _ in range(2):
        kept_until.append(machine.service.send("order", "payment", 1, key="A-1", id="kept", keep_ms=60_000).kept_until_ms)
        machine.clock.set(machine.clock.now_ms() + 30_000)
    assert kept_until == [kept_until[0]] * 2


def test_a_message_that_is_sent_again_when_it_expires_is_kept(make_machine: Any) -> None:
    """A reader finds that it has expired, the sender keeps it again, and the reader removes it from the list."""
    machine = make_machine(store=Interrupted())
    publish(machine)
    machine.service.send("order", "payment", 1, key="A-1", id="kept", keep_ms=5_000)
    machine.clock.set(machine.clock.now_ms() + 10_000)
    machine.store.happens = lambda: machine.service.send("order", "payment", 1, key="A-1", id="kept", keep_ms=60_000)
    assert list(kept_for(machine.world, RUN_KEY)) == []
    assert [signal.identity for signal in kept_for(machine.world, RUN_KEY)] == ["kept"]


def test_a_message_passes_a_bounded_number_of_runs_that_have_ended(make_machine: Any) -> None:
    machine = make_machine(store=EndedRuns())
    publish(machine)
    machine.store.has_ended = True
    for _ in range(2):
        with pytest.raises(Conflict, match=f"{MAX_MESSAGE_RUNS:,} runs of the key have ended") as refused:
            machine.service.send("order", "payment", 1, key="A-1", id="m", start=True)
        assert (refused.value.code, machine.queue.next_ms()) == ("message_too_late", None)


def test_a_message_that_an_ended_run_cannot_hand_on_stays_unread(make_machine: Any) -> None:
    machine = make_machine(store=EndedRuns())
    publish(machine)
    run = ended(machine)
    arrives_late(machine, run, "late", start={})
    machine.store.has_ended = True
    machine.drain()
    machine.store.has_ended = False
    assert [mail.id for mail in machine.view(run).unread] == ["late"]


# -- starts ---------------------------------------------------------------------------------------------------------------


def test_a_run_that_is_replaced_before_it_begins_waits_for_the_former_all_the_same(machine: Any) -> None:
    """Its own successor begins when it has ended, and must not begin while the former is at work."""
    publish(machine, "replace")
    first = order(machine).run_id
    machine.settle()
    second, third = order(machine).run_id, order(machine).run_id
    for run_id in (second, third):
        assert waits_to_begin(machine.world, machine.store.get_run(run_id), machine.clock.now_ms())
    machine.drain()
    logs = [machine.log(run_id) for run_id in (first, second, third)]
    assert [log[-1].type.value for log in logs] == ["run.cancelled", "run.cancelled", "run.completed"]


@pytest.mark.parametrize("rule", ["join", "refuse", "replace"])
def test_a_number_without_a_run_hides_no_live_run(machine: Any, rule: str) -> None:
    """A process raised the number and died."""
    publish(machine, rule)
    first = order(machine).run_id
    machine.settle()
    assert RUN_KEY.raise_to(machine.world, 1, 2)
    assert machine.service.runs_of_key("order", "A-1").live == first
    if rule == "join":
        assert order(machine).run_id == first
    elif rule == "refuse":
        with pytest.raises(Conflict, match=first):
            order(machine)
    else:
        assert order(machine).run_id == RUN_KEY.run_id(2)
        assert f'"{AFTER}":"{first}"'.encode() in machine.store.get_run(RUN_KEY.run_id(2)).meta
        return
    for options in ({}, {"start": True}):
        assert machine.service.send("order", "payment", None, key="A-1", **options).delivered == (first,)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("rule", ["join", "refuse", "replace"])
def test_a_start_that_died_does_not_get_the_run_of_another(make_machine: Any, rule: str, after: bool) -> None:
    """The other start takes its number over. The repetition of the first one gets a run of its own, joins, or is refused."""
    for at in range(1, 25):
        machine = make_machine()
        publish(machine, rule)
        zero = order(machine, 0).run_id if rule == "replace" else None
        machine.settle()
        try:
            order(machine, 1, machine.dying_service(at, after), key="first")
        except Exception as error:
            if type(error).__name__ != "Died":
                raise
        told: dict[int, Any] = {}
        for amount, key in ((2, "other"), (1, "first")):
            try:
                told[amount] = order(machine, amount, key=key)
            except Conflict as error:
                assert (rule, error.code) == ("refuse", "key_taken")
        machine.drain()
        own = {amount: run.run_id for amount, run in told.items() if not run.joined}
        for amount, run_id in own.items():
            assert f'"amount":{amount}'.encode() in machine.store.get_run(run_id).inputs.replace(b" ", b""), (at, told)
        assert rule != "replace" or (len(told) == len(own) == 2 and zero is not None), (at, told)
        check_one_at_a_time(machine, at)


def check_one_at_a_time(machine: Any, at: int) -> None:
    """Each run of the key ended before the next began."""
    for number in range(1, RUN_KEY.number(machine.world)):
        before, following = machine.store.get_run(RUN_KEY.run_id(number)), machine.store.get_run(RUN_KEY.run_id(number + 1))
        if before is not None and following is not None:
            assert run_key_of(following) == (RUN_KEY, number + 1)
            assert machine.log(before.run_id)[-1].at_ms <= machine.log(following.run_id)[0].at_ms, at
            assert before.updated_ms <= following.updated_ms, at


def test_a_repeated_start_that_joined_a_run_names_it_after_its_end(machine: Any) -> None:
    publish(machine)
    run = order(machine).run_id
    machine.settle()
    for _ in range(2):
        joined = order(machine, key="second")
        assert (joined.run_id, joined.joined, joined.replay) == (run, True, False)
        machine.service.send("order", "payment", None, key="A-1", id="only", keep_ms=1)
        machine.settle()
        assert machine.view(run).status == "completed"


def test_a_repeated_start_finds_the_run_that_appears_while_it_looks(make_machine: Any) -> None:
    """It read the header too early, and the claim when the next run had been started."""
    machine = make_machine(store=Interrupted())
    publish(machine, "replace")
    first = order(machine, key="k").run_id
    order(machine)
    machine.store.is_early = True
    assert order(machine, key="k").run_id == first
    assert not machine.store.is_early
