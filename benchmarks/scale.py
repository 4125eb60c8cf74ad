"""What a deployment sustains: computes its settings and quotas for a rate of starts, simulates the first minutes, and says which
limit is reached first.

    python -m benchmarks.scale > docs/understand/measurements/scale.md                                     the page
    python -m benchmarks.scale --starts 500 --nodes 3 --node-ms 2000               for your own runs

Limits are the documented ones of AWS (us-east-1, November 2026). Nothing is measured here: it is a model of queues and limits.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Final

PARTITION_WRITES: Final = 1_000  # write units per second of one partition of a table or an index
TABLE_WRITES: Final = 40_000  # the default quota of one table on demand, and of each index
NEW_TABLE_WRITES: Final = 4_000  # what a new table takes at once; afterwards twice the former peak within 30 minutes
DOUBLING_S: Final = 1_800
MAPPING_START: Final = 5  # concurrent invocations of an SQS event source mapping at first, …
MAPPING_PER_MINUTE: Final = 300  # … added per minute, …
MAPPING_MOST: Final = 1_250  # … and at most
POLLER_INVOCATIONS: Final = 10  # concurrent invocations of one provisioned poller
POLLERS_PER_MINUTE: Final = 100  # 1,000 invocations
POLLERS_LEAST_MOST: Final = 200  # the largest RunnerPollers, …
POLLERS_MOST: Final = 2_000  # … RunnerMaxPollers …
SHARDS_MOST: Final = 200  # … and IndexShards
FUNCTION_PER_10_S: Final = 1_000  # environments that Lambda adds to one function in ten seconds
LAMBDA_QUOTA: Final = 1_000  # the default quota of concurrent executions of an account
API_QUOTA: Final = 10_000  # the default quota of requests per second of an account's HTTP APIs

API_S: Final = 0.05  # of one start in the API's function
HEADROOM: Final = 1.3  # of concurrency over its mean
BUSY: Final = 0.7  # the most that a partition should be used: runs are spread by a hash
SIZES: Final = (100, 1_000, 10_000)


@dataclass(frozen=True)
class Work:
    """One run: `nodes` nodes one after the other, each of `node_ms`, in one session. `table_units` are the write units of the
    table itself, `index_units` those of each of its two indexes; tests compare their sum with the counted units."""

    nodes: int = 10
    node_ms: int = 100
    commit_ms: int = 8

    @property
    def session_s(self) -> float:
        return (self.nodes * self.node_ms + (self.nodes + 3) * self.commit_ms) / 1000

    @property
    def table_units(self) -> int:
        return self.nodes + 3  # the header twice, and a batch more than nodes

    @property
    def index_units(self) -> int:
        return 2


@dataclass(frozen=True)
class Settings:
    """Parameters of template.yaml. `pollers` 0: the mapping scales by itself."""

    api_rate: int = 1_000
    api_burst: int = 500
    shards: int = 8
    batch: int = 1
    pollers: int = 0
    max_pollers: int = 200
    sweep_rate: int = 100_000


@dataclass(frozen=True)
class Quotas:
    """Of the account. `warm_writes` is the warm throughput of the table and of each index."""

    lambda_concurrency: int = LAMBDA_QUOTA
    api_rate: int = API_QUOTA
    table_writes: int = TABLE_WRITES
    warm_writes: int = NEW_TABLE_WRITES


def settings_for(starts: int, work: Work) -> Settings:
    """For `starts` runs per second, within what the parameters accept: `sustained` says whether that is enough. Runs share
    invocations (batch) as soon as one each needs more than Lambda's default quota."""
    alone = starts * work.session_s * HEADROOM
    batch = min(10, max(1, ceil(alone / (LAMBDA_QUOTA * 0.5))))
    invocations = ceil(alone / batch)
    pollers = 0 if invocations <= MAPPING_MOST * BUSY else ceil(invocations / POLLER_INVOCATIONS)
    shards = 8
    while shards * PARTITION_WRITES * BUSY < starts * work.index_units:
        shards *= 2
    least = min(pollers, POLLERS_LEAST_MOST)
    rate = max(1_000, ceil(starts * 1.5))
    return Settings(rate, max(500, starts), min(shards, SHARDS_MOST), batch, least, min(POLLERS_MOST, max(200, 2 * pollers)))


def quotas_for(starts: int, work: Work, settings: Settings) -> Quotas:
    """What the account needs, rounded up to what one can ask for."""
    invocations = starts * work.session_s * HEADROOM / settings.batch + starts * API_S * HEADROOM + 100
    writes = starts * work.table_units / BUSY
    return Quotas(
        max(LAMBDA_QUOTA, _up(invocations, 500)),
        max(API_QUOTA, _up(settings.api_rate, 1_000)),
        max(TABLE_WRITES, _up(writes, 10_000)),
        max(NEW_TABLE_WRITES, _up(writes, 1_000)),
    )


def _up(value: float, step: int) -> int:
    return ceil(value / step) * step


# -- limits ----------------------------------------------------------------------------------------------------------


def sustained(settings: Settings, quotas: Quotas, work: Work) -> Mapping[str, float]:
    """Starts per second that each limit allows for hours, the smallest first."""
    slots = MAPPING_MOST if not settings.pollers else settings.max_pollers * POLLER_INVOCATIONS
    per_slot = settings.batch / work.session_s
    runner = quotas.lambda_concurrency / (1 / per_slot + API_S)
    found = {
        "`ApiRate`": settings.api_rate,
        "the account's requests per second of HTTP APIs": quotas.api_rate,
        "invocations of the event source mapping": slots * per_slot,
        "the account's concurrent executions": runner,
        "the table's write units per second": quotas.table_writes / work.table_units,
        "`IndexShards`": settings.shards * PARTITION_WRITES * BUSY / work.index_units,
    }
    return dict(sorted(found.items(), key=lambda one: one[1]))


@dataclass(frozen=True)
class Outcome:
    """Of a simulation. `age_s` is the longest time that the queue would take to empty, `calm_s` the second from which it takes at
    most two seconds (None: never), `held_back` the limits that delayed runs, in the order in which they were reached."""

    refused: int
    peak: int
    age_s: float
    calm_s: int | None
    held_back: Sequence[str]


def simulate(starts: int, settings: Settings, quotas: Quotas, work: Work, *, seconds: int = 1_200, seed: int = 0) -> Outcome:
    """From the first second, `starts` callers per second arrive at a stack that had no traffic before. In steps of a second:
    arrivals are random, the gateway refuses what exceeds its rate and burst, the queue waits for invocations, which the mapping,
    the function and the account limit, and each run writes to the table and to random shards."""
    chance, bucket = random.Random(seed), float(settings.api_burst)
    waiting, refused, peak, age, calm, held_back = 0.0, 0, 0, 0.0, 0, list[str]()
    rate = min(settings.api_rate, quotas.api_rate)
    for second in range(seconds):
        arrivals = max(0, round(chance.gauss(starts, starts**0.5)))
        accepted = min(arrivals, int(bucket + rate))
        bucket = min(settings.api_burst, bucket + rate - accepted)
        refused += arrivals - accepted
        limits = _limits(second, accepted, settings, quotas, work, chance)
        served = min(waiting + accepted, *limits.values())
        if waiting + accepted > served + 1:
            first = min(limits, key=lambda name: limits[name])
            held_back += [first] if first not in held_back else []
        waiting = max(0.0, waiting + accepted - served)
        lag = waiting / max(1.0, min(limits.values()))
        peak, age = max(peak, int(waiting)), max(age, lag)
        calm = second + 1 if lag > 2 else calm
    if refused:
        held_back = ["`ApiRate`", *held_back]
    return Outcome(refused, peak, age, calm if calm < seconds else None, held_back)


def _limits(
    second: int, accepted: int, settings: Settings, quotas: Quotas, work: Work, chance: random.Random
) -> Mapping[str, float]:
    """Runs that each limit lets begin in this second."""
    minutes, per_slot = second / 60, settings.batch / work.session_s
    if settings.pollers:
        pollers = min(settings.max_pollers, settings.pollers + POLLERS_PER_MINUTE * minutes)
        slots = pollers * POLLER_INVOCATIONS
    else:
        slots = min(MAPPING_MOST, MAPPING_START + MAPPING_PER_MINUTE * minutes)
    warm = min(quotas.table_writes, quotas.warm_writes * 2 ** (second / DOUBLING_S))
    mean = accepted * work.index_units / settings.shards
    hottest = max(chance.gauss(mean, mean**0.5) for _ in range(settings.shards)) if accepted else 0
    index = accepted * PARTITION_WRITES / hottest if hottest > PARTITION_WRITES else float("inf")
    return {
        "the ramp of the event source mapping": slots * per_slot,
        "the ramp of the function": FUNCTION_PER_10_S * (1 + second / 10) * per_slot,
        "the account's concurrent executions": max(0, quotas.lambda_concurrency - accepted * API_S) * per_slot,
        "the table's warm throughput": warm / work.table_units,
        "`IndexShards`": index,
    }


# -- the sweep ---------------------------------------------------------------------------------------------------------

QUERY_MS: Final = 20  # a page of 1,000 index rows
HEADERS_MS: Final = 25  # 100 headers
SEND_MS: Final = 20  # 10 messages
SWEEP_CPU_US: Final = 300  # of one revived run on a whole CPU: measured by benchmarks/sweep_rate.py, 297 to 348
SWEEP_MEMORY_MB: Final = 1_024  # of the function `sweeper`
CPU_MEMORY_MB: Final = 1_769  # with which a function has a whole CPU; with less, proportionally less


def revived_per_minute(parts: int, *, seconds: int = 45) -> int:
    """Overdue runs for which `parts` parts of a sweep send a hint in a minute. Requests of one part follow one another; a test
    counts them for a smaller number of runs."""
    per_thousand_ms = QUERY_MS + 10 * HEADERS_MS + 100 * SEND_MS + 1_000 * sweep_cpu_ms()
    return int(parts * seconds * 1_000 / per_thousand_ms * 1_000)


def sweep_cpu_ms(memory_mb: int = SWEEP_MEMORY_MB) -> float:
    """How long a run keeps the CPU of the sweeper busy."""
    return SWEEP_CPU_US / 1_000 * CPU_MEMORY_MB / min(memory_mb, CPU_MEMORY_MB)


# -- the page ----------------------------------------------------------------------------------------------------------


def page(work: Work | None = None) -> Iterator[str]:
    work = work or Work()
    yield f"""# Scale

Generated by `python -m benchmarks.scale > docs/understand/measurements/scale.md`; do not edit. A model, not a measurement: it
computes with the documented limits of AWS (us-east-1, November 2026) and with the counted write units of a run. With `--starts`,
`--nodes` and `--node-ms` it computes the same for your own runs.

The run here: {work.nodes} nodes of {work.node_ms} ms, one after the other, in one session of {work.session_s:.1f} s. It writes
{work.table_units} units to the table and {work.index_units} to each of the two indexes."""
    sizes = [(starts, settings_for(starts, work)) for starts in SIZES]
    quotas = [quotas_for(starts, work, settings) for starts, settings in sizes]
    cases = [("the defaults", Settings(), Quotas())]
    cases += [(f"{starts:,}", settings, quota) for (starts, settings), quota in zip(sizes, quotas, strict=True)]
    yield from _needs(sizes, quotas)
    yield from _breaks(cases, work)
    yield from _sweep()


def _needs(sizes: Sequence[tuple[int, Settings]], quotas: Sequence[Quotas]) -> Iterator[str]:
    yield "\n## Parameters and quotas\n"
    yield _row("starts per second", (f"{starts:,}" for starts in SIZES))
    yield "|---|" + "---|" * len(sizes)
    for name, field in PARAMETERS.items():
        yield _row(f"`{name}`", (f"{getattr(settings, field):,}" for _, settings in sizes))
    for name, field in QUOTA_NAMES.items():
        yield _row(name, (f"{getattr(quota, field):,}" for quota in quotas))
    yield """
Runs that share an invocation (`RunnerBatchSize`) must mostly wait for services. Where nodes compute, keep it at 1, and raise
`RunnerPollers` and the quota of concurrent executions by the same factor. The warm throughput of the table and of its indexes is
set with `aws dynamodb update-table --warm-throughput …`; without it, a table takes twice its former peak within 30 minutes.
`SweepRate` is more than these stacks can execute beside their starts; a higher one would only repeat hints."""


def _breaks(cases: Sequence[tuple[str, Settings, Quotas]], work: Work) -> Iterator[str]:
    yield """
## Where it breaks first

For hours, with these parameters and quotas:

| set for | limit | from starts per second | next limit | from |
|---|---|---|---|---|"""
    for name, settings, quota in cases:
        (first, at), (second, then), *_ = sustained(settings, quota, work).items()
        yield f"| {name} | {first} | {at:,.0f} | {second} | {then:,.0f} |"
    yield """
From one second to the next, at a stack without any traffic before (simulated for 20 minutes):

| set for | starts per second | refused | longest time to empty the queue | at most 2 s from | held back by |
|---|---|---|---|---|---|"""
    bursts = [(*cases[0], 100), (*cases[0], 1_000), *((*case, starts) for case, starts in zip(cases[1:], SIZES, strict=True))]
    bursts.append(("10,000, cold table", cases[3][1], replace(cases[3][2], warm_writes=NEW_TABLE_WRITES), 10_000))
    for name, settings, quota, starts in bursts:
        seen = simulate(starts, settings, quota, work)
        calm = "never" if seen.calm_s is None else f"second {seen.calm_s:,}"
        held = ", ".join(seen.held_back) or "nothing"
        yield f"| {name} | {starts:,} | {seen.refused:,} | {seen.age_s:,.0f} s | {calm} | {held} |"
    yield """
Runs that wait in the queue are not lost: `QueueAgeAlarm` reports them. Refused callers get 429 (`RefusalAlarm`)."""


def _sweep() -> Iterator[str]:
    yield f"""
## The sweep

The sweep looks at one page of overdue runs every minute. If the page is full (1,000 runs), it sends one message for each index
shard, and its invocations sweep the shards in parallel. In 45 seconds one of them sends hints for {revived_per_minute(1):,}
runs. `SweepRate` limits all of them together.

* **Measured** (`python -m benchmarks.sweep_rate`): {SWEEP_CPU_US} µs of CPU time per run, for the store, the queue and boto3 in
  one thread of an x86-64 machine. With the latencies below injected, a part revived 9,000 to 10,500 runs in 45 seconds there; the
  machine had two cores and four times as much other work, so its threads waited for a core. A test counts the requests.
* **Computed**: at {SWEEP_MEMORY_MB:,} MB the sweeper has {SWEEP_MEMORY_MB / CPU_MEMORY_MB:.2f} of a CPU, so a run takes
  {sweep_cpu_ms():.2f} ms of it. With 256 MB it would take {sweep_cpu_ms(256):.2f} ms, and eight shards would not reach 100,000
  runs a minute.
* **Assumed**: {QUERY_MS} ms for a page of the index, {HEADERS_MS} ms for 100 headers and {SEND_MS} ms for ten messages; that a
  CPU of Lambda is as fast as that core; that SQS and the table take the rate.

| `IndexShards` | runs per minute |
|---|---|"""
    for shards in (8, 16, 32):
        yield f"| {shards} | {revived_per_minute(shards):,} |"


PARAMETERS: Final[Mapping[str, str]] = {
    "ApiRate": "api_rate", "ApiBurst": "api_burst", "IndexShards": "shards", "RunnerBatchSize": "batch",
    "RunnerPollers": "pollers", "RunnerMaxPollers": "max_pollers", "SweepRate": "sweep_rate",
}  # fmt: skip
QUOTA_NAMES: Final[Mapping[str, str]] = {
    "Lambda: concurrent executions": "lambda_concurrency",
    "API Gateway: requests per second": "api_rate",
    "DynamoDB: write units per second of a table": "table_writes",
    "DynamoDB: warm throughput, write units per second": "warm_writes",
}


def _row(name: str, cells: Iterator[str]) -> str:
    return f"| {name} | {' | '.join(cells)} |"


def own(starts: int, work: Work) -> Iterator[str]:
    """The same for one rate of starts, as lines for a terminal."""
    settings = settings_for(starts, work)
    quotas = quotas_for(starts, work, settings)
    values = {name: getattr(settings, field) for name, field in PARAMETERS.items()}
    values |= {name: getattr(quotas, field) for name, field in QUOTA_NAMES.items()}
    yield f"{starts:,} starts per second of {work.nodes} nodes of {work.node_ms} ms\n"
    yield from (f"{value:>12,}  {name}" for name, value in values.items())
    yield "\nStarts per second for hours, by limit:\n"
    yield from (f"{at:>12,.0f}  {limit.strip('`')}" for limit, at in sustained(settings, quotas, work).items())
    seen = simulate(starts, settings, quotas, work)
    calm = "never" if seen.calm_s is None else f"from second {seen.calm_s:,} on"
    yield "\nFrom one second to the next, at a stack without any traffic before:\n"
    yield f"{seen.refused:>12,}  requests refused in 20 minutes"
    yield f"{seen.peak:>12,}  runs waiting at most"
    yield f"{seen.age_s:>12,.0f}  seconds to empty the queue at most; at most 2 s {calm}"
    yield f"held back by: {', '.join(seen.held_back).replace('`', '') or 'nothing'}"


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 1 to 1000000")
    return int(text)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=_count, help="per second, 1 to 1000000")
    parser.add_argument("--nodes", type=_count, default=Work.nodes)
    parser.add_argument("--node-ms", type=_count, default=Work.node_ms)
    given = parser.parse_args(arguments)
    work = Work(given.nodes, given.node_ms)
    print(*(page(work) if given.starts is None else own(given.starts, work)), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
