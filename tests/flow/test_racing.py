"""Flows that wait for messages and race: small and random ones, as plain Python on the virtual clock and as documents; and one
whose messages arrive at the real engine."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pytest
import racing
from comparing import PATIENCE_S, flow_of
from directed import HEAD, _indented
from directed_racing import CASES, PARTS, SENT
from flow_mutants import Change, planted
from programs import inputs
from racing import Checked, compare_seeds, compare_sent, racing_program
from sweeps import at_most

from stepless.errors import ConfigError, InvalidRequest
from stepless.flow import (
    Answer,
    Flow,
    NodeError,
    acting,
    approval,
    callback,
    gather,
    part,
    race,
    receive,
    sleep,
    step,
    workflow,
)
from stepless.flow.compiler import unit
from stepless.flow.compiler.awaiting import races, receives
from stepless.runtime.wiring.local import local
from stepless.runtime.wiring.single_run import _attend, serving

REFUSED: Final = {"shared_mutation", "unbound", "where"}

def flow(name: str) -> Flow[..., Any]:
    source = PARTS + HEAD + _indented(CASES[name])
    return flow_of(source, f"racing_case_{abs(hash(name))}", names=racing.NAMES, options={"messages": racing.MESSAGES})


def difference(name: str) -> str:
    return compare_sent(flow(name), ((inputs("racing", number), SENT) for number in range(2)))


@pytest.mark.parametrize("name", CASES)
def test_a_small_program_does_what_its_source_says(name: str) -> None:
    assert difference(name) == ""


@pytest.mark.parametrize("first", range(0, at_most(10, 60), 5))
def test_a_random_program_does_the_same_as_its_document(first: int) -> None:
    different, ran = compare_seeds(racing_program, range(first, first + 5), REFUSED)
    assert different == []
    assert ran


# -- planted bugs -----------------------------------------------------------------------------------------------------


def _without(name: str, field: str) -> Any:
    def emit(self: unit.Unit, id: str, type: str, params: Any = None, **fields: Any) -> str:
        if isinstance(fields.get("join"), dict):
            fields["join"] = {key: value for key, value in fields["join"].items() if (key, value) != (name, field)}
        return _EMIT(self, id, type, params, **fields)

    return emit


def _last_failure(unit_: unit.Unit, name: str, probe: Any) -> Any:
    found = _FAILURE(unit_, name, probe)
    return None if name == "a" else found


_EMIT, _FAILURE = unit.Unit.emit, races._failure
MUTANTS: Final[Mapping[str, Change]] = {
    "the losers go on": (unit.Unit, "emit", _without("losers", "cancel")),
    "all must complete": (unit.Unit, "emit", _without("mode", "any")),
    "a failure of the first branch is nobody's": (races, "_failure", _last_failure),
    "a where holds always": (receives, "condition", lambda unit_, node, kind: "true"),
    "the facts of a message stay among its data": (receives, "_received", lambda unit_, id, kind: unit_.texts.reference(id)),
    "a float is what JSON holds": (receives, "as_float", lambda unit_, kind, expressed: expressed),
    "arguments are evaluated with their branch": (races, "settled_calls", lambda unit_, hoist, calls: calls),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_planted_bug_is_found(mutant: str) -> None:
    with planted(MUTANTS[mutant]):
        assert any(_is_found(name) for name in CASES)


def _is_found(name: str) -> bool:
    try:
        return difference(name) != ""
    except Exception:
        return True


# -- the function as it is --------------------------------------------------------------------------------------------


@step("racing.note")
async def note(text: str) -> str:
    NOTED.append(text)
    return text


NOTED: list[str] = []


@part
async def patient(text: str) -> str:
    try:
        await sleep("2h")
        return await note(text)
    finally:
        await note(f"{text} after all")


DECLARED: Final[Mapping[str, Any]] = {"checked": Checked, "cancelled": {}}


@workflow("racing-order", key="<input.id>", on_conflict="join", messages=DECLARED, cancel_on=["cancelled"])
async def ordered(order: dict[str, Any]) -> Any:
    winner = await race(paid=receive("checked", where=lambda m: m.n >= 3), late=patient("late"))
    if winner.name == "late":
        await note("reminded")
        paid = await receive("checked", timeout="1d")
        return paid.text
    return winner


def plain(messages: Sequence[Mapping[str, Any]], call: Any = None, **fakes: Any) -> Any:
    NOTED.clear()
    with acting(messages=messages, **fakes):
        return asyncio.run(call() if call is not None else _called())


async def _called() -> Any:
    return await ordered({"id": "A-1"})


def test_messages_arrive_at_their_instants() -> None:
    won = plain([{"name": "checked", "data": {"n": 2}}, {"name": "checked", "data": {"n": 3}, "at": "1h"}])
    assert (won.name, won.value) == ("paid", Checked(n=3)) and NOTED == []
    assert plain([{"name": "checked", "data": {"n": 3, "text": "x"}, "at": "3h"}]) == "x"
    assert NOTED == ["late", "late after all", "reminded"]


def test_a_repeated_id_counts_once() -> None:
    twice = [{"name": "checked", "data": {"n": 1, "text": one}, "id": "m-1", "at": "3h"} for one in "ab"]
    with pytest.raises(NodeError, match="in time"):
        plain(twice, _twice)


async def _twice() -> Any:
    assert await ordered({}) == "a"
    return await receive("checked", timeout="1h")


def test_a_message_of_cancel_on_cancels() -> None:
    with pytest.raises(asyncio.CancelledError):
        plain([{"name": "cancelled", "at": "1h"}])
    assert NOTED == []


def test_data_that_the_message_does_not_allow_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="does not fit"):
        plain([{"name": "checked", "data": {"n": "3"}, "at": "3h"}])
    with pytest.raises(InvalidRequest, match="not a message"):
        plain([{"message": "checked"}])


def test_a_receive_that_no_message_can_end_says_so() -> None:
    with pytest.raises(ConfigError, match="no message `loose` arrives"):
        plain([], lambda: receive("loose"))


@pytest.mark.parametrize("messages", [["paid"], {"paid": 3}, {"paid": int}])
def test_what_declares_no_message_is_refused(messages: Any) -> None:
    made = Flow("racing-wrong", ordered.function, options={"messages": messages})
    with pytest.raises(ConfigError, match="message") as caught:
        made.document()
    assert "Payment" in (caught.value.mend or "")


def test_a_late_answer_is_a_coroutine() -> None:
    async def slowly(message: str) -> Any:
        await sleep("2h")
        return {} if message == "scan" else Answer()

    async def asked() -> Any:
        winner = await race(ok=approval("ok?"), early=sleep("1h"))
        other = await race(ok=approval("ok?", timeout="3h"), late=sleep("1d"))
        try:
            await callback("scan", timeout="90m")
        except NodeError as error:
            return [winner.name, other.name, error.code, (await approval("ok?", timeout="1h")).decision]

    assert plain([], asked, approval=slowly, callback=slowly) == ["early", "ok", "wait_timeout", "timeout"]


def test_steps_that_take_real_time_race_by_it() -> None:
    done = asyncio.Event()

    @step("racing.slow")
    async def slow() -> str:
        await done.wait()
        return "slow"

    @step("racing.fast")
    async def fast() -> str:
        return "fast"

    async def raced() -> Any:
        first = await race(a=slow(), b=fast(), c=sleep("1d"))
        done.set()
        second = await race(a=slow(), c=sleep("1d"))
        return [first.value, second.value, (await gather(slow(), fast()))]

    assert plain([], raced) == ["fast", "slow", ["slow", "fast"]]


def test_messages_reach_a_run_of_the_engine() -> None:
    assert asyncio.run(_served()) == {"name": "paid", "value": {"n": 5, "text": "none", "message": ""}}


async def _served() -> Any:
    built = local(None)
    try:
        built.service.publish(ordered.document())
        async with serving(built) as server:
            run_id = built.service.start("racing-order", {"id": "A-1"}).run_id
            for number in (1, 5):
                built.service.send_to_run(run_id, "checked", {"n": number})
            await asyncio.wait_for(_attend(built, run_id, server, None), PATIENCE_S)
        view = built.service.run(run_id)
        assert view.status == "completed", json.dumps(view.error)
        return view.outputs
    finally:
        built.close()
