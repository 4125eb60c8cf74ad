"""Trigger function: starts runs for schedules and events. A delivery that is repeated starts its run only once."""

from stepless.collector import paused_collector

with paused_collector():
    from typing import Any

    from aws_lambda_powertools import Logger

    from stepless.errors import SteplessError
    from stepless.runtime.billing import spending
    from stepless.runtime.triggers.deliveries import arrive
    from stepless.runtime.triggers.payloads import payload_of
    from stepless.runtime.wiring.aws import aws, setting, traced

    LOG, CLOUD, OWN_QUEUE = Logger(), aws(), setting("STEPLESS_TRIGGER_QUEUE_ARN")


@traced
@LOG.inject_lambda_context
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Handles queue records one by one and returns those that SQS must deliver again; raises the error of any other event."""
    failed, records = [], event.get("Records", [])
    if not records or records[0].get("eventSource") != "aws:sqs":
        start(event)
        records = []
    for record in records:
        try:
            start(payload_of(record, OWN_QUEUE))
        except SteplessError:
            LOG.exception("the message comes again", extra={"message_id": record["messageId"]})
            failed.append({"itemIdentifier": record["messageId"]})
    CLOUD.meter.flush()
    return {"batchItemFailures": failed}


def start(payload: Any) -> None:
    with CLOUD.world.tallies.open(spending.ONE_EVENT):
        for run in arrive(CLOUD.world, payload):
            LOG.info("run.triggered", extra={"run": run.run_id, "workflow": run.workflow_id, "replay": run.replay})
