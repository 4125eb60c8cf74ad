"""Builds the parts behind the console's sockets on Lambda: who is connected, the gateway that holds the sockets, and who may do
what. The address of the WebSocket API comes from AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI, which boto3 reads."""

from __future__ import annotations

import os
from dataclasses import dataclass

from stepless.adapters.aws.clients import client
from stepless.adapters.aws.connections import GatewayWire
from stepless.adapters.aws.dynamo.draft_connections import DynamoDraftConnections
from stepless.drafts.operations.verbs import DraftVerbs
from stepless.drafts.sessions.connections import Connections
from stepless.drafts.sessions.fan_out import Fan
from stepless.ports import DraftConnections
from stepless.runtime.access.api_keys import ApiKeys
from stepless.runtime.access.current_roles import Standing
from stepless.runtime.access.login import Login
from stepless.runtime.access.tickets import Tickets
from stepless.runtime.wiring.aws import Cloud, setting, signer


@dataclass(frozen=True, slots=True)
class Sockets:
    registry: DraftConnections
    fan: Fan
    tickets: Tickets


def sockets(cloud: Cloud) -> Sockets:
    """Raises `ConfigError` with the name of a missing setting."""
    store, clock = cloud.world.store, cloud.world.clock
    registry = DynamoDraftConnections(client("dynamodb"), setting("STEPLESS_TABLE"))
    wire = GatewayWire(client("apigatewaymanagementapi"))
    standing = Standing(ApiKeys(store, clock), cloud.api_keys, clock)
    return Sockets(registry, Fan(registry, wire, standing, clock), Tickets(signer(), store, clock))


def connections(cloud: Cloud) -> Connections:
    """Serves the events of the WebSocket API."""
    parts = sockets(cloud)
    return Connections(DraftVerbs(cloud.world), parts.registry, parts.fan, parts.tickets, cloud.world.clock)


def login() -> Login | None:
    """Returns how people sign in to the console; None where they have API keys."""
    client_id = os.environ.get("STEPLESS_CONSOLE_CLIENT_ID")
    if not client_id or setting("STEPLESS_AUTH") != "jwt":
        return None
    audiences = [name.strip() for name in setting("STEPLESS_JWT_AUDIENCE").split(",") if name.strip()]
    return Login(setting("STEPLESS_JWT_ISSUER"), client_id, audiences, setting("STEPLESS_CONSOLE_SCOPE"))
