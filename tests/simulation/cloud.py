"""AWS in the simulated world. Every process has boto3's own clients, with their own retries and serialization; instead of
being sent, a request may fail by an injected fault, and is answered by this world's table, objects, queue and schedules."""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from functools import cache
from threading import local
from types import SimpleNamespace
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

import boto3
from botocore import UNSIGNED
from botocore import exceptions as boto
from botocore.awsrequest import AWSRequest, AWSResponse
from botocore.config import Config
from botocore.retries.standard import RetryHandler, register_retry_handler
from dynamo_table import Key, Refusal, Slowness, Table
from faults import EPOCH_MS, Chance, Line
from virtual_time import Actor, Schedule

from stepless.adapters.aws.clients import CONFIG
from stepless.adapters.aws.queue import decode_message
from stepless.ports import Message

ENDPOINT: Final = "http://world.invalid"
BUCKET: Final = "blobs"
LAG_MS: Final = (5, 200, 3_000, 20_000)
GONE_MS: Final = 600_000
OBJECTS_AT_ONCE: Final = 2  # of a listing, so that short ones have several pages
EXPIRY_LATE_S: Final = (0, 0, 60, 4_000)  # the table deletes what has expired within days, and never before
_here = local()


class Sent(Exception):
    """An answer that is an error of the service."""

    def __init__(self, status: int, code: str) -> None:
        super().__init__(code)
        self.status = status
        self.code = code


class RequestLine(Line):
    """The connection of a process to the services. Every request passes through it, including retries."""

    def refused(self, name: str) -> Exception:
        service = name.partition(".")[0]
        return self.chance.random.choice((
            Sent(400, "ThrottlingException"), Sent(500, "InternalServerError"),
            boto.EndpointConnectionError(endpoint_url=service),
        ))  # fmt: skip

    def lost(self, name: str) -> Exception:
        service = name.partition(".")[0]
        return self.chance.random.choice((
            boto.ReadTimeoutError(endpoint_url=service), boto.ConnectionClosedError(endpoint_url=service),
            Sent(500, "InternalServerError"),
        ))  # fmt: skip


class Reach:
    """The access of one process to the services. It ends with the process, and so does the state of its clients."""

    def __init__(self, line: RequestLine, cloud: Cloud) -> None:
        self.line = line
        self._cloud = cloud
        self._retrying: dict[str, RetryHandler] = {}

    def client(self, service: str) -> Any:
        return _Client(_client(service), self)

    def carry(self, service: str, request: AWSRequest) -> AWSResponse:
        operation, given = _READERS[service](request)
        try:
            answer = self.line.call(f"{service}.{operation}", lambda: self._cloud.answer(service, operation, given))
        except Sent as sent:
            return _response(service, request, sent.status, {}, sent.code)
        except Refusal as refusal:
            status = 404 if refusal.code == "NoSuchKey" else 412 if refusal.code == "PreconditionFailed" else 400
            return _response(service, request, status, refusal.more, refusal.code, refusal.message)
        return _response(service, request, 200, answer)

    def retry(self, service: str, given: Mapping[str, Any]) -> float | None:
        """The decision of botocore's own handler, after the pause that it requests."""
        if service not in self._retrying:
            self._retrying[service] = _retry_handler(service)
        pause_s: float | None = self._retrying[service].needs_retry(**given)
        if pause_s is None:
            return None
        self.line.actor.pause(pause_s * 1000)
        return 0


class Cloud:
    """The content of the services of one world."""

    def __init__(
        self, schedule: Schedule, chance: Chance, send: Callable[[Message, float], None], wrote: Callable[[Any], None],
        deleted: Callable[[Key], None],
    ) -> None:  # fmt: skip
        self._schedule = schedule
        self._chance = chance
        self._send = send
        self._gone: dict[str, float] = {}
        self._objects: dict[str, bytes] = {}
        self._timers: dict[str, Message] = {}
        self.table = Table(Slowness(lambda: schedule.now_ms, self._lag_ms, self._expires, self._takes, wrote, deleted))

    def reach(self, actor: Actor) -> Reach:
        return Reach(RequestLine(actor, self._chance), self)

    def answer(self, service: str, operation: str, given: Any) -> dict[str, Any]:
        if service == "dynamodb":
            return self.table.answer(operation, given)
        return getattr(self, f"_{operation}")(given)  # type: ignore[no-any-return]

    # -- what a table may do ------------------------------------------------------------------------------------------

    def _lag_ms(self) -> float:
        if not self._chance.calls:  # the initial content is older than any lag
            return 0.0
        return self._chance.random.choice(LAG_MS) if self._chance.happens(self._chance.weather.lag) else 0.0

    def _takes(self, number: int) -> int:
        if number < 2 or not self._chance.happens(self._chance.weather.partial):
            return number
        done = self._chance.random.randrange(number)
        self._chance.record("table", f"does {done} of {number}")
        return done

    def _expires(self, key: Key, at_s: int) -> None:
        at_ms = at_s * 1000 - EPOCH_MS + 1000 * self._chance.random.choice(EXPIRY_LATE_S)
        self._schedule.at(at_ms, lambda: self.table.expire(key, at_s))

    # -- objects --------------------------------------------------------------------------------------------------------

    def _put_object(self, given: Mapping[str, Any]) -> dict[str, Any]:
        key = given["key"]
        if key in self._objects and self._is_there(key):
            raise Refusal("PreconditionFailed")
        self._objects[key] = given["data"]
        if self._chance.happens(self._chance.weather.missing):
            self._gone[key] = self._schedule.now_ms + self._chance.random.choice((0, 30_000, GONE_MS))
        return {}

    def _get_object(self, given: Mapping[str, Any]) -> dict[str, Any]:
        key = given["key"]
        if key not in self._objects or not self._is_there(key):
            self._chance.record("objects", "one is gone")
            raise Refusal("NoSuchKey")
        return {"data": self._objects[key]}

    def _list_objects(self, given: Mapping[str, Any]) -> dict[str, Any]:
        keys = sorted(key for key in self._objects if key.startswith(f"/{BUCKET}/{given['prefix']}"))
        names = [key.removeprefix(f"/{BUCKET}/") for key in keys]
        found = [name for name in names if name > given["after"]][:OBJECTS_AT_ONCE]
        more = "".join(f"<Contents><Key>{name}</Key></Contents>" for name in found)
        return {"data": f"<ListBucketResult>{more}</ListBucketResult>".encode()}

    def _delete_objects(self, given: Mapping[str, Any]) -> dict[str, Any]:
        for name in given["names"]:
            self._objects.pop(f"/{BUCKET}/{name}", None)
        return {"data": b"<DeleteResult></DeleteResult>"}

    def blob_keys(self) -> Collection[str]:
        return [key.removeprefix(f"/{BUCKET}/blobs/") for key in self._objects]

    def keeps(self, key: str) -> bool:
        """Whether an object was put, even if it is missing now."""
        return f"/{BUCKET}/blobs/{key}" in self._objects

    def _is_there(self, key: str) -> bool:
        return self._schedule.now_ms >= self._gone.get(key, 0)

    # -- messages and timers --------------------------------------------------------------------------------------------

    def _SendMessage(self, given: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802 - as the service calls it
        self._send(decode_message(given["MessageBody"]), given.get("DelaySeconds", 0) * 1000)
        return {"MessageId": "m"}

    def _SendMessageBatch(self, given: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802 - as the service calls it
        for entry in given["Entries"]:
            self._SendMessage(entry)
        return {"Successful": [{"Id": entry["Id"], "MessageId": "m", "MD5OfMessageBody": "m"} for entry in given["Entries"]]}

    def _create_schedule(self, given: Mapping[str, Any]) -> dict[str, Any]:
        name, at = given["name"], datetime.strptime(given["ScheduleExpression"], "at(%Y-%m-%dT%H:%M:%S)").replace(tzinfo=UTC)
        if name in self._timers:
            raise Refusal("ConflictException")
        self._timers[name] = decode_message(given["Target"]["Input"])
        self._schedule.at(at.timestamp() * 1000 - EPOCH_MS, lambda: self._fire(name))
        return {"ScheduleArn": name}

    def _fire(self, name: str) -> None:
        if name in self._timers:
            self._send(self._timers.pop(name), 0)

    def _list_schedules(self, given: Mapping[str, Any]) -> dict[str, Any]:
        return {"Schedules": [{"Name": name} for name in self._timers if name.startswith(given["prefix"])]}

    def _delete_schedule(self, given: Mapping[str, Any]) -> dict[str, Any]:
        if self._timers.pop(given["name"], None) is None:
            raise Refusal("ResourceNotFoundException")
        return {}


# -- clients ----------------------------------------------------------------------------------------------------------


class _Client:
    """boto3's client, shared by all processes of the world. A request belongs to the process that sends it."""

    def __init__(self, client: Any, reach: Reach) -> None:
        self._client = client
        self._reach = reach

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        method = getattr(self._client, verb)

        def call(**given: Any) -> Any:
            _here.reach = self._reach
            return method(**given)

        return call


@cache
def _client(service: str) -> Any:
    quick = Config(signature_version=UNSIGNED, user_agent="simulation", s3={"addressing_style": "path"})
    made = boto3.session.Session().client(service, region_name="us-east-1", endpoint_url=ENDPOINT, config=CONFIG.merge(quick))
    name = made.meta.service_model.service_id.hyphenize()
    made.meta.events.register(f"before-send.{name}", lambda request, **_: _here.reach.carry(service, request))
    made.meta.events.unregister(f"needs-retry.{name}", unique_id=f"retry-config-{name}")
    made.meta.events.register(f"needs-retry.{name}", lambda **given: _here.reach.retry(service, given))
    return made


def _retry_handler(service: str) -> RetryHandler:
    """Builds it as botocore does for a client."""
    events = SimpleNamespace(register=lambda *given, **named: None)
    meta = SimpleNamespace(service_model=_client(service).meta.service_model, events=events)
    return register_retry_handler(SimpleNamespace(meta=meta), CONFIG.retries["total_max_attempts"])


# -- what goes over the wire --------------------------------------------------------------------------------------------


def _bytes_of(request: AWSRequest) -> bytes:
    body = request.body
    return b"" if body is None else body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else body.read()


def _read_json(request: AWSRequest) -> tuple[str, Any]:
    target = request.headers["X-Amz-Target"]
    operation = (target.decode() if isinstance(target, bytes) else str(target)).rpartition(".")[2]
    return operation, json.loads(_bytes_of(request), object_hook=_with_bytes)


def _with_bytes(given: dict[str, Any]) -> dict[str, Any]:
    return {"B": b64decode(given["B"])} if given.keys() == {"B"} else given


def _read_s3(request: AWSRequest) -> tuple[str, Any]:
    parts = urlsplit(request.url)
    query = parse_qs(parts.query, keep_blank_values=True)
    if "list-type" in query:
        return "list_objects", {"prefix": query["prefix"][0], "after": query.get("start-after", [""])[0]}
    if "delete" in query:
        return "delete_objects", {"names": re.findall(r"<Key>([^<]*)</Key>", _bytes_of(request).decode())}
    given = {"key": unquote(parts.path)}
    return ("put_object", {**given, "data": _bytes_of(request)}) if request.method == "PUT" else ("get_object", given)


def _read_scheduler(request: AWSRequest) -> tuple[str, Any]:
    parts = urlsplit(request.url)
    name = unquote(parts.path).rpartition("/")[2]
    match request.method:
        case "POST":
            return "create_schedule", {**json.loads(_bytes_of(request)), "name": name}
        case "DELETE":
            return "delete_schedule", {"name": name}
    return "list_schedules", {"prefix": parse_qs(parts.query)["NamePrefix"][0]}


_READERS: Final[Mapping[str, Callable[[AWSRequest], tuple[str, Any]]]] = {
    "dynamodb": _read_json, "sqs": _read_json, "s3": _read_s3, "scheduler": _read_scheduler,
}  # fmt: skip


class _Raw:
    """The bytes of an answer, as botocore reads them."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def stream(self, *given: Any, **named: Any) -> Any:
        yield self._data

    def read(self, amount: int | None = None) -> bytes:
        data, self._data = self._data, b""
        return data


def _response(
    service: str, request: AWSRequest, status: int, answer: Mapping[str, Any], code: str = "", message: str = ""
) -> AWSResponse:
    if service == "s3":
        data = f"<Error><Code>{code}</Code></Error>".encode() if code else answer.get("data", b"")
    else:
        payload = {**answer, "__type": code, "message": message} if code else answer
        data = json.dumps(payload, default=lambda value: b64encode(value).decode()).encode()
    headers = {"content-type": "application/json", "x-amzn-errortype": code} if code else {}
    return AWSResponse(request.url, status, headers, _Raw(data))
