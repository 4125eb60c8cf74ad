"""The events of runs as signed webhooks: their content, their ids and their signature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepless.errors import ConfigError
from stepless.limits import EXPORT_RETRY_MS, MAX_ANNOUNCED_CHARACTERS
from stepless.model.work import NodeFailure
from stepless.nodes.entries.webhook import Signed
from stepless.runtime.runlog import RunLog
from stepless.runtime.triggers.signatures import verify
from stepless.runtime.wiring.exporting import check_exports

URL = {"STEPLESS_EVENTS_URL": "https://events.example/in"}
ASK = {
    "id": "asking", "numbered": True,
    "nodes": {
        "start": {"type": "manual"}, "ask": {"type": "approval", "after": "start", "with": {"message": "Pay?", "timeout": "1h"}},
        "paid": {"type": "join", "after": "ask.approved"},
    },
}  # fmt: skip


def types(place: Any) -> list[str]:
    return [body["detail-type"] for body in place.outside.bodies()]


def test_a_run_that_waits_and_completes(place: Callable[..., Any]) -> None:
    world = place(URL)
    run_id = world.start(ASK, {"amount": 12, "card": "4111"})
    assert types(world) == ["run.started", "node.waiting", "run.waiting"]
    world.built.service.answer_pause(run_id, "ask", "approved", {}, "ada")
    world.drive(run_id)
    assert types(world)[3:] == ["run.resumed", "run.completed"] or types(world)[3:] == ["run.completed"]
    bodies = world.outside.bodies()
    sequences = [body["detail"]["sequence"] for body in bodies]
    assert sequences == sorted(set(sequences))
    assert [body["id"] for body in bodies] == [f"{run_id}:{sequence}" for sequence in sequences]
    assert bodies[0]["detail"] == {
        "id": f"{run_id}:1", "type": "run.started", "run": run_id, "sequence": 1, "at": "2023-11-14T22:13:20.000Z",
        "workflow": "asking", "status": "running", "view": f"https://shop.example/runs/{run_id}/view", "version": 1, "number": 1,
    }  # fmt: skip
    waiting = bodies[1]["detail"]
    assert (waiting["node"], waiting["waits_for"], waiting["deadline"]) == ("ask", "answer", "2023-11-14T23:13:20.000Z")
    assert bodies[2]["detail"]["status"] == "paused"
    assert bodies[-1]["detail"]["status"] == "completed"
    assert "4111" not in str(bodies)  # no inputs


def test_a_failed_run_names_the_node_and_the_message_bounded_and_masked(place: Callable[..., Any], failing: Any) -> None:
    world = place(URL)
    world.start(failing(), {"why": "no card for https://hooks.example/failures " + "x" * 5_000})
    error = world.outside.bodies()[-1]["detail"]["error"]
    assert (error["node"], world.outside.bodies()[-1]["detail-type"]) == ("pay", "run.failed")
    assert len(error["message"]) <= MAX_ANNOUNCED_CHARACTERS
    assert "hooks.example/failures" not in str(world.outside.bodies())
    assert "***" in error["message"]


def test_a_webhook_is_signed_as_the_webhook_node_verifies_it(place: Callable[..., Any]) -> None:
    world = place(URL)
    world.start(ASK)
    for post in world.outside.posts:
        headers = {name.lower(): value for name, value in post.headers.items()}
        signed = Signed(scheme="hmac", secret="events-secret")
        assert verify(signed, headers, post.content, world.clock.now_ms()).headers == {"x-signature"}
        assert headers["idempotency-key"] in post.content.decode()


def test_events_that_a_receiver_refuses_come_again_with_the_same_id_and_content(place: Callable[..., Any]) -> None:
    world = place(URL)
    world.outside.fails = [NodeFailure("http_error", "http_500", "")] * 2
    run_id = world.start(ASK)
    assert world.head(run_id).exported == "hook0/1"
    world.restart()
    world.later(EXPORT_RETRY_MS)
    assert world.head(run_id).exported.startswith("hook0/")
    world.restart()
    world.later(10 * EXPORT_RETRY_MS)
    assert types(world) == ["run.started", "node.waiting", "run.waiting"]
    assert world.head(run_id).exported.startswith("hook")
    calm = place(URL)
    calm.start(ASK)
    one, other = ([{**body["detail"], **dict.fromkeys(("id", "run", "view"))} for body in side.outside.bodies()]
                  for side in (world, calm))  # fmt: skip
    assert one == other  # read from the log again, or handed over in memory


def test_holds_and_cancels_are_events(place: Callable[..., Any]) -> None:
    world = place(URL)
    run_id = world.start(ASK)
    world.built.service.hold(run_id, by="ada", reason="audit")
    world.drive(run_id)
    world.built.service.release(run_id, by="ada")
    world.drive(run_id)
    world.built.service.cancel(run_id, by="ada", reason="no longer needed")
    world.drive(run_id)
    assert types(world)[3:] == ["run.held", "run.released", "run.cancelled"]
    held = world.outside.bodies()[3]["detail"]
    assert (held["by"], held["why"]) == ("ada", "audit")


def test_every_announced_event_is_in_the_log(place: Callable[..., Any]) -> None:
    world = place(URL)
    run_id = world.start(ASK)
    log = {event.sequence: event for event in RunLog(world.world.store, world.world.blobs, run_id).read()}
    for body in world.outside.bodies():
        assert log[body["detail"]["sequence"]].at_ms == world.clock.now_ms()


def test_without_settings_nothing_is_exported_and_headers_hold_no_cursor(place: Callable[..., Any], failing: Any) -> None:
    world = place({})
    run_id = world.start(failing(), {"why": "x"})
    assert (world.outside.posts, world.head(run_id).exported) == ([], "")


@pytest.mark.parametrize(
    ("settings", "place_"),
    [({"STEPLESS_EVENTS_URL": "https://x.example"}, "STEPLESS_EVENTS_SECRET"),
     ({"STEPLESS_ON_FAILURE_NOTIFY": "https://hooks.slack.com/x"}, "STEPLESS_ON_FAILURE_NOTIFY")],
)  # fmt: skip
def test_settings_that_cannot_be_used_are_refused_at_the_start(settings: dict[str, str], place_: str) -> None:
    with pytest.raises(ConfigError) as refused:
        check_exports(settings.get, settings.get)
    assert refused.value.place == place_
