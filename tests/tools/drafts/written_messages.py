"""Writes requests and log entries of a draft as JSON, as a client and a store do."""

from __future__ import annotations

from stepless.drafts.rules.effects import all_written
from stepless.drafts.rules.messages import outcome_written
from stepless.drafts.rules.requests import EditRequest, LogEntry, Operation
from stepless.model.json import JSON


def request_written(request: EditRequest) -> dict[str, JSON]:
    made: dict[str, JSON] = {
        "client": request.client, "n": request.n, "tag": request.tag, "base": request.base,
        "gestures": [_operation_written(operation) for operation in request.operations],
    }
    return {**made, "first": request.first} if request.first else made


def _operation_written(operation: Operation) -> dict[str, JSON]:
    made: dict[str, JSON] = {"writes": all_written(operation.writes)}
    if operation.guards:
        made["guards"] = [[guard.key, list(guard.path), guard.value] for guard in operation.guards]
    if operation.derived:
        made["derived"] = [list(pair) for pair in operation.derived]
    return made


def entry_written(entry: LogEntry) -> dict[str, JSON]:
    made: dict[str, JSON] = {
        "seq": entry.seq, "client": entry.client, "n": entry.n, "tag": entry.tag, "by": entry.by, "at": entry.at,
        "effects": all_written(entry.effects),
    }
    if entry.outcomes:
        made["outcomes"] = [outcome_written(outcome) for outcome in entry.outcomes]
    if entry.closes is not None:
        made["closes"] = entry.closes
    if entry.first:
        made["first"] = entry.first
    return made
