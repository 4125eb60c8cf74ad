"""Calls over connections that break: a real server behind a proxy that answers in its place, or loses what it answers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from faulty_proxy import Fault, Proxy, cut_after, hold, lose, reset, say
from served_api import KEY, Served

from stepless.client import (
    AsyncClient,
    Client,
    Conflict,
    NotFound,
    OutcomeUnknown,
    ServerError,
    TooManyRequests,
    Unavailable,
    Unreachable,
)

MakeProxy = Callable[..., tuple[Proxy, Client]]

LIMITED = {"code": "rate_limited", "title": "Rate limited", "detail": "too fast", "mend": "slow down"}
BUSY = {"code": "store_unavailable", "title": "Store unavailable", "detail": "the store is busy", "mend": "try again"}
BUG = {"code": "internal_error", "title": "Internal error", "detail": "a bug", "report": "1f"}


page = say(200, content_type="text/html")


def keys(proxy: Proxy) -> list[str]:
    return [seen.headers["idempotency-key"] for seen in proxy.seen if "idempotency-key" in seen.headers]


@pytest.mark.parametrize(
    "faults",
    [
        [lose], [reset], [say(503)], [say(503, BUSY)], [say(502)], [say(504)], [say(500)], [say(429, LIMITED)],
        [lose, reset, say(503)],
    ],
    ids=["lost", "reset", "gateway 503", "503", "502", "504", "gateway 500", "429", "three in a row"],
)  # fmt: skip
def test_a_start_creates_one_run_whatever_breaks(behind: MakeProxy, client: Client, faults: list[Fault]) -> None:
    proxy, caller = behind(*faults)
    word = f"one:{proxy.url[-5:]}"
    started = caller.start("echo", {"n": 1}, keywords=[word])
    assert [run["id"] for run in client.runs(keyword=[word])] == [started["run_id"]]
    assert len(keys(proxy)) == len(faults) + 1 and len(set(keys(proxy))) == 1
    assert started["replay"] == (lose in faults)


def test_the_delay_that_the_server_asks_for_is_kept(behind: MakeProxy) -> None:
    proxy, caller = behind(say(429, LIMITED, retry_after="1"))
    caller.start("echo")
    first, second = proxy.seen
    assert second.at - first.at >= 1


def test_what_lasts_too_long_is_raised_with_what_the_server_said(behind: MakeProxy) -> None:
    proxy, caller = behind(say(429, LIMITED, retry_after="60"), retry_for_s=5)
    with pytest.raises(TooManyRequests) as caught:
        caller.start("echo")
    error = caught.value
    assert (error.code, error.detail, error.mend, error.status) == ("rate_limited", "too fast", "slow down", 429)
    assert len(proxy.seen) == 1


def test_an_unavailable_server_is_named_so(behind: MakeProxy) -> None:
    proxy, caller = behind(say(503, BUSY), say(503), retry_for_s=0)
    with pytest.raises(Unavailable, match="the store is busy"):
        caller.get("run_1")
    with pytest.raises(Unavailable) as caught:
        caller.get("run_1")
    assert caught.value.code == "no_stepless" and len(proxy.seen) == 2


@pytest.mark.parametrize(
    ("fault", "kind"), [(say(500, BUG), ServerError), (say(404), NotFound), (page, ServerError), (say(302), ServerError)],
    ids=["a bug", "a gateway's 404", "another service", "a redirect"],
)  # fmt: skip
def test_what_a_repetition_would_meet_again_is_raised_at_once(behind: MakeProxy, fault: Fault, kind: type) -> None:
    proxy, caller = behind(fault, say(500, BUG))
    with pytest.raises(kind):
        caller.get("run_1")
    assert len(proxy.seen) == 1


# -- calls without a key ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [lose, reset, say(503), say(503, BUSY)], ids=["lost", "reset", "gateway 503", "503"])
def test_a_rerun_that_may_have_been_received_is_not_repeated(behind: MakeProxy, client: Client, fault: Fault) -> None:
    run_id = client.start("echo")["run_id"]
    client.wait(run_id)
    proxy, caller = behind(fault)
    with pytest.raises((OutcomeUnknown, Unavailable)):
        caller.rerun(run_id)
    assert len(proxy.seen) == 1


def test_a_rerun_that_was_refused_is_repeated(behind: MakeProxy, client: Client) -> None:
    run_id = client.start("echo")["run_id"]
    client.wait(run_id)
    proxy, caller = behind(say(429, LIMITED))
    assert caller.rerun(run_id)["run_id"] != run_id
    assert len(proxy.seen) == 2


def test_an_answer_that_was_lost_is_the_callers_own(behind: MakeProxy, client: Client) -> None:
    run_id = client.start("ask", {"amount": 1})["run_id"]
    pause = client.wait(run_id)["pauses"][0]["pause"]
    _, caller = behind(lose)
    decided = caller.answer(run_id, pause, "approved", {"limit": 7}, by="Ada")
    assert (decided["decision"], decided["answer"]) == ("approved", {"limit": 7})
    assert client.wait(run_id)["outputs"]["pay"] == {"paid": 1}


def test_another_answer_is_not_taken_for_the_lost_one(behind: MakeProxy, client: Client) -> None:
    run_id = client.start("ask", {"amount": 1})["run_id"]
    pause = client.wait(run_id)["pauses"][0]["pause"]
    client.answer(run_id, pause, "rejected")
    _, caller = behind(reset)
    with pytest.raises(Conflict) as caught:
        caller.answer(run_id, pause, "approved")
    assert caught.value.first is not None and caught.value.first["decision"] == "rejected"


def test_a_cancel_that_was_lost_is_requested_once_more(behind: MakeProxy, client: Client) -> None:
    run_id = client.start("ask", {"amount": 1})["run_id"]
    proxy, caller = behind(lose, lose)
    caller.cancel(run_id)
    assert client.wait(run_id, until="ended")["status"] == "cancelled"
    assert len(proxy.seen) == 3


def test_a_cancel_of_a_run_that_completed_meanwhile_is_refused(behind: MakeProxy, client: Client) -> None:
    run_id = client.start("echo")["run_id"]
    client.wait(run_id)
    _, caller = behind(reset)
    with pytest.raises(Conflict):
        caller.cancel(run_id)


# -- following and waiting --------------------------------------------------------------------------------------------


def test_a_stream_that_breaks_is_continued_behind_the_last_event(behind: MakeProxy, client: Client) -> None:
    run_id = client.start("nap")["run_id"]
    proxy, caller = behind(cut_after(b"id: 2\n"), reset, cut_after(b"event: node.waiting\n"), say(503))
    events = [event["eventId"] for event in caller.events(run_id)]
    assert events == list(range(1, len(events) + 1))
    asked = [int(seen.headers["last-event-id"]) for seen in proxy.seen]
    assert asked[:2] == [0, 1] and asked == sorted(asked) and len(asked) == 5


@pytest.mark.anyio
async def test_the_asynchronous_client_continues_it_too(behind: MakeProxy, client: Client) -> None:
    run_id = client.start("nap")["run_id"]
    proxy, _ = behind(lose, cut_after(b"id: 3\n"), reset)
    async with AsyncClient(proxy.url, KEY) as caller:
        assert (await caller.start("echo"))["replay"] is True
        events = [event["eventId"] async for event in caller.events(run_id)]
    assert events == list(range(1, len(events) + 1)) and len(set(keys(proxy))) == 1


def test_a_wait_survives_what_breaks(behind: MakeProxy, client: Client) -> None:
    run_id = client.start("nap")["run_id"]
    _, caller = behind(lose, say(503), reset)
    assert caller.wait(run_id)["status"] == "completed"


def test_a_server_that_is_not_there_is_unreachable(server: Served) -> None:
    with Proxy(server.url) as proxy:
        gone = proxy.url
    with Client(gone, KEY, retry_for_s=0.3) as client:
        for call in (lambda: client.start("echo"), lambda: client.rerun("run_1"), lambda: client.get("run_1")):
            with pytest.raises(Unreachable):
                call()


def test_a_start_whose_every_try_was_lost_tells_its_key(behind: MakeProxy, client: Client) -> None:
    proxy, caller = behind(lose, lose, lose, lose, lose, retry_for_s=0.3)
    with pytest.raises(OutcomeUnknown) as caught:
        caller.start("echo", {"n": 1})
    key = keys(proxy)[0]
    assert key in caught.value.mend
    assert client.start("echo", {"n": 1}, idempotency_key=key)["replay"] is True


def test_a_silent_server_is_left_after_the_time_out(behind: MakeProxy) -> None:
    proxy, caller = behind(hold, timeout_s=1)
    assert caller.start("echo")["run_id"]
    assert len(keys(proxy)) >= 2 and len(set(keys(proxy))) == 1
