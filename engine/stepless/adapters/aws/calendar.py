"""Fires schedules on AWS: creates schedules of EventBridge Scheduler when a workflow is published.

A schedule's name is a hash of the workflow, followed by a hash of the node, its rhythm and its target. Creating the same schedule
twice therefore has no effect, schedules are only added and removed, and their contents are never read. New schedules are added
before old ones are removed: for a moment both may fire, and an instant that fires twice starts one run.

All of them are in one schedule group, separate from the runs' timers. Deleting the stack deletes the group and its schedules.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from stepless.adapters.aws.errors import LOST, code_of, translated
from stepless.errors import ConfigError
from stepless.ports import Rhythm

if TYPE_CHECKING:
    from stepless.model.triggers.cron import Cron

_LATE_S: Final = 24 * 3_600  # how long Scheduler retries a message that the queue refuses: as long as starts are deduplicated
_GONE: Final = frozenset({"ResourceNotFoundException"})
_REFUSED: Final = frozenset({"ValidationException"})
_SCHEDULED_TIME: Final = "<aws.scheduler.scheduled-time>"  # Scheduler replaces this with the instant, in ISO 8601
_UNITS: Final = ((86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"))


class SchedulerCalendar:
    """`group` holds the schedules. `role_arn` may send to `queue_arn`, and to `dlq_arn`, which gets undeliverable messages. A
    message is {`field`: {workflow, node, at}}."""

    def __init__(self, client: Any, *, group: str, role_arn: str, queue_arn: str, dlq_arn: str, field: str) -> None:
        self._client = client
        self._group = group
        self._role_arn = role_arn
        self._queue_arn = queue_arn
        self._dlq_arn = dlq_arn
        self._field = field

    def keep(self, workflow_id: str, rhythms: Sequence[Rhythm]) -> None:
        """See `Calendar.keep`."""
        wanted = {self._name(workflow_id, rhythm, text): (rhythm, text) for rhythm in rhythms for text in expressions(rhythm)}
        refused: list[ConfigError] = []
        with translated(self._group):
            present = set(self._names(workflow_id))
            for name, (rhythm, text) in wanted.items():
                if name not in present:
                    refused += self._add(name, workflow_id, rhythm, text)
            for name in present - wanted.keys():
                self._remove(name)
        if refused:
            raise refused[0]

    def _names(self, workflow_id: str) -> Iterator[str]:
        request: dict[str, Any] = {"GroupName": self._group, "NamePrefix": _prefix(workflow_id), "MaxResults": 100}
        while True:
            page = self._client.list_schedules(**request)
            yield from (schedule["Name"] for schedule in page["Schedules"])
            if not page.get("NextToken"):
                return
            request["NextToken"] = page["NextToken"]

    def _add(self, name: str, workflow_id: str, rhythm: Rhythm, text: str) -> list[ConfigError]:
        """Creates a schedule. Returns an error if AWS refuses its expression, else an empty list."""
        try:
            self._client.create_schedule(
                Name=name,
                GroupName=self._group,
                Description=f"{workflow_id}: {rhythm.node}",
                ScheduleExpression=text,
                ScheduleExpressionTimezone=rhythm.timezone,
                FlexibleTimeWindow={"Mode": "OFF"},
                Target=self._target(workflow_id, rhythm),
            )
        except ClientError as error:
            if code_of(error) in _REFUSED:
                detail = error.response.get("Error", {}).get("Message", "")
                message = f"the version is published, but AWS refuses `{text}`: {detail}"
                mend = "correct the rhythm and publish the workflow again"
                return [ConfigError(message, code="schedule_refused", place=f"node {rhythm.node}", mend=mend)]
            if code_of(error) not in LOST:
                raise
        return []

    def _target(self, workflow_id: str, rhythm: Rhythm) -> dict[str, Any]:
        firing = {"workflow": workflow_id, "node": rhythm.node, "at": _SCHEDULED_TIME}
        return {
            "Arn": self._queue_arn,
            "RoleArn": self._role_arn,
            "Input": json.dumps({self._field: firing}, separators=(",", ":")),
            "DeadLetterConfig": {"Arn": self._dlq_arn},
            "RetryPolicy": {"MaximumEventAgeInSeconds": _LATE_S, "MaximumRetryAttempts": 185},
        }

    def _remove(self, name: str) -> None:
        try:
            self._client.delete_schedule(GroupName=self._group, Name=name)
        except ClientError as error:
            if code_of(error) not in _GONE:
                raise

    def _name(self, workflow_id: str, rhythm: Rhythm, text: str) -> str:
        """Scheduler allows names of up to 64 letters, digits, hyphens, underscores and periods."""
        hashed = json.dumps([rhythm.node, text, rhythm.timezone, self._role_arn, self._queue_arn, self._dlq_arn, self._field])
        return f"{_prefix(workflow_id)}{sha256(hashed.encode()).hexdigest()[:24]}"


def _prefix(workflow_id: str) -> str:
    return f"{sha256(workflow_id.encode()).hexdigest()[:32]}-"


# -- schedule expressions ---------------------------------------------------------------------------------------------


def expressions(rhythm: Rhythm) -> Sequence[str]:
    """Returns a rhythm in AWS syntax: `rate(…)` or `cron(…)`. A Unix cron expression with both days, "on the 13th or on Fridays",
    takes two."""
    if rhythm.rate_ms is not None:
        unit_ms, unit = next((size, name) for size, name in _UNITS if rhythm.rate_ms % size == 0)
        number = rhythm.rate_ms // unit_ms
        return [f"rate({number} {unit}{'s' * (number > 1)})"]
    text = " ".join((rhythm.cron or "").upper().split())
    if len(text.split()) == 6:
        return [f"cron({text})"]
    from stepless.model.triggers.cron import parse_cron  # imports time zones, which a runner does not need

    return [f"cron({fields})" for fields in _from_unix(parse_cron(text))]


def _from_unix(cron: Cron) -> Iterator[str]:
    """Writes every field as numbers. AWS counts weekdays from 1, and requires `?` for one of the two day fields."""
    time, months = f"{_field(cron.minutes, 0, 59)} {_field(cron.hours, 0, 23)}", _field(cron.months, 1, 12)
    month_days, weekdays = cron.days.month_days, cron.days.weekdays
    if month_days is not None or weekdays is None:
        yield f"{time} {_field(month_days, 1, 31)} {months} ? *"
    if weekdays is not None:
        yield f"{time} ? {months} {_field([day + 1 for day in weekdays], 1, 7)} *"


def _field(numbers: Sequence[int] | frozenset[int] | None, low: int, high: int) -> str:
    """`*` for all numbers, else comma-separated numbers and ranges."""
    if numbers is None or len(numbers) == high - low + 1:
        return "*"
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and ranges[-1][-1] == number - 1:
            ranges[-1].append(number)
        else:
            ranges.append([number])
    return ",".join(str(one[0]) if len(one) == 1 else f"{one[0]}-{one[-1]}" for one in ranges)
