"""Runner function: a message is a hint that a run needs work; the runner continues the run within the time of the invocation."""

from stepless.collector import paused_collector, resting_collector

with paused_collector():
    from typing import Any

    from aws_lambda_powertools import Logger

    from stepless.runtime.wiring.aws import aws, traced
    from stepless.runtime.wiring.aws_serving import Serving

    LOG, CLOUD = Logger(), aws()
    SERVING, CLOUD.world.versions.while_compiling = Serving(CLOUD), resting_collector


@traced
@LOG.inject_lambda_context
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Returns the records that SQS must deliver again; the others are done. Does not return if code of an attempt has not."""
    failed, done, records = [], [], event["Records"]
    ends = SERVING.serve([record["body"] for record in records], context.get_remaining_time_in_millis())
    for record, end in zip(records, ends, strict=True):
        if end is None:
            done.append(record["receiptHandle"])
        else:
            LOG.error("the message comes again", extra={"hint": record["body"]}, exc_info=end)
            failed.append({"itemIdentifier": record["messageId"]})
    CLOUD.meter.flush()
    SERVING.end_if_code_lingers(done, LOG.error)
    return {"batchItemFailures": failed}
