"""Socket function: handles one event of the WebSocket API, over which people edit a draft together."""

from stepless.collector import paused_collector

with paused_collector():
    from typing import Any

    from aws_lambda_powertools import Logger

    from stepless.drafts.wiring.aws_sockets import connections
    from stepless.runtime.wiring.aws import aws, traced

    LOG, CLOUD = Logger(), aws()
    SESSIONS = connections(CLOUD)


@traced
@LOG.inject_lambda_context
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """The status decides whether a connection opens; what is said goes over the connection, not into the answer."""
    try:
        return {"statusCode": SESSIONS.serve(event)}
    finally:
        CLOUD.meter.flush()
