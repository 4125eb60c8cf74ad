"""Runner function: a message is a hint that a run needs work; the runner continues the run within the time of the invocation."""

from stepless.collector import paused_collector, resting_collector

with paused_collector():
    import asyncio
    from typing import Any

    from aws_lambda_powertools import Logger

    from stepless.runtime.billing import spending
    from stepless.runtime.session.budget import Budget
    from stepless.runtime.wiring.aws import aws, received, traced
    from stepless.thread_calls import CountedPool

    LOG, CLOUD, LOOP, THREADS = Logger(), aws(), asyncio.Runner(), CountedPool()
    RUNNER, CLOUD.world.versions.while_compiling = CLOUD.runner, resting_collector


@traced
@LOG.inject_lambda_context
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Returns the records that SQS must deliver again; the others are done. Ends the process instead if code of an attempt has not
    returned: Lambda would freeze it, and it would go on in an invocation of another run (docs/decisions/0018-lingering-code.md)."""
    failed, done, records = [], [], event["Records"]
    for record, end in zip(records, LOOP.run(serve(records, context.get_remaining_time_in_millis())), strict=True):
        if isinstance(end, BaseException):
            LOG.error("the message comes again", extra={"hint": record["body"]}, exc_info=end)
            failed.append({"itemIdentifier": record["messageId"]})
        else:
            done.append(record["receiptHandle"])
    CLOUD.meter.flush()
    if RUNNER.lingering:
        LOG.error("run.code_lingers", extra={"code": RUNNER.lingering.names()})
        CLOUD.end_process(done)
    return {"batchItemFailures": failed}


async def serve(records: list[dict[str, Any]], remaining_ms: int) -> list[Any]:
    """Serves all records concurrently, and waits for the code of attempts that have ended. Returns for each record how its session
    ended, or the error that stopped it."""
    asyncio.get_running_loop().set_default_executor(THREADS)
    budget = Budget(remaining_ms, hard=True).start()
    ends = await asyncio.gather(*(work(record["body"], remaining_ms) for record in records), return_exceptions=True)
    if RUNNER.lingering:
        await RUNNER.lingering.wait(min(budget.leaving_ms, RUNNER.lingering.left_ms))
    return ends


async def work(body: str, remaining_ms: int) -> Any:
    message = received(body)
    with CLOUD.world.tallies.open(spending.begun(message)):
        return await RUNNER.run(message, Budget(remaining_ms, hard=True))
