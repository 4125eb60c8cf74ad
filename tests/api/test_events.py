from __future__ import annotations

from typing import Any

import pytest

from stepless.errors import StoreUnavailable
from stepless.limits import PAGE_EVENTS

pytestmark = pytest.mark.anyio

SSE = {"accept": "text/event-stream"}
WIDE = {
    "id": "wide",
    "nodes": {
        "begin": {"type": "manual"},
        "each": {
            "type": "loop", "after": "begin",
            "with": {"times": 200, "body": {"nodes": {"x": {"type": "transform", "with": {"value": "<loop.index>"}}}}},
        },
    },
}  # fmt: skip


def ids(events: list[dict[str, Any]]) -> list[int]:
    return [event["eventId"] for event in events]


# -- pages ------------------------------------------------------------------------------------------------------------


async def test_a_log_is_read_in_pages_without_gap_or_double(door: Any) -> None:
    run_id = (await door.finish(WIDE))["run_id"]
    events: list[dict[str, Any]] = []
    page = {"cursor": 0, "ended": False}
    while not page["ended"]:
        page = (await door.ask.get(f"/runs/{run_id}/events?afterEventId={page['cursor']}&limit=70")).json()
        assert 0 < len(page["events"]) <= 70
        events += page["events"]
    assert ids(events) == list(range(1, len(events) + 1)) and len(events) > PAGE_EVENTS
    assert events[-1]["type"] == "run.completed"


async def test_a_page_after_the_end_says_so_at_once(door: Any) -> None:
    run_id = (await door.finish(door.ECHO))["run_id"]
    whole = (await door.ask.get(f"/runs/{run_id}/events")).json()
    rest = (await door.ask.get(f"/runs/{run_id}/events?afterEventId={whole['cursor']}")).json()
    assert (rest["events"], rest["cursor"], rest["ended"]) == ([], whole["cursor"], True)


async def test_whoever_prefers_not_to_wait_gets_an_empty_page(door: Any) -> None:
    run_id, _ = await door.question()
    head = (await door.run(run_id))["sequence"]
    page = (await door.ask.get(f"/runs/{run_id}/events?afterEventId={head}", headers={"prefer": "wait=0"})).json()
    assert (page["events"], page["cursor"], page["ended"]) == ([], head, False)


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
@pytest.mark.parametrize(
    ("query", "headers"),
    [
        ("afterEventId=-1", {}),
        ("afterEventId=1.5", {}),
        ("afterEventId=x", {}),
        ("afterEventId=", {}),
        ("afterEventId=%D9%A3", {}),
        (f"afterEventId={'9' * 30}", {}),
        ("afterEventId=-1", {"last-event-id": "1"}),
        ("", {"last-event-id": "-1"}),
        ("", {"last-event-id": "1e3"}),
        ("", {"last-event-id": ""}),
    ],
)
async def test_a_cursor_that_is_no_event_id_is_refused(door: Any, accept: str, query: str, headers: dict[str, str]) -> None:
    run_id = (await door.finish(door.ECHO))["run_id"]
    answer = await door.ask.get(f"/runs/{run_id}/events?{query}", headers={"accept": accept, **headers})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_cursor")


@pytest.mark.parametrize("query", ["limit=0", f"limit={PAGE_EVENTS + 1}", "after=1"])
async def test_unknown_or_boundless_parameters_are_refused(door: Any, query: str) -> None:
    run_id = (await door.finish(door.ECHO))["run_id"]
    assert (await door.ask.get(f"/runs/{run_id}/events?{query}")).status_code == 400


async def test_the_query_beats_the_header(door: Any) -> None:
    run_id = (await door.finish(door.ECHO))["run_id"]
    for headers in ({"last-event-id": "3"}, {"last-event-id": "not looked at"}):
        page = (await door.ask.get(f"/runs/{run_id}/events?afterEventId=1", headers=headers)).json()
        assert ids(page["events"])[0] == 2
    page = (await door.ask.get(f"/runs/{run_id}/events", headers={"last-event-id": "3"})).json()
    assert ids(page["events"])[0] == 4


async def test_large_values_stand_cut_short_in_the_log(door: Any) -> None:
    run_id = (await door.finish(door.ECHO, {"text": "x" * 200_000}))["run_id"]
    answer = await door.ask.get(f"/runs/{run_id}/events")
    started = answer.json()["events"][0]["payload"]
    assert len(answer.content) < 10_000 and started["previews"]["inputs"].startswith('{"text":"xxx')


# -- streams ----------------------------------------------------------------------------------------------------------


async def test_a_stream_has_exactly_these_headers_and_fields(door: Any) -> None:
    run_id = (await door.finish(door.ECHO))["run_id"]
    async with door.stream(f"/runs/{run_id}/events") as stream:
        assert (stream.status, stream.headers) == (
            200,
            {
                "content-type": "text/event-stream; charset=utf-8",
                "cache-control": "no-cache, no-transform",
                "connection": "keep-alive",
                "x-accel-buffering": "no",
            },
        )
        assert await stream.frame() == {"retry": "1000"}
        events = []
        while (event := await stream.event()) is not None:
            events.append(event)
    assert ids(events) == list(range(1, len(events) + 1)) and events[-1]["type"] == "run.completed"


async def test_a_stream_says_what_the_pages_say(door: Any) -> None:
    run_id = (await door.finish(door.ECHO))["run_id"]
    page = (await door.ask.get(f"/runs/{run_id}/events")).json()["events"]
    async with door.stream(f"/runs/{run_id}/events") as stream:
        assert [await stream.event() for _ in page] == page


async def test_a_stream_follows_the_run_to_its_end(door: Any) -> None:
    run_id, link = await door.question()
    async with door.stream(f"/runs/{run_id}/events") as stream:
        seen = []
        while not seen or seen[-1]["payload"].get("status") != "paused":
            seen.append(await stream.event())
        assert (await door.stranger.post(link, json={"decision": "approved"})).status_code == 200
        while (event := await stream.event()) is not None:
            seen.append(event)
    assert ids(seen) == list(range(1, len(seen) + 1)) and seen[-1]["type"] == "run.completed"


async def test_a_client_that_hangs_up_and_comes_back_misses_and_doubles_nothing(door: Any) -> None:
    run_id = (await door.finish(WIDE))["run_id"]
    seen: list[dict[str, Any]] = []
    while not seen or seen[-1]["type"] != "run.completed":
        async with door.stream(f"/runs/{run_id}/events", last_event_id=str(len(seen))) as stream:
            for _ in range(97):
                event = await stream.event()
                if event is None:
                    break
                seen.append(event)
    assert ids(seen) == list(range(1, len(seen) + 1))


async def test_a_client_that_has_seen_the_end_is_told_to_stay_away(door: Any) -> None:
    run_id = (await door.finish(door.ECHO))["run_id"]
    last = (await door.ask.get(f"/runs/{run_id}/events")).json()["cursor"]
    for cursor in (last, last + 100):
        answer = await door.ask.get(f"/runs/{run_id}/events", headers={**SSE, "last-event-id": str(cursor)})
        assert (answer.status_code, answer.content) == (204, b"")
    before_last = await door.ask.get(f"/runs/{run_id}/events", headers={**SSE, "last-event-id": str(last - 1)})
    assert (before_last.status_code, before_last.text.count("id: ")) == (200, 1)


async def test_heartbeats_carry_no_id_and_change_no_cursor(make_door: Any) -> None:
    door = await make_door(heartbeat_seconds=0.01)
    run_id, _ = await door.question()
    head = (await door.run(run_id))["sequence"]
    async with door.stream(f"/runs/{run_id}/events?afterEventId={head}") as stream:
        assert [await stream.frame() for _ in range(3)] == [{"retry": "1000"}, *[{"event": "heartbeat", "data": "{}"}] * 2]


async def test_a_cursor_ahead_of_the_log_waits_for_what_lies_behind_it(door: Any) -> None:
    run_id, link = await door.question()
    head = (await door.run(run_id))["sequence"]
    async with door.stream(f"/runs/{run_id}/events?afterEventId={head + 2}") as stream:
        await door.stranger.post(link, json={"decision": "approved"})
        event = await stream.event()
        assert event is not None and event["eventId"] == head + 3


async def test_an_unknown_run_has_no_stream(door: Any) -> None:
    answer = await door.ask.get("/runs/none/events", headers=SSE)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")


async def test_a_store_that_is_gone_for_a_moment_breaks_no_stream(make_door: Any) -> None:
    door = await make_door(heartbeat_seconds=0.01)
    run_id, link = await door.question()
    head = (await door.run(run_id))["sequence"]
    async with door.stream(f"/runs/{run_id}/events?afterEventId={head}") as stream:
        await stream.frame()
        door.store.trouble = StoreUnavailable("gone for a moment")
        assert (await stream.frame())["event"] == "heartbeat"
        door.store.trouble = None
        await door.stranger.post(link, json={"decision": "approved"})
        event = await stream.event()
        assert event is not None and event["eventId"] == head + 1


# -- finite streams, for Lambda ---------------------------------------------------------------------------------------


async def test_a_finite_stream_gives_what_there_is_and_closes(make_door: Any) -> None:
    door = await make_door(stream_seconds=10)
    run_id, link = await door.question()
    seen: list[int] = []
    answer = await door.ask.get(f"/runs/{run_id}/events", headers=SSE)
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8" and answer.text.startswith("retry: 1000\n\n")
    seen += _ids(answer.text)
    await door.stranger.post(link, json={"decision": "rejected"})
    while answer.status_code != 204:
        answer = await door.ask.get(f"/runs/{run_id}/events", headers={**SSE, "last-event-id": str(seen[-1])})
        seen += _ids(answer.text)
    assert seen == list(range(1, (await door.run(run_id))["sequence"] + 1))


def _ids(text: str) -> list[int]:
    return [int(line[4:]) for line in text.split("\n") if line.startswith("id: ")]


async def test_a_finite_stream_that_has_waited_in_vain_says_only_that_it_lives(make_door: Any) -> None:
    door = await make_door(stream_seconds=0.01)
    run_id, _ = await door.question()
    head = (await door.run(run_id))["sequence"]
    answer = await door.ask.get(f"/runs/{run_id}/events", headers={**SSE, "last-event-id": str(head)})
    assert (answer.status_code, answer.text) == (200, "retry: 1000\n\nevent: heartbeat\ndata: {}\n\n")


async def test_a_page_waits_no_longer_than_a_finite_stream(make_door: Any) -> None:
    door = await make_door(stream_seconds=0.01)
    run_id, _ = await door.question()
    head = (await door.run(run_id))["sequence"]
    page = (await door.ask.get(f"/runs/{run_id}/events?afterEventId={head}", headers={"prefer": "wait=20"})).json()
    assert page == {"events": [], "cursor": head, "ended": False}


# -- what is worked out while reading ---------------------------------------------------------------------------------

LOOPED = {
    "id": "looped",
    "nodes": {
        "begin": {"type": "manual"},
        "each": {"type": "loop", "after": "begin", "with": {"items": "<begin>", "body": {"nodes": {
            "double": {"type": "transform", "with": {"value": "{{ <input> * 2 }}"}}}}}},
        "bulk": {"type": "transform", "after": "each", "with": {"value": "x" * 40_000}},
        "last": {"type": "transform", "after": "bulk", "with": {"value": 1}},
    },
}  # fmt: skip


async def test_events_tell_inputs_and_outputs_of_containers_to_those_who_ask(door: Any) -> None:
    run_id = (await door.finish(LOOPED, [1, 2]))["run_id"]
    plain = (await door.ask.get(f"/runs/{run_id}/events")).json()["events"]
    rich = (await door.ask.get(f"/runs/{run_id}/events?inputs=true")).json()["events"]
    assert [event["eventId"] for event in rich] == [event["eventId"] for event in plain]
    started = {e["payload"]["instance"]: e["payload"] for e in rich if e["type"] == "node.started"}
    assert started["begin"]["inputs"] == {"input": [1, 2]}
    assert started["double@each[1]"]["inputs"] == {"input": 2}
    assert "inputs" not in started["last"] and "xxx" in started["last"]["previews"]["inputs"], "large ones are cut"
    ends = {e["payload"]["instance"]: e["payload"] for e in rich if e["type"] == "node.completed"}
    assert ends["each"]["output"] == [2, 4]
    worked_out = {"inputs", "output", "previews"}
    for one, other in zip(plain, rich, strict=True):
        assert {**one["payload"]} == {k: v for k, v in other["payload"].items() if k in one["payload"] or k not in worked_out}


async def test_they_are_told_from_any_point_on_page_by_page_and_in_streams(door: Any) -> None:
    run_id = (await door.finish(LOOPED, [1, 2]))["run_id"]
    whole = (await door.ask.get(f"/runs/{run_id}/events?inputs=true")).json()["events"]
    read: list[Any] = []
    while True:
        after = read[-1]["eventId"] if read else 0
        page = (await door.ask.get(f"/runs/{run_id}/events?inputs=true&limit=4&afterEventId={after}")).json()
        read += page["events"]
        if page["ended"]:
            break
    assert read == whole
    async with door.stream(f"/runs/{run_id}/events?inputs=true") as stream:
        assert [await stream.event() for _ in whole] == whole
        assert await stream.event() is None


async def test_a_stream_with_inputs_goes_on_while_the_run_does(door: Any) -> None:
    run_id = await door.start(door.ASK, {"text": "5"})
    async with door.stream(f"/runs/{run_id}/events?inputs=true") as stream:
        while (await stream.event())["type"] != "node.waiting":
            pass
        (pause,) = (await door.paused(run_id))["pauses"]
        await door.stranger.post(pause["resume"], json={"decision": "approved"})
        starts = []
        while (event := await stream.event()) is not None:
            starts += [event] if event["type"] == "node.started" else []
    assert [event["payload"]["inputs"]["input"]["decision"] for event in starts] == ["approved"]
