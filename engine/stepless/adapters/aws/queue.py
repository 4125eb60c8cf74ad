"""Sends and decodes hints in SQS messages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from stepless.adapters.aws.errors import translated
from stepless.errors import InvalidRequest, StoreUnavailable
from stepless.ports import Message

MAX_DELAY_MS: Final = 900_000  # the longest delay that SQS supports
AT_ONCE: Final = 10  # messages of one request
_TRIES: Final = 3  # of sending a message that SQS refuses for the moment


class SqsQueue:
    """Sends to a standard queue: a FIFO queue has no delay per message, and a failing message would block its run. Delays are
    capped at 15 minutes: a hint that arrives early is harmless."""

    def __init__(self, client: Any, url: str) -> None:
        self._client = client
        self._url = url

    def send(self, message: Message, delay_ms: int = 0) -> None:
        seconds = -(-min(max(0, delay_ms), MAX_DELAY_MS) // 1000)  # rounded up: a timer never fires early
        with translated(self._url):
            self._client.send_message(QueueUrl=self._url, MessageBody=encode_message(message), DelaySeconds=seconds)

    def send_all(self, messages: Sequence[Message]) -> None:
        """Raises `StoreUnavailable` if SQS keeps refusing a message."""
        for start in range(0, len(messages), AT_ONCE):
            send_batch(self._client, self._url, [encode_message(message) for message in messages[start : start + AT_ONCE]])

    def delete(self, receipts: Sequence[str]) -> None:
        """Deletes messages that are done, by their receipt handles: after a failed invocation, SQS would deliver them again."""
        for start in range(0, len(receipts), AT_ONCE):
            some = enumerate(receipts[start : start + AT_ONCE])
            entries = [{"Id": str(number), "ReceiptHandle": receipt} for number, receipt in some]
            with translated(self._url):
                self._client.delete_message_batch(QueueUrl=self._url, Entries=entries)


def send_batch(client: Any, url: str, bodies: Sequence[str]) -> None:
    """Sends up to AT_ONCE messages in one request, and those that SQS refuses again. Raises `StoreUnavailable` for the rest."""
    left = [{"Id": str(number), "MessageBody": body} for number, body in enumerate(bodies)]
    for _ in range(_TRIES):
        with translated(url):
            answer = client.send_message_batch(QueueUrl=url, Entries=left)
        refused = {one["Id"] for one in answer.get("Failed", ())}
        left = [entry for entry in left if entry["Id"] in refused]
        if not left:
            return
    raise StoreUnavailable(f"SQS refused {len(left)} messages", place=url, mend="try again")


def encode_message(message: Message) -> str:
    """Returns the body of a message; messages from the queue and from schedules have the same format."""
    body: dict[str, str | int] = {"run": message.run_id, "reason": message.reason, "hops": message.hops}
    if message.spent:
        body["spent"] = message.spent.decode()
    if message.epoch:
        body["epoch"] = message.epoch
    if message.unsaved:
        body["unsaved"] = True
    return json.dumps(body, separators=(",", ":"))


def decode_message(body: str) -> Message:
    """Returns the hint in a message's body. Raises `InvalidRequest` for any other body."""
    try:
        fields = json.loads(body)
        run_id, reason, hops, spent = fields["run"], fields["reason"], fields.get("hops", 0), fields.get("spent", "")
        epoch, unsaved = fields.get("epoch", 0), fields.get("unsaved", False)
        texts, numbers = all(isinstance(text, str) for text in (run_id, reason, spent)), {type(hops), type(epoch)} == {int}
        if not (texts and numbers and isinstance(unsaved, bool)):
            raise TypeError("a field has the wrong type")
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise InvalidRequest(f"not a message of this queue: {body[:100]!r}", place="queue") from error
    return Message(run_id, reason, hops, spent.encode("utf-8", "replace"), epoch, unsaved)
