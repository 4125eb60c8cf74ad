"""Parses the payloads that start runs: events of EventBridge, records of S3 and SQS, firings of a calendar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from stepless.compile.reading.strict_json import strict_json
from stepless.errors import InvalidRequest
from stepless.model.json import JSON

FIRING: Final = "stepless.schedule"


@dataclass(frozen=True, slots=True)
class Firing:
    """The schedule `node` of a workflow was due at an instant."""

    workflow_id: str
    node: str
    at_ms: int


def firing_of(payload: Mapping[str, JSON]) -> Firing | None:
    """Parses the payload of a calendar, {FIRING: {workflow, node, at}} with `at` in ISO 8601. None for any other payload. Raises
    `InvalidRequest` (invalid_event) for a malformed firing."""
    given = payload.get(FIRING)
    if given is None:
        return None
    try:
        workflow_id, node, at = given["workflow"], given["node"], datetime.fromisoformat(given["at"])
        if not (isinstance(workflow_id, str) and isinstance(node, str)) or at.tzinfo is None:
            raise TypeError("a field is missing or has the wrong type")
    except (KeyError, TypeError, ValueError) as error:
        message = f"the firing of the schedule cannot be read: {error}"
        raise InvalidRequest(message, code="invalid_event", mend="publish the workflow again") from error
    return Firing(workflow_id, node, int(at.timestamp() * 1000))


def payload_of(record: Mapping[str, Any], own: str) -> Mapping[str, JSON]:
    """Returns the payload of an SQS record. For the queue `own` (an ARN), which receives from EventBridge, S3 and the calendar,
    it is the body; for any other queue, the record itself. Raises `InvalidRequest` (invalid_event)."""
    if record.get("eventSourceARN") != own:
        return {"Records": [dict(record)]}
    body = _parsed(str(record.get("body")))
    if not isinstance(body, dict):
        raise InvalidRequest("the message is not an event", code="invalid_event", mend="send events unchanged")
    return body


def events_of(payload: Mapping[str, JSON]) -> Sequence[Mapping[str, Any]]:
    """Returns the events of a payload in EventBridge's form: id, source, detail-type, resources, detail. Empty for the test event
    of S3. Raises `InvalidRequest`."""
    if all(isinstance(payload.get(name), str) for name in ("id", "source", "detail-type")):
        return [payload]
    if payload.get("Event") == "s3:TestEvent":  # sent once, when notifications of a bucket are configured
        return []
    records = payload.get("Records")
    if isinstance(records, list) and records and all(isinstance(r, dict) and r.get("eventSource") in _RECORDS for r in records):
        try:
            return [_RECORDS[record["eventSource"]](record) for record in records]
        except (KeyError, TypeError) as error:
            message = f"a record does not have the format of its source: {error}"
            raise InvalidRequest(message, code="invalid_event", mend="forward it unchanged") from error
    message = "this is neither an event of EventBridge nor records of S3 or SQS"
    raise InvalidRequest(message, code="invalid_event", mend="send an object with id, source and detail-type")


def _s3(record: Mapping[str, Any]) -> Mapping[str, Any]:
    bucket, item = record["s3"]["bucket"], record["s3"]["object"]
    return {
        "id": f"{bucket['name']}/{item['key']}#{item.get('sequencer', record.get('eventTime'))}:{record['eventName']}",
        "source": "aws.s3",
        "detail-type": record["eventName"],
        "resources": [bucket.get("arn", f"arn:aws:s3:::{bucket['name']}")],
        "time": record.get("eventTime"),
        "detail": dict(record),
    }


def _sqs(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "id": record["messageId"],
        "source": "aws.sqs",
        "detail-type": "Message",
        "resources": [record.get("eventSourceARN")],
        "detail": {"body": _parsed(record["body"]), "attributes": record.get("messageAttributes", {})},
    }


def _parsed(body: str) -> JSON:
    """The parsed body if it is JSON, otherwise the text."""
    try:
        return strict_json(body)
    except InvalidRequest:
        return body


_RECORDS: Final = {"aws:s3": _s3, "aws:sqs": _sqs}
