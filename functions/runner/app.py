"""Runner function: a message is a hint that a run needs work; the runner continues the run within the time of the invocation."""

from stepless.collector import paused_collector, resting_collector

with paused_collector():
    import asyncio
    from typing import Any

    from aws_lambda_powertools import Logger

    from stepless.runtime.billing import spending
    from stepless.runtime.session.budget import Budget
    from stepless.runtime.wiring.aws import aws, received, traced

    LOG, CLOUD, LOOP = Logger(), aws(), asyncio.Runner()
    RUNNER, CLOUD.world.versions.while_compiling = CLOUD.runner, resting_collector


@traced
@LOG.inject_lambda_context
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Returns the records that SQS must deliver again; the others are done."""
    failed, records = [], event["Records"]
    for record, end in zip(records, LOOP.run(serve(records, context.get_remaining_time_in_millis())), strict=True):
        if isinstance(end, BaseException):
            LOG.error("the message comes again", extra={"hint": record["body"]}, exc_info=end)
            failed.append({"itemIdentifier": record["messageId"]})
    CLOUD.meter.flush()
    return {"batchItemFailures": failed}


async def serve(records: list[dict[str, Any]], remaining_ms: int) -> list[Any]:
    """Serves all records concurrently. Returns for each how its session ended, or the error that stopped it."""
    return await asyncio.gather(*(work(record["body"], remaining_ms) for record in records), return_exceptions=True)


async def work(body: str, remaining_ms: int) -> Any:
    message = received(body)
    with CLOUD.world.tallies.open(spending.begun(message)):
        return await RUNNER.run(message, Budget(remaining_ms, hard=True))
