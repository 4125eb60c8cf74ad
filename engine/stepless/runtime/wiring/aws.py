"""Composes the engine on Lambda: chooses the adapter for each port. Separate from `local`, because a laptop needs no boto3.

Reads the environment variables that template.yaml sets. Sends no request before its answer is needed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from stepless.adapters.aws.blobs import S3Blobs
from stepless.adapters.aws.clients import client
from stepless.adapters.aws.dynamo.drafts import DynamoDrafts
from stepless.adapters.aws.dynamo.store import DynamoStore
from stepless.adapters.aws.metrics import EmfMeter
from stepless.adapters.aws.queue import SqsQueue, decode_message
from stepless.adapters.aws.secrets import AwsSecrets
from stepless.adapters.aws.snapstart import reseed_after_restore
from stepless.adapters.aws.tallies import RequestTallies
from stepless.adapters.aws.timers import SchedulerTimers
from stepless.adapters.system import SystemClock
from stepless.errors import ConfigError, StoreUnusable
from stepless.nodes import KIND_CODE, KINDS
from stepless.ports import Calendar, Message, Rhythm
from stepless.runtime.access.invitations import Invitations
from stepless.runtime.triggers.payloads import FIRING
from stepless.runtime.versions import Versions
from stepless.runtime.wiring.aws_operations import LazyOperations, s3_objects
from stepless.runtime.wiring.equipment import BASE_URL, equipped
from stepless.runtime.world import World

if TYPE_CHECKING:
    from stepless.runtime.access.gateways import Gateway
    from stepless.runtime.access.tokens import Claims, Key, Signer
    from stepless.runtime.service import Service
    from stepless.runtime.session.runner import Runner


Handler: TypeAlias = Callable[[dict[str, Any], Any], dict[str, Any]]
"""What Lambda calls: takes an event and the invocation's context, returns an answer."""


@dataclass
class Cloud:
    """The parts that the functions of one execution environment share. Parts that only some need are made on first use."""

    world: World
    meter: EmfMeter
    queue: SqsQueue

    @cached_property
    def runner(self) -> Runner:
        """Imports the modules of STEPLESS_MODULES first. Raises `ConfigError` naming a module that cannot be imported."""
        from stepless.nodes.function.registry import load_modules
        from stepless.runtime.session.runner import Runner

        load_modules()
        return Runner(self.world)

    @cached_property
    def service(self) -> Service:
        from stepless.runtime.service import Service

        return Service(self.world, signer())

    @property
    def gateway(self) -> Gateway | None:
        """What gives roles to callers that the HTTP API's gateway has authenticated; None where callers have API keys."""
        from stepless.runtime.access.gateways import gateway  # only the API function needs it

        return gateway(setting("STEPLESS_AUTH"), os.environ.get)

    @property
    def api_keys(self) -> Sequence[str]:
        """Hashes of the API keys."""
        return [key.strip() for key in os.environ.get("STEPLESS_API_KEYS", "").split(",") if key.strip()]


@cache
def signer() -> Signer:
    """Returns the signer of links. It reads the keys when it needs the first: a start from a snapshot must not bring former keys
    along, and most invocations need none."""
    from stepless.runtime.access.tokens import Signer  # a function that makes no links does not import it

    return Signer(_signing_keys)


def _signing_keys() -> Sequence[Key]:
    """Raises `StoreUnusable` when there are none."""
    from stepless.runtime.access.tokens import parse_keys

    name = setting("STEPLESS_SIGNING_SECRET")
    kept = AwsSecrets(client("secretsmanager"), prefix="", source="secretsmanager").get(name)
    keys = parse_keys(kept or "")
    if not keys:
        raise StoreUnusable("there is no signing key", place=name, mend='store {"<key id>": "<secret>"} there')
    return keys


def sign(claims: Claims) -> str:
    """Signs a link. The first link reads the keys; a function that makes no links never reads them."""
    return signer().sign(claims)


def secrets() -> AwsSecrets:
    """Returns the secrets of workflows, in the service that the operator chose. Raises `ConfigError` for an unknown service."""
    source, prefix = os.environ.get("STEPLESS_SECRETS_SOURCE", "ssm"), setting("STEPLESS_SECRETS_PREFIX")
    match source:
        case "ssm" | "secretsmanager":
            return AwsSecrets(client(source), prefix=prefix, source=source)
    mend = "set it to ssm or to secretsmanager"
    raise ConfigError(f"{source!r} is not a source of secrets", place="STEPLESS_SECRETS_SOURCE", mend=mend)


def aws() -> Cloud:
    """Returns the engine in a Lambda function. Raises `ConfigError` with the name of a missing setting."""
    reseed_after_restore(os.environ.get)
    wanted_shards = int(os.environ.get("STEPLESS_INDEX_SHARDS", "0"))  # set where the role may write to the table
    store = DynamoStore(client("dynamodb"), setting("STEPLESS_TABLE"), wanted_shards=wanted_shards)
    queue = SqsQueue(client("sqs"), setting("STEPLESS_QUEUE_URL"))
    timers = SchedulerTimers(
        client("scheduler"),
        queue,
        group=setting("STEPLESS_SCHEDULE_GROUP"),
        role_arn=setting("STEPLESS_SCHEDULE_ROLE_ARN"),
        queue_arn=setting("STEPLESS_SCHEDULE_TARGET_ARN"),
        dlq_arn=setting("STEPLESS_SCHEDULE_DEAD_LETTER_ARN"),
    )
    drafts = DynamoDrafts(client("dynamodb"), setting("STEPLESS_TABLE"))
    meter = EmfMeter()
    blobs = S3Blobs(client("s3"), setting("STEPLESS_BUCKET"))
    memory_mb = int(os.environ.get("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "0"))
    tallies = RequestTallies(memory_mb, *map(client, ("dynamodb", "sqs", "scheduler", "s3")))
    world = World(
        store, queue, timers, blobs, SystemClock(), secrets(), KINDS, Versions(store, KINDS, blobs), KIND_CODE, meter=meter,
        tallies=tallies, calendar=LazyCalendar(), drafts=drafts,
        runner_timeout_s=int(os.environ.get("STEPLESS_RUNNER_TIMEOUT", "0")) or None, objects={"s3": s3_objects},
    )  # fmt: skip
    invitations = Invitations(sign, os.environ.get(BASE_URL, ""))
    return Cloud(equipped(world, os.environ.get, invitations, LazyOperations()), meter, queue)


class LazyCalendar:
    """The calendar, made on the first publication: only one of the functions needs it. Its schedules send to the queue of the
    function `trigger`."""

    @cached_property
    def _calendar(self) -> Calendar:
        from stepless.adapters.aws.calendar import SchedulerCalendar

        return SchedulerCalendar(
            client("scheduler"),
            group=setting("STEPLESS_CALENDAR_GROUP"),
            role_arn=setting("STEPLESS_CALENDAR_ROLE_ARN"),
            queue_arn=setting("STEPLESS_TRIGGER_QUEUE_ARN"),
            dlq_arn=setting("STEPLESS_TRIGGER_DEAD_LETTER_ARN"),
            field=FIRING,
        )

    def keep(self, workflow_id: str, rhythms: Sequence[Rhythm]) -> None:
        """See `Calendar.keep`."""
        self._calendar.keep(workflow_id, rhythms)


def received(body: str) -> Message:
    """Returns the hint in the body of a queue message. Raises `InvalidRequest` (invalid_message) for any other body."""
    return decode_message(body)


def traced(handler: Handler) -> Handler:
    """With STEPLESS_TRACING=on, sends the function's invocations to X-Ray. Otherwise it imports nothing, which saves 100 ms."""
    if os.environ.get("STEPLESS_TRACING") != "on":
        return handler
    from stepless.adapters.aws import tracing

    return tracing.traced(handler)


def setting(name: str) -> str:
    """Returns the value of a required environment variable. Raises `ConfigError` (setting_missing)."""
    value = os.environ.get(name)
    if not value:
        raise ConfigError(f"{name} is not set", code="setting_missing", place=name, mend="deploy template.yaml, which sets it")
    return value
