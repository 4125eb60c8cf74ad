"""Sweeper function: once a minute, sends a hint for every run that is due and that no runner serves, and removes runs whose time
is over; once an hour, checks drafts. If more than one page of runs is due, it divides the sweep into parts, and sends itself a
message for each."""

from stepless.collector import paused_collector

with paused_collector():
    from typing import Any

    from aws_lambda_powertools import Logger

    from stepless.drafts.operations.sweeping import sweep_drafts
    from stepless.limits import ERASE_THREADS, MAX_ERASED_AT_ONCE
    from stepless.runtime.removal import remove_expired
    from stepless.runtime.wiring.aws import aws, traced
    from stepless.runtime.wiring.aws_sweeping import due, sweep_parts

    LOG, CLOUD = Logger(), aws()
    LAST_ROUND_MS = 20_000  # of the invocation: a round of removals takes some seconds


@traced
@LOG.inject_lambda_context
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Returns how many runs were overdue, and how many it found whose time is over; for messages, those that SQS must deliver
    again."""
    try:
        if "Records" in event:
            return {"batchItemFailures": sweep_parts(CLOUD.world, event["Records"])}
        overdue, expired = due(CLOUD.world), 0
        sweep_drafts(CLOUD.world)
        while context.get_remaining_time_in_millis() > LAST_ROUND_MS:
            found = remove_expired(CLOUD.world, threads=ERASE_THREADS)
            expired += found
            if found < MAX_ERASED_AT_ONCE:
                break
        return {"due": overdue, "expired": expired}
    finally:
        CLOUD.meter.flush()
