"""Sets timers on AWS: a delayed SQS message for up to 15 minutes, a one-time EventBridge schedule for longer."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from botocore.exceptions import ClientError

from stepless.adapters.aws.errors import LOST, code_of, translated
from stepless.adapters.aws.queue import MAX_DELAY_MS, encode_message
from stepless.adapters.system import SystemClock
from stepless.errors import SteplessError
from stepless.ports import Clock, Message, Queue

_log = logging.getLogger(__name__)
_LATE_S: Final = 3_600  # how long Scheduler retries a message that the queue refuses; after that, the sweep finds the run
_DISARMED_AT_ONCE: Final = 100  # schedules that one `disarm` deletes


class SchedulerTimers:
    """A schedule's name is derived from the run and the second, so that arming the same timer twice has no effect. A schedule
    deletes itself after it fires. A schedule that fires for an ended run is a harmless hint. A message that was sent cannot be
    cancelled, and need not be.

    `group` holds the schedules. `role_arn` may send to `queue_arn`, which is the ARN of `queue`, and to `dlq_arn`, which gets
    undeliverable messages.
    """

    def __init__(
        self, client: Any, queue: Queue, *, group: str, role_arn: str, queue_arn: str, dlq_arn: str, clock: Clock | None = None
    ) -> None:
        self._client = client
        self._queue = queue
        self._group = group
        self._role_arn = role_arn
        self._queue_arn = queue_arn
        self._dlq_arn = dlq_arn
        self._clock = clock or SystemClock()

    def arm(self, run_id: str, at_ms: int) -> None:
        delay_ms = at_ms - self._clock.now_ms()
        message = Message(run_id, "timer")
        if delay_ms <= MAX_DELAY_MS:
            self._queue.send(message, max(0, delay_ms))
            return
        at_s = -(-at_ms // 1000)  # rounded up: never early
        with translated(self._group):
            try:
                self._client.create_schedule(
                    Name=f"{_prefix(run_id)}{at_s}",
                    GroupName=self._group,
                    ScheduleExpression=f"at({datetime.fromtimestamp(at_s, UTC):%Y-%m-%dT%H:%M:%S})",
                    ScheduleExpressionTimezone="UTC",
                    FlexibleTimeWindow={"Mode": "OFF"},
                    ActionAfterCompletion="DELETE",
                    Target={
                        "Arn": self._queue_arn,
                        "RoleArn": self._role_arn,
                        "Input": encode_message(message),
                        "DeadLetterConfig": {"Arn": self._dlq_arn},
                        "RetryPolicy": {"MaximumEventAgeInSeconds": _LATE_S, "MaximumRetryAttempts": 20},
                    },
                )
            except ClientError as error:
                if code_of(error) not in LOST:
                    raise

    def disarm(self, run_id: str) -> None:
        """Deletes a run's schedules. Best effort: a schedule that is left fires for an ended run, which is harmless."""
        try:
            with translated(self._group):
                listed = self._client.list_schedules(
                    GroupName=self._group, NamePrefix=_prefix(run_id), MaxResults=_DISARMED_AT_ONCE
                )
                for schedule in listed["Schedules"]:
                    self._client.delete_schedule(GroupName=self._group, Name=schedule["Name"])
        except SteplessError as error:
            _log.info("timers of %s stay armed: %s", run_id, error)


def _prefix(run_id: str) -> str:
    """Scheduler allows names of up to 64 letters, digits, hyphens, underscores and periods."""
    return f"{sha256(run_id.encode()).hexdigest()[:40]}-"
