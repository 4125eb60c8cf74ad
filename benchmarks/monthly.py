"""What a deployment costs per month, everything included: computed from unit prices and from the counted usage of runs.

    python -m benchmarks.monthly > docs/understand/measurements/cost.md
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from benchmarks import editing_cost
from stepless.model.runs import prices
from stepless.model.runs.prices import MILLION, Price
from stepless.model.runs.tally import Tally

GB: Final = 1_000_000_000
MINUTES: Final = 43_800  # of a month
KB: Final = 1_024

# Prices that no run's bill has (us-east-1, the same date as model/runs/prices.py).
TABLE_GB: Final = Price(0.25, 1, "GB-months of the table")
BACKUP_GB: Final = Price(0.20, 1, "GB-months of point-in-time recovery")
BLOB_GB: Final = Price(0.023, 1, "GB-months of S3")
LOG_GB: Final = Price(0.50, 1, "GB of logs")
LOG_KEPT_GB: Final = Price(0.03, 1, "GB-months of logs, compressed")
ALARM_METRIC: Final = Price(0.10, 1, "alarm metrics")
METRIC: Final = Price(0.30, 1, "custom metrics")
SECRET: Final = Price(0.40, 1, "secrets")
FIRING: Final = Price(1.00, MILLION, "Scheduler invocations")

# The counted usage of one run; tests/benchmarks/test_monthly.py counts it again. Lambda's time was measured with nodes that take
# no time: the time of your nodes comes on top.
COUNTED: Final[Mapping[str, Tally]] = {
    "chain of 10": Tally(17, 4, 3, 3, 0, 0, 0, 1, 2, 25, 12_800),
    "approval": Tally(14, 6, 13, 6, 0, 0, 0, 2, 4, 110, 56_320),
    "approval with deadline": Tally(16, 8, 13, 7, 1, 0, 0, 2, 4, 110, 56_320),
    "deadline, wait and node": Tally(21, 10, 18, 10, 2, 0, 0, 2, 5, 45, 23_040),
}
# Events that each puts on a bus; counted again as well.
ANNOUNCED: Final[Mapping[str, int]] = {
    "chain of 10": 2, "approval": 5, "approval with deadline": 5, "deadline, wait and node": 6,
}  # fmt: skip
TITLES: Final[Mapping[str, str]] = {
    "chain of 10": "ten nodes, one after the other",
    "approval": "an approval, and a node",
    "approval with deadline": "an approval with a deadline, and a node",
    "deadline, wait and node": "an approval with a deadline, a wait, and a node",
}
# Bytes of one run. A log line of the runner and of the API per run, and one per node that fails or waits.
STORED_BYTES: Final[Mapping[str, int]] = {
    "chain of 10": 9_000, "approval": 3_500, "approval with deadline": 3_600, "deadline, wait and node": 4_500,
}  # fmt: skip
LOGGED_BYTES: Final[Mapping[str, int]] = {
    "chain of 10": 1_800, "approval": 3_400, "approval with deadline": 3_400, "deadline, wait and node": 4_200,
}  # fmt: skip
SIZES: Final = (10_000, MILLION, 100 * MILLION)  # runs per month
RETENTION: Final = 3  # months that runs are kept, of the example
LOG_MONTHS: Final = 1  # LogRetentionDays 30
COMPRESSED: Final = 0.15  # of the size of log lines, as stored
METRICS_IN_USE: Final = 12  # besides the two of the sweeper


@dataclass(frozen=True)
class Idle:
    """What a stack does without runs. `alarms` are the metrics of all alarms; tests compare it and `queues` with template.yaml.
    An idle mapping has two to five pollers, each of which asks every 20 seconds."""

    alarms: int = 20
    queues: int = 4
    secrets: int = 1
    metrics: int = 2

    def lines(self, pollers: int) -> Iterator[tuple[float, Price]]:
        yield self.alarms, ALARM_METRIC
        yield self.metrics, METRIC
        yield self.secrets, SECRET
        yield self.queues * pollers * 3 * MINUTES, prices.QUEUE_REQUEST
        yield MINUTES, FIRING
        yield MINUTES, prices.INVOCATION
        yield MINUTES * 0.06, prices.GB_SECOND  # 60 ms at 1,024 MB
        yield MINUTES * 9 * 0.5, prices.READ_UNIT  # eight shards and the workflows, eventually consistent
        yield MINUTES * 900 / GB, LOG_GB

    def usd(self, pollers: int, *, free: bool = False) -> float:
        """Of a month. `free` subtracts the permanent free tier of an account without other stacks: ten alarm metrics, ten custom
        metrics, a million SQS requests, 14 million firings, Lambda, 5 GB of logs."""
        lines = list(self.lines(pollers))
        if free:
            allowed = {ALARM_METRIC: 10, METRIC: 10, prices.QUEUE_REQUEST: MILLION, FIRING: 14 * MILLION, LOG_GB: 5,
                       prices.INVOCATION: MILLION, prices.GB_SECOND: 400_000}  # fmt: skip
            lines = [(max(0, count - allowed.get(price, 0)), price) for count, price in lines]
        return sum(count * price.usd / price.per for count, price in lines)


def run_usd(name: str, runs: int) -> Mapping[str, float]:
    """The cost of `runs` runs a month, by part, after RETENTION months."""
    requests = prices.usd(prices.bill(COUNTED[name])) * runs
    stored = STORED_BYTES[name] * runs * RETENTION / GB
    logs = LOGGED_BYTES[name] * runs / GB
    return {
        "requests": requests,
        "storage": stored * (TABLE_GB.usd + BACKUP_GB.usd),
        "logs": logs * LOG_GB.usd + logs * LOG_MONTHS * COMPRESSED * LOG_KEPT_GB.usd,
    }


def month_usd(name: str, runs: int) -> float:
    """Everything: runs, storage, logs, idle, and the metrics that runs use."""
    return sum(run_usd(name, runs).values()) + Idle().usd(5) + METRICS_IN_USE * METRIC.usd


def page() -> Iterator[str]:
    yield f"""# Cost

Generated by `python -m benchmarks.monthly > docs/understand/measurements/cost.md`; do not edit. Prices of {prices.REGION},
{prices.DATE}, on demand, without free tiers. Requests are counted at emulated services, and tests count them again. Sizes of
stored items and log lines are rounded up. Lambda's time is that of the engine alone: a node that waits one second at 512 MB adds
$6.67 per million."""
    yield from _idle()
    yield from _per_million()
    yield from _per_month()
    yield from editing_cost.lines()


def _idle() -> Iterator[str]:
    low, high, free = Idle().usd(2), Idle().usd(5), [Idle().usd(pollers, free=True) for pollers in (2, 5)]
    yield "\n## Without any run\n\n| a month of | count | USD |\n|---|---|---|"
    for count, price in Idle().lines(5):
        yield f"| {price.unit} | {count:,.6g} | {count * price.usd / price.per:.2f} |"
    yield f"| **sum** | | **{high:.2f}** |"
    yield f"""
An idle queue is asked by two to five pollers, so the sum is ${low:.2f} to ${high:.2f}. With the permanent free tier, in an
account without other stacks, it is ${free[0]:.2f} to ${free[1]:.2f}. The dashboard is free if it is one of the first three of the
account, and costs $3 otherwise. `RunnerPollers` are billed by the hour, and not included. Storage of runs is below."""


def _per_million() -> Iterator[str]:
    yield f"""
## Per million runs

| a million runs of | write units of a run | requests | storage, {RETENTION} months | logs | sum |
|---|---|---|---|---|---|"""
    for name, title in TITLES.items():
        parts = run_usd(name, MILLION)
        cells = " | ".join(f"{usd:,.2f}" for usd in parts.values())
        yield f"| {title} | {COUNTED[name].write_units:g} | {cells} | **{sum(parts.values()):,.2f}** |"
    yield f"""
Storage is what a month costs if a million runs are started every month and each is kept for {RETENTION} months: the table,
and its backups for point-in-time recovery. Runs that are never deleted cost as much more for each further {RETENTION} months.
Values above 32 KB are in S3: ${BLOB_GB.usd:g} per GB and month instead of ${TABLE_GB.usd + BACKUP_GB.usd:g},
and $5 per million written.

{_announced()}

What a write unit is spent on, and what cannot be saved: [write units](../durability.md#write-units)."""


def _announced() -> str:
    counted = "".join(f"* {title}: {ANNOUNCED[name]} events\n" for name, title in TITLES.items())
    bus = prices.BUS_EVENT
    return f"""With `RunEventsBus`, EventBridge bills ${bus.usd:g} per million events that its bus receives. A run sends:

{counted}
With `OtelEndpoint`, a request to the collector is made after commits, at most one at a time per run; AWS bills it only as time of
the runner, and the collector itself is yours."""


def _per_month() -> Iterator[str]:
    yield f"""
## Per month

Everything: runs, {RETENTION} months of storage, logs, the idle stack, and {METRICS_IN_USE} more custom metrics.

| runs per month | {" | ".join(TITLES.values())} |
|---|{"---|" * len(TITLES)}"""
    for runs in SIZES:
        yield f"| {runs:,} | {' | '.join(f'${month_usd(name, runs):,.2f}' for name in TITLES)} |"


def main() -> int:
    print(*page(), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
