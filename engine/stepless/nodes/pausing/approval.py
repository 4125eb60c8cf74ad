"""Defines the kind `approval`, which asks a person, and continues with their answer."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from stepless.limits import (
    MAX_ANSWER_FIELDS,
    MAX_APPROVERS,
    MAX_DETAIL_CHARACTERS,
    MAX_DETAILS,
    MAX_MESSAGE_CHARACTERS,
    MAX_REMINDERS,
)
from stepless.model.findings import Finding
from stepless.model.json import JSON
from stepless.model.kind import Kind, Nature, Part, Pause, Work
from stepless.model.texts.details import said
from stepless.model.texts.durations import parse_duration_ms
from stepless.nodes.params import Duration, Name, Params, notify_target, rendered, warning

ANSWERS = ("approved", "rejected")
_OWN_OUTPUT = ("decision", "by", "at")


class DetailParams(Params):
    """A row that is shown with the question."""

    label: str = Field("", max_length=MAX_DETAIL_CHARACTERS)
    """What the value is."""
    value: Any
    """The value: a text, a number, an instant, or any JSON."""
    format: Literal["text", "number", "time", "date", "markdown"] = "text"
    """How the value is shown: numbers, instants and days in the language and zone of the reader, `markdown` with paragraphs,
    lists, bold, italic, code and links."""
    currency: str | None = Field(None, min_length=3)
    """The code of a currency, like `EUR`: the value is an amount of it."""
    link: str | None = Field(None, min_length=1)
    """An address with https, http or mailto that the value leads to."""


class ApprovalParams(Params):
    """The question, the approvers, and how long they have."""

    message: str = Field(max_length=MAX_MESSAGE_CHARACTERS)
    """The question for the approvers."""
    details: list[DetailParams] = Field(default_factory=list, max_length=MAX_DETAILS)
    """What the approvers have to know: rows on the page, in the mail and in the message."""
    asked_by: str | None = Field(None, max_length=MAX_DETAIL_CHARACTERS)
    """Who asks, as the approvers know them."""
    fields: dict[Name, dict[str, Any] | bool] = Field(default_factory=dict, max_length=MAX_ANSWER_FIELDS)
    """The answer's fields, each with its JSON Schema. The approval page shows them as a form."""
    approvers: str | Annotated[list[str], Field(max_length=MAX_APPROVERS)] | None = None
    """The approvers. Each gets their own link, and the answer records whose link was used."""
    notify: str | None = Field(None, min_length=1)
    """Where the links are sent: a URL, the ARN of an SNS topic, or `mailto:` and an address."""
    timeout: Duration | None = None
    """How long to wait. Then the node leaves by its exit `timeout`, or fails if no edge starts there."""
    reminders: list[Duration] = Field(default_factory=list, max_length=MAX_REMINDERS)
    """When `notify` is sent the links again, counted from the question."""


def exits(params: ApprovalParams) -> tuple[str, ...]:
    return (*ANSWERS, "timeout")


def check(params: ApprovalParams, path: str) -> list[Finding]:
    findings = notify_target(params.notify, path)
    if "approved" in params.fields:
        findings.append(warning(
            "reserved_field", f"{path}.fields.approved", "this field takes the place of the output's own `approved`",
            "Choose another name, so that `approved` says whether the answer was `approved`.",
        ))
    return findings + [
        Finding("reserved_field", f"{path}.fields.{name}", f"an approval's output has its own `{name}`", "Choose another name.")
        for name in params.fields if name in _OWN_OUTPUT
    ]


def suspend(work: Work) -> Pause:
    """Waits for an answer, for at most `timeout`."""
    params = rendered(ApprovalParams, work.params, work.literals)
    approvers = [params.approvers] if isinstance(params.approvers, str) else params.approvers or []
    details: dict[str, JSON] = {"message": params.message, "fields": params.fields, "approvers": approvers}
    if params.details:
        details["details"] = [_stored(row) for row in params.details]
    if params.asked_by:
        details["asked_by"] = params.asked_by
    if params.notify is not None:
        details["notify"] = params.notify
    if params.reminders:
        details["reminders_ms"] = [parse_duration_ms(text) for text in params.reminders]
    deadline_ms = None if params.timeout is None else work.now_ms + parse_duration_ms(params.timeout)
    return Pause("human_input", deadline_ms=deadline_ms, exits=ANSWERS, fields=params.fields, details=details)


def _stored(row: DetailParams) -> dict[str, JSON]:
    """A row as the log holds it: without what is not set, and a long value cut."""
    given = row.model_dump(exclude_defaults=True)
    is_short = isinstance(row.value, int | float | bool)
    return {**given, "value": row.value if is_short else said(row.value)}


def fields_of(written: Mapping[str, JSON]) -> Collection[str] | None:
    fields = written.get("fields", {})
    return (*fields, "approved", *_OWN_OUTPUT) if isinstance(fields, dict) else None


KIND = Kind(
    "approval", Nature.PAUSE, ApprovalParams, "asks a person; returns the answer with `approved`, `decision`, `by` and `at`",
    exits=exits, parts={"fields": Part.LITERAL}, suspend=suspend, check=check,
    brief=("message",), output_fields=fields_of,
    icon="M8 8a2.8 2.8 0 1 0 0-5.6A2.8 2.8 0 0 0 8 8ZM2.5 13.8a5.5 5.5 0 0 1 6.8-3.3M9.5 12.3l1.6 1.5 2.9-3.2",
)
