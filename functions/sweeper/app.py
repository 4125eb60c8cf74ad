"""Sweeper function: once a minute, sends a hint for every run that is due and that no runner serves."""

from stepless.collector import paused_collector

with paused_collector():
    from typing import Any

    from aws_lambda_powertools import Logger

    from stepless.runtime.hosting.sweep import sweep
    from stepless.runtime.wiring.aws import aws, traced

    LOG, CLOUD = Logger(), aws()


@traced
@LOG.inject_lambda_context
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Returns how many runs were overdue."""
    try:
        return {"due": sweep(CLOUD.world)}
    finally:
        CLOUD.meter.flush()
