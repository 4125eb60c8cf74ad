"""API function: handles one HTTP request from the gateway."""

from stepless.collector import paused_collector, resting_collector

with paused_collector():
    import os
    from typing import Any

    from aws_lambda_powertools import Logger
    from mangum import Mangum

    from stepless.api.app import create_app
    from stepless.api.site import Site
    from stepless.drafts.wiring.aws_sockets import login, sockets
    from stepless.limits import MAX_LONG_POLL_MS
    from stepless.runtime.billing import spending
    from stepless.runtime.wiring.aws import aws, setting, traced

    LOG, CLOUD, SOCKETS = Logger(), aws(), os.environ.get("STEPLESS_SOCKET_URL", "")
    CLOUD.world.versions.while_compiling = resting_collector
    APP = create_app(
        CLOUD.service,
        api_keys=CLOUD.api_keys,
        gateway=CLOUD.gateway,
        base_url=setting("STEPLESS_BASE_URL"),
        stream_seconds=MAX_LONG_POLL_MS / 1000,
        cors_origins=os.environ.get("STEPLESS_CORS_ORIGINS", "").split(),
        site=Site(bool(SOCKETS), SOCKETS, sockets(CLOUD).fan.pass_on if SOCKETS else None, login()),
    )
    SERVE = Mangum(APP, lifespan="off", text_mime_types=["text/", "application/json", "application/problem+json"])


@traced
@LOG.inject_lambda_context
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    try:
        with CLOUD.world.tallies.open(spending.ONE_REQUEST):
            return SERVE(event, context)
    finally:
        CLOUD.meter.flush()
