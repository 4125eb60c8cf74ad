"""What runs cost on AWS: requests counted at the clients of emulated services, priced, beside the prices of other services.

    python -m benchmarks.cost             prints one line of JSON each
    python -m benchmarks cost             the bills for people, and docs/understand/measurements/benchmarks.md again

Each invocation runs the code of its function, API or runner; the clock is moved instead of waiting for days. Write units come
from an emulator that computes them as AWS documents them. Lambda's time is measured on this machine.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from benchmarks import message_units
from benchmarks.sample import Sample
from benchmarks.workloads import Document
from stepless.adapters.memory.clock import SettableClock
from stepless.adapters.memory.secrets import MemorySecrets
from stepless.nodes import KIND_CODE, KINDS
from stepless.runtime.access.tokens import Key, Signer
from stepless.runtime.billing import spending
from stepless.runtime.exporting.relay import Relaying
from stepless.runtime.service import Service
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.runner import Runner
from stepless.runtime.verbs.reads import costing
from stepless.runtime.versions import Versions
from stepless.runtime.world import World

T = TypeVar("T")

TOOLS = Path(__file__).parents[1] / "tests" / "tools"
HOUR_MS = 3_600_000
SECOND_MS = 1_000
NOON_MS = 1_800_000_000_000
BUDGET_MS = 60_000
APART_MS = 20  # between two invocations
MEMORY_MB = 512
GROUP = "runs"
QUEUE_ARN = "arn:aws:sqs:us-east-1:123456789012:runs"
ROLE_ARN = "arn:aws:iam::123456789012:role/timers"


def flows() -> dict[str, Document]:
    """By case: a chain of ten, a fan-out of fifty and a join, an approval and a node, an approval and a wait, without and with a
    node, the approval without and with a deadline; each after a start that costs nothing."""
    work = {"type": "function", "with": {"call": "benchmark.result"}}
    start: Document = {"start": {"type": "manual"}}
    chain = {f"n{i}": {**work, "after": f"n{i - 1}" if i else "start"} for i in range(10)}
    fan = {f"w{i}": {**work, "after": "start"} for i in range(50)}
    ask = {"type": "approval", "after": "start", "with": {"message": "Go on?"}}
    asked = {"type": "approval", "after": "start", "with": {"message": "Go on?", "timeout": "7d"}}
    pay = {**work, "after": "ask.approved"}
    rest = {"type": "wait", "after": "ask.approved", "with": {"for": "1h"}}
    return {
        "chain of 10": {"id": "chain", "nodes": start | chain},
        "fan-out of 50": {"id": "fan-out", "nodes": start | fan | {"all": {"type": "join", "after": list(fan)}}},
        "approval": {"id": "approval", "nodes": start | {"ask": ask, "pay": pay}},
        "approval with deadline": {"id": "deadline", "nodes": start | {"ask": asked, "pay": pay}},
        "approval and wait": {"id": "wait", "nodes": start | {"ask": ask, "rest": rest}},
        "approval, wait and node": {"id": "waits", "nodes": start | {"ask": ask, "rest": rest, "pay": {**work, "after": "rest"}}},
        "deadline, wait and node": {"id": "all", "nodes": start | {"ask": asked, "rest": rest, "pay": {**work, "after": "rest"}}},
    }


class Account:
    """The engine over clients of DynamoDB, SQS, Scheduler and S3; `service` creates clients whose requests are not counted."""

    def __init__(self, dynamo: Any, service: Callable[[str], Any]) -> None:
        from stepless.adapters.aws.blobs import S3Blobs
        from stepless.adapters.aws.dynamo.store import DynamoStore
        from stepless.adapters.aws.dynamo.table.layout import create_table_arguments
        from stepless.adapters.aws.queue import SqsQueue
        from stepless.adapters.aws.tallies import RequestTallies
        from stepless.adapters.aws.timers import SchedulerTimers

        self.dynamo = dynamo
        dynamo.create_table(**create_table_arguments("costs"))
        self._sqs, self._scheduler = service("sqs"), service("scheduler")
        self._url = self._sqs.create_queue(QueueName="runs")["QueueUrl"]
        self._scheduler.create_schedule_group(Name=GROUP)
        service("s3").create_bucket(Bucket="blobs")
        self.clock = SettableClock(NOON_MS)
        sqs, scheduler, s3 = (service(f"counted {name}") for name in ("sqs", "scheduler", "s3"))
        queue = SqsQueue(sqs, self._url)
        arns = {"role_arn": ROLE_ARN, "queue_arn": QUEUE_ARN, "dlq_arn": QUEUE_ARN}
        timers = SchedulerTimers(scheduler, queue, group=GROUP, clock=self.clock, **arns)
        tallies = RequestTallies(MEMORY_MB, dynamo, sqs, scheduler, s3)
        store, blobs = DynamoStore(dynamo, "costs"), S3Blobs(s3, "blobs")
        self.world = World(store, queue, timers, blobs, self.clock, MemorySecrets(), KINDS, Versions(store, KINDS), KIND_CODE,
                           tallies=tallies)  # fmt: skip
        self.service = Service(self.world, Signer((Key("k", b"secret of the benchmark"),)))
        self._runner = Runner(self.world)

    def export(self, relay: Relaying | None) -> None:
        """From now on the runner exports the events of runs."""
        self._runner = Runner(replace(self.world, relay=relay))

    def ask(self, call: Callable[[], T]) -> T:
        """Does the work of the API's function for a request."""
        with self.world.tallies.open(spending.ONE_REQUEST):
            return call()

    def work(self, budget_ms: float = BUDGET_MS) -> None:
        """Does the work of the runner's function, until no message is left."""
        from stepless.adapters.aws.queue import decode_message

        while received := self._sqs.receive_message(QueueUrl=self._url).get("Messages"):
            message = decode_message(received[0]["Body"])
            with self.world.tallies.open(spending.begun(message)):
                asyncio.run(self._runner.run(message, Budget(budget_ms)))
            self.clock.advance(APART_MS)
            self._sqs.delete_message(QueueUrl=self._url, ReceiptHandle=received[0]["ReceiptHandle"])

    def pass_time(self, by_ms: int) -> None:
        """Moves the clock, and fires every schedule that is due."""
        self.clock.advance(by_ms + SECOND_MS)  # schedules are rounded up to the next second
        now = f"at({datetime.fromtimestamp(self.clock.now_ms() / 1000, UTC):%Y-%m-%dT%H:%M:%S})"
        for listed in self._scheduler.list_schedules(GroupName=GROUP)["Schedules"]:
            schedule = self._scheduler.get_schedule(GroupName=GROUP, Name=listed["Name"])
            if schedule["ScheduleExpression"] > now:
                continue
            self._sqs.send_message(QueueUrl=self._url, MessageBody=schedule["Target"]["Input"])
            self._scheduler.delete_schedule(GroupName=GROUP, Name=listed["Name"])

    def run(self, document: Document) -> str:
        """A run from its start to its end: an approval is answered after two days, a wait takes its hour."""
        workflow = document["id"]
        run_id = self.ask(lambda: self.service.start(workflow, {"order": "o-1", "amount": 12})).run_id
        self.work()
        if "ask" in document["nodes"]:
            self.pass_time(48 * HOUR_MS)
            self.ask(lambda: self.service.answer_pause(run_id, "ask", "approved", {}, "ada"))
            self.work()
            self.pass_time(HOUR_MS)
            self.work()
        status = self.service.run(run_id).status
        if status != "completed":
            raise RuntimeError(f"{workflow} is {status}")
        return run_id


@contextmanager
def account() -> Iterator[Account]:
    """An account in emulators. Raises `emulators.Missing` if they are not available."""
    sys.path.extend(map(str, sorted(TOOLS.glob("[a-z]*"))))
    import aws_services

    with aws_services.dynoxide() as table, aws_services.moto():
        made: dict[str, Any] = {}

        def service(name: str) -> Any:
            if name not in made:
                made[name] = aws_services.client(name.split()[-1])
            return made[name]

        yield Account(table("dynamodb"), service)


def measured() -> list[Sample]:
    """The bills of one run each, after one that warms up the processes and is not counted."""
    sys.path.extend(map(str, sorted(TOOLS.glob("[a-z]*"))))
    import emulators

    try:
        with account() as there:
            return [*(bill(there, name, document) for name, document in flows().items()), *message_units.measured(there)]
    except emulators.Missing as missing:
        return [Sample("cost", name, 1, 1, error=str(missing)) for name in flows()]


def bill(there: Account, name: str, document: Document) -> Sample:
    there.service.publish(document)
    there.run(document)
    run_id = there.run(document)
    counted = there.service.cost(run_id)
    estimated = costing.estimated(there.world, run_id)
    return Sample("cost", name, 1, 1, facts={"counted": counted, "estimated": estimated, **units(counted)})


def units(report: Mapping[str, Any]) -> dict[str, float]:
    """The units of the table in a report: written and read."""
    counts = {line["what"]: line["count"] for line in report["lines"]}
    return {f"{name}_units": counts[f"DynamoDB {name} units"] for name in ("write", "read")}


def main() -> int:
    for sample in measured():
        print(sample.line(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
