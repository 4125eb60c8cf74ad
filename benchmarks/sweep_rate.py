"""Measures one part of a sweep: the CPU time per revived run, and the runs per minute at injected latencies.

    python -m benchmarks.sweep_rate                  prints what benchmarks/scale.py records

The part runs as in the function `sweeper`: the store, the queue and boto3 with its own serialization, one request after the
other. The requests are not sent. This process answers each after the latency that is given for it, from prepared responses, and
the CPU time of the answers is not counted. So the latencies stay assumed, and the CPU time is that of this machine.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import boto3
from botocore import UNSIGNED
from botocore.awsrequest import AWSRequest, AWSResponse
from botocore.config import Config

from benchmarks.scale import HEADERS_MS, QUERY_MS, SEND_MS
from stepless.adapters.aws.clients import CONFIG
from stepless.adapters.aws.dynamo.store import DynamoStore
from stepless.adapters.aws.queue import SqsQueue
from stepless.adapters.memory.clock import SettableClock
from stepless.limits import SWEEP_PART_MS
from stepless.ports import RunHead
from stepless.runtime.hosting.sweep import sweep_part
from stepless.runtime.wiring.local import local

LATENCY_MS: Final[Mapping[str, float]] = {"Query": QUERY_MS, "BatchGetItem": HEADERS_MS, "SendMessageBatch": SEND_MS}
_META: Final = json.dumps({"version": 7, "tags": ["orders", "eu"], "entry": ["start"]}).encode()


@dataclass(frozen=True)
class Measured:
    """Of one part: how many runs it revived, in which time, and with which CPU time of its own."""

    runs: int
    seconds: float
    cpu_seconds: float

    @property
    def cpu_us(self) -> float:
        return self.cpu_seconds / self.runs * 1_000_000


class Service:
    """Answers the requests of the store and of the queue. `own_cpu_s` is what its answers took."""

    def __init__(self, latency_ms: Mapping[str, float]) -> None:
        self.latency_ms = latency_ms
        self.items: dict[str, dict[str, Any]] = {}  # headers by partition key
        self.hints = 0
        self.own_cpu_s = 0.0
        self._rows: list[dict[str, Any]] = []

    def client(self, service: str) -> Any:
        config = CONFIG.merge(Config(signature_version=UNSIGNED))
        made = boto3.session.Session().client(service, "us-east-1", endpoint_url="http://here.invalid", config=config)
        made.meta.events.register(f"before-send.{service}", self._answer)
        return made

    def _answer(self, request: AWSRequest, **_: Any) -> AWSResponse:
        began = time.thread_time()
        target = request.headers["X-Amz-Target"]
        operation = (target.decode() if isinstance(target, bytes) else str(target)).rpartition(".")[2]
        body = request.body if isinstance(request.body, bytes) else bytes(str(request.body), "utf-8")
        answer = json.dumps(getattr(self, f"_{operation}")(json.loads(body))).encode()
        self.own_cpu_s += time.thread_time() - began
        time.sleep(self.latency_ms.get(operation, 0) / 1000)
        return AWSResponse(request.url, 200, {"content-type": "application/x-amz-json-1.0"}, _Raw(answer))

    def _PutItem(self, given: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802 - as the service calls it
        item = given["Item"]
        self.items[item["pk"]["S"]] = item
        self._rows = []
        return {}

    def _GetItem(self, given: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802 - as the service calls it
        return {}

    def _Query(self, given: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802 - as the service calls it
        if not self._rows:
            names = ("pk", "sk", "g2", "d2")
            found = [{name: item[name] for name in names} for item in self.items.values() if "d2" in item]
            self._rows = sorted(found, key=lambda row: (int(row["d2"]["N"]), row["pk"]["S"]))
        wanted = next(iter(given["ExpressionAttributeValues"].values()))["S"]
        rows = [row for row in self._rows if row["g2"]["S"] == wanted]
        start = given.get("ExclusiveStartKey")
        first = next((n + 1 for n, row in enumerate(rows) if start and row["pk"] == start["pk"]), 0)
        page = rows[first : first + int(given.get("Limit", 1_000))]
        more = {"LastEvaluatedKey": page[-1]} if page and first + len(page) < len(rows) else {}
        return {"Items": page, "Count": len(page), "ScannedCount": len(page), **more}

    def _BatchGetItem(self, given: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802 - as the service calls it
        ((table, wanted),) = given["RequestItems"].items()
        return {"Responses": {table: [self.items[key["pk"]["S"]] for key in wanted["Keys"]]}, "UnprocessedKeys": {}}

    def _SendMessageBatch(self, given: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802 - as the service calls it
        self.hints += len(given["Entries"])
        return {"Successful": [{"Id": each["Id"], "MessageId": "m", "MD5OfMessageBody": "m"} for each in given["Entries"]]}


class _Raw:
    """The bytes of a response, as botocore reads them."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def stream(self, *_: Any, **__: Any) -> Any:
        yield self._data

    def read(self, amount: int | None = None) -> bytes:
        data, self._data = self._data, b""
        return data


def measure(runs: int, latency_ms: Mapping[str, float] = LATENCY_MS) -> Measured:
    """Sweeps one part with this many overdue runs."""
    service = Service({})
    store = DynamoStore(service.client("dynamodb"), "table", shards=1, at_once=1)
    inputs = b64encode(bytes(300))
    for number in range(runs):
        name, version = f"run_{number:020}", "0" * 64
        store.create_run(RunHead(name, "orders", version, "paused", number, number, inputs, _META, due_ms=number, sequence=9))
    queue = SqsQueue(service.client("sqs"), "http://here.invalid/queue")
    world = replace(local(None).world, store=store, queue=queue, clock=SettableClock(runs))
    service.latency_ms, service.own_cpu_s = latency_ms, 0.0
    began, cpu = time.perf_counter(), time.thread_time()
    sent = sweep_part(world, (0, 1), limit=10**9, until_ms=10**15)
    seconds, used = time.perf_counter() - began, time.thread_time() - cpu - service.own_cpu_s
    if sent != runs or service.hints != runs:
        raise RuntimeError(f"{sent} of {runs} runs were revived, with {service.hints} hints")
    return Measured(runs, seconds, used)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000)
    given = parser.parse_args(argv)
    found = [measure(given.runs) for _ in range(3)]
    for one in found:
        rate = one.runs / one.seconds * SWEEP_PART_MS / 1000
        print(f"{one.runs:,} runs in {one.seconds:.2f} s: {rate:,.0f} per part and minute; {one.cpu_us:.0f} us of CPU per run")
    print(f"{min(one.cpu_us for one in found):.0f} us of CPU per run, the least of three")
    return 0


if __name__ == "__main__":
    sys.exit(main())
