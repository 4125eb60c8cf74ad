"""Lists AWS prices in one dated table and computes bills.

On-demand prices of us-east-1, arm64, the first tier of each, without free tiers, which a million runs exceed. Taken in
November 2026 from the price pages of DynamoDB, SQS, EventBridge, S3, API Gateway, Lambda and Step Functions. To update it, change
the table and the date.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from stepless.model.runs.tally import Tally

REGION: Final = "us-east-1"
DATE: Final = "2026-11"
MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """`usd` for `per` of a unit; `unit` is its name in the plural."""

    usd: float
    per: int
    unit: str


WRITE_UNIT: Final = Price(0.625, MILLION, "DynamoDB write units")
READ_UNIT: Final = Price(0.125, MILLION, "DynamoDB read units")
QUEUE_REQUEST: Final = Price(0.40, MILLION, "SQS requests")
SCHEDULE: Final = Price(1.00, MILLION, "Scheduler schedules")  # billed per firing; counting created ones gives the maximum
BLOB_WRITE: Final = Price(5.00, MILLION, "S3 writes")
BLOB_READ: Final = Price(0.40, MILLION, "S3 reads")
HTTP_REQUEST: Final = Price(1.00, MILLION, "HTTP API requests")
INVOCATION: Final = Price(0.20, MILLION, "Lambda requests")
GB_SECOND: Final = Price(13.3334, MILLION, "Lambda GB-s")
BUS_EVENT: Final = Price(1.00, MILLION, "EventBridge events")  # custom ones; no event of a run exceeds 64 KB, which count as one
TRANSITION: Final = Price(25.00, MILLION, "state transitions")
DURABLE_OPERATION: Final = Price(8.00, MILLION, "durable operations")
DURABLE_GB: Final = Price(0.25, 1_000_000_000, "durable bytes")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a bill: the count of a unit in one run, and its price. `note` explains the count."""

    count: float
    price: Price
    note: str = ""

    @property
    def usd(self) -> float:
        """Of one run."""
        return self.count * self.price.usd / self.price.per


@dataclass(frozen=True, slots=True)
class Work:
    """The work that another service would do for the same run. `attempts` counts the started attempts of nodes, without the
    entry; `steps` those of effectful nodes; `waits` the pauses; `output_bytes` is the size of the inputs and of all outputs."""

    attempts: int
    steps: int
    waits: int
    output_bytes: int


def bill(tally: Tally) -> tuple[Line, ...]:
    """Returns a line per service that was used."""
    indexes = f"{tally.index_units:g} of them for indexes" if tally.index_units else ""
    lines = (
        Line(tally.write_units, WRITE_UNIT, indexes),
        Line(tally.read_units, READ_UNIT),
        Line(tally.queue_requests, QUEUE_REQUEST, "sent, received, deleted"),
        Line(tally.schedules, SCHEDULE, "billed when they fire"),
        Line(tally.blob_writes, BLOB_WRITE),
        Line(tally.blob_reads, BLOB_READ),
        Line(tally.http_requests, HTTP_REQUEST),
        *_lambda(tally),
    )
    return tuple(line for line in lines if line.count)


def _lambda(tally: Tally) -> Iterator[Line]:
    yield Line(tally.invocations, INVOCATION)
    memory_mb = tally.lambda_mb_ms / tally.lambda_ms if tally.lambda_ms else 0
    yield Line(tally.lambda_mb_ms / 1024 / 1000, GB_SECOND, f"{tally.lambda_ms:,} ms at {memory_mb:,.0f} MB")


def step_functions(work: Work) -> tuple[Line, ...]:
    """Step Functions Standard bills a transition per executed step, retries included: here one for the start and one per attempt
    of a node. A container counts as a step, and so does each node of each of its iterations. The Lambda functions that its tasks
    would call cost extra and are not included."""
    return (Line(1 + work.attempts, TRANSITION, _counts("the start", (work.attempts, "node"))),)


def durable_functions(work: Work, tally: Tally) -> tuple[Line, ...]:
    """Lambda durable functions bill each durable operation and the bytes that it stores: here one operation for the execution,
    one per attempt of a step, and one per wait or callback. Pure nodes are plain code there, without a charge. The contexts of
    parallel branches are not counted, in their favour. They run the same nodes for the same time in the same number of
    invocations, and are started and answered in the same way, so the Lambda lines are those of the run."""
    operations = 1 + work.steps + work.waits
    lines = (
        Line(operations, DURABLE_OPERATION, _counts("the run", (work.steps, "step"), (work.waits, "wait"))),
        Line(work.output_bytes, DURABLE_GB),
        *_lambda(tally),
    )
    return tuple(line for line in lines if line.count)


def _counts(first: str, *counted: tuple[int, str]) -> str:
    return ", ".join([first, *(f"{count} {what}{'s' * (count != 1)}" for count, what in counted if count)])


def usd(lines: Sequence[Line]) -> float:
    """Returns the cost of one run."""
    return sum(line.usd for line in lines)
