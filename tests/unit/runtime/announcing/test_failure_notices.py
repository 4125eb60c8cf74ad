"""Notices of failed runs: to whom, in which format, how often, and what they never contain."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from stepless.errors import DocumentRefused
from stepless.limits import EXPORT_RETRY_MS
from stepless.model.work import NodeFailure
from stepless.nodes.function import function

WHY = {"why": "the bank said no", "card": "4111"}


def test_slack_receives_the_node_the_message_and_a_link(place: Callable[..., Any], failing: Any) -> None:
    world = place()
    run_id = world.start(failing("${SLACK}"), WHY)
    (post,) = world.outside.posts
    assert post.url.startswith("https://hooks.slack.com/")
    body = json.loads(post.content)
    text = json.dumps(body)
    assert body["text"] == "Refunds failed at pay"
    assert "the bank said no" in text
    assert "Node: pay" in text
    assert f"<https://shop.example/runs/{run_id}/view|Open the run>" in text
    assert "4111" not in text


def test_texts_of_the_log_cannot_mention_or_link_in_slack(place: Callable[..., Any], failing: Any) -> None:
    world = place()
    world.start(failing("${SLACK}", name="R <!channel> & co"), {"why": "<!channel> <https://evil.example|click>"})
    (body,) = world.outside.bodies()
    assert body["text"] == "R &lt;!channel&gt; &amp; co failed at pay"
    for block in body["blocks"][:3]:
        for text in [block["text"]] if "text" in block else block["fields"]:
            assert text["type"] == "plain_text"


def test_teams_receives_an_adaptive_card_of_plain_texts(place: Callable[..., Any], failing: Any) -> None:
    world = place()
    run_id = world.start(failing("${TEAMS}"), WHY)
    (body,) = world.outside.bodies()
    card = body["attachments"][0]["content"]
    assert (body["type"], card["type"]) == ("message", "AdaptiveCard")
    assert {part["type"] for part in card["body"]} == {"RichTextBlock"}
    assert card["actions"][0]["url"] == f"https://shop.example/runs/{run_id}/view"
    assert "the bank said no" in json.dumps(card)


def test_a_webhook_receives_the_event_signed(place: Callable[..., Any], failing: Any) -> None:
    world = place()
    run_id = world.start(failing("${HOOK}"), WHY)
    (post,) = world.outside.posts
    detail = json.loads(post.content)
    assert (detail["run"], detail["type"], detail["error"]["node"]) == (run_id, "run.failed", "pay")
    assert post.headers["x-signature"].startswith("t=")
    assert post.headers["idempotency-key"].startswith(f"{run_id}:{detail['sequence']}:")


def test_the_format_can_be_named_where_the_host_does_not_show_it(place: Callable[..., Any], failing: Any) -> None:
    world = place()
    world.start(failing("slack:${HOOK}"), WHY)
    assert "blocks" in world.outside.bodies()[0]


def test_mail_and_topics(place: Callable[..., Any], failing: Any) -> None:
    world = place({"STEPLESS_NOTIFY_FROM": "runs@shop.example"})
    world.start(failing(["mailto:ops@shop.example", "arn:aws:sns:eu-west-1:123456789012:ops"]), WHY)
    (mail, topic) = world.outside.calls
    assert mail[:2] == ("sesv2", "SendEmail")
    assert (mail[2]["FromEmailAddress"], mail[2]["Destination"]) == ("runs@shop.example", {"ToAddresses": ["ops@shop.example"]})
    assert "the bank said no" in mail[2]["Content"]["Simple"]["Body"]["Text"]["Data"]
    assert topic[:2] == ("sns", "Publish")
    assert topic[2]["Subject"] == "Refunds failed at pay"


def test_the_deployment_has_targets_and_a_workflow_replaces_them(place: Callable[..., Any], failing: Any) -> None:
    world = place({"STEPLESS_ON_FAILURE_NOTIFY": "${HOOK} mailto:ops@shop.example", "STEPLESS_NOTIFY_FROM": "a@b.example"})
    world.start(failing(), WHY)
    assert (len(world.outside.posts), len(world.outside.calls)) == (1, 1)
    world.start(failing("${SLACK}", id="own"), WHY)
    assert (len(world.outside.posts), len(world.outside.calls)) == (2, 1)
    assert world.outside.posts[1].url.startswith("https://hooks.slack.com/")
    world.start(failing([], id="silent"), WHY)
    assert (len(world.outside.posts), len(world.outside.calls)) == (2, 1)


def test_a_run_that_completes_notifies_of_nothing(place: Callable[..., Any]) -> None:
    world = place({"STEPLESS_ON_FAILURE_NOTIFY": "${HOOK}"})
    world.start({"id": "fine", "nodes": {"start": {"type": "manual"}}})
    assert world.outside.posts == []


def test_a_notice_that_fails_comes_again_and_only_to_the_target_that_failed(place: Callable[..., Any], failing: Any) -> None:
    world = place()
    world.outside.fails = [NodeFailure("provider_error", "http_503", "")]
    run_id = world.start(failing(["${SLACK}", "${HOOK}"]), WHY)
    assert [post.url.split("/")[2] for post in world.outside.posts] == ["hooks.example"]
    assert world.head(run_id).due_ms == world.clock.now_ms() + EXPORT_RETRY_MS
    asked = world.outside.posts[0].headers["idempotency-key"]
    world.built.world = world.world  # the same process goes on
    world.runner = type(world.runner)(world.world)
    relay = world.world.relay._relay
    for _, backoff in relay._exporters:
        backoff.succeeded()
    world.later(EXPORT_RETRY_MS)
    assert [post.url.split("/")[2] for post in world.outside.posts] == ["hooks.example", "hooks.slack.com"]
    assert asked != world.outside.posts[1].headers["idempotency-key"]
    assert world.head(run_id).due_ms is None
    world.restart()
    world.later(10 * EXPORT_RETRY_MS)
    assert len(world.outside.posts) == 2


def test_a_rerun_that_fails_in_the_same_way_is_not_notified_again(place: Callable[..., Any], failing: Any) -> None:
    world = place()
    run_id = world.start(failing("${HOOK}"), WHY)
    again = world.built.service.rerun(run_id).run_id
    world.drive(again)
    assert world.head(again).status == "failed"
    assert len(world.outside.posts) == 1
    third = world.built.service.rerun(again).run_id
    world.drive(third)
    assert len(world.outside.posts) == 1
    other = world.start(failing("${HOOK}"), WHY)  # another run is another failure
    assert [body["run"] for body in world.outside.bodies()] == [run_id, other]


def test_a_rerun_that_fails_at_the_same_node_with_another_code_is_notified(place: Callable[..., Any]) -> None:
    world = place()
    codes = ("expired", "no_funds", "no_funds")
    raised = [NodeFailure("provider_error", code, f"the card has {code}", retryable=False) for code in codes]

    @function("announcing.refuses")
    def refuses() -> None:
        raise raised.pop(0)

    work = {"type": "function", "with": {"call": "announcing.refuses"}}
    run_id = world.start({"id": "cards", "env": ["HOOK"], "on_failure_notify": "${HOOK}", "nodes": {"pay": work}})
    again = world.built.service.rerun(run_id).run_id
    world.drive(again)
    third = world.built.service.rerun(again).run_id
    world.drive(third)
    assert raised == [] and world.head(third).status == "failed"
    assert [body["run"] for body in world.outside.bodies()] == [run_id, again]  # the third fails as the second did


def test_a_target_that_cannot_work_is_reported_and_not_tried_for_ever(
    place: Callable[..., Any], failing: Any, caplog: pytest.LogCaptureFixture
) -> None:
    world = place(secrets={})
    with caplog.at_level(logging.WARNING):
        run_id = world.start(failing("${SLACK}"), WHY)
    assert (world.head(run_id).status, world.head(run_id).due_ms) == ("failed", None)
    assert "secret_missing" in caplog.text


def test_a_failure_of_delivery_is_logged_without_the_url(
    place: Callable[..., Any], failing: Any, caplog: pytest.LogCaptureFixture
) -> None:
    world = place()
    world.outside.fails = [NodeFailure("provider_error", "connection_failed", "slack-secret-path")]
    with caplog.at_level(logging.DEBUG):
        world.start(failing("${SLACK}"), WHY)
    assert "connection_failed" in caplog.text
    assert "slack-secret-path" not in caplog.text


@pytest.mark.parametrize("target", ["https://hooks.slack.com/services/T/B/x", "slack:https://hooks.slack.com/x"])
def test_a_url_is_not_written_in_a_document(place: Callable[..., Any], failing: Any, target: str) -> None:
    with pytest.raises(DocumentRefused) as refused:
        place().start(failing(target))
    assert "store it as a secret" in str(refused.value)


def test_a_secret_must_be_listed(place: Callable[..., Any], failing: Any) -> None:
    with pytest.raises(DocumentRefused) as refused:
        place().start(failing(["mailto:a@b.example", "${OTHER}"]))
    assert "on_failure_notify.1" in str(refused.value)
    assert "unlisted_env" in str(refused.value)


def test_a_time_out_is_a_failure(place: Callable[..., Any]) -> None:
    world = place({"STEPLESS_ON_FAILURE_NOTIFY": "slack:${HOOK}"})
    again = {"type": "function", "retry": {"attempts": 3, "backoff_ms": 60_000}, "with": {"call": "announcing.breaks"}}
    again["with"]["args"] = {"message": "x"}  # type: ignore[index]
    again["retry"]["retry_on"] = ["provider_error"]  # type: ignore[index]
    nodes = {"start": {"type": "manual"}, "a": {**again, "after": "start"}}
    run_id = world.start({"id": "slow", "timeout": "30s", "nodes": nodes})
    world.later(40_000)
    world.later(61_000)
    assert world.head(run_id).status == "timed_out"
    assert world.outside.bodies()[0]["text"] == "slow timed out"
