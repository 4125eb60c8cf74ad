"""Dead-letter function: stops the run of a message that failed too often, and reports it to the operator."""

from stepless.collector import paused_collector

with paused_collector():
    from typing import Any

    from aws_lambda_powertools import Logger

    from stepless.errors import SteplessError
    from stepless.runtime.hosting.deadletter import rest
    from stepless.runtime.wiring.aws import aws, received, traced

    LOG, CLOUD = Logger(), aws()


@traced
@LOG.inject_lambda_context
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Returns the records that must stay in the dead-letter queue, where the alarm on its depth reports them."""
    failed = []
    for record in event["Records"]:
        try:
            rested = rest(CLOUD.world, received(record["body"]))
            LOG.warning("dead letter", extra={"hint": record["body"], "rests": rested})
        except SteplessError:
            LOG.exception("the dead letter stays", extra={"hint": record["body"]})
            failed.append({"itemIdentifier": record["messageId"]})
    CLOUD.meter.flush()
    return {"batchItemFailures": failed}
