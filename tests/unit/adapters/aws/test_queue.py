"""Hints in SQS messages."""

from __future__ import annotations

import json

import pytest
from aws_services import Service

from stepless.adapters.aws.queue import SqsQueue, decode_message, encode_message
from stepless.errors import InvalidRequest, StoreUnusable
from stepless.ports import Message, Queue


def test_a_message_arrives_as_it_was_sent(aws: Service) -> None:
    url = aws("sqs").create_queue(QueueName="runs")["QueueUrl"]
    port: Queue = SqsQueue(aws("sqs"), url)
    port.send(Message("run_ü", "continue", 3))
    (received,) = aws("sqs").receive_message(QueueUrl=url)["Messages"]
    assert decode_message(received["Body"]) == Message("run_ü", "continue", 3)


def test_messages_that_are_done_are_deleted(aws: Service) -> None:
    url = aws("sqs").create_queue(QueueName="done")["QueueUrl"]
    queue = SqsQueue(aws("sqs"), url)
    queue.send_all([Message(f"run_{number}", "start") for number in range(12)])
    taken: list[str] = []
    while len(taken) < 12:
        found = aws("sqs").receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
        taken += [message["ReceiptHandle"] for message in found]
    queue.delete(taken)
    counts = aws("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    assert (counts["ApproximateNumberOfMessages"], counts["ApproximateNumberOfMessagesNotVisible"]) == ("0", "0")


def test_what_was_spent_travels_along() -> None:
    message = Message("r", "signal", spent=b"[3,2,0.5]")
    assert decode_message(encode_message(message)) == message
    assert "spent" not in encode_message(Message("r", "signal"))


def test_the_lease_that_was_passed_on_travels_along() -> None:
    """Beside the fields of the former release, which ignores others."""
    message = Message("r", "continue", 3, epoch=7, unsaved=True)
    body = encode_message(message)
    assert decode_message(body) == message
    assert json.loads(body) == {"run": "r", "reason": "continue", "hops": 3, "epoch": 7, "unsaved": True}
    assert decode_message('{"run":"r","reason":"continue","hops":3}') == Message("r", "continue", 3)
    assert json.loads(encode_message(Message("r", "continue", 3))).keys() == {"run", "reason", "hops"}


@pytest.mark.parametrize(
    ("delay_ms", "seconds"), [(-5, 0), (0, 0), (1, 1), (1_000, 1), (1_001, 2), (900_000, 900), (10**12, 900)]
)
def test_a_delay_is_rounded_up_and_cut_at_what_the_queue_can_hold(delay_ms: int, seconds: int) -> None:
    sent: list[int] = []

    class Client:
        def send_message(self, DelaySeconds: int, **_: str) -> None:  # noqa: N803 - the service's own word
            sent.append(DelaySeconds)

    SqsQueue(Client(), "url").send(Message("r", "timer"), delay_ms)
    assert sent == [seconds]


def test_a_queue_that_is_not_there_never_heals(aws: Service) -> None:
    with pytest.raises(StoreUnusable, match="deploy"):
        SqsQueue(aws("sqs"), "https://sqs.us-east-1.amazonaws.com/123456789012/none").send(Message("r", "start"))


BROKEN = ['{"run":1,"reason":"x"}', '{"run":"r","reason":"x","hops":true}', '{"run":"r","reason":"x","spent":[1]}']
BROKEN += [f'{{"run":"r","reason":"x",{field}}}' for field in ('"epoch":true', '"epoch":"2"', '"unsaved":1')]


@pytest.mark.parametrize("body", ["", "[]", "null", "7", "{}", *BROKEN])
def test_what_is_no_message_is_refused(body: str) -> None:
    with pytest.raises(InvalidRequest, match="queue"):
        decode_message(body)


def test_a_message_without_hops_has_made_none() -> None:
    assert decode_message('{"run":"r","reason":"timer"}') == decode_message(encode_message(Message("r", "timer")))
