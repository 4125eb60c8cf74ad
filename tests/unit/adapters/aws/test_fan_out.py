"""The parts of a sweep as messages, and how batches of messages are sent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stepless.adapters.aws.fan_out import decode_part, send_parts
from stepless.adapters.aws.queue import SqsQueue, decode_message
from stepless.errors import InvalidRequest, StoreUnavailable
from stepless.ports import Message


class Sqs:
    """Refuses the messages of `refused` as often as it says."""

    def __init__(self, refused: dict[str, int] | None = None) -> None:
        self.requests: list[int] = []
        self.bodies: list[str] = []
        self._refused = refused or {}

    def send_message_batch(self, *, QueueUrl: str, Entries: list[dict[str, str]]) -> dict[str, Any]:  # noqa: N803
        self.requests.append(len(Entries))
        failed = []
        for entry in Entries:
            left = self._refused.get(entry["MessageBody"], 0)
            self._refused[entry["MessageBody"]] = left - 1
            if left > 0:
                failed.append({"Id": entry["Id"], "Code": "InternalError", "SenderFault": False})
            else:
                self.bodies.append(entry["MessageBody"])
        return {"Failed": failed} if failed else {}


def test_every_part_is_one_message_and_their_limits_add_up() -> None:
    sqs = Sqs()
    parts = [(number, 23) for number in range(23)]
    send_parts(sqs, "url", parts, 100_000)
    decoded = [decode_part(body) for body in sqs.bodies]
    assert [part for part, _ in decoded] == parts
    assert 100_000 <= sum(limit for _, limit in decoded) < 100_000 + 23
    assert sqs.requests == [10, 10, 3]


@pytest.mark.parametrize("body", [
    "", "[]", "{}", '{"part":[0,1]}', '{"part":[1,1],"limit":5}', '{"part":[-1,4],"limit":5}', '{"part":[0,4],"limit":0}',
    '{"part":[0,4,5],"limit":1}', '{"part":["0",4],"limit":1}', '{"part":[true,4],"limit":1}', '{"part":[0,4],"limit":1.5}',
])  # fmt: skip
def test_anything_else_is_refused(body: str) -> None:
    with pytest.raises(InvalidRequest):
        decode_part(body)


def test_hints_are_sent_ten_at_a_time_and_refused_ones_again() -> None:
    messages = [Message(f"r{number}", "sweep") for number in range(25)]
    body = '{"run":"r7","reason":"sweep","hops":0}'
    sqs = Sqs({body: 2})
    SqsQueue(sqs, "url").send_all(messages)
    assert sqs.requests == [10, 1, 1, 10, 5]
    assert {decode_message(one).run_id for one in sqs.bodies} == {message.run_id for message in messages}


def test_a_message_that_stays_refused_is_an_error() -> None:
    with pytest.raises(StoreUnavailable):
        SqsQueue(Sqs({json.dumps({"run": "r", "reason": "sweep", "hops": 0}, separators=(",", ":")): 9}), "url").send_all(
            [Message("r", "sweep")]
        )


def test_no_message_is_no_request() -> None:
    sqs = Sqs()
    SqsQueue(sqs, "url").send_all([])
    assert sqs.requests == []
