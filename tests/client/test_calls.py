"""The calls of both clients against a real server: what a backend does with a run."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import pytest
from served_api import KEY, Served

from stepless.client import (
    AsyncClient,
    Client,
    Conflict,
    InvalidRequest,
    InvalidSetting,
    NotFound,
    StillRunning,
    Unauthorized,
)
from stepless.client.calls import RUN_ENDS, Calls
from stepless.core.events import RUN_ENDS as ENDS_OF_THE_LOG


@pytest.fixture(params=["memory_server", "file_server"])
def server(request: pytest.FixtureRequest) -> Served:
    """Each kind of local store."""
    served: Served = request.getfixturevalue(request.param)
    return served


def test_a_run_is_started_and_awaited(client: Client) -> None:
    started = client.start("echo", {"name": "Ada"}, keywords=["customer:c-17"])
    run = client.wait(started["run_id"])
    assert (run["status"], run["outputs"]["said"], run["keywords"]) == ("completed", {"got": {"name": "Ada"}}, ["customer:c-17"])


def test_a_start_may_wait_for_the_outcome(client: Client) -> None:
    started = client.start("echo", {"name": "Ada"}, wait_s=20)
    assert started["outcome"] is not None and started["outcome"]["status"] == "completed"


def test_one_key_starts_one_run(client: Client) -> None:
    first, second = (client.start("echo", {"n": 1}, idempotency_key="order-17") for _ in range(2))
    assert (first["run_id"], first["replay"], second["replay"]) == (second["run_id"], False, True)
    with pytest.raises(Conflict) as caught:
        client.start("echo", {"n": 2}, idempotency_key="order-17")
    assert caught.value.code == "idempotency_key_reused"


def test_two_starts_without_a_key_are_two_runs(client: Client) -> None:
    assert client.start("echo")["run_id"] != client.start("echo")["run_id"]


def test_a_question_is_awaited_and_answered(client: Client) -> None:
    run_id = client.start("ask", {"amount": 40})["run_id"]
    run = client.wait(run_id)
    assert (run["status"], run["waiting"]) == ("paused", ["answer"])
    decided = client.answer(run_id, run["pauses"][0]["pause"], "approved", {"limit": 5}, by="Ada", comment="fine")
    assert (decided["decision"], decided["answer"]) == ("approved", {"limit": 5})
    assert client.wait(run_id)["outputs"]["pay"] == {"paid": 40}


def test_a_second_answer_names_the_first(client: Client) -> None:
    run_id = client.start("ask", {"amount": 40})["run_id"]
    pause = client.wait(run_id)["pauses"][0]["pause"]
    client.answer(run_id, pause, "rejected")
    with pytest.raises(Conflict) as caught:
        client.answer(run_id, pause, "rejected")
    assert caught.value.first is not None and caught.value.first["decision"] == "rejected"


def test_a_wait_for_the_end_does_not_stop_at_a_question(client: Client) -> None:
    run_id = client.start("ask", {"amount": 40})["run_id"]
    client.wait(run_id)
    with pytest.raises(StillRunning) as caught:
        client.wait(run_id, until="ended", timeout_s=0.2)
    assert caught.value.run["status"] == "paused" and "still paused after 0.2 s" in str(caught.value)


def test_a_wait_goes_on_through_a_timer(client: Client) -> None:
    run_id = client.start("nap")["run_id"]
    assert client.wait(run_id)["status"] == "completed"


def test_a_wait_notices_a_question_that_comes_while_it_waits(client: Client) -> None:
    run = client.wait(client.start("late")["run_id"], timeout_s=20)
    assert (run["status"], [pause["pause"] for pause in run["pauses"]]) == ("paused", ["boss"])


def test_a_message_reaches_the_run_of_its_key(client: Client) -> None:
    run_id = client.start("order", {"id": "A-1"})["run_id"]
    assert client.start("order", {"id": "A-1"})["joined"]
    sent = client.send("order", "payment", {"amount": 7}, key="A-1", id="evt-1")
    assert (sent["id"], sent["delivered"]) == ("evt-1", [run_id])
    assert client.wait(run_id, timeout_s=20)["outputs"] == {"out": 7}
    with pytest.raises(NotFound) as caught:
        client.send("order", "payment", {"amount": 7}, key="A-1")
    assert caught.value.code == "no_receiver"


def test_a_message_may_start_a_run_or_name_one(client: Client) -> None:
    sent = client.send("order", "payment", {"amount": 1}, key=17, start=True, inputs={"id": 17})
    assert client.wait(str(sent["started"]), timeout_s=20)["outputs"] == {"out": 1}
    run_id = client.start("order", {"id": "B"}, key="C")["run_id"]
    assert client.send_to_run(run_id, "payment", {"amount": 2})["delivered"] == [run_id]
    assert client.wait(run_id, timeout_s=20)["key"] == "C"


def test_a_run_is_cancelled(client: Client) -> None:
    run_id = client.start("ask", {"amount": 40})["run_id"]
    client.cancel(run_id, by="Ada", reason="a test")
    assert client.wait(run_id, until="ended")["status"] == "cancelled"
    with pytest.raises(Conflict) as caught:
        client.cancel(run_id)
    assert caught.value.code == "run_ended"


def test_a_run_is_run_again(client: Client) -> None:
    run_id = client.start("echo", {"n": 1})["run_id"]
    client.wait(run_id)
    again = client.rerun(run_id, inputs={"n": 2}, again=False)
    assert client.wait(again["run_id"])["outputs"]["said"] == {"got": {"n": 2}}
    with pytest.raises(Conflict) as caught:
        client.rerun(run_id, again=False)
    assert caught.value.code == "rerun_already"


def test_runs_are_listed_page_by_page(client: Client) -> None:
    word = "page:by-page"
    started = {client.start("echo", keywords=[word])["run_id"] for _ in range(3)}
    found = client.runs(workflow="echo", keyword=[word])
    assert isinstance(found, Iterator) and {run["id"] for run in found} == started
    assert len(list(client.runs(workflow="echo", limit=2))) == 2
    assert list(client.runs(limit=0)) == []


def test_events_are_followed_to_the_end(client: Client) -> None:
    run_id = client.start("nap")["run_id"]
    events = list(client.events(run_id))
    assert [event["eventId"] for event in events] == list(range(1, len(events) + 1))
    assert (events[0]["type"], events[-1]["type"]) == ("run.started", "run.completed")
    assert [event["eventId"] for event in client.events(run_id, after=2)] == [event["eventId"] for event in events[2:]]
    assert list(client.events(run_id, after=len(events))) == []


def test_a_stream_in_pieces_is_followed_to_the_end(lambda_like: Served) -> None:
    with Client(lambda_like.url, KEY) as client:
        run_id = client.start("nap")["run_id"]
        events = [event["eventId"] for event in client.events(run_id)]
    assert events == list(range(1, len(events) + 1))


def test_an_iterator_may_be_left_early(client: Client) -> None:
    run_id = client.start("ask", {"amount": 1})["run_id"]
    assert next(client.events(run_id))["type"] == "run.started"
    assert client.wait(run_id)["status"] == "paused"


# -- errors -----------------------------------------------------------------------------------------------------------


def test_an_error_has_what_the_api_says(client: Client) -> None:
    with pytest.raises(NotFound) as caught:
        client.start("ehco")
    error = caught.value
    assert (error.status, error.code, error.title) == (404, "unknown_workflow", "Unknown workflow")
    assert error.detail and error.problem["code"] == "unknown_workflow"


def test_inputs_are_checked_if_they_should_be(client: Client) -> None:
    with pytest.raises(InvalidRequest) as caught:
        client.start("strict", {}, check=True)
    assert caught.value.status == 422 and caught.value.problem["violations"]


def test_a_wrong_key_is_told(server: Served) -> None:
    with Client(server.url, "another") as client, pytest.raises(Unauthorized):
        client.get("run_1")


@pytest.mark.parametrize("key", ["", "x" * 201, "bestellung-ü", "a\nb", " padded"])
def test_a_key_that_no_header_can_carry_is_refused(client: Client, key: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        client.start("echo", idempotency_key=key)
    assert caught.value.code == "invalid_idempotency_key"


# -- both clients -----------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_the_asynchronous_client_does_the_same(server: Served) -> None:
    async with AsyncClient(server.url, KEY) as client:
        run_id = (await client.start("ask", {"amount": 40}, keywords=["asynchronous:1"]))["run_id"]
        run = await client.wait(run_id)
        await client.answer(run_id, run["pauses"][0]["pause"], "approved", {"limit": 5})
        events = [event async for event in client.events(run_id)]
        assert (await client.get(run_id))["status"] == "completed"
        assert [event["eventId"] for event in events] == list(range(1, len(events) + 1))
        assert [found["id"] async for found in client.runs(keyword=["asynchronous:1"])] == [run_id]
        with pytest.raises(Conflict):
            await client.cancel(run_id)
        again = await client.rerun(run_id)
        with pytest.raises(StillRunning):
            await client.wait(again["run_id"], until="ended", timeout_s=0.1)


def calls() -> set[str]:
    return {name for name in vars(Calls) if not name.startswith("_")}


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_each_client_has_every_call_with_its_signature(kind: type) -> None:
    assert {name for name in vars(kind) if name in calls()} == calls()
    for name in calls():
        assert inspect.signature(getattr(kind, name)) == inspect.signature(getattr(Calls, name))
        assert inspect.getdoc(getattr(kind, name))


def test_the_client_knows_the_ends_of_a_run() -> None:
    assert set(ENDS_OF_THE_LOG) == RUN_ENDS
